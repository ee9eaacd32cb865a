"""The hospital: patients who don't exist, and their visits, of which a few people have very many."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.census.pseudorandom import Whole, normal, pick, uniform
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pyarrow as pa

WARDS = ("Births", "Cancer", "Child", "Heart", "Injury")
"""The wards, in the order of their names."""

INSURANCES = ("none", "private", "public")
"""How patients are insured, in the order of the words."""

MOST_PATIENTS = 1_000_000

DECLARED = """\
name = "hospital"
ledger = "hospital.ledger"
adjacency = "add_remove"

[budget]
epsilon = 6
delta = 1e-6

[tables.patients]
source = "patients.csv"
unit = "patient_id"
limits = { rows = 1 }

[tables.patients.columns]
patient_id = { kind = "integer" }
born = { kind = "integer", bounds = [1920, 2025] }
sex = { kind = "text", keys = ["Female", "Male"] }
zip = { kind = "text" }
insurance = { kind = "text", keys = ["none", "private", "public"] }

[tables.visits]
source = "visits.csv"
links = { patient_id = "patients.patient_id" }
limits = { rows = 40 }
most_rows_per_unit = 200

[tables.visits.columns]
patient_id = { kind = "integer" }
day = { kind = "date", bounds = [2024-01-01, 2025-12-31] }
diagnosis = { kind = "text" }
cost = { kind = "integer", bounds = [0, 20_000] }
ward = { kind = "text", keys = ["Births", "Cancer", "Child", "Heart", "Injury"] }

[analysts]
ann = { epsilon = 2 }
ben = { epsilon = 1 }
chloe = { epsilon = 1 }
dario = { epsilon = 1 }
eva = { epsilon = 1 }
"""
"""What a custodian declares of the hospital, as a `discreet.toml` beside `patients.csv` and `visits.csv`."""

_FIRST_DAY, _DAYS = date(2024, 1, 1), 731  # 2024 and 2025
_LAST_BIRTH, _OLDEST = 2023, 95
_FEMALE = 0.52  # share of the patients
_TOWNS = 400  # ZIP codes, some with many patients
_MEDIAN, _SPREAD, _MOST = 5.0, 0.872, 400  # of a patient's visits: log-normal; one in a hundred has 38 or more
_MAIN_WARD = 0.7  # share of a patient's visits that are to one ward
_WARD_BY_AGE = {  # from this age on: the weight of each ward, in the order of WARDS; Births for women alone
    0: (0, 1, 14, 0, 5),
    18: (8, 1, 0, 2, 12),
    45: (0, 5, 0, 8, 12),
    65: (0, 8, 0, 12, 12),
}
_LOG_COST = np.array([7.6, 7.9, 5.4, 7.0, 6.2])  # by ward
_DIAGNOSES = (  # of each ward, by ICD-10: the first is common, the last is rare
    ("O80", "O82", "O14"),
    ("C50", "C34", "C61"),
    ("J21", "A09", "H66"),
    ("I10", "I50", "I21"),
    ("S06", "S72", "T78"),
)
_GREATEST_COST = 100_000


class Hospital(NamedTuple):
    """Two tables of the same people.

    Args:
        patients: a row for each patient.
        visits: a row for each visit; `patient_id` says whose.
    """

    patients: pa.Table
    visits: pa.Table


def hospital(n: int = 10_000) -> Hospital:
    """A hospital of `n` patients, the same on every run.

    | table | column | holds |
    |---|---|---|
    | patients | `patient_id` | 100,001 and on |
    | | `born` | the year of birth, 1928 to 2023 |
    | | `sex` | Female or Male |
    | | `zip` | five digits, 400 different ones, some with many patients |
    | | `insurance` | none, private or public |
    | visits | `patient_id` | whose visit it is |
    | | `day` | of 2024 and 2025 |
    | | `ward` | one of five; most visits of a patient are to the same |
    | | `diagnosis` | a code of three characters, by ward |
    | | `cost` | 20 to 100,000, log-normal around the ward's mean |

    How many visits a patient has is log-normal: five in the middle, 38 or more for one in a hundred, at most 400.

    Args:
        n: how many patients; 1 to 1,000,000.

    Raises:
        InvalidArgument: `n` is out of range.

    Examples:
        >>> patients, visits = hospital(100)
        >>> patients.num_rows, visits.column_names
        (100, ['patient_id', 'day', 'ward', 'diagnosis', 'cost'])
    """
    if type(n) is not int or not 1 <= n <= MOST_PATIENTS:
        raise InvalidArgument(f"a hospital has from 1 to {MOST_PATIENTS:,} patients, not {n!r}")
    import pyarrow as pa

    ids = np.arange(100_001, 100_001 + n, dtype=np.int64)
    age = (uniform("hospital: age", n) ** 0.8 * (_OLDEST + 1)).astype(np.int64)
    female = (uniform("hospital: sex", n) < _FEMALE).astype(np.int64)
    town = pick("hospital: zip", 1 / (np.arange(_TOWNS) + 20.0), n)
    insurance = pick("hospital: insurance", np.array([0.08, 0.3, 0.62]), n)
    patients = pa.table(
        {
            "patient_id": ids,
            "born": _LAST_BIRTH - age,
            "sex": pa.array(["Male", "Female"]).take(pa.array(female)),
            "zip": pa.array([f"{53_000 + 7 * number}" for number in range(_TOWNS)]).take(pa.array(town)),
            "insurance": pa.array(INSURANCES).take(pa.array(insurance)),
        }
    )
    drawn = np.rint(_MEDIAN * np.exp(_SPREAD * normal("hospital: visits", n)))
    whose = np.repeat(np.arange(n), np.clip(drawn, 1, _MOST).astype(np.int64))
    return Hospital(patients, _visits(ids, whose, _wards(age, female, whose)))


def _wards(age: Whole, female: Whole, whose: Whole) -> Whole:
    """The ward of each visit: the patient's own, or any that fits age and sex."""
    weights = np.array(list(_WARD_BY_AGE.values()), dtype=np.float64)
    fitting = weights[np.searchsorted(list(_WARD_BY_AGE), age, side="right") - 1]
    fitting[female == 0, WARDS.index("Births")] = 0
    own = pick("hospital: own ward", fitting, len(age))[whose]
    other = pick("hospital: other ward", fitting[whose], len(whose))
    return np.where(uniform("hospital: at home", len(whose)) < _MAIN_WARD, own, other)


def _visits(ids: Whole, whose: Whole, ward: Whole) -> pa.Table:
    """Visits by day, as a hospital writes them down."""
    import pyarrow as pa

    n = len(whose)
    day = np.datetime64(_FIRST_DAY) + (uniform("hospital: day", n) * _DAYS).astype("timedelta64[D]")
    diagnosis = 3 * ward + pick("hospital: diagnosis", np.array([0.6, 0.3, 0.1]), n)
    cost = np.clip(np.exp(_LOG_COST[ward] + 0.8 * normal("hospital: cost", n)), 20, _GREATEST_COST)
    table = pa.table(
        {
            "patient_id": ids[whose],
            "day": pa.array(day),
            "ward": pa.array(WARDS).take(pa.array(ward)),
            "diagnosis": pa.array([code for codes in _DIAGNOSES for code in codes]).take(pa.array(diagnosis)),
            "cost": np.rint(cost).astype(np.int64),
        }
    )
    return table.take(pa.array(np.argsort(day, kind="stable")))
