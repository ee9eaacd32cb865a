"""People who don't exist: a census, whose attributes hang together as those of people do, and a hospital.

They are drawn from pseudorandom numbers, which are the same on every run and every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.census.hospital_tables import Hospital, hospital
from discreet.census.pseudorandom import Reals, Whole, normal, pick, uniform
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pyarrow as pa


__all__ = ["CENSUS_DAY", "EDUCATION", "LARGEST", "Hospital", "hospital", "synthetic"]

CENSUS_DAY = date(2020, 4, 1)
"""The day on which ages are counted."""

LARGEST = 48_995_087
"""The most people there are: a prime, so that cubing modulo it gives each an id of their own."""

EDUCATION = ("No diploma", "High school", "Some college", "Bachelor", "Master", "Doctorate")
"""Levels of education, lowest first."""

_YOUNGEST, _OLDEST = 18, 79
_FEMALE_SHARE = 0.51
_EDUCATION_BY_AGE = {  # from this age on: the share of each level, in the order of EDUCATION
    18: (0.10, 0.36, 0.42, 0.11, 0.01, 0.00),
    25: (0.09, 0.29, 0.26, 0.23, 0.10, 0.03),
    60: (0.15, 0.36, 0.22, 0.16, 0.08, 0.03),
}
_WORK_BY_AGE = {18: (0.68, 32.0), 25: (0.86, 42.0), 60: (0.52, 36.0), 68: (0.18, 24.0)}  # share at work, mean hours
_LOG_WAGE = np.array([-0.35, 0.0, 0.12, 0.45, 0.65, 0.90])  # by education, against High school
_NO_INCOME = 0.35  # share of those below the age of pensions who aren't at work and have nothing of their own
_PENSION_AGE = 60
_GREATEST_INCOME = 500_000


@dataclass(frozen=True, slots=True)
class _People:
    """The traits from which the other columns follow."""

    age: Whole
    female: Reals  # 1 or 0, so that it can be multiplied
    education: Whole

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.age)


def synthetic(n: int = 32_561) -> pa.Table:
    """A census of `n` people, the same on every run; a longer census begins with the shorter one.

    The columns, and how they hang together:

    | column | holds | follows |
    |---|---|---|
    | `name` | given name and surname | sex; common names are common |
    | `dob` | date of birth | age on census day, 1 April 2020; any day of that year of life alike |
    | `zip` | five digits | nothing: 100,000 values alike |
    | `ssn` | `9xx-xx-xxxx`, a range that was never issued; no two alike | nothing |
    | `sex` | Female (51 %) or Male | nothing |
    | `education` | six levels, No diploma to Doctorate | age: the young haven't finished, the old began less |
    | `age` | 18 to 79, alike up to 59, then thinning out to 45 % | nothing |
    | `income` | whole dollars a year, 0 to 500,000; log-normal around its mean | education, age, sex, hours |
    | `hours` | worked a week, 0 to 99, often 40 | age, sex, education |

    With N people and D days of birth about exp(−(N−1)/D) of them share theirs with nobody; here N = 32,561 and
    D = 22,645 give a quarter, and date of birth with ZIP singles out everyone.

    Args:
        n: how many people; 1 to 48,995,087.

    Raises:
        InvalidArgument: `n` is out of range.

    Examples:
        >>> synthetic(3).column("sex").to_pylist()
        ['Male', 'Female', 'Male']
    """
    if type(n) is not int or not 1 <= n <= LARGEST:
        raise InvalidArgument(f"a census has from 1 to {LARGEST:,} people, not {n!r}")
    import pyarrow as pa

    female = (uniform("sex", n) < _FEMALE_SHARE).astype(np.float64)
    age = _ages(n)
    people = _People(age=age, female=female, education=_education(age))
    hours = _hours(people)
    return pa.table(
        {
            "name": _names(female),
            "dob": pa.array(_birthdays(age)),
            "zip": _digits((uniform("zip", n) * 100_000).astype(np.int64), 5),
            "ssn": _ids(n),
            "sex": pa.array(["Male", "Female"]).take(pa.array(female.astype(np.int64))),
            "education": pa.array(EDUCATION).take(pa.array(people.education)),
            "age": pa.array(age),
            "income": pa.array(_income(people, hours)),
            "hours": pa.array(hours),
        }
    )


def _ages(n: int) -> Whole:
    """Ages in years: as many of each up to 59, then fewer with each year."""
    ages = np.arange(_YOUNGEST, _OLDEST + 1)
    weights = 1.0 - 0.55 * np.clip(ages - 59, 0, 20) / 20.0
    return ages[pick("age", weights.astype(np.float64), n)]


def _birthdays(age: Whole) -> Any:  # noqa: ANN401 — datetime64[D], for which NumPy's typing has no short name
    """A day of birth for each age, such that the age is right on census day; every day of the year of life alike."""
    years = np.arange(_OLDEST + 2)
    last = np.array([CENSUS_DAY.replace(year=CENSUS_DAY.year - int(year)) for year in years], dtype="datetime64[D]")
    days = (last[:-1] - last[1:]).astype(np.int64)
    return last[age] - (uniform("dob", len(age)) * days[age]).astype("timedelta64[D]")


def _education(age: Whole) -> Whole:
    """The place in EDUCATION of each person, by age."""
    shares = np.array(list(_EDUCATION_BY_AGE.values()))
    group = np.searchsorted(list(_EDUCATION_BY_AGE), age, side="right") - 1
    return pick("education", shares[group], len(age))


def _hours(people: _People) -> Whole:
    """Hours worked in a week: most in mid-life, fewer for women, more with education; 0 for who isn't at work."""
    n = people.number
    group = np.searchsorted(list(_WORK_BY_AGE), people.age, side="right") - 1
    share, mean = np.array(list(_WORK_BY_AGE.values()))[group].T
    drawn = mean + 0.8 * (people.education - 1) - 3.0 * people.female + 9.0 * normal("hours", n)
    worked = np.where(uniform("full time", n) < 0.01 * mean, 40.0, np.clip(np.rint(drawn), 1.0, 99.0))
    at_work = uniform("at work", n) < share - 0.05 * people.female
    return np.where(at_work, worked, 0.0).astype(np.int64)


