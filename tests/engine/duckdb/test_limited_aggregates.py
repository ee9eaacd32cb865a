"""Different values and histograms under limits: equal to a model in plain Python, and moved by no unit beyond them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from random import SystemRandom
from typing import Any

import duckdb
import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from discreet.engine.duckdb.aggregation import MOST_ROWS, Adds, Shape
from discreet.engine.duckdb.contribution_limits import limit_contributions
from discreet.privacy import Limits
from support.limited import (
    Answer,
    Entry,
    asked_in_parts,
    asked_of_duckdb,
    by_hand,
    key_types,
    run_program,
    towards_zero,
    unit_types,
)

BIG = 2**63 - 1
DOMAINS: dict[str, list[Any]] = {
    "BIGINT": [0, 1, 2, -(2**63), BIG],
    "VARCHAR": ["", "a", "ä", "\U0001f600", "a\x01"],
    "BOOLEAN": [False, True],
    "DATE": [date(2024, 2, 29), date(1, 1, 1)],
}
"""For text, an order by characters, by UTF-16 and by bytes would differ."""

MEASURES = {
    "units": st.just((Adds("units", greatest=1), "BIGINT")),
    "constant": st.just((Adds("constant", greatest=7, constant=-7), "BIGINT")),
    "present": st.just((Adds("present", greatest=5, constant=5), "BIGINT")),
    "values": st.just((Adds("values", greatest=2**63), "BIGINT")),
    "distinct": st.sampled_from([(Adds("distinct", greatest=1), kind) for kind in DOMAINS]),
    "histogram": st.sampled_from(
        [(Adds("histogram", greatest=step, constant=step), "BIGINT") for step in (1, 64, 2**62)]
    ),
}
LIMITS = (
    st.builds(Limits, rows=st.integers(1, 5))
    | st.builds(Limits, groups=st.integers(1, 3), rows_per_group=st.integers(1, 4))
    | st.builds(Limits, rows=st.integers(1, 5), groups=st.integers(1, 3))
)


CROWDED = [
    Limits(rows=1),
    Limits(rows=10),
    Limits(groups=2, rows_per_group=1),
    Limits(groups=2, rows_per_group=2),
    Limits(groups=3, rows_per_group=4),
    Limits(rows=10, groups=2),
    Limits(rows=2, groups=3),
]


@dataclass(frozen=True)
class Case:
    """A question and its rows."""

    shape: Shape
    types: tuple[str, ...]
    entries: tuple[Entry, ...]


def rest(of: int) -> Adds:
    """What any values of a measure leave of a constant that is smaller than some of them."""
    return Adds("rest", greatest=2**64, constant=2**62, of=of)


@st.composite
def cases(draw: st.DrawFn, kinds: Sequence[str] = tuple(MEASURES), *, units: Sequence[int] = (0, 1, 2)) -> Case:
    """Any shape, over few units, keys and values, so that all limits bite."""
    limits, keys, owned = draw(LIMITS), draw(st.integers(0, 2)), draw(st.sampled_from(units))
    offered = [kind for kind in kinds if kind != "units" or limits.groups is not None or not keys or not owned]
    measures = draw(st.lists(st.sampled_from(offered).flatmap(MEASURES.__getitem__), min_size=1, max_size=4))
    of = [place for place, (adds, _) in enumerate(measures) if adds.what == "values"]
    measures += [(rest(place), "BIGINT") for place in of if draw(st.booleans())]
    types = tuple(kind for _, kind in measures)
    shape = Shape(
        units=owned,
        keys=keys,
        measures=tuple(adds for adds, _ in measures),
        groups=draw(st.sampled_from([None, 3**keys])),
        limits=limits,
        salt=draw(st.sampled_from(["", "s", "another"])),
        late=tuple(range(keys)) if owned == 0 and draw(st.booleans()) else (),
        rows=draw(st.sampled_from([80, MOST_ROWS])),
    )
    entry = st.builds(Entry, *(st.tuples(*map(st.sampled_from, each)) for each in domains(shape, types)))
    return Case(shape, types, tuple(draw(st.lists(entry, max_size=30))))


def domains(shape: Shape, types: Sequence[str]) -> list[list[list[Any]]]:
    """What each column of the unit, the keys and the measures is drawn from."""
    return [
        [DOMAINS[kind][:2] for kind in unit_types(shape)],
        [[None, *DOMAINS[kind][:2]] for kind in key_types(shape)],
        [[None, *DOMAINS[kind]] for kind in types],
    ]


def crowd(limits: Limits, *, units: int, keys: int) -> Case:
    """All kinds of measures, over so many rows that each unit is over its limits in each way."""
    measures = {
        "constant": (Adds("constant", greatest=7, constant=-7), "BIGINT"),
        "values": (Adds("values", greatest=2**63), "BIGINT"),
        "rest": (rest(1), "BIGINT"),
        "distinct": (Adds("distinct", greatest=1), "BIGINT"),
        "distinct texts": (Adds("distinct", greatest=1), "VARCHAR"),
        "histogram": (Adds("histogram", greatest=64, constant=64), "BIGINT"),
        "wide histogram": (Adds("histogram", greatest=2**62, constant=2**62), "BIGINT"),
    }
    adds, types = zip(*measures.values(), strict=True)
    shape = Shape(units=units, keys=keys, measures=adds, groups=None, limits=limits, salt="s")
    choose = SystemRandom().choice
    rows = [[tuple(map(choose, each)) for each in domains(shape, types)] for _ in range(choose(range(40, 160)))]
    return Case(shape, types, tuple(Entry(*each) for each in rows))


def answer(case: Case, *, colliding: bool = False) -> Answer:
    """What DuckDB says."""
    return asked_of_duckdb(case.shape, case.entries, case.types, colliding=colliding)


@settings(max_examples=80)
@given(cases(), st.booleans())
def test_the_statements_do_what_the_words_say(case: Case, colliding: bool) -> None:
    """All measures together, in all shapes and without, with NULLs, no rows, and hashes that all collide or don't."""
    assert answer(case, colliding=colliding) == by_hand(case.shape, case.entries, case.types, colliding=colliding)


