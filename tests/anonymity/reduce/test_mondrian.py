"""Mondrian against its definition: cut one class at a time, recursively, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity.columns import Coded, Mask
from discreet.anonymity.frequencies import Frequencies
from discreet.anonymity.hierarchies import Listed
from discreet.anonymity.models import (
    AlphaK,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    Model,
    RecursiveDiversity,
)
from discreet.anonymity.records import Records, read
from discreet.anonymity.reduce.axes import axes_of, coordinates
from discreet.anonymity.reduce.judge import Judge
from discreet.anonymity.reduce.mondrian import mondrian
from discreet.anonymity.reduce.partitioning import partition
from discreet.anonymity.reduce.points import points_of
from discreet.anonymity.reduce.recoding import Recoding
from discreet.errors import InvalidArgument
from support import slow_models as slow
from support.exact_ends import every_value_is_shown
from support.examples import examples
from support.slow_mondrian import Line, Met, Row, lines_of, recursive

TREE = {"a": ("x", "*"), "b": ("y", "*"), "c": ("x", "*"), "d": ("z", "*"), "e": ("y", "*"), "f": ("z", "*")}
"""Value → its groups; in the order of texts they are mixed up."""
FOREST = {"a": ("p", "p"), "b": ("q", "r"), "c": ("p", "p"), "d": ("s", "r"), "e": ("q", "r"), "f": ("t", "u")}
"""The same, with no group for everything."""


@pytest.fixture(scope="module", autouse=True)
def exact_ends() -> Iterator[None]:
    """Ranges as they are cut: what becomes of their ends is tried in `test_range_labels.py`."""
    with every_value_is_shown():
        yield


def classes(found: Recoding, records: Records, *, sensitive: bool) -> Counter[tuple[object, ...]]:
    """What is released: the values that each cell stands for, with the rows that show it."""
    columns = [records.column(name) for name in found.columns]
    texts = [column.labels() for column in columns]
    covered = [
        [frozenset(text[code] for code in each.cells.covered(cell)) for cell in range(len(each.cells.labels))]
        for each, text in zip(found.columns.values(), texts, strict=True)
    ]
    ill = records.column("ill")
    return Counter(
        (
            tuple(covered[i][each.codes[row]] for i, each in enumerate(found.columns.values())),
            tuple(text[column.codes[row]] for column, text in zip(columns, texts, strict=True)),
            ill.labels()[ill.codes[row]] if sensitive else None,
        )
        for row in range(records.rows)
    )


def expected(parts: list[list[Row]], lines: list[Line], *, sensitive: bool) -> Counter[tuple[object, ...]]:
    """The same, of classes that are written out."""
    found: Counter[tuple[object, ...]] = Counter()
    for rows in parts:
        cells = tuple(line.cell({row[i] for row in rows}) for i, line in enumerate(lines))
        found.update((cells, row[:-1], row[-1] if sensitive else None) for row in rows)
    return found


COLUMNS = {
    "number": st.sampled_from([3, 5, 6, 10, 21, 22]),
    "missing": st.sampled_from([3, 5, 10, 21, None]),
    "text": st.sampled_from([*"abcdef", None]),
    "tree": st.sampled_from("abcdef"),
    "forest": st.sampled_from("abcdef"),
}
TREES = {"tree": TREE, "forest": FOREST}
ILL = st.sampled_from(["flu", "cold", "flu", "gout", "flu"])


def counts(rows: Sequence[Row]) -> Counter[object]:
    """The sensitive values of some rows."""
    return Counter(row[-1] for row in rows)


def model(draw: st.DrawFn, whole: Sequence[Row]) -> tuple[Model, Met]:
    """A model of any kind, and what its definition says of a class."""
    some = draw(st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1), Fraction(2)]))
    share, k = min(some, Fraction(1)), draw(st.integers(1, 4))
    table = counts(whole)
    kinds: list[tuple[Model, Met]] = [
        (KAnonymity(k), lambda rows: len(rows) >= k),
        (AlphaK(share, k, "ill"), lambda rows: len(rows) >= k and slow.largest_share(counts(rows)) <= share),
        (DistinctDiversity(2, "ill"), lambda rows: len(counts(rows)) >= 2),
        (EntropyDiversity(1 + share, "ill"), lambda rows: slow.reaches_entropy(counts(rows), 1 + share)),
        (RecursiveDiversity(some, 2, "ill"), lambda rows: slow.recursive(counts(rows), 2) < some),
        (Closeness(share, "ill"), lambda rows: slow.equal_distance(counts(rows), table) <= share),
        (BetaLikeness(some, "ill"), lambda rows: slow.likeness(counts(rows), table) <= some),
        (DeltaDisclosure(some, "ill"), lambda rows: slow.disclosure(counts(rows), table) <= some),
    ]
    return kinds[draw(st.integers(0, len(kinds) - 1))]


@dataclass(frozen=True)
class Case:
    """A table, what is asked for, and the definition's verdict on classes."""

    rows: list[Row]
    kinds: list[str]
    models: list[Model]
    met: Met

    @property
    def sensitive(self) -> bool:
        """Whether a model is about the sensitive attribute."""
        return any(each.sensitive for each in self.models)

    @property
    def lines(self) -> list[Line]:
        """The quasi-identifiers."""
        return lines_of(self.rows, [TREES.get(kind) for kind in self.kinds])

    def records(self, order: Sequence[int] | None = None) -> Records:
        """The table, its rows in some order."""
        rows = self.rows if order is None else [self.rows[i] for i in order]
        columns = {f"q{i}": [row[i] for row in rows] for i in range(len(self.kinds))}
        return read({**columns, "ill": [row[-1] for row in rows]})

    def run(self, records: Records, *, relaxed: bool) -> Recoding:
        """Mondrian on it."""
        names = [f"q{i}" for i in range(len(self.kinds))]
        ladders = {
            name: Listed(rows=[(value, *groups) for value, groups in TREES[kind].items()]).ladder(records.column(name))
            for name, kind in zip(names, self.kinds, strict=True)
            if kind in TREES
        }
        return mondrian(records, names, self.models, relaxed=relaxed, ladders=ladders)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """One row to forty, one quasi-identifier to three of any kind, one model or two."""
    kinds = draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, max_size=3))
    rows: list[Row] = draw(
        st.lists(st.tuples(*(COLUMNS[kind] for kind in kinds), ILL), min_size=1, max_size=draw(st.integers(1, 40)))
    )
    asked = [model(draw, rows) for _ in range(draw(st.integers(1, 2)))]
    return Case(rows, kinds, [each for each, _ in asked], lambda part: all(met(part) for _, met in asked))