def _income(people: _People, hours: Whole) -> Whole:
    """Income in a year: a wage by education, age, sex and hours; else a pension, a little, or nothing."""
    n = people.number
    spread = normal("income", n)
    wage = 10.75 + _LOG_WAGE[people.education] - 0.18 * people.female - 0.0009 * (people.age - 50.0) ** 2
    wage += 0.9 * np.log(np.maximum(hours, 1) / 40.0) + 0.5 * spread
    pension = 9.9 + 0.6 * _LOG_WAGE[people.education] - 0.15 * people.female + 0.4 * spread
    some = np.where(uniform("none", n) < _NO_INCOME, 0.0, np.exp(8.6 + 0.8 * spread))
    idle = np.where(people.age >= _PENSION_AGE, np.exp(pension), some)
    income = np.where(hours > 0, np.exp(wage), idle)
    return np.asarray(np.rint(np.clip(income, 0, _GREATEST_INCOME)), dtype=np.int64)


def _names(female: Reals) -> pa.Array:
    """A given name by sex, and a surname."""
    import pyarrow as pa
    import pyarrow.compute as pc

    n = len(female)
    given = pick("given name", _popularity(len(FEMALE_NAMES)), n)
    surname = pick("surname", _popularity(len(SURNAMES)), n)
    first = pa.array([*MALE_NAMES, *FEMALE_NAMES]).take(pa.array(given + len(MALE_NAMES) * female.astype(np.int64)))
    return pc.binary_join_element_wise(first, pa.array(SURNAMES).take(pa.array(surname)), " ")