@pytest.mark.parametrize("keys", [0, 1, 2])
@pytest.mark.parametrize("limits", CROWDED)
def test_the_statements_do_so_with_many_rows(limits: Limits, keys: int) -> None:
    """The same with units that are over all limits at once, which short lists of rows hardly ever are."""
    for units in (0, 1, 2):
        case, colliding = crowd(limits, units=units, keys=keys), (units + keys) % 2 == 0  # each with each other
        assert answer(case, colliding=colliding) == by_hand(case.shape, case.entries, case.types, colliding=colliding)


@settings(max_examples=80)
@given(cases(units=(1, 2)), st.booleans())
def test_what_is_noted_of_units_changes_no_answer(case: Case, colliding: bool) -> None:
    """Codes in place of units, and sizes that are theirs or larger."""
    coded = replace(case, shape=coded_shape(case.shape))
    assert answer(coded, colliding=colliding) == by_hand(case.shape, case.entries, case.types, colliding=colliding)


def coded_shape(shape: Shape) -> Shape:
    """The same with codes; keys are looked up late where that may be."""
    by_rows = shape.limits.rows is not None and shape.limits.groups is None
    is_late = by_rows and all(adds.is_summed for adds in shape.measures)
    return replace(shape, is_coded=True, late=tuple(range(shape.keys)) if is_late else ())


@pytest.mark.parametrize("keys", [0, 1, 2])
@pytest.mark.parametrize("limits", CROWDED)
def test_nor_with_many_rows(limits: Limits, keys: int) -> None:
    """The same with units that are over all limits at once."""
    for units in (1, 2):
        case, colliding = crowd(limits, units=units, keys=keys), (units + keys) % 2 == 1
        coded = replace(case, shape=replace(case.shape, is_coded=True))
        assert answer(coded, colliding=colliding) == by_hand(case.shape, case.entries, case.types, colliding=colliding)


@settings(max_examples=60)
@given(cases(), st.sampled_from([2, 3, 8]), st.booleans(), st.booleans())
def test_parts_change_no_answer(case: Case, parts: int, is_coded: bool, colliding: bool) -> None:
    """Units apart, each with all of its rows: what is added up is what all rows together come to."""
    shape = replace(case.shape, is_coded=is_coded and case.shape.units > 0)
    found = asked_in_parts(shape, case.entries, case.types, parts, colliding=colliding)
    assert found == by_hand(case.shape, case.entries, case.types, colliding=colliding)


@pytest.mark.parametrize("limits", CROWDED)
def test_nor_do_parts_of_many_rows(limits: Limits) -> None:
    """The same with units that are over all limits at once."""
    for keys in (0, 1, 2):
        case = crowd(limits, units=1, keys=keys)
        shape = replace(case.shape, is_coded=(keys + CROWDED.index(limits)) % 2 == 0)
        found = asked_in_parts(shape, case.entries, case.types, 2)
        assert found == by_hand(case.shape, case.entries, case.types)


@pytest.mark.soak
@settings(max_examples=5_000)
@given(cases(), st.booleans())
def test_the_statements_do_what_the_words_say_at_length(case: Case, colliding: bool) -> None:
    """The same, for as long as a soak has."""
    assert answer(case, colliding=colliding) == by_hand(case.shape, case.entries, case.types, colliding=colliding)


