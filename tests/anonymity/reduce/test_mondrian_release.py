"""Mondrian's cells, what it refuses, populations, and a real table."""

from __future__ import annotations

from collections import Counter
from datetime import date
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity.columns import Value
from discreet.anonymity.hierarchies import Flat, Listed
from discreet.anonymity.models import DeltaPresence, DistinctDiversity, KAnonymity, KMap, Model
from discreet.anonymity.records import Records, read
from discreet.anonymity.reduce.axes import axis_of
from discreet.anonymity.reduce.cutting import _order
from discreet.anonymity.reduce.mondrian import mondrian, mondrian_beside
from discreet.anonymity.reduce.range_labels import shown
from discreet.anonymity.reduce.recoding import Recoding
from discreet.anonymity.sharing import sharing_of
from discreet.errors import InvalidArgument, SchemaMismatch
from support.exact_ends import every_value_is_shown
from support.examples import examples


def cells(found: Recoding, name: str) -> list[str]:
    """What each row shows."""
    column = found.columns[name]
    return [column.cells.labels[cell] for cell in column.codes.tolist()]


def halves(values: list[object], k: int) -> list[str]:
    """What the rows of a table of one column show where every value may be shown."""
    with every_value_is_shown():
        return cells(mondrian(read({"x": values}), ["x"], [KAnonymity(k)]), "x")


def test_numbers_and_times_are_shown_as_ranges() -> None:
    """An en dash between ends; words where a minus sign would make it hard to read; a single value alone."""
    assert halves([20, 29, 31, 31], 2) == ["20–29", "20–29", "31", "31"]
    assert halves([-5, 2, 3, 9], 2) == ["-5 to 2", "-5 to 2", "3 to 9", "3 to 9"]
    assert halves([0.5, 1.0, 2.25, 2.25], 2) == ["0.5–1", "0.5–1", "2.25", "2.25"]
    days = [date(2020, 1, 31), date(2020, 2, 1), date(2021, 1, 1), date(2021, 1, 1)]
    assert halves([*days], 2) == ["2020-01-31–2020-02-01"] * 2 + ["2021-01-01"] * 2


def test_texts_are_shown_as_sets() -> None:
    """Listed up to eight, then the ends; all of them are a star."""
    assert halves(["b", "a", "d", "d"], 2) == ["{a, b}", "{a, b}", "d", "d"]
    assert halves([*"abcdefghijklmnopqr"], 8) == ["{a … i}"] * 9 + ["{j … r}"] * 9
    assert halves([True, False, True], 2) == ["*"] * 3


def test_missing_values_are_shown_as_themselves() -> None:
    """As a cell, at the end of a range, in a set; and by another name if a value has that one."""
    assert halves([20, 29, None, None], 2) == ["20–29", "20–29", "(missing)", "(missing)"]
    assert halves([20, 29, None], 2) == ["20–29 or (missing)"] * 3
    assert halves(["a", None], 2) == ["*"] * 2
    assert halves(["a", "a", "b", None], 2) == ["a"] * 2 + ["{b, (missing)}"] * 2
    assert halves(["(missing)", "(missing)", None, None], 2) == ["(missing)"] * 2 + ["((missing))"] * 2


@pytest.mark.parametrize("missing", ["own value", "wildcard"])
def test_no_cell_is_missing(missing: str) -> None:
    """Whatever the table takes missing values for, the release has none, so it has no wildcard either."""
    found = mondrian(
        read({"x": [1, 1, None, None], "y": [1, 2, 3, None]}, missing=missing), ["x", "y"], [KAnonymity(2)]
    )
    assert Counter(cells(found, "x")) == {"1": 2, "(missing)": 2}


@given(st.lists(st.text(alphabet='a{},"… ', max_size=4) | st.none(), min_size=1, max_size=12, unique=True))
def test_different_ranges_look_different(values: list[str | None]) -> None:
    """All ranges of a column of awkward texts have labels of their own."""
    records = read({"x": values})
    axis = axis_of(records.column("x"), None)
    size = axis.column.size
    ends = [(low, high) for low in range(size) for high in range(low, size)]
    low, high = np.array(ends, dtype=np.int32).T
    found, place = shown(axis, low, high, sharing_of(records, axis.column, 1))
    assert len(set(found.labels)) == len(ends)
    assert place.tolist() == list(range(len(ends)))


EDUCATION = Listed(
    rows=[
        ("Bachelors", "Higher", "*"),
        ("Masters", "Higher", "*"),
        ("11th", "School", "*"),
        ("9th", "School", "*"),
        ("None", "None", "*"),
    ]
)