def _popularity(names: int) -> Reals:
    """The weights of a number of names: the n-th weighs 1/(n+10)."""
    return np.reciprocal(np.arange(names, dtype=np.float64) + 10.0)


def _ids(n: int) -> pa.Array:
    """Different ids `9xx-gg-ssss`, neither SSNs nor taxpayers' numbers: gg is 01 to 49, ssss 0001 to 9999.

    Cubing is one-to-one modulo a prime that leaves 2 when divided by 3, and shuffles well enough to the eye.
    """
    import pyarrow.compute as pc

    place = (np.arange(n, dtype=np.int64) + 20_200_401) % LARGEST
    shuffled = place * place % LARGEST * place % LARGEST
    rest, serial = np.divmod(shuffled, 9_999)
    area, group = np.divmod(rest, 49)
    return pc.binary_join_element_wise(_digits(900 + area, 3), _digits(group + 1, 2), _digits(serial + 1, 4), "-")


def _digits(numbers: Whole, width: int) -> pa.Array:
    """Each number as text, with zeros in front up to `width`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.utf8_lpad(pa.array(numbers).cast(pa.string()), width, "0")


def _each(names: str) -> tuple[str, ...]:
    """The names of a text, one by one."""
    return tuple(names.split())


FEMALE_NAMES = _each(
    "Maria Anna Emily Grace Olivia Sofia Hannah Laura Julia Clara Nora Alice Ruth Helen Irene Martha Rosa Eva Lucy "
    "Diana Amina Fatima Leila Mei Yuki Priya Anjali Chloe Zoe Naomi Esther Judith Carmen Elena Teresa Paula Sara Vera "
    "Ingrid Astrid Freya Maeve Siobhan Bridget Fiona Audrey Beatrice Cecilia Daphne Edith Florence Gloria Hazel Ivy "
    "Josephine Katherine Lillian Mabel Nadia Ophelia"
)

MALE_NAMES = _each(
    "John David Daniel Thomas Samuel Peter Paul Lucas Noah Adam Henry George Martin Simon Oscar Victor Hugo Leo Max "
    "Felix Omar Ahmed Yusuf Wei Kenji Arjun Rohan Miguel Diego Carlos Luis Pedro Marco Luca Ivan Boris Erik Lars Sven "
    "Magnus Sean Patrick Callum Angus Arthur Benedict Conrad Desmond Edmund Frederick Gilbert Harold Isaac Jerome "
    "Kenneth Leonard Mortimer Nathan Otto Percival"
)

SURNAMES = _each(
    "Smith Garcia Johnson Lee Brown Nguyen Williams Martinez Jones Kim Davis Patel Miller Lopez Wilson Chen Anderson "
    "Khan Taylor Hernandez Thomas Moore Martin Singh Jackson Rivera Thompson White Harris Clark Lewis Robinson Walker "
    "Young Allen King Wright Scott Torres Hill Flores Green Adams Nelson Baker Hall Rossi Campbell Mitchell Carter "
    "Roberts Gomez Phillips Evans Turner Diaz Parker Cruz Edwards Collins Reyes Stewart Morris Morales Murphy Cook "
    "Rogers Gutierrez Ortiz Morgan Cooper Peterson Bailey Reed Kelly Howard Ramos Cox Ward Richardson Watson Brooks "
    "Chavez Wood Bennett Gray Mendoza Ruiz Hughes Price Alvarez Castillo Sanders Myers Long Ross Foster Jimenez Powell "
    "Jenkins Perry Russell Sullivan Bell Coleman Butler Henderson Barnes Fisher Vasquez Simmons Graham Murray Ford "
    "Castro Marshall Owens Harrison Wallace Woods Kennedy Hoffmann Lindqvist Okafor Mensah Tanaka Kowalski Petrov "
    "Haddad Novak Jansen Dubois Moreau Bianchi Silva Costa Larsen Nielsen Virtanen Papadopoulos Yilmaz Abebe Diallo "
    "Achterberg Zimmermann Quigley Underhill Featherstone"
)
