"""Sparse data against the score as it is written, and on people who don't exist."""

from __future__ import annotations

from datetime import date, timedelta
from math import exp, log
from statistics import pstdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import KAnonymity, anonymize, read
from discreet.attacks.on_rows import made_up_ratings
from discreet.attacks.rows import Log, sparse
from discreet.attacks.targets.rows import Rows
from discreet.errors import InvalidArgument

DAY = date(2024, 1, 1)
THINGS = st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(1, 5), st.integers(0, 90))


def columns(things: list[tuple[int, int, int, int]]) -> dict[str, list[Any]]:
    """Things that were done, as columns."""
    return {
        "person": [each[0] for each in things],
        "item": [each[1] for each in things],
        "value": [each[2] for each in things],
        "date": [DAY + timedelta(days=each[3]) for each in things],
    }


@given(st.lists(THINGS, min_size=1, max_size=25), st.lists(THINGS, min_size=1, max_size=8))
def test_scores_are_as_written(done: list[Any], known: list[Any]) -> None:
    """Eccentricities from the scores of every target and every person, one by one."""
    people = sorted({each[0] for each in done})
    support = {item: len({each[0] for each in done if each[1] == item}) for item in range(6)}
    expected = []
    for target in sorted({each[0] for each in known}):
        scores = []
        for person in people:
            score = 0.0
            for _, item, value, day in (each for each in known if each[0] == target):
                near = [
                    exp(-abs(value - other[2]) / 1.5) + exp(-abs(day - other[3]) / 30)
                    for other in done
                    if other[:2] == (person, item)
                ]
                score += max(near, default=0.0) / log(max(support[item], 2))
            scores.append(score)
        best, second = sorted([*scores, 0.0], reverse=True)[:2]
        spread = pstdev(scores)
        expected.append((best - second) / spread if spread > 1e-12 else None)
    found = sparse(columns(done), columns(known), eccentricity=0)
    assert found.people == len(people)
    if None not in expected:
        assert found.eccentricities == pytest.approx(sorted(expected), abs=1e-9)


def test_eight_things_find_people_and_strangers_are_not_claimed() -> None:
    """By eight ratings, half of them off, nearly everybody is found; the twin, strangers' ratings, finds hardly any.

    Nothing is drawn: the data is the same on every run.
    """
    ratings, known = made_up_ratings()
    found = sparse(ratings, known, truth=True)
    assert found.success >= 0.95
    assert found.named_right == found.named
    rest = ratings.filter(_not_of(ratings, known))
    strangers = sparse(rest, known, truth=True)
    assert strangers.named <= 0.2 * found.named
    assert strangers.named_right == 0


def _not_of(ratings: Any, known: Any) -> Any:
    """The rows of people who aren't targets."""
    import pyarrow.compute as pc

    return pc.invert(pc.is_in(ratings["person"], pc.unique(known["person"])))


def test_items_alone_may_do() -> None:
    """Without values and dates each item counts by how rare it is."""
    done = {"who": [1, 1, 2, 2, 3, 3], "what": list("abacad")}
    log, known = Log(person="who", item="what"), {"who": [2, 2], "what": ["a", "c"]}
    assert sparse(done, known, log=log, truth=True, eccentricity=1).best_right == 1
    with pytest.raises(InvalidArgument):
        sparse(done, done, log=log, near_days=0)


LONG = st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(1, 5))


@given(st.lists(LONG, min_size=4, max_size=14), st.lists(LONG, min_size=1, max_size=6))
def test_cells_count_for_the_mean_of_what_they_cover(done: list[Any], known: list[Any]) -> None:
    """Generalised rows are scored as written, by what each cell covers: items share a row, values are averaged."""
    names = ("person", "item", "value")
    table = read({name: [each[place] for each in done] for place, name in enumerate(names)})
    release = anonymize(
        table,
        quasi_identifiers=["item", "value"],
        insensitive=["person"],
        models=[KAnonymity(2)],
        algorithm="mondrian",
    )
    rows = [
        (
            _label(release.records, "person", row),
            _covered(release, table, "item", row),
            _covered(release, table, "value", row),
        )
        for row in range(release.records.rows)
    ]
    people = sorted({each[0] for each in rows})
    expected = []
    for target in sorted({each[0] for each in known}):
        scores = [
            sum(_gained(rows, person, item, value) for who, item, value in known if who == target) for person in people
        ]
        best, second = sorted([*scores, 0.0], reverse=True)[:2]
        spread = pstdev(scores)
        expected.append((best - second) / spread if spread > 1e-12 else None)
    heard = {name: [each[place] for each in known] for place, name in enumerate(names)}
    found = sparse(Rows.of(release, original=table), heard, eccentricity=0)
    if None not in expected:
        assert found.eccentricities == pytest.approx(sorted(expected), abs=1e-9)


def _gained(rows: list[Any], person: Any, item: int, value: int) -> float:
    """What one known thing adds to a person's score."""
    cells = {tuple(sorted(items)) for _, items, _ in rows if _takes(item, items)}
    support = sum(len({who for who, items, _ in rows if tuple(sorted(items)) == cell}) for cell in cells)
    gains = [
        exp(-abs(value - sum(values) / len(values)) / 1.5) / len(items)
        for who, items, values in rows
        if who == person and _takes(item, items)
    ]
    return max(gains, default=0.0) / log(max(support, 2))


def _takes(item: int, cell: set[int]) -> bool:
    """Whether a cell may be this item's; of items that nobody has, ranges are taken at their word."""
    return min(cell) <= item <= max(cell)


def _label(records: Any, name: str, row: int) -> Any:
    """One released cell."""
    column = records.column(name)
    return column.labels()[column.codes[row]]


def _covered(release: Any, table: Any, name: str, row: int) -> set[Any]:
    """The original values that one released cell covers."""
    cells, labels = release.cells.get(name), table.column(name).labels()
    if cells is None:
        return {_label(release.records, name, row)}
    place = cells.labels.index(str(_label(release.records, name, row)))
    return {labels[code] for code in cells.covered(place).tolist()}


def test_rows_that_are_anonymous_one_by_one_give_people_away() -> None:
    """Each row is like four others, and still most people are found: pseudonyms gather what was hidden row by row."""
    done, known = map(read, made_up_ratings())
    release = anonymize(
        done,
        quasi_identifiers=["item", "value", "date"],
        insensitive=["person"],
        models=[KAnonymity(5)],
        algorithm="mondrian",
    )
    found = sparse(Rows.of(release, original=done), known, truth=True)
    assert found.named_right == found.named > 50
    assert found.best_right > 90
    with pytest.raises(InvalidArgument, match="stand for"):
        sparse(release, known)