def test_a_ladder_keeps_groups_together_and_names_them() -> None:
    """A class is a value, a group or everything, whichever k allows, and stands for all values of its group."""
    values = ["11th", "9th", "9th", "11th", "Masters", "Bachelors", "Masters", "Bachelors"]
    records = read({"e": values})
    ladder = EDUCATION.ladder(records.column("e"))
    assert (
        cells(mondrian(records, ["e"], [KAnonymity(3)], ladders={"e": ladder}), "e") == ["School"] * 4 + ["Higher"] * 4
    )
    found = mondrian(records, ["e"], [KAnonymity(2)], ladders={"e": ladder})
    assert cells(found, "e") == values
    assert cells(mondrian(records, ["e"], [KAnonymity(5)], ladders={"e": ladder}), "e") == ["*"] * 8
    school = mondrian(records, ["e"], [KAnonymity(3)], ladders={"e": ladder}).columns["e"].cells
    assert [school.covered(cell).tolist() for cell in range(2)] == [[0, 1], [2, 3]]


def test_a_group_is_cut_between_its_parts_only() -> None:
    """Three and five rows are possible within School, but the five would be `*` all the same."""
    values = ["11th"] * 3 + ["9th"] * 3 + ["Masters"] * 2
    records = read({"e": values})
    ladder = EDUCATION.ladder(records.column("e"))
    found = mondrian(records, ["e"], [KAnonymity(3)], ladders={"e": ladder})
    assert cells(found, "e") == ["*"] * 8
    assert cells(mondrian(records, ["e"], [KAnonymity(3)]), "e") == ["11th"] * 3 + ["{9th …}"] * 5


def test_a_ladder_without_a_top_names_the_groups_that_a_range_meets() -> None:
    """No group holds the whole table: it is the set of the highest groups."""
    records = read({"e": ["a", "b", "c", "c"]})
    forest = Listed(rows=[("a", "x, y"), ("b", "z"), ("c", "z")])
    found = mondrian(records, ["e"], [KAnonymity(4)], ladders={"e": forest.ladder(records.column("e"))})
    assert cells(found, "e") == ['{"x, y", z}'] * 4
    assert found.columns["e"].cells.covered(0).tolist() == [0, 1, 2]


def test_what_cannot_be_done_is_refused() -> None:
    """Each with its cause; nobody's value is in a message."""
    records = read({"age": [1, 2, 3], "zip": ["a", "b", "c"], "ill": ["flu"] * 3})
    five, people = [KAnonymity(5)], read({"age": [1, 2, 3]})
    with pytest.raises(InvalidArgument, match=r"doesn't meet 5-anonymity.*it has 3 rows"):
        mondrian(records, ["age"], five)
    with pytest.raises(InvalidArgument, match=r"the whole table.*doesn't meet.*ill"):
        mondrian(records, ["age"], [DistinctDiversity(2, "ill")])
    with pytest.raises(InvalidArgument, match="needs a model"):
        mondrian(records, ["age"], [])
    with pytest.raises(InvalidArgument, match="one or more quasi-identifiers"):
        mondrian(records, [], five)
    with pytest.raises(SchemaMismatch, match="'weight'"):
        mondrian(records, ["weight"], five)
    with pytest.raises(SchemaMismatch, match="'pay'"):
        mondrian(records, ["age"], [DistinctDiversity(2, "pay")])
    with pytest.raises(InvalidArgument, match="both quasi-identifying and sensitive"):
        mondrian(records, ["ill"], [DistinctDiversity(1, "ill")])
    with pytest.raises(InvalidArgument, match="'ill' has a ladder"):
        mondrian(records, ["age"], [KAnonymity(2)], ladders={"ill": Flat().ladder(records.column("ill"))})
    with pytest.raises(InvalidArgument, match="made for another column"):
        mondrian(records, ["age"], [KAnonymity(2)], ladders={"age": Flat().ladder(records.column("ill"))})
    with pytest.raises(InvalidArgument, match="population"):
        mondrian(records, ["age"], [KMap(2)], population=people, relaxed=True)
    with pytest.raises(InvalidArgument, match="population"):
        mondrian(records, ["age"], [KMap(2)])