@examples(250)
@given(cases(), st.booleans())
def test_the_classes_are_those_of_the_definition(case: Case, relaxed: bool) -> None:
    """The same cells for the same rows; refused where the whole table doesn't meet the models."""
    records = case.records()
    if not case.met(case.rows):
        with pytest.raises(InvalidArgument, match="the whole table"):
            case.run(records, relaxed=relaxed)
        return
    found = classes(case.run(records, relaxed=relaxed), records, sensitive=case.sensitive)
    parts = recursive(case.rows, case.lines, case.met, relaxed=relaxed, whole=case.rows)
    assert found == expected(parts, case.lines, sensitive=case.sensitive)


@st.composite
def crowds(draw: st.DrawFn) -> Case:
    """Up to sixty rows on a few places, for k alone: many ties, and rows that only the sensitive value tells apart."""
    width, k = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    row = st.tuples(*[st.sampled_from([1, 2, 4])] * width, ILL)
    rows: list[Row] = draw(st.lists(row, min_size=20, max_size=60))
    return Case(rows, ["number"] * width, [KAnonymity(k)], lambda part: len(part) >= k)


@examples(150)
@given(crowds(), st.booleans())
def test_ties_are_settled_by_definition(case: Case, relaxed: bool) -> None:
    """The same comparison where nearly everything ties."""
    records = case.records()
    found = classes(case.run(records, relaxed=relaxed), records, sensitive=False)
    rows: list[Row] = [(*row[:-1], "") for row in case.rows]
    parts = recursive(rows, case.lines, case.met, relaxed=relaxed, whole=rows)
    assert found == expected(parts, case.lines, sensitive=False)


