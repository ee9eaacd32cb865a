"""A hierarchy is proposed for any column, fits it, and says why."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity.hierarchies import Calendar, Flat, Intervals, Masking, propose_hierarchy
from discreet.errors import InvalidArgument, SchemaMismatch
from support.ladders import column, shown

VALUES = st.one_of(
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), max_size=40),
    st.lists(st.one_of(st.none(), st.integers(-40, 400)), max_size=40),
    st.lists(st.one_of(st.none(), st.floats()), max_size=40),
    st.lists(st.one_of(st.none(), st.decimals(-(10**6), 10**6, places=2)), max_size=40),
    st.lists(st.one_of(st.none(), st.text(max_size=5)), max_size=40),
    st.lists(st.from_regex(r"[0-9]{5}", fullmatch=True), max_size=40),
    st.lists(st.one_of(st.none(), st.dates()), max_size=40),
    st.lists(st.one_of(st.none(), st.dates().map(date.isoformat)), max_size=40),
    st.lists(st.one_of(st.none(), st.dates().map(lambda day: f"{day:%d.%m.%Y}")), max_size=40),
    st.lists(
        st.one_of(st.none(), st.decimals(0, 999, places=2).map(lambda at: str(at).replace(".", ","))), max_size=40
    ),
    st.lists(st.one_of(st.none(), st.booleans()), max_size=40),
)


@given(VALUES, st.sampled_from(["x", "age", "zip", "sex", "race", "education", "patient_zip"]))
def test_every_column_gets_a_hierarchy_that_fits(values: list[Any], name: str) -> None:
    """It ends in one group, says why without quoting, and a missing value is alone on every level before the last."""
    cells = column(values, name)
    proposal = propose_hierarchy(cells)
    ladder = proposal.hierarchy.ladder(cells)
    assert ladder.height >= 1
    assert ladder.groups(ladder.height) == min(cells.size, 1)
    assert proposal.reason
    assert str(proposal).startswith(f"{name}: ")
    if cells.has_missing:
        for table in shown(ladder, cells)[:-1]:
            assert list(table.values()).count(table[None]) == 1


@pytest.mark.parametrize(
    ("values", "name", "kind"),
    [
        ([17, 90, 33], "age", Intervals),
        ([0.5, 1.5, 99.25], "x", Intervals),
        ([Decimal("0.10"), Decimal("7.20"), Decimal("3.30")], "x", Intervals),
        ([1, 2, 9, 4, 5], "sex", Flat),
        ([1, 2, 9, 4, 5], "race", Flat),
        ([1, 2, 9, 4, 5], "education", Intervals),
        ([0, 1], "x", Flat),
        ([2139, 12345, 12346, 12399, 12401], "patient_zip", Masking),
        (["02139", "12345", "12346", "12399", "12401"], "where", Masking),
        ([f"E{i}.{j}" for i in range(10) for j in range(3)], "icd", Masking),
        (["2020-01-31", "2020-01-30", "2020-02-01", "2021-03-03", "1999-12-31"], "x", Calendar),
        (["2020-02-31", "2020-01-30", "2020-02-01", "2021-03-03", "1999-12-31"], "x", Masking),
        (["9/7/1967", "9/17/1967"], "x", Calendar),
        ([19670907, 19670917, 20010101, 19991231], "x", Calendar),
        ([date(2020, 1, 1), date(2021, 1, 1)], "x", Calendar),
        (["01.01.2020", "1.1.2021"], "x", Calendar),
        ([f"{day}.2.2020" for day in range(1, 31)], "x", Masking),
        ([datetime(2020, 1, 1, 5), datetime(2021, 1, 1)], "x", Calendar),
        (["a", "b", "c"], "x", Flat),
        (["one thing and another " * n for n in range(30)], "x", Flat),
        ([True, False], "x", Flat),
        (["a", "a"], "x", Flat),
        ([None, None], "x", Flat),
        ([], "x", Flat),
    ],
)
def test_what_is_proposed_for_what(values: list[Any], name: str, kind: type) -> None:
    """Each kind of column."""
    assert type(propose_hierarchy(column(values, name)).hierarchy) is kind


def test_masks_have_no_level_that_joins_nobody() -> None:
    """Of codes that end alike, the ending is masked in one go; of those that differ in the first sign only, all is."""
    ends_alike = propose_hierarchy(column(["100**", "200**", "101**", "110**", "210**"] * 5), kind="digits")
    assert ends_alike.hierarchy.ladder(column(["100**", "200**", "101**"])).labels[1:] == (
        ("10***", "20***"),
        ("1****", "2****"),
        ("*",),
    )
    assert isinstance(propose_hierarchy(column(["10", "20", "30"])).hierarchy, Flat)


def test_outliers_do_not_stretch_the_intervals() -> None:
    """One age in a thousand that was mistyped leaves the others their five years; without caution it wouldn't."""
    ages = [20 + place % 60 for place in range(1000)]
    usual = propose_hierarchy(column(ages)).hierarchy
    assert propose_hierarchy(column([*ages, 10**9])).hierarchy == usual
    assert isinstance(usual, Intervals)
    assert usual.cuts[:3] == (0, 5, 10)
    assert propose_hierarchy(column([*set(ages), 10**9])).hierarchy != usual


@given(st.integers(-1000, 1000), st.integers(2, 10**6), st.integers(0, 20))
def test_intervals_are_round_and_few(start: int, span: int, parts: int) -> None:
    """At level 1 at most 21 hold values, and all ends are multiples of a width of 2, or of 1 or 5 with zeros."""
    numbers = sorted({start, start + span, *(start + span * part // 21 for part in range(parts))})
    found = propose_hierarchy(column(numbers), kind="number").hierarchy
    assert isinstance(found, Intervals)
    width = found.cuts[1] - found.cuts[0]
    assert str(width).rstrip("0") in {"1", "5", "2"}
    assert found.cuts[0] <= start < start + span < found.cuts[-1]
    assert {cut % width for cut in found.cuts} == {0}
    assert found.ladder(column(numbers)).groups(1) <= 21


def test_the_kind_and_the_name_can_be_said() -> None:
    """A guess is only a guess; what can't be is refused."""
    numbers = column([2139, 12345, 12346, 12399, 12401])
    assert isinstance(propose_hierarchy(numbers).hierarchy, Intervals)
    assert isinstance(propose_hierarchy(numbers, name="zip").hierarchy, Masking)
    assert isinstance(propose_hierarchy(numbers, kind="digits").hierarchy, Masking)
    assert isinstance(propose_hierarchy(numbers, kind="category").hierarchy, Flat)
    assert propose_hierarchy(column(["1.2.2020"]), kind="date").hierarchy == Calendar()
    with pytest.raises(SchemaMismatch):
        propose_hierarchy(column(["a", "b"]), kind="number")
    with pytest.raises(SchemaMismatch):
        propose_hierarchy(numbers, kind="date")
    with pytest.raises(InvalidArgument):
        propose_hierarchy(numbers, kind="colour")  # type: ignore[arg-type]  # that is the test