@pytest.mark.parametrize("relaxed", [False, True])
def test_small_and_uniform_tables(relaxed: bool) -> None:
    """One row; rows that are all equal; constant columns beside one that varies."""
    assert cells(mondrian(read({"x": [7]}), ["x"], [KAnonymity(1)], relaxed=relaxed), "x") == ["7"]
    assert cells(mondrian(read({"x": [7] * 9}), ["x"], [KAnonymity(2)], relaxed=relaxed), "x") == ["7"] * 9
    records = read({"x": ["u"] * 4, "y": [1, 1, 2, 2], "z": [None] * 4})
    found = mondrian(records, ["x", "y", "z"], [KAnonymity(2)], relaxed=relaxed)
    assert [cells(found, name) for name in "xyz"] == [["u"] * 4, ["1", "1", "2", "2"], ["(missing)"] * 4]


PLACES = st.lists(st.tuples(st.sampled_from([1, 2, 5, 9]), st.sampled_from("abc")), min_size=1, max_size=15)


@examples(200)
@given(PLACES, PLACES, st.sampled_from([KMap(2), KMap(4), DeltaPresence(0, 0.5), DeltaPresence(0.2, 0.8)]))
def test_populations_are_counted_in_the_released_ranges(
    rows: list[tuple[int, str]], people: list[tuple[int, str]], model: Model
) -> None:
    """Each class has as many people of the population as its ranges hold: the model, by its definition, is met.

    A share of the population that must be reached can't be checked where it has values that the table lacks.
    """
    records, population = table(rows), table([*rows, *people])

    def met(mine: int, all_: int) -> bool:
        if isinstance(model, KMap):
            return all_ >= model.k
        assert isinstance(model, DeltaPresence)
        return Fraction(str(model.lo)) <= Fraction(mine, all_) <= Fraction(str(model.hi))

    known = [{row[i] for row in rows} for i in range(2)]
    inside = [p for p in [*rows, *people] if p[0] in known[0] and p[1] in known[1]]
    unchecked = isinstance(model, DeltaPresence) and model.lo and len(inside) < len(rows) + len(people)
    if unchecked or not met(len(rows), len(inside)):
        with pytest.raises(InvalidArgument, match="the lower end" if unchecked else "the whole table"):
            mondrian(records, ["x", "y"], [model], population=population)
        return
    beside = mondrian_beside(records, ["x", "y"], [model], population)
    found = beside.recoding
    columns = [(records.column(name).labels(), found.columns[name]) for name in "xy"]
    for shape, mine in Counter(zip(*(each.codes.tolist() for _, each in columns), strict=True)).items():
        held: list[set[Value]] = [
            {labels[code] for code in each.cells.covered(cell)}
            for (labels, each), cell in zip(columns, shape, strict=True)
        ]
        inside = sum(x in held[0] and y in held[1] for x, y in [*rows, *people])
        assert met(mine, inside)
        texts = [each.cells.labels[cell] for (_, each), cell in zip(columns, shape, strict=True)]
        released = beside.population.to_arrow().to_pylist()
        assert released.count({"x": texts[0], "y": texts[1]}) == inside


def table(rows: list[tuple[int, str]]) -> Records:
    """Numbers and texts."""
    return read({"x": [x for x, _ in rows], "y": [y for _, y in rows]})


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 99)), min_size=1, max_size=30, unique=True))
def test_entries_are_ordered_also_where_one_number_cannot_hold_all(entries: list[tuple[int, int]]) -> None:
    """By key, then by tie-breaker; packed into one number and not."""
    keys, ties = np.array(entries, dtype=np.int64).T.copy()
    for span in (4, 1 << 62):
        order = _order(keys, span, ties, 100)
        assert [entries[i] for i in order] == sorted(entries)
        assert keys[_order(keys, span, None, 100)].tolist() == sorted(keys.tolist())


@pytest.mark.parametrize("relaxed", [False, True])
def test_adult(trial_data: Path, relaxed: bool) -> None:
    """Eight quasi-identifiers of 30,162 people: 5-anonymous, and nearly as fine as that allows."""
    records = read(trial_data / "adult_arx" / "adult.csv")
    names = [name for name in records.names if name != "salary-class"]
    found = mondrian(records, names, [KAnonymity(5)], relaxed=relaxed)
    sizes = Counter(zip(*(found.columns[name].codes.tolist() for name in names), strict=True))
    assert min(sizes.values()) >= 5
    assert records.rows / len(sizes) < 2 * 5
    turned = records.take(np.arange(records.rows)[::-1])
    other = mondrian(turned, names, [KAnonymity(5)], relaxed=relaxed)
    rows = [cells(found, name) for name in names], [cells(other, name) for name in names]
    ages = [each.column("age").codes.tolist() for each in (records, turned)]
    left, right = (Counter(zip(*each, age, strict=True)) for each, age in zip(rows, ages, strict=True))
    assert left == right
