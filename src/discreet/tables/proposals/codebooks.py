"""Codebooks: the published descriptions of datasets that are public themselves."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.privacy import Bounds, Keys
from discreet.tables.proposals.knowledge import Codebook, Fact, Knowledge
from discreet.tables.schema.column import Kind

_NUMBER = frozenset({Kind.INTEGER, Kind.REAL})


def _range(names: str, lo: int, hi: int, why: str) -> Fact:
    """A column of numbers."""
    return Fact(names=names, kinds=_NUMBER, knowledge=Knowledge(why=why, bounds=Bounds(lo, hi)))


def _listed(names: str, values: str, *, gaps: bool = False) -> Fact:
    """A column of texts that the codebook lists; `gaps` if it says that values may be missing."""
    keys = Keys([*values.split(), *([None] if gaps else [])])
    why = "the values it lists, and some are missing" if gaps else "the values it lists"
    known = Knowledge(why=why, codings=(keys,), doubtful=False)
    return Fact(names=names, kinds=frozenset({Kind.TEXT}), knowledge=known)


ADULT = Codebook(
    title="UCI Adult",
    reference="adult.names, doi:10.24432/C5XW20",
    at_least=8,
    missing=("?",),
    facts=(
        _range("age", 17, 99, "the extract takes ages above 16, and the survey wrote two digits"),
        _listed(
            "workclass",
            "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked",
            gaps=True,
        ),
        _range(
            "fnlwgt", 0, 2_000_000, "how many people a row stands for; a round number, of about the people of a state"
        ),
        _listed(
            "education",
            "Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th HS-grad Some-college Assoc-voc Assoc-acdm Bachelors "
            "Masters Prof-school Doctorate",
        ),
        _range("education_num educational_num", 1, 16, "the sixteen levels of education, counted"),
        _listed(
            "marital_status",
            "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse",
        ),
        _listed(
            "occupation",
            "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
            "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv "
            "Armed-Forces",
            gaps=True,
        ),
        _listed("relationship", "Wife Own-child Husband Not-in-family Other-relative Unmarried"),
        _listed("race", "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
        _listed("sex gender", "Female Male"),
        _range("capital_gain", 0, 99_999, "the survey wrote five digits"),
        _range(
            "capital_loss", 0, 5_000, "a round number above the 3,000 that US tax law lets a household deduct in a year"
        ),
        _range("hours_per_week", 1, 99, "the extract takes hours above 0, and the survey wrote two digits"),
        _listed(
            "native_country country",
            "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan Greece "
            "South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France "
            "Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand "
            "Yugoslavia El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands",
            gaps=True,
        ),
        _listed("salary_class salary income class", "<=50K >50K"),
    ),
)

CODEBOOKS = (ADULT,)


def codebook(names: Sequence[str]) -> Codebook | None:
    """The codebook of the public dataset that a table with columns of these names is taken for."""
    return next((book for book in CODEBOOKS if book.describes(names)), None)
