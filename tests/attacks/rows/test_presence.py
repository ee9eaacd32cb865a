"""Presence: exact answers say who is in the data, and private ones hardly do."""

from __future__ import annotations

from datetime import date, timedelta
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.answers import most_advantage
from discreet.attacks.on_rows import made_up_ratings
from discreet.attacks.rows import Log, presence
from discreet.attacks.targets import Bare, Exact
from discreet.errors import InvalidArgument
from discreet.stats import lower_bound, upper_bound

DAY = date(2024, 1, 1)
THINGS = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 5), st.integers(0, 60))


def columns(things: list[Any]) -> dict[str, list[Any]]:
    """Things that were done, as columns."""
    return {
        "person": [each[0] for each in things],
        "item": [each[1] for each in things],
        "value": [each[2] for each in things],
        "date": [DAY + timedelta(days=each[3]) for each in things],
    }


@given(
    st.lists(THINGS, min_size=1, max_size=20),
    st.lists(THINGS, min_size=1, max_size=8),
    st.sampled_from([0.3, 0.5, 1.0]),
)
def test_answers_count_who_did_enough(done: list[Any], known: list[Any], enough: float) -> None:
    """The question counts people as a loop over people and things does."""
    asked = Exact(columns(done), name="done")
    found = presence(asked, columns(known), near_value=1, near_days=10, enough=enough)
    expected = []
    for target in sorted({each[0] for each in known}):
        things = [each[1:] for each in known if each[0] == target]
        did = [
            sum(any(_near(row[1:], thing) for thing in things) for row in done if row[0] == person)
            for person in {each[0] for each in done}
        ]
        expected.append(sum(number >= ceil(enough * len(things)) for number in did))
    assert [reply.value for reply in asked.replies] == expected
    assert found.said == sum(number > 0 for number in expected)
    assert found.success is None


def _near(row: Any, thing: Any) -> bool:
    """Whether a row may be about a thing."""
    return row[0] == thing[0] and abs(row[1] - thing[1]) <= 1 and abs(row[2] - thing[2]) <= 10


@pytest.fixture(scope="module")
def ratings() -> tuple[Any, Any, Exact]:
    """What is known of a hundred people, the half of them who are in the data, and the data."""
    import pyarrow.compute as pc

    done, known = made_up_ratings(targets=100)
    inside = list(range(0, 100, 2))
    kept = pc.or_(pc.greater_equal(done["person"], 100), pc.equal(pc.bit_wise_and(done["person"], 1), 0))
    return known, inside, Exact(done.filter(kept), name="done")


def test_exact_answers_say_who_is_in(ratings: tuple[Any, Any, Exact]) -> None:
    """By eight things, a quarter of the values and of the dates wrong, everybody is told right."""
    known, inside, exact = ratings
    found = presence(exact, known, inside=inside)
    assert found.success == 1
    assert found.baseline == 0.5
    assert found.advantage == 1


@pytest.mark.long
def test_private_answers_hardly_say_who_is_in(ratings: tuple[Any, Any, Exact]) -> None:
    """At ε = 0.1 whoever is in is called in hardly oftener; the twin, ε = 3, is caught doing better.

    Each bound is exact at 1 − 5e-10, so the two raise a false alarm in at most 1e-9. In 5,000 trials of each kind the
    bounds are some 0.09 wide together; in 1,000, which do for the twin, 0.2: its advantage is 0.9, far above.
    """
    known, inside, exact = ratings
    counted = _replies(exact, known)
    assert _surely(counted, inside, "0.1", 100) <= most_advantage("0.1")
    assert _surely(counted, inside, "3", 20) > most_advantage("0.1")


def _surely(counted: list[Any], inside: list[int], epsilon: str, times: int) -> float:
    """By how much those who are in are called in oftener than the others, at least."""
    places = set(inside)
    private = Bare(_Counted(counted), epsilon=epsilon)
    called: dict[bool, int] = {True: 0, False: 0}
    for _ in range(times):
        for place in range(len(counted)):
            called[place in places] += private.ask(f"{place}").value >= 1
    trials = times * 50
    return lower_bound(called[True], trials, "0.9999999995") - upper_bound(called[False], trials, "0.9999999995")


def _replies(exact: Exact, known: Any) -> list[Any]:
    """The exact answers about each target."""
    before = len(exact.replies)
    presence(exact, known)
    return exact.replies[before:]


class _Counted(Exact):
    """Gives replies that were counted before, by place."""

    def __init__(self, counted: list[Any]) -> None:
        super().__init__({"person": [0]})
        self.counted = counted

    def _reply(self, sql: str) -> Any:
        """The reply of that place."""
        return self.counted[int(sql)]


@pytest.mark.parametrize(
    "wrong",
    [{"enough": 0}, {"enough": 1.1}, {"near_days": -1}, {"near_value": -1}, {"known": {"person": [], "item": []}}],
)
def test_what_is_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    """No targets, no share, no distance below 0."""
    rows = {"person": [1], "item": ["A"]}
    with pytest.raises(InvalidArgument):
        presence(Exact(rows), **{"known": rows, "log": Log(), **wrong})
