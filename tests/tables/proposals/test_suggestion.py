"""What was seen in the data: what it becomes, what makes nothing, and what only a custodian is told."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import InvalidArgument
from discreet.privacy import Bounds, Keys
from discreet.tables import Column, Kind, Source
from discreet.tables.proposals import ColumnProfile, DataProfile, Origin, Proposal, propose

CSV = Source.of("/data/clinic.csv")


def columns(schema: dict[str, Kind]) -> list[Column]:
    """The schema, as an engine describes it."""
    return [Column(name=name, kind=kind) for name, kind in schema.items()]


def clinic(profile: DataProfile) -> Proposal:
    """A proposal for a table of which public knowledge says all."""
    schema = {"age": Kind.INTEGER, "month": Kind.INTEGER, "smoker": Kind.BOOLEAN, "visited": Kind.DATE}
    return propose(columns(schema), profile, source=CSV)


def test_a_custodian_is_told_where_the_data_does_not_fit() -> None:
    """Public knowledge that the data contradicts stays, and is doubted on the screen, never in the file."""
    profile = DataProfile(
        columns={
            "age": ColumnProfile(lo=-5, hi=80),
            "month": ColumnProfile(lo=0, hi=11),
            "smoker": ColumnProfile(values=(True, None)),
            "visited": ColumnProfile(),
        }
    )
    proposal = clinic(profile)
    assert proposal.tables[0].mismatches == (
        "age: some values aren't in [0, 125] and would be moved to its ends",
        "month: some values aren't among its keys and would be read as NULL",
    )
    assert not any(doubt in proposal.to_toml() for doubt in proposal.tables[0].mismatches)
    fits = DataProfile(columns={"age": ColumnProfile(lo=0, hi=125.0), "month": ColumnProfile(values=(1, 2, None))})
    assert clinic(fits).tables[0].mismatches == ()
    kinds = DataProfile(columns={"age": ColumnProfile(lo=date(2020, 1, 1), hi=date(2021, 1, 1))})
    assert len(clinic(kinds).tables[0].mismatches) == 1
    blood = propose(columns({"continent": Kind.TEXT}), DataProfile(columns={"continent": ColumnProfile()}), source=CSV)
    assert blood.tables[0].mismatches == ("continent: it has too many values to compare with its keys",)


@pytest.mark.parametrize(
    ("lo", "hi", "bounds"),
    [
        (17, 83, (0, 100)),
        (0, 0, (0, 1)),
        (0.02, 0.3, (0, 1)),
        (-3, -2, (-5, 0)),
        (-1, 1, (-1, 1)),
        (-11, 2, (-20, 2)),
        (Decimal("0.1"), Fraction(1001), (0, 2000)),
        (5, 10**30 + 1, (0, 2 * 10**30)),
        (-0.03, 0.04, (Fraction(-5, 100), Fraction(5, 100))),
    ],
)
def test_ranges_are_rounded_outwards(lo: Any, hi: Any, bounds: tuple[Any, Any]) -> None:
    """To 1, 2 or 5 times a power of ten, and to zero where nothing lies below it: less of the data is given away."""
    (item,) = (
        propose(
            columns({"amount": Kind.REAL}),
            DataProfile(columns={"amount": ColumnProfile(lo=lo, hi=hi)}),
            source=CSV,
            leak=True,
        )
        .tables[0]
        .suggestions
    )
    assert item.column.bounds == Bounds(*bounds)


@pytest.mark.parametrize(
    "nothing",
    [
        ColumnProfile(),
        ColumnProfile(lo=1),
        ColumnProfile(lo=float("nan"), hi=1),
        ColumnProfile(lo=float("-inf"), hi=float("inf")),
        ColumnProfile(lo=Decimal("NaN"), hi=1),
        ColumnProfile(lo=date(2020, 1, 1), hi=date(2020, 1, 2)),
        ColumnProfile(lo=date(2020, 1, 1), hi=1),
    ],
)
def test_what_makes_no_range_is_left_blank(nothing: ColumnProfile) -> None:
    """Half a range, one without an end, or one of another kind declares nothing."""
    (item,) = (
        propose(columns({"amount": Kind.REAL}), DataProfile(columns={"amount": nothing}), source=CSV, leak=True)
        .tables[0]
        .suggestions
    )
    assert item.is_blank
    assert item.origin is Origin.SCHEMA


@pytest.mark.parametrize("values", [(), (None,), ("?", ""), tuple(map(str, range(101))), None])
def test_what_makes_no_keys_is_left_blank(values: tuple[str | None, ...] | None) -> None:
    """No values but NULLs, or more than a list of groups has, declare nothing."""
    profile = DataProfile(columns={"city": ColumnProfile(values=values)})
    (item,) = propose(columns({"city": Kind.TEXT}), profile, source=CSV, leak=True).tables[0].suggestions
    assert item.is_blank
    assert item.origin is Origin.SCHEMA


def test_what_leads_to_people_is_never_proposed() -> None:
    """By its form, however many units have it, and however short it is: plates, here; other texts of that size are."""
    for values, expected in ((("AB-CD 123", "XY-Z 99"), True), (("red", "green"), False)):
        profile = DataProfile(columns={"v": ColumnProfile(values=values, units=dict.fromkeys(values, 50))})
        (item,) = propose(columns({"v": Kind.TEXT}), profile, source=CSV, leak=True).tables[0].suggestions
        assert item.is_blank is expected, values


def test_codings_that_do_not_fit_are_shown_beside_what_was_read() -> None:
    """An unusual coding is read off the data, under a mark, with the usual one as the way out."""
    (item,) = (
        propose(
            columns({"sex": Kind.TEXT}),
            DataProfile(
                columns={"sex": ColumnProfile(values=("weiblich", "männlich"), units={"weiblich": 12, "männlich": 10})}
            ),
            source=CSV,
            leak=True,
        )
        .tables[0]
        .suggestions
    )
    assert list(item.column.keys or ()) == ["männlich", "weiblich"]
    assert [choice.keys for choice in item.choices] == [Keys(["Female", "Male"])]


def test_texts_for_null_are_never_keys() -> None:
    """What the custodian says is missing is in no list of keys, of knowledge or data, or the table would refuse it."""
    source = Source.of("t.csv", missing=("Asia", "Rome"))
    profile = DataProfile(columns={"city": ColumnProfile(values=("Rome", "Paris"), units={"Rome": 50, "Paris": 50})})
    proposal = propose(columns({"continent": Kind.TEXT, "city": Kind.TEXT}), profile, source=source, leak=True)
    assert "Asia" not in (proposal.dataset.tables[0].column("continent").keys or ())
    assert list(proposal.dataset.tables[0].column("city").keys or ()) == ["Paris", None]
    assert proposal.dataset.tables[0].source.missing == ("Asia", "Rome")


def test_kinds_that_were_guessed_from_cells_are_said_to_be() -> None:
    """In the file, where others read it: of a source without types at which somebody looked, and of no other."""
    schema = columns({"patient_id": Kind.INTEGER, "age": Kind.INTEGER})
    seen = DataProfile(columns={"patient_id": ColumnProfile(lo=1, hi=2), "age": ColumnProfile(lo=1, hi=2)})
    words = "REVIEW: kinds other than text were guessed from cells"
    assert words in propose(schema, seen, source=CSV).to_toml()
    assert words not in propose(schema, None, source=CSV).to_toml()
    assert words not in propose(schema, seen, source=Source.of("/data/clinic.parquet")).to_toml()
    assert words not in propose(schema[1:], seen, source=CSV).to_toml()  # its name says that it is a number


def keys_of(values: list[str], units: int = 50, **rare: int) -> list[Any]:
    """The keys that are proposed of a column with these texts, where what is seen may be told."""
    profile = DataProfile(columns={"x": ColumnProfile(values=tuple(values), units=dict.fromkeys(values, units) | rare)})
    (item,) = propose(columns({"x": Kind.TEXT}), profile, source=CSV, leak=True).tables[0].suggestions
    return list(item.column.keys or ())


@pytest.mark.parametrize(
    "text",
    [
        "ann@example.org",
        "+44 20 7946 0958",
        "(030) 123-4567",
        "123-45-6789",
        "DE89 3704 0044 0532 0130 00",
        "4111 1111 1111 1111",
        "192.168.10.7",
        "12 Main Street",
        "12b Elm St.",
        "Hauptstraße 5",
        "Calle Mayor, 7",
        "15 rue de la Paix",
        "call " + "her " * 20,
    ],
)
def test_what_leads_to_one_person_is_never_told(text: str) -> None:
    """However many rows have it: neither it nor what stands beside it becomes a key, even where leaks are wanted."""
    assert keys_of(["Berlin", "Bonn"]) == ["Berlin", "Bonn"]
    assert keys_of(["Berlin", "Bonn", text]) == []


def test_what_few_units_have_is_not_told() -> None:
    """It is read as NULL, which is a group then; of ten units it is told, and of a column where all is rare nothing."""
    assert keys_of(["alt", "neu", "selten"], selten=9) == ["alt", "neu", None]
    assert keys_of(["alt", "neu", "selten"], selten=10) == ["alt", "neu", "selten"]
    assert keys_of(["alt", "neu"], units=9) == []


def test_columns_whose_names_end_like_an_address_are_left_out() -> None:
    """In several languages, whatever comes before."""
    for name in ("billing_address", "contactPhone", "work e-mail", "numero de telefono", "Privat-Adresse"):
        found = propose(columns({name: Kind.TEXT, "n": Kind.INTEGER}), source=CSV).tables[0].suggestions
        assert [item.left_out for item in found] == [True, False], name


def test_a_file_without_a_line_of_names_is_noticed() -> None:
    """Its first row would be told in a public file: refused for an address, doubted for numbers and dates."""
    with pytest.raises(InvalidArgument, match="named by a row"):
        propose(columns({"34": Kind.INTEGER, "ann@example.org": Kind.TEXT}), source=CSV)
    doubted = propose(columns({"34": Kind.INTEGER, "2024-05-06": Kind.DATE, "x": Kind.TEXT}), source=CSV).tables[0]
    assert doubted.mismatches == ("2 of its names look like values: does the file begin with a line of names?",)
