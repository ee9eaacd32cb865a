"""Public knowledge: what names of columns say, to whom it applies, and what it must not claim."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from discreet.privacy import Bounds, Keys, Limits, Unit
from discreet.tables import Column, Kind
from discreet.tables.proposals.codebooks import CODEBOOKS, codebook
from discreet.tables.proposals.facts import Fact
from discreet.tables.proposals.names import joined, plain
from discreet.tables.proposals.public_knowledge import FACTS, knowledge
from discreet.tables.proposals.unit_choice import likely_unit, rank_of_id

THIS_YEAR = datetime.now(UTC).year
ALL_FACTS = [*FACTS, *(fact for book in CODEBOOKS for fact in book.facts)]


@pytest.mark.parametrize(
    ("name", "kind", "bounds"),
    [
        ("age", Kind.INTEGER, (0, 125)),
        ("Age", Kind.REAL, (0, 125)),
        ("AGE (years)", Kind.INTEGER, (0, 125)),
        ("patient_age", Kind.INTEGER, (0, 125)),
        ("customerAge", Kind.INTEGER, (0, 125)),
        ("hours-per-week", Kind.INTEGER, (0, 168)),
        ("hours.per.week", Kind.INTEGER, (0, 168)),
        ("education-num", Kind.INTEGER, (0, 30)),
        ("year", Kind.INTEGER, (1900, THIS_YEAR)),
        ("zip_code", Kind.INTEGER, (0, 99_999)),
        ("ZIPCode", Kind.INTEGER, (0, 99_999)),
        ("Systolic BP", Kind.INTEGER, (0, 400)),
        ("bmi", Kind.REAL, (0, 300)),
        ("heart_rate", Kind.INTEGER, (0, 500)),
        ("temperature", Kind.REAL, (-150, 150)),
        ("height_cm", Kind.REAL, (0, 300)),
        ("weight_kg", Kind.REAL, (0, 650)),
        ("discount_pct", Kind.REAL, (0, 100)),
        ("rating", Kind.INTEGER, (0, 10)),
        ("lat", Kind.REAL, (-90, 90)),
    ],
)
def test_bounds_of_well_known_columns(name: str, kind: Kind, bounds: tuple[int, int]) -> None:
    """Names as people write them lead to bounds that hold for everybody."""
    known = knowledge(name, kind)
    assert known is not None
    assert known.bounds == Bounds(*bounds)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *[(name, kind) for name in ("dob", "patient_birth_date") for kind in (Kind.DATE, Kind.TIMESTAMP)],
        *[(name, kind) for name in ("year_of_birth", "yob", "year") for kind in (Kind.INTEGER, Kind.REAL)],
    ],
)
def test_there_are_no_years_to_come(name: str, kind: Kind) -> None:
    """Each year within bounds is a group that is answered, so those that haven't been yet would be noise alone."""
    known = knowledge(name, kind)
    assert known is not None
    assert known.bounds is not None
    last = known.bounds.hi
    assert (last.year if isinstance(last, date) else last) == THIS_YEAR


@pytest.mark.parametrize(
    ("name", "kind", "coding"),
    [
        ("sex", Kind.TEXT, ["Female", "Male"]),
        ("Gender", Kind.TEXT, ["F", "M"]),
        ("sex", Kind.INTEGER, [0, 1, 2, 9]),
        ("month", Kind.INTEGER, list(range(1, 13))),
        ("month", Kind.TEXT, ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]),
        ("is_member", Kind.INTEGER, [0, 1]),
        ("hasChildren", Kind.INTEGER, [0, 1]),
        ("smoker", Kind.TEXT, ["No", "Yes"]),
        ("blood_type", Kind.TEXT, ["A+", "A-", "B+", "B-", "AB+", "AB-", "O+", "O-"]),
    ],
)
def test_codings_of_well_known_columns(name: str, kind: Kind, coding: list[str | int]) -> None:
    """The kind of the column tells numbers from words; among words, all usual codings are known."""
    known = knowledge(name, kind)
    assert known is not None
    assert Keys(coding) in known.codings