@examples(150)
@given(st.data(), crowds())
def test_rows_are_dealt_whatever_their_order(data: st.DataObject, case: Case) -> None:
    """Which row of those that share a point gets which cell depends on what is in the row alone."""
    order = data.draw(st.permutations(range(len(case.rows))))
    one, other = case.records(), case.records(order)
    left = classes(case.run(one, relaxed=True), one, sensitive=True)
    assert left == classes(case.run(other, relaxed=True), other, sensitive=True)


def test_what_is_common_among_alike_rows_stays_common() -> None:
    """Twelve people of one age and ZIP, half of them ill, are split between two classes: half of each part is ill.

    The wrong twin, filling one class first in the order of the sensitive values, would make one class all ill.
    """
    rows = [(1, "cold")] * 6 + [(1, "flu")] * 6 + [(2, "flu")] * 4 + [(0, "cold")] * 4
    records = read({"age": [age for age, _ in rows], "ill": [ill for _, ill in rows]})
    for models in ([KAnonymity(10)], [KAnonymity(10), DistinctDiversity(2, "ill")]):
        found = mondrian(records, ["age"], models, relaxed=True)
        held = Counter(zip(found.columns["age"].codes.tolist(), rows, strict=True))
        assert sorted(n for (_, (age, _)), n in held.items() if age == 1) == [3, 3, 3, 3]


def test_a_missing_value_lies_an_average_step_beyond() -> None:
    """10, 20, 60 are 25 apart on average, so that a missing one is at 85; all doubled, to keep whole numbers whole."""
    column = read({"x": [10, 60, 20, None]}).column("x")
    assert (coordinates(column) / 2).tolist() == [10, 20, 60, 85]


def shown(found: Recoding, records: Records) -> dict[tuple[str, ...], list[Row]]:
    """The classes of the release as anybody can form them: rows with the same labels."""
    made: dict[tuple[str, ...], list[Row]] = {}
    labels = [column.labels() for column in records.columns.values()]
    for row in range(records.rows):
        key = tuple(each.cells.labels[each.codes[row]] for each in found.columns.values())
        values = [text[c.codes[row]] for c, text in zip(records.columns.values(), labels, strict=True)]
        made.setdefault(key, []).append(tuple(values))
    return made


@examples(150)
@given(cases(), st.booleans())
def test_what_is_shown_meets_every_model(case: Case, relaxed: bool) -> None:
    """Classes formed by label, also where several look alike; every row is covered by what is shown for it."""
    if case.met(case.rows):
        records = case.records()
        found = case.run(records, relaxed=relaxed)
        assert all(case.met(rows) for rows in shown(found, records).values())
        assert found.kept.all()
        for name, each in found.columns.items():
            pairs = set(zip(each.codes.tolist(), records.column(name).codes.tolist(), strict=True))
            assert all(code in each.cells.covered(cell) for cell, code in pairs)


@examples(150)
@given(st.data(), cases(), st.booleans())
def test_the_order_of_rows_means_nothing(data: st.DataObject, case: Case, relaxed: bool) -> None:
    """The same rows in another order become the same rows: sensitive values and all, models about them or not."""
    if case.met(case.rows):
        order = data.draw(st.permutations(range(len(case.rows))))
        one, other = case.records(), case.records(order)
        left = classes(case.run(one, relaxed=relaxed), one, sensitive=True)
        assert left == classes(case.run(other, relaxed=relaxed), other, sensitive=True)


@examples(120)
@given(cases(), st.integers(1, 5))
def test_no_allowed_cut_remains(case: Case, k: int) -> None:
    """For sizes alone: no class could be cut in two between any two values of any quasi-identifier."""
    plain = Case(case.rows, ["text"] * len(case.kinds), [KAnonymity(k)], lambda rows: len(rows) >= k)
    if len(case.rows) >= k:
        records = plain.records()
        for rows in shown(plain.run(records, relaxed=False), records).values():
            for place in range(len(case.kinds)):
                sizes = Counter(row[place] for row in rows)
                for cut in plain.lines[place].values:
                    left = sum(
                        n for v, n in sizes.items() if plain.lines[place].order(v) <= plain.lines[place].order(cut)
                    )
                    assert min(left, len(rows) - left) < k


