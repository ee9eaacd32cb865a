"""Query logs: what follows from a set of sums, against elimination in fractions, done slowly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks.answers import combination, determined, linear_systems, query_log
from discreet.attacks.targets import Exact
from discreet.errors import InvalidArgument
from support.examples import examples

Sets = list[list[bool]]


@st.composite
def logs(draw: st.DrawFn) -> Sets:
    """Queries × rows, some of them sums of others, so that ranks differ."""
    rows = draw(st.integers(1, 9))
    sets = draw(st.lists(st.lists(st.booleans(), min_size=rows, max_size=rows), min_size=1, max_size=9))
    if draw(st.booleans()):
        one, other = draw(st.sampled_from(sets)), draw(st.sampled_from(sets))
        sets.append([a != b for a, b in zip(one, other, strict=True)])
    return sets


def rank(lines: list[list[Fraction]]) -> int:
    """By elimination in fractions, as schoolbooks have it."""
    left, found = [line[:] for line in lines], 0
    for column in range(len(left[0])):
        pivot = next((line for line in left[found:] if line[column]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        left.insert(found, pivot)
        for place, line in enumerate(left):
            if place != found and line[column]:
                factor = line[column] / pivot[column]
                left[place] = [a - factor * b for a, b in zip(line, pivot, strict=True)]
        found += 1
    return found


def follows(sets: Sets, rows: list[int]) -> bool:
    """Whether the total of some rows does: adding it as a query doesn't raise the rank."""
    lines = [[Fraction(int(flag)) for flag in query] for query in sets]
    unit = [Fraction(int(place in rows)) for place in range(len(sets[0]))]
    return rank([*lines, unit]) == rank(lines)


@examples(200)
@given(logs())
def test_rows_are_those_of_slow_elimination(sets: Sets) -> None:
    """Rows, groups and rank."""
    found = determined(sets)
    assert found.rank == rank([[Fraction(int(flag)) for flag in query] for query in sets])
    assert set(found.rows) == {row for row in range(len(sets[0])) if follows(sets, [row])}
    columns = list(zip(*sets, strict=True))
    alike = {tuple(row for row, other in enumerate(columns) if other == column) for column in columns}
    assert set(found.groups) == {rows for rows in alike if len(rows) > 1 and follows(sets, list(rows))}


@examples(100)
@given(logs())
def test_combinations_make_the_row(sets: Sets) -> None:
    """For each row that follows there are factors, which add up to it exactly; for others there are none."""
    found = determined(sets)
    for row in range(len(sets[0])):
        factors = combination(sets, row)
        assert (factors is not None) == (row in found.rows)
        if factors is not None:
            made = [
                sum(factor * flag for factor, flag in zip(factors, column, strict=True))
                for column in zip(*sets, strict=True)
            ]
            assert made == [int(place == row) for place in range(len(sets[0]))]


def test_an_unlucky_prime_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modulo 2, the three pairs of three rows have rank 2, and say nothing of a row; over the rationals they say all.

    The twin, elimination modulo that one prime, is wrong.
    """
    pairs = [[True, True, False], [False, True, True], [True, False, True]]
    real = linear_systems._primes
    assert linear_systems._reduced(np.array(pairs, dtype=np.int64), 2) == ([], 2)
    monkeypatch.setattr(linear_systems, "_primes", lambda: iter([2, 3, 5, *[next(real()) for _ in range(1)]]))
    found = determined(pairs)
    assert (found.rows, found.rank) == ((0, 1, 2), 3)
    assert combination(pairs, 0) == (Fraction(1, 2), Fraction(-1, 2), Fraction(1, 2))


def test_larger_logs_are_proved_too() -> None:
    """A few hundred random sets, fewer than rows: of these, only the rows that were planted follow."""
    rows, queries = 260, 120
    flags = [
        [(row * row * 31 + query * query * 17 + row * query * 7 + (row ^ query) * 5) % 11 < 5 for row in range(rows)]
        for query in range(queries)
    ]
    planted = [not flag if row == 77 else flag for row, flag in enumerate(flags[3])]
    found = determined([*flags, planted])
    assert 77 in found.rows
    assert found.primes > 1
    factors = combination([*flags, planted], 77)
    assert factors is not None
    assert {abs(factor) for factor in factors} == {0, 1}


STAFF = {"name": ["Ada", "Bob", "Cy", "Di", "Eve", "Flo"], "pay": [70, 56, 48, 61, 52, 90], "team": list("aabbcc")}


def test_a_log_of_questions() -> None:
    """Two sums that differ in one person give that person away, by name and value."""
    log = ["team <> 'c'", "team <> 'c' AND name <> 'Bob'", "team = 'c'", "pay > 0"]
    found = query_log(Exact(STAFF), "SUM(pay)", log, naming="name")
    assert found.determined == (1,)
    assert [str(guess) for guess in found.guesses] == ["Bob: SUM(pay) = 56, 100 % sure, right"]
    assert (found.queries, found.rank, found.tried, found.success) == (4, 3, 6, pytest.approx(1 / 6))
    assert (4, 5) in found.groups
    assert (found.pairs[0].one, found.pairs[0].other, found.pairs[0].rows) == (0, 1, 1)
    assert [pair.rows for pair in found.pairs] == sorted(pair.rows for pair in found.pairs)
    assert found.close_pairs == len(found.pairs) == 2


def test_what_is_counted_is_a_measure_too() -> None:
    """Who earns more than 55 follows from counts of those who do."""
    log = ["TRUE", "name <> 'Bob'"]
    found = query_log(Exact(STAFF), "COUNT_IF(pay > 55)", log)
    assert [(guess.who, guess.what, guess.right) for guess in found.guesses] == [
        ("row 1", "COUNT_IF(pay > 55) = 1", True)
    ]


@pytest.mark.parametrize("wrong", [[], [[]], [[1, 0]], [[True], [True, False]], [True]])
def test_what_is_no_log_is_refused(wrong: list[object]) -> None:
    """No query, no row, numbers, lines of different lengths."""
    with pytest.raises(InvalidArgument):
        determined(wrong)  # type: ignore[arg-type]  # as wrong as it is meant to be


def test_nonsense_is_refused() -> None:
    """A row that isn't there, a log without questions, a table without rows."""
    with pytest.raises(InvalidArgument):
        combination([[True]], 1)
    with pytest.raises(InvalidArgument):
        query_log(Exact(STAFF), "SUM(pay)", [])
    with pytest.raises(InvalidArgument):
        query_log(Exact({"pay": np.array([], dtype=np.int64)}), "SUM(pay)", ["TRUE"])
