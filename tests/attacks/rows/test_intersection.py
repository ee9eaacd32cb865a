"""Intersection of two releases against plain sets, and on releases that are anonymous by themselves."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import read
from discreet.anonymity.models.k_anonymity import KAnonymity
from discreet.anonymity.reduce.anonymize import anonymize
from discreet.attacks.rows import intersection
from discreet.attacks.targets import Exact
from discreet.attacks.targets.answering import Reply
from discreet.attacks.targets.rows import Rows
from discreet.census import synthetic
from discreet.errors import InvalidArgument

ROWS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc")), min_size=1, max_size=12)
PEOPLE = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=6)


def columns(rows: list[tuple[int, str]]) -> dict[str, list[Any]]:
    """Rows as columns."""
    return {"zip": [each[0] for each in rows], "ill": [each[1] for each in rows]}


@given(ROWS, ROWS, PEOPLE)
def test_figures_are_those_of_plain_sets(first: list[Any], second: list[Any], people: list[tuple[int, int]]) -> None:
    """Possible values, common candidates and beliefs, person by person."""
    known = {"zip": [each[0] for each in people], "place": [each[1] for each in people]}
    found = intersection(
        columns(first), columns(second), known, on=["zip"], second_on={"place": "zip"}, sensitive="ill"
    )
    left, common, best = Counter[int](), [], []
    priors = Counter(value for _, value in first)
    for one, other in people:
        a = Counter(value for key, value in first if key == one)
        b = Counter(value for key, value in second if key == other)
        both = set(a) & set(b)
        left[len(both)] += 1
        common.append(sum(min(a[value], b[value]) for value in both))
        weights = [a[value] * b[value] / priors[value] for value in both]
        if weights:
            best.append(max(weights) / sum(weights))
    assert dict(found.left) == left
    assert found.lost == left[0]
    assert found.candidates[2] == min(common)
    assert found.certain[2] == pytest.approx(left[1] / len(people))
    shown = sorted((guess.confidence for guess in found.guesses), reverse=True)
    assert all(any(belief == pytest.approx(each) for each in shown) for belief in best)


def test_two_anonymous_releases_say_more_than_either() -> None:
    """Both releases are 5-anonymous; together they leave fewer candidates than five, and more values are certain.

    The twin, two copies of one release, says nothing new.
    """
    people = read(synthetic(3_000))
    parts = [people.take(rows) for rows in _thirds(people.rows)]
    on, known = ["age", "zip", "sex"], parts[2]
    first, second = (
        Rows.of(
            anonymize(
                part, quasi_identifiers=on, sensitive=["education"], models=[KAnonymity(5)], algorithm="mondrian"
            ),
            original=part,
        )
        for part in parts[:2]
    )
    found = intersection(first, second, known, on=on, sensitive="education")
    assert min(found.candidates[:2]) >= 5
    assert found.candidates[2] < 5
    assert found.lost == 0
    assert found.success > found.baseline
    assert found.certain[2] > 2 * max(found.certain[:2])
    twin = intersection(first, first, known, on=on, sensitive="education")
    assert twin.values[0] == twin.values[2]


@given(ROWS, ROWS, PEOPLE)
def test_exact_answers_say_what_rows_say(first: list[Any], second: list[Any], people: list[tuple[int, int]]) -> None:
    """Asked of both releases, counts give the same possible values; there are no rows to be candidates."""
    known = {"zip": [each[0] for each in people], "ill": ["a", "b", "c", "a", "b", "c"][: len(people)]}
    releases = [columns(rows + [(9, value) for value in "abc"]) for rows in (first, second)]  # all values are known of
    known["zip"] += [9, 9, 9]
    known["ill"] += ["a", "b", "c"]
    by_rows = intersection(*releases, known, on=["zip"], sensitive="ill")
    asked = intersection(*map(Exact, releases), known, on=["zip"], sensitive="ill")
    assert asked.candidates is None
    assert (asked.values, asked.certain, asked.lost, asked.left) == (
        by_rows.values,
        by_rows.certain,
        by_rows.lost,
        by_rows.left,
    )


def test_people_beyond_the_budget_are_not_tried() -> None:
    """Only whom both answered for are counted; a second release knows which values there are from the first."""

    class Tired(Exact):
        """Refuses after eight answers: two about everybody, and two about each person."""

        def _reply(self, sql: str) -> Reply:
            """An answer, or a refusal."""
            return super()._reply(sql) if len(self.replies) < 8 else Reply.refused("budget_exhausted")

    rows = columns([(place, value) for place in range(4) for value in "ab"])
    people = {"zip": [0, 1, 2, 3]}
    assert intersection(rows, Tired(rows), people, on=["zip"], sensitive="ill").tried == 3
    with pytest.raises(InvalidArgument, match="must be known"):
        intersection(Tired(rows), rows, people, on=["zip"], sensitive="ill")


def _thirds(rows: int) -> list[Any]:
    """The first two thirds, the last two, and the one that is in both."""
    import numpy as np

    everybody, third = np.arange(rows), rows // 3
    return [everybody[: 2 * third], everybody[third:], everybody[third : 2 * third]]


def test_somebody_must_be_looked_for() -> None:
    """No people, no attack."""
    rows = {"zip": [1], "ill": ["a"]}
    with pytest.raises(InvalidArgument):
        intersection(rows, rows, read(rows).take(read(rows).column("zip").codes[:0]), on=["zip"], sensitive="ill")