@examples(100)
@given(cases(), st.integers(1, 4))
def test_halves_are_halves(case: Case, k: int) -> None:
    """Relaxed, for sizes alone: classes have from k to 2k − 1 rows, unless their rows are all alike."""
    if len(case.rows) >= k:
        records = case.records()
        axes = axes_of([records.column(f"q{i}") for i in range(len(case.kinds))], {})
        points = points_of(records, axes, [], None)
        found = partition(points, axes, Judge(points=points, models=[KAnonymity(k)], columns={}), relaxed=True)
        alike = (found.low == found.high).all(axis=0)
        assert (found.members.totals >= k).all()
        assert (found.members.totals[~alike] < 2 * k).all()
        assert found.members.totals.sum() == len(case.rows)


@pytest.mark.parametrize("relaxed", [False, True])
def test_a_judge_who_is_too_kind_is_caught(monkeypatch: pytest.MonkeyPatch, relaxed: bool) -> None:
    """The wrong twin lets halves below k through; the check of the release doesn't."""
    records = read({"age": [1, 2, 3, 4, 5, 6, 7], "ill": ["flu"] * 7})
    assert mondrian(records, ["age"], [KAnonymity(3)], relaxed=relaxed).suppressed == 0
    monkeypatch.setattr(Judge, "fewest", property(lambda _: 1))
    monkeypatch.setattr(Judge, "met", lambda _, members: members.totals >= 2)
    with pytest.raises(InvalidArgument, match="look alike"):
        mondrian(records, ["age"], [KAnonymity(3)], relaxed=relaxed)


@dataclass(frozen=True)
class NotSix:
    """A model that unions don't keep: any number of rows but six."""

    sensitive: None = None

    def met(self, frequencies: Frequencies) -> Mask:
        """Which classes don't have six rows."""
        return frequencies.rows != 6


def test_classes_that_look_alike_are_judged_together() -> None:
    """Cut relaxed, 1 1 2 2 2 2 2 2 becomes 1 1, 2 2 and 2 2 2 2: the release shows six rows of 2."""
    records = read({"age": [1, 1, 2, 2, 2, 2, 2, 2]})
    models: list[Any] = [NotSix()]
    with pytest.raises(InvalidArgument, match="look alike"):
        mondrian(records, ["age"], models, relaxed=True)


def test_infinity_is_only_farther() -> None:
    """With an infinite value the order is left, and nothing overflows."""
    records = read({"x": [-inf, 0.5, 1.5, inf], "ill": list("abcd")})
    found = mondrian(records, ["x"], [KAnonymity(2)])
    assert sorted(shown(found, records)) == [("-inf to 0.5",), ("1.5 to inf",)]


def test_column_is_coded() -> None:
    """A column that repeats one value is never cut."""
    column = Coded(name="x", codes=np.zeros(6, np.int32), values=read({"x": [7]}).column("x").values, has_missing=False)
    records = Records(columns={"x": column}, rows=6)
    for relaxed in (False, True):
        found = mondrian(records, ["x"], [KAnonymity(2)], relaxed=relaxed)
        assert found.columns["x"].cells.labels == ("7",)


def test_a_lower_end_of_presence_is_refused_where_it_cannot_be_counted() -> None:
    """Three of 38 people between 20 and 29 are in the table; only the three have one of its values."""
    table = read({"age": [20, 22, 29, 50, 52, 58]})
    town = read({"age": [20, 22, 29, 50, 52, 58, *([21, 23, 24, 25, 26, 27, 28] * 5)]})
    with pytest.raises(InvalidArgument, match="lower end"):
        mondrian(table, ["age"], [KAnonymity(3), DeltaPresence("0.5", 1)], population=town)
    found = mondrian(table, ["age"], [KAnonymity(3), DeltaPresence(0, 1)], population=town)
    assert found.columns["age"].cells.labels == ("20–29", "50–58")
    assert mondrian(table, ["age"], [KAnonymity(3), DeltaPresence("0.5", 1)], population=table).suppressed == 0
