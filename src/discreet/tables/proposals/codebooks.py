"""Codebooks of public datasets, which say what their columns hold."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.tables.proposals.facts import Codebook, listed, ranged

ADULT = Codebook(
    title="UCI Adult",
    reference="adult.names, doi:10.24432/C5XW20",
    at_least=8,
    missing=("?",),
    facts=(
        ranged("age", 17, 99, "the extract takes ages above 16, and the survey wrote two digits"),
        listed(
            "workclass",
            "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked",
            gaps=True,
        ),
        ranged(
            "fnlwgt", 0, 2_000_000, "how many people a row stands for; a round number, of about the people of a state"
        ),
        listed(
            "education",
            "Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th HS-grad Some-college Assoc-voc Assoc-acdm Bachelors "
            "Masters Prof-school Doctorate",
        ),
        ranged("education_num educational_num", 1, 16, "the sixteen levels of education, counted"),
        listed(
            "marital_status",
            "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse",
        ),
        listed(
            "occupation",
            "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
            "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv "
            "Armed-Forces",
            gaps=True,
        ),
        listed("relationship", "Wife Own-child Husband Not-in-family Other-relative Unmarried"),
        listed("race", "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
        listed("sex gender", "Female Male"),
        ranged("capital_gain", 0, 99_999, "the survey wrote five digits"),
        ranged(
            "capital_loss", 0, 5_000, "a round number above the 3,000 that US tax law lets a household deduct in a year"
        ),
        ranged("hours_per_week", 1, 99, "the extract takes hours above 0, and the survey wrote two digits"),
        listed(
            "native_country country",
            "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan Greece "
            "South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France "
            "Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand "
            "Yugoslavia El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands",
            gaps=True,
        ),
        listed("salary_class salary income class", "<=50K >50K"),
    ),
)

CODEBOOKS = (ADULT,)


def codebook(names: Sequence[str]) -> Codebook | None:
    """The codebook of the public dataset that a table with columns of these names is taken for."""
    return next((book for book in CODEBOOKS if book.describes(names)), None)