@settings(max_examples=15)
@given(cases(("distinct", "histogram")), st.data())
def test_the_order_of_rows_is_nothing(case: Case, data: st.DataObject) -> None:
    """Rows in another order give the same answer."""
    shuffled = tuple(data.draw(st.permutations(case.entries)))
    assert answer(replace(case, entries=shuffled)) == answer(case)


def is_within(case: Case, limits: Limits, *, colliding: bool) -> bool:
    """Whether each unit, taken away, moves what is measured by no more than these limits."""
    everything = answer(case, colliding=colliding)
    for unit in {each.unit for each in case.entries}:
        rest = tuple(each for each in case.entries if each.unit != unit)
        less = answer(replace(case, entries=rest), colliding=colliding)
        for adds, sizes in zip(case.shape.measures, moved(case.shape, everything, less), strict=True):
            if adds.what != "units" and limits.rows is not None and sum(sizes) > limits.rows * adds.greatest:
                return False
            if limits.groups is not None and (limits.rows is None or adds.what == "units" or case.shape.groups is None):
                per_group = (limits.rows_per_group or limits.rows or 1) * adds.greatest
                if sum(size > 0 for size in sizes) > limits.groups or any(size > per_group for size in sizes):
                    return False
    return bool(case.entries)


def moved(shape: Shape, before: Answer, after: Answer) -> list[list[int]]:
    """By how much each measure moved in each group, over all of its bins."""
    groups = before.measures.keys() | after.measures.keys()
    nothing = (0,) * len(shape.measures)
    histograms = iter(zip(before.histograms, after.histograms, strict=True))
    moves = []
    for number, adds in enumerate(shape.measures):
        sizes = {
            group: abs(before.measures.get(group, nothing)[number] - after.measures.get(group, nothing)[number])
            for group in groups
        }
        if adds.what == "histogram":
            old, new = next(histograms)
            for place in old.keys() | new.keys():
                sizes[place[:-1]] += abs(old.get(place, 0) - new.get(place, 0))  # of no other group than the query's
        moves.append(list(sizes.values()))
    return moves


@pytest.mark.parametrize("keys", [0, 1, 2])
@pytest.mark.parametrize("limits", CROWDED)
def test_nor_does_one_that_is_over_all_limits(limits: Limits, keys: int) -> None:
    """The same with many rows."""
    assert is_within(crowd(limits, units=1, keys=keys), limits, colliding=False)


@settings(max_examples=30)
@given(cases(("distinct", "histogram"), units=(1, 2)).filter(lambda case: case.entries), st.booleans())
def test_no_unit_moves_an_answer_beyond_the_limits(case: Case, colliding: bool) -> None:
    """For every unit: in few groups, little in each, and little in all, whoever chose the keys and values."""
    assert is_within(case, case.shape.limits, colliding=colliding)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(cases(("distinct", "histogram"), units=(1, 2)).filter(lambda case: case.entries), st.booleans())
def test_no_unit_moves_an_answer_beyond_the_limits_at_length(case: Case, colliding: bool) -> None:
    """The same, for as long as a soak has."""
    assert is_within(case, case.shape.limits, colliding=colliding)


def wide(limits: Limits, *kinds: str) -> Case:
    """One unit with three rows of different values in each of four groups."""
    adds = {
        "units": Adds("units", greatest=1),
        "distinct": Adds("distinct", greatest=1),
        "histogram": Adds("histogram", greatest=4, constant=4),
    }
    measures = tuple(adds[kind] for kind in kinds)
    entries = tuple(Entry((1,), (group,), (value,) * len(kinds)) for group in range(4) for value in range(3))
    shape = Shape(units=1, keys=1, measures=measures, groups=None, limits=limits, salt="s")
    return Case(shape, ("BIGINT",) * len(kinds), entries)


@pytest.mark.parametrize("kind", ["distinct", "histogram"])
@pytest.mark.parametrize(
    ("used", "stated"),
    [
        (Limits(rows=3), Limits(rows=2)),
        (Limits(groups=3, rows_per_group=1), Limits(groups=2, rows_per_group=1)),
        (Limits(groups=2, rows_per_group=2), Limits(groups=2, rows_per_group=1)),
        (Limits(rows=3, groups=2), Limits(rows=2, groups=2)),
        (Limits(rows=12, groups=3), Limits(rows=12, groups=2)),
    ],
)
def test_a_limit_that_is_not_kept_is_found(kind: str, used: Limits, stated: Limits) -> None:
    """The wrong twin: statements that allow one group or one value more than stated are caught."""
    assert is_within(wide(used, kind), used, colliding=False)
    assert not is_within(wide(used, kind), stated, colliding=False)


