"""A unit moves an exact answer by no more than its limits, whatever it holds and whatever the others hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from discreet.privacy import Limits, Unit
from discreet.query.ir import Exact, Key, Units
from support.engines import compiled_once
from support.questions import column, count, exact, key, run, table_of, total

Row = dict[str, Any]
HI = 100

OWN = st.lists(
    st.fixed_dictionaries(
        {
            "g": st.sampled_from([None, "a", "b", "c", "d"]),
            "h": st.sampled_from([None, 0, 1]),
            "x": st.sampled_from([None, -(2**63), -HI, -7, 1, 33, HI, 2**63 - 1]),
        }
    ),
    min_size=1,
    max_size=7,
)
KEYS = st.sampled_from([[], [key("g")], [key("g", ["a", "b", None])], [key("h", [0, 1]), key("g")]])
LIMITS = (
    st.builds(Limits, rows=st.integers(1, 4))
    | st.builds(Limits, groups=st.integers(1, 3), rows_per_group=st.integers(1, 3))
    | st.builds(Limits, rows=st.integers(1, 4), groups=st.integers(1, 3))
)
SEARCH = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])


def question(keys: list[Key], limits: Limits) -> Exact:
    """Counts, a sum within ±100, and units where they're offered."""
    measures = [count(), total("s", column("x"), lo=-HI, hi=HI)]
    if limits.groups is not None:
        measures.append(Units(name="u"))  # type: ignore[arg-type]  # a measure as well
    return exact(table_of(unit=Unit("id"), limits=limits), measures, keys=keys)


def moves(asked: Exact, units: list[list[Row]]) -> Iterator[dict[str, list[int]]]:
    """For each unit, by how much each measure moves in each group when it goes."""
    rows = [row | {"id": number} for number, unit in enumerate(units) for row in unit]
    with compiled_once():
        with_it = run(asked, rows)
        for gone in range(len(units)):
            without_it = run(asked, [row for row in rows if row["id"] != gone])
            groups = with_it.keys() | without_it.keys()
            yield {
                each.name: [
                    abs(with_it.get(group, {}).get(each.name, 0) - without_it.get(group, {}).get(each.name, 0))
                    for group in groups
                ]
                for each in asked.measures
            }


def is_within(asked: Exact, limits: Limits, moved: dict[str, list[int]]) -> bool:
    """Whether every measure moved within the limits: in few groups, little in each, and little in all."""
    most = {"n": 1, "s": HI, "u": 1}
    for name, sizes in moved.items():
        changed = [size for size in sizes if size]
        if name != "u" and limits.rows is not None and sum(changed) > limits.rows * most[name]:
            return False
        is_private = any(key.values is None for key in asked.keys)
        if limits.groups is not None and (limits.rows is None or name == "u" or is_private):
            per_group = 1 if name == "u" else (limits.rows_per_group or limits.rows or 1) * most[name]
            if len(changed) > limits.groups or any(size > per_group for size in changed):
                return False
    return bool(asked.measures)


@SEARCH
@given(KEYS, LIMITS, st.lists(OWN, min_size=1, max_size=3))
def test_a_unit_moves_the_answer_within_its_limits(keys: list[Key], limits: Limits, units: list[list[Row]]) -> None:
    """For every unit of the table, taken away: all shapes of limits hold in all their norms."""
    asked = question(keys, limits)
    assert all(is_within(asked, limits, each) for each in moves(asked, units))


@pytest.mark.soak
@settings(SEARCH, max_examples=2_000)
@given(KEYS, LIMITS, st.lists(OWN, min_size=1, max_size=4))
def test_a_unit_moves_the_answer_within_its_limits_at_length(
    keys: list[Key], limits: Limits, units: list[list[Row]]
) -> None:
    """The same, for as long as a soak has."""
    asked = question(keys, limits)
    assert all(is_within(asked, limits, each) for each in moves(asked, units))


@pytest.mark.parametrize(
    ("used", "stated"),
    [
        (Limits(rows=3), Limits(rows=2)),
        (Limits(groups=3, rows_per_group=1), Limits(groups=2, rows_per_group=1)),
        (Limits(groups=2, rows_per_group=2), Limits(groups=2, rows_per_group=1)),
        (Limits(rows=3, groups=2), Limits(rows=2, groups=2)),
        (Limits(rows=8, groups=3), Limits(rows=8, groups=2)),
    ],
)
def test_a_limit_that_is_not_kept_is_found(used: Limits, stated: Limits) -> None:
    """The wrong twin: an engine that allows one row or one group more than stated is caught."""
    asked = question([key("g")], used)
    units = [[{"g": group, "x": HI} for group in "abcd" for _ in range(2)], [{"g": "a", "x": 1}]]
    first, *_ = moves(asked, units)
    assert is_within(asked, used, first)
    assert not is_within(asked, stated, first)


@SEARCH
@given(KEYS, LIMITS, OWN, st.lists(OWN, max_size=3))
def test_what_a_unit_adds_depends_on_its_own_rows_alone(
    keys: list[Key], limits: Limits, own: list[Row], others: list[list[Row]]
) -> None:
    """A unit adds the same beside any others: which groups it keeps, and how it is scaled, is its own affair."""
    asked = question(keys, limits)
    mine = [row | {"id": 99} for row in own]
    rest = [row | {"id": number} for number, unit in enumerate(others) for row in unit]
    with compiled_once():
        alone, together, before = run(asked, mine), run(asked, [*rest, *mine]), run(asked, rest)
    for group in alone.keys() | together.keys() | before.keys():
        for each in asked.measures:
            parts = [answer.get(group, {}).get(each.name, 0) for answer in (alone, before, together)]
            assert parts[0] + parts[1] == parts[2]
