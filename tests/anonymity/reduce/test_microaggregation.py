"""Microaggregation against its definitions: MDAV in whole numbers, averages in fractions, the loss from its formula."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import floor, inf
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity.models import DistinctDiversity, KAnonymity
from discreet.anonymity.records import Records, read
from discreet.anonymity.reduce import microaggregation
from discreet.anonymity.reduce.mdav import grid_bits, mdav
from discreet.anonymity.reduce.microaggregation import Microaggregated, microaggregate
from discreet.errors import InvalidArgument, SchemaMismatch
from support.exact_ends import every_value_is_shown
from support.examples import examples


@pytest.fixture(scope="module", autouse=True)
def exact_averages() -> Iterator[None]:
    """Averages as they are: what becomes of those that are somebody's values is tried in `test_range_labels.py`."""
    with every_value_is_shown():
        yield


def slow_mdav(points: Sequence[tuple[int, ...]], k: int) -> list[set[int]]:
    """MDAV-generic, step by step, with ties to the earlier point."""

    def distance(one: Sequence[int], other: Sequence[int]) -> int:
        return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))

    def center(left: list[int]) -> tuple[int, ...]:
        sums = [sum(points[i][c] for i in left) for c in range(len(points[0]))]
        return tuple(floor(Fraction(total, len(left)) + Fraction(1, 2)) for total in sums)

    def group(left: list[int], away: Sequence[int]) -> tuple[set[int], list[int], Sequence[int]]:
        start = points[min(left, key=lambda i: (-distance(points[i], away), i))]
        taken = set(sorted(left, key=lambda i: (distance(points[i], start), i))[:k])
        return taken, [i for i in left if i not in taken], start

    groups, left = [], list(range(len(points)))
    while len(left) >= 3 * k:
        one, left, start = group(left, center(left))
        other, left, _ = group(left, start)
        groups += [one, other]
    if len(left) >= 2 * k:
        one, left, _ = group(left, center(left))
        groups.append(one)
    return [*groups, set(left)]


GRIDS = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.tuples(*[st.sampled_from([0, 1, 2, 5, 2**20 - 1])] * width), min_size=1, max_size=40)
)


@examples(300)
@given(GRIDS, st.integers(1, 6))
def test_the_groups_are_those_of_the_definition(points: list[tuple[int, ...]], k: int) -> None:
    """The same groups, ties and all."""
    if len(points) >= k:
        found = mdav(np.array(points, dtype=np.float64), k)
        made = [set(np.flatnonzero(found == number).tolist()) for number in range(int(found.max()) + 1)]
        assert made == slow_mdav(points, k)
        assert all(k <= len(each) < 2 * k for each in made)


@given(st.integers(1, 2000))
def test_distances_on_the_grid_are_exact(columns: int) -> None:
    """The largest ones, in as many columns as may be, stay below 2^53; with one more bit they wouldn't."""
    far = 2 ** grid_bits(columns) - 1
    assert 2 * columns * far**2 < 2**53
    assert 2 * columns * (4 * far) ** 2 >= 2**53


NUMBERS: list[Any] = [
    st.integers(-3, 9),
    st.sampled_from([0.5, 0.25, 1e6, -1e-3, 3.0]),
    st.sampled_from([Decimal("0.10"), Decimal("7.25"), Decimal("-2.00")]),
    st.dates(date(2020, 1, 1), date(2020, 1, 20)),
    st.sampled_from([datetime(2020, 1, 1, 12), datetime(2020, 1, 2), datetime(2021, 5, 5, 5, 5, 5)]),
]


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[Any]]:
    """One quasi-identifier to three, and two columns beside them."""
    kinds = draw(st.lists(st.sampled_from(range(len(NUMBERS))), min_size=1, max_size=3))
    size = draw(st.integers(1, 30))
    columns = {f"q{i}": draw(st.lists(NUMBERS[kind], min_size=size, max_size=size)) for i, kind in enumerate(kinds)}
    beside = {name: draw(st.lists(st.sampled_from("ab"), min_size=size, max_size=size)) for name in ("ill", "pay")}
    return columns | beside


def quasi(columns: dict[str, list[Any]]) -> list[str]:
    """The quasi-identifiers."""
    return [name for name in columns if name.startswith("q")]


def labels(found: Microaggregated, name: str) -> list[str]:
    """What each row shows."""
    column = found.recoding.columns[name]
    return [column.cells.labels[cell] for cell in column.codes.tolist()]