def test_values_that_collide_do_not_widen_the_limit() -> None:
    """An analyst who makes all hashes collide gets no more values counted; without the tie-break, all of them."""
    case = wide(Limits(groups=4, rows_per_group=2), "distinct")
    assert answer(case, colliding=True).measures == {(group,): (2,) for group in range(4)}
    program = limit_contributions(case.shape)
    careless = [
        each.replace("hash(", "0 * hash(").replace("UBIGINT)), k0, v)", "UBIGINT)))").replace("row_number", "rank")
        for each in program.setup
    ]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE contributions (u0 BIGINT, k0 BIGINT, v0 BIGINT)")
        rows = [[*each.unit, *each.key, *each.values] for each in case.entries]
        connection.executemany("INSERT INTO contributions VALUES (?, ?, ?)", rows)
        found = run_program(connection, replace(program, setup=tuple(careless)), shape=case.shape)
    assert found.measures == {(group,): (3,) for group in range(4)}  # what this test is there to catch


def test_all_measures_are_of_the_same_groups() -> None:
    """The groups that a unit keeps are decided by its rows, whether or not they have a value."""
    kinds = ("units", "distinct", "histogram", "distinct")
    case = wide(Limits(groups=2, rows_per_group=3), *kinds)
    without = tuple(replace(each, values=(*each.values[:3], None)) for each in case.entries)
    found = answer(replace(case, entries=without))
    assert list(found.measures.values()) == [(1, 3, 0, 0)] * 2
    assert {place[:1] for place in found.histograms[0]} == found.measures.keys()


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from([0, 0, 0, 1, 2, None]), min_size=1, max_size=12) | st.just([0] * 11 + [1]),
    st.sampled_from([1, 2, 5, 2**31]),
    st.sampled_from([0, 1, 57, 58, 59, 61, 62]),
)
def test_histograms_are_exact_at_the_ends(values: list[int | None], limit: int, grid: int) -> None:
    """All widths and both ways of scaling give the exact quotient, of products beyond 64 bits."""
    step = 2**grid
    bins = [value for value in values if value is not None]
    wanted = {(each,): towards_zero(bins.count(each) * step, limit, len(bins)) for each in set(bins)}
    wanted = {place: count for place, count in wanted.items() if count}
    entries = [Entry((1,), (), (value,)) for value in values]
    for rows in (len(entries), MOST_ROWS):
        for limits in (Limits(rows=limit), Limits(groups=1, rows_per_group=limit)):
            adds = Adds("histogram", greatest=step, constant=step)
            shape = Shape(units=1, keys=0, measures=(adds,), groups=1, limits=limits, salt="s", rows=rows)
            assert asked_of_duckdb(shape, entries, ["BIGINT"]) == Answer({(): (0,)}, (wanted,))


@pytest.mark.parametrize("limits", [Limits(rows=2**16), Limits(groups=1, rows_per_group=2**16)])
def test_products_beyond_127_bits_are_scaled_exactly(limits: Limits) -> None:
    """For the most rows that there may be, quotient and remainder are scaled apart."""
    rows, step = 70_001, 2**62
    shape = Shape(
        units=1,
        keys=0,
        measures=(Adds("histogram", greatest=step, constant=step),),
        groups=1,
        limits=limits,
        salt="s",
    )
    assert shape.width(step * 2**16) is None
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE contributions AS SELECT 1 AS u0, i % 3 AS v0 FROM range({rows}) AS rows(i)")
        connection.execute("CREATE VIEW source_rows AS SELECT u0 FROM contributions")
        (found,) = run_program(connection, limit_contributions(shape), shape).histograms
    assert found == {(bin_,): len(range(bin_, rows, 3)) * step * 2**16 // rows for bin_ in range(3)}


@pytest.mark.parametrize("limits", [Limits(rows=20), Limits(groups=3, rows_per_group=4)])
def test_threads_are_nothing(limits: Limits) -> None:
    """Enough rows that DuckDB shares them out: one thread and four say the same."""
    measures = (Adds("distinct", greatest=1), Adds("histogram", greatest=1024, constant=1024))
    shape = Shape(units=1, keys=1, measures=measures, groups=None, limits=limits, salt="s")
    program = limit_contributions(shape)
    answers = []
    for threads in (1, 4):
        with duckdb.connect(config={"threads": threads, "preserve_insertion_order": False}) as connection:
            row = "(i * i) % 9973 AS u0, i % 11 AS k0, 'text ' || i % 1000 AS v0, i % 64 AS v1"
            connection.execute(f"CREATE TABLE contributions AS SELECT {row} FROM range(400000) AS rows(i)")
            connection.execute("CREATE VIEW source_rows AS SELECT u0 FROM contributions")
            answers.append(run_program(connection, program, shape))
    assert answers[0] == answers[1]
    assert answers[0].histograms[0]