def test_states_are_fifty_one() -> None:
    """Fifty states and the District of Columbia, as codes and as names."""
    known = knowledge("state", Kind.TEXT)
    assert known is not None
    assert [len(keys) for keys in known.codings] == [51, 51]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("age", Kind.TEXT),
        ("age", Kind.DATE),
        ("sex", Kind.REAL),
        ("mileage", Kind.INTEGER),
        ("account_age", Kind.INTEGER),
        ("day", Kind.INTEGER),
        ("amount", Kind.REAL),
        ("income", Kind.INTEGER),
        ("", Kind.TEXT),
        ("___", Kind.INTEGER),
        ("年齢", Kind.INTEGER),
        ("is", Kind.INTEGER),
    ],
)
def test_what_nobody_knows(name: str, kind: Kind) -> None:
    """Another kind, a name that only resembles, or one without a public meaning: nothing is claimed."""
    assert knowledge(name, kind) is None


@pytest.mark.parametrize("name", ["name", "First Name", "email", "phoneNumber", "ssn", "customer_name", "IP address"])
def test_direct_identifiers_are_known_in_every_kind(name: str) -> None:
    """What singles people out does so whatever it is written as."""
    for kind in Kind:
        known = knowledge(name, kind)
        assert known is not None
        assert known.identifying


@pytest.mark.parametrize("fact", ALL_FACTS, ids=lambda fact: fact.names.split()[0])
def test_each_fact_makes_a_right_column(fact: Fact) -> None:
    """Each entry declares something that a column of each of its kinds accepts, says why, and writes names plainly."""
    known = fact.knowledge
    assert known.why[:1].islower() or known.why.split()[0].isupper() or not known.why[:1].isalpha() or "/" in known.why
    assert known.identifying + (known.bounds is not None) + bool(known.codings) == 1
    assert all(plain(name) == name for name in fact.names.split())
    for kind in fact.kinds:
        Column(name="x", kind=kind, bounds=known.bounds)
        for keys in known.codings:
            Column(name="x", kind=kind, keys=keys)


def test_no_fact_hides_another() -> None:
    """No name has two entries for one kind: only the first would ever be found."""
    for facts in (FACTS, *(book.facts for book in CODEBOOKS)):
        found = [(joined(name), kind) for fact in facts for name in fact.names.split() for kind in fact.kinds]
        twice = sorted({name for name, kind in found if found.count((name, kind)) > 1})
        assert twice == []


def test_a_codebook_takes_more_than_a_few_names() -> None:
    """Names that many tables have don't make a table the UCI Adult extract; most of its own do."""
    adult = ["age", "workclass", "fnlwgt", "education", "marital-status", "occupation", "relationship", "race"]
    assert codebook(adult) is not None
    assert codebook(adult[1:]) is None
    assert codebook(["age", "sex", "race", "education", "income", "country", "occupation", "name", "zip"]) is None
    assert codebook([]) is None


@pytest.mark.parametrize(
    ("names", "unit"),
    [
        (["visit_id", "patient_id", "age"], "patient_id"),
        (["user_id", "device_id"], "user_id"),
        (["id", "customer_id"], "customer_id"),
        (["ID", "Name", "Gender"], "ID"),
        (["userId"], "userId"),
        (["id_person"], "id_person"),
        (["EmployeeNumber", "department"], "EmployeeNumber"),
        (["patient", "visit"], "patient"),
        (["ssn", "zip"], "ssn"),
        (["household_id", "person_id"], "person_id"),
    ],
)
def test_the_likeliest_id_is_the_unit(names: list[str], unit: str) -> None:
    """A person's id goes before a household's, an official number and an id of who knows what."""
    choice = likely_unit([Column(name=name, kind=Kind.TEXT) for name in names])
    assert choice.unit == Unit(unit)
    assert choice.ids[0] == unit
    one = Limits(rows=1)
    assert choice.limits == (one if unit == "ID" else None)
    assert unit in choice.why


@pytest.mark.parametrize(
    "name", ["paid", "valid", "visit_id", "order_id", "num_users", "insured", "owner", "userage", ""]
)
def test_what_is_no_id_of_people(name: str) -> None:
    """Ids of things, numbers of people, flags and words that end in id make no unit."""
    assert not name or rank_of_id(Column(name=name, kind=Kind.INTEGER)) is None


def test_only_kinds_that_can_be_ids_are() -> None:
    """A unit is never proposed that the table would refuse."""
    for kind in Kind:
        choice = likely_unit([Column(name="person_id", kind=kind)])
        assert choice.unit.is_row == (kind not in {Kind.INTEGER, Kind.TEXT})