def exact(value: Any) -> Fraction:
    """A number, a day since some day, or a microsecond since then."""
    if isinstance(value, datetime):
        return Fraction((value - datetime(1970, 1, 1)) // (datetime(1970, 1, 1, 0, 0, 0, 1) - datetime(1970, 1, 1)))
    return Fraction((value - date(1970, 1, 1)).days) if isinstance(value, date) else Fraction(value)


def read_back(text: str, like: Any) -> Fraction:
    """The number that a label stands for."""
    if isinstance(like, datetime):
        return exact(datetime.fromisoformat(text))
    return exact(date.fromisoformat(text)) if isinstance(like, date) else Fraction(text)


@examples(100)
@given(tables(), st.integers(1, 5), st.integers(0, 3))
def test_rows_show_the_mean_of_their_group(columns: dict[str, list[Any]], k: int, decimals: int) -> None:
    """Exactly, rounded once to the even neighbour; groups have k to 2k − 1 rows; the loss is its formula."""
    size = len(columns["ill"])
    if size < k:
        return
    found = microaggregate(read(columns), quasi(columns), [KAnonymity(k)], decimals=decimals)
    groups = found.groups.tolist()
    assert all(k <= number < 2 * k for number in Counter(groups).values())
    lost: list[float] = []
    for name in quasi(columns):
        values = [exact(value) for value in columns[name]]
        timed = isinstance(columns[name][0], date)
        shown = [read_back(text, columns[name][0]) for text in labels(found, name)]
        for row, group in enumerate(groups):
            mine = [value for value, other in zip(values, groups, strict=True) if other == group]
            mean = sum(mine, Fraction()) / len(mine)
            assert shown[row] == (round(mean) if timed else Fraction(round(mean, decimals)))
        spread = pstdev([float(value - values[0]) for value in values])
        if len(set(values)) > 1:
            lost.append(fmean(float(a - b) ** 2 for a, b in zip(values, shown, strict=True)) / spread**2)
    assert found.loss == pytest.approx(fmean(lost) if lost else 0.0, rel=1e-6, abs=1e-9)


@examples(100)
@given(tables(), st.integers(1, 5))
def test_rows_show_the_median_of_their_group(columns: dict[str, list[Any]], k: int) -> None:
    """The lower one of two, which is a value of the group."""
    if len(columns["ill"]) < k:
        return
    found = microaggregate(read(columns), quasi(columns), [KAnonymity(k)], average="median")
    groups = found.groups.tolist()
    for name in quasi(columns):
        for row, text in enumerate(labels(found, name)):
            mine = sorted(v for v, other in zip(columns[name], groups, strict=True) if other == groups[row])
            middle = mine[(len(mine) - 1) // 2]
            assert float(text) == middle if isinstance(middle, float) else read_back(text, middle) == exact(middle)


@examples(100)
@given(st.data(), tables(), st.integers(1, 5))
def test_the_order_of_rows_means_nothing(data: st.DataObject, columns: dict[str, list[Any]], k: int) -> None:
    """The same rows in another order become the same rows, whatever else is in them."""
    size = len(columns["ill"])
    if size < k:
        return
    order = data.draw(st.permutations(range(size)))
    assert outcome(columns, range(size), k) == outcome(columns, order, k)


CROWD = st.tuples(st.sampled_from([1, 2, 4]), st.sampled_from("ab"), st.sampled_from("ab"))


@examples(100)
@given(st.data(), st.lists(CROWD, min_size=12, max_size=40))
def test_nor_does_it_in_blocks(data: st.DataObject, rows: list[tuple[int, str, str]]) -> None:
    """The same of a table that is cut into small blocks, and in which nearly everything ties."""
    columns: dict[str, list[Any]] = dict(zip(("q0", "ill", "pay"), map(list, zip(*rows, strict=True)), strict=True))
    order = data.draw(st.permutations(range(len(rows))))
    whole = microaggregation._blocks
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(microaggregation, "_DIRECT", 0)
        patch.setattr(microaggregation, "_blocks", lambda records, columns, rest, _: whole(records, columns, rest, 5))
        assert outcome(columns, range(len(rows)), 2) == outcome(columns, order, 2)


def outcome(columns: dict[str, list[Any]], order: Sequence[int], k: int) -> Counter[Any]:
    """What becomes of the rows, handed in in some order."""
    return rows_of(columns, order, microaggregate(taken(columns, order), quasi(columns), [KAnonymity(k)]))


def taken(columns: dict[str, list[Any]], order: Sequence[int]) -> Records:
    """The table, its rows in some order."""
    return read({name: [values[i] for i in order] for name, values in columns.items()})


def rows_of(columns: dict[str, list[Any]], order: Sequence[int], found: Microaggregated) -> Counter[Any]:
    """Released rows beside what they were."""
    before = [[values[i] for i in order] for values in columns.values()]
    return Counter(zip(*before, *(labels(found, name) for name in quasi(columns)), strict=True))


def test_a_larger_table_is_cut_into_blocks_first() -> None:
    """Sizes hold, cells stand for the values that became them, and little is lost over grouping all rows at once."""
    rows = 24_000
    table = pa.table({"x": (np.arange(rows) * 7919) % 30_011, "y": (np.arange(rows) * 104_729) % 997})
    found = microaggregate(read(table), ["x", "y"], [KAnonymity(3)])
    sizes = np.bincount(found.groups)
    assert sizes.min() >= 3
    assert sizes.max() <= 5
    assert found.loss < 0.001
    column, records = found.recoding.columns["x"], read(table)
    for cell in column.codes[:50].tolist():
        became = np.unique(records.column("x").codes[column.codes == cell])
        assert column.cells.covered(cell).tolist() == became.tolist()


def test_rows_that_are_all_alike_take_no_time() -> None:
    """A hundred thousand equal rows aren't searched for neighbours; they are one class."""
    found = microaggregate(read({"x": pa.array([7] * 100_000)}), ["x"], [KAnonymity(5)])
    assert set(labels(found, "x")) == {"7"}
    assert found.loss == 0
    assert np.bincount(found.groups).min() >= 5


def test_groups_of_rows_that_tie_are_no_more_alike_than_they_must_be() -> None:
    """Twelve rows at 5, half of them ill, some of which go with two rows at 9: ill and well alike, not all the ill."""
    records = read({"x": [5] * 12 + [9] * 2 + [0] * 6, "ill": [*"aaaaaabbbbbb", *"aa", *"aaabbb"]})
    found = microaggregate(records, ["x"], [KAnonymity(6)])
    held = Counter(
        zip(labels(found, "x"), records.column("x").codes.tolist(), records.column("ill").codes, strict=True)
    )
    with_nines = next(text for text, x, _ in held if x == 2)
    assert held[with_nines, 1, 0] == held[with_nines, 1, 1] == 2


def test_huge_numbers_do_not_overflow() -> None:
    """The ends of floating point and of 64 bits."""
    found = microaggregate(read({"x": [-1.5e308, -1.4e308, 1.4e308, 1.5e308]}), ["x"], [KAnonymity(2)])
    assert len(set(labels(found, "x"))) == 2
    most = 2**63 - 1
    records = read({"x": pa.array([most, most, -most, -most + 2], pa.int64())})
    assert labels(microaggregate(records, ["x"], [KAnonymity(2)]), "x") == [str(most)] * 2 + [str(1 - most)] * 2


def test_groups_that_show_the_same_are_one_class() -> None:
    """Two groups look alike after rounding; the cell stands for the values of both."""
    found = microaggregate(read({"x": [1.001, 1.002, 1.003, 1.004]}), ["x"], [KAnonymity(2)])
    assert labels(found, "x") == ["1"] * 4
    assert found.recoding.columns["x"].cells.covered(0).tolist() == [0, 1, 2, 3]


def test_a_grouping_that_is_too_fine_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrong twin makes groups of k − 1; the release is tried on what it shows."""
    records = read({"x": [1, 2, 3, 10, 11, 12]})
    monkeypatch.setattr(microaggregation, "mdav", lambda points, k: mdav(points, k - 1))
    with pytest.raises(InvalidArgument, match="don't meet 3-anonymity"):
        microaggregate(records, ["x"], [KAnonymity(3)])


def test_what_cannot_be_done_is_refused() -> None:
    """Each with its cause."""
    records = read({"x": [1, 2, None], "y": ["a", "b", "c"], "z": [1.0, 2.0, inf], "ill": ["a"] * 3, "b": [True] * 3})
    two = [KAnonymity(2)]
    for name, match in {"x": "has missing values", "y": "no numbers", "b": "no numbers", "z": "infinite"}.items():
        with pytest.raises(InvalidArgument, match=match):
            microaggregate(records, [name], two)
    records = read({"x": [1, 2, 3], "ill": ["a"] * 3})
    with pytest.raises(InvalidArgument, match="3 rows can't be a group of 4"):
        microaggregate(records, ["x"], [KAnonymity(4)])
    with pytest.raises(InvalidArgument, match="needs k-anonymity"):
        microaggregate(records, ["x"], [DistinctDiversity(2, "ill")])
    with pytest.raises(InvalidArgument, match="don't meet"):
        microaggregate(records, ["x"], [*two, DistinctDiversity(2, "ill")])
    with pytest.raises(InvalidArgument, match="decimals"):
        microaggregate(records, ["x"], two, decimals=-1)
    with pytest.raises(InvalidArgument, match="mean or median"):
        microaggregate(records, ["x"], two, average="mode")  # type: ignore[arg-type] — what a user may type
    with pytest.raises(SchemaMismatch, match="'w'"):
        microaggregate(records, ["w"], two)


def test_one_row_and_one_value() -> None:
    """K = 1 changes nothing; constant columns beside one that varies don't count."""
    assert labels(microaggregate(read({"x": [7]}), ["x"], [KAnonymity(1)]), "x") == ["7"]
    found = microaggregate(read({"x": [7] * 4, "y": [1, 2, 8, 9]}), ["x", "y"], [KAnonymity(2)])
    assert labels(found, "y") == ["1.5", "1.5", "8.5", "8.5"]
    assert labels(found, "x") == ["7"] * 4
    assert found.loss == pytest.approx(0.02)


def test_medians_may_lose_more_than_everything() -> None:
    """SSE around a median of 0 is 9, that around the mean of all is 6."""
    records = read({"x": [0, 0, 3]})
    assert microaggregate(records, ["x"], [KAnonymity(2)], average="median").loss == pytest.approx(1.5)
    assert microaggregate(records, ["x"], [KAnonymity(2)]).loss == pytest.approx(1)
