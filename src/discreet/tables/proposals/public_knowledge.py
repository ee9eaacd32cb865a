"""Public knowledge about columns: what their names say they may hold, without looking at any data.

Everything here must be knowable by somebody who never saw the table: units of nature and the calendar, codes that an
authority publishes, and the codebooks of datasets that are public themselves. A wrong guess costs utility, never
privacy, because what a column declares is enforced when it is scanned.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from discreet.privacy import Bounds, Keys
from discreet.tables.schema.table import Kind

PEOPLE = (
    "person patient subject participant respondent individual citizen resident beneficiary insured member user "
    "customer client consumer subscriber cardholder passenger visitor employee worker staff student pupil donor "
    "voter taxpayer applicant borrower tenant owner"
)
"""Words for people, those first who are likelier to be what a table is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What is publicly known of a column.

    Args:
        why: where the knowledge is from, for a comment; starts in lower case.
        bounds: what its numbers or times may be.
        codings: lists of its values in use around the world. With more than one, only the data or its codebook can
            tell which is meant.
        identifying: whether its values single people out, so that no question needs it.
        doubtful: whether the name alone leaves it open what is coded, so that NULL should be shown as a group, into
            which values of other codings fall.
    """

    why: str
    bounds: Bounds | None = None
    codings: tuple[Keys, ...] = ()
    identifying: bool = False
    doubtful: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A piece of knowledge, with the names and kinds of the columns it is about.

    Args:
        names: as `plain` writes them, and apart by spaces.
        kinds: the kinds of columns it fits; others know nothing of it.
        knowledge: what is known.
    """

    names: str
    kinds: frozenset[Kind]
    knowledge: Knowledge


@dataclass(frozen=True, slots=True, kw_only=True)
class Codebook:
    """The published description of a dataset that is public itself.

    Args:
        title: of the dataset.
        reference: where it is described.
        facts: what it says of each column.
        at_least: how many of its columns a table must have to be taken for it.
        missing: texts it writes for NULL.
    """

    title: str
    reference: str
    facts: tuple[Fact, ...]
    at_least: int
    missing: tuple[str, ...] = ()

    def describes(self, names: Iterable[str]) -> bool:
        """Whether a table with columns of these names is taken for this dataset. Names are public, so nothing leaks."""
        found = {joined(name) for name in names}
        return sum(any(joined(name) in found for name in fact.names.split()) for fact in self.facts) >= self.at_least

    def about(self, name: str, kind: Kind) -> Knowledge | None:
        """What it says of a column, if the column has the kind it says."""
        return find(self.facts, name, kind)


def find(facts: Iterable[Fact], name: str, kind: Kind) -> Knowledge | None:
    """The first fact about columns of that name and kind."""
    found = joined(name)
    for fact in facts:
        if kind in fact.kinds and found in _each_joined(fact.names):
            return fact.knowledge
    return None


@cache
def _each_joined(names: str) -> frozenset[str]:
    """The names of a fact, joined; there are no more of these than facts."""
    return frozenset(map(joined, names.split()))


def without_owner(name: str) -> str | None:
    """The name without the person it is about, if it begins with one.

    Examples:
        >>> without_owner("PatientAge")
        'age'
    """
    first, _, rest = plain(name).partition("_")
    return rest if rest and first in PEOPLE.split() else None


def plain(name: str) -> str:
    """A name in lower case, its words apart by underscores, without accents.

    Examples:
        >>> plain("hours-per-week"), plain("maritalStatus"), plain("Âge (years)")
        ('hours_per_week', 'marital_status', 'age_years')
    """
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", split) if not unicodedata.combining(sign))
    return re.sub(r"[^a-z0-9]+", "_", bare.casefold()).strip("_")


def joined(name: str) -> str:
    """A plain name without its underscores, so that `zip_code` and `zipcode` are one."""
    return plain(name).replace("_", "")


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
