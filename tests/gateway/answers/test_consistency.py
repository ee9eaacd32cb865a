"""Grouping sets that add up: least squares over the tree, against linear algebra; and what can't be made to."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.errors import Unsupported
from discreet.gateway.answers import Arrangement, Group, consistent
from discreet.gateway.answers.consistency import _quantum
from discreet.noise import discrete_laplace
from discreet.privacy import Bounds, Budget, Keys, Limits, Unit
from discreet.query import ir
from discreet.query.planner import Plan, Request, make_plan
from discreet.query.sql import question
from discreet.tables import Column, Dataset, Kind, Source, Table

pytestmark = pytest.mark.usefixtures("kept_sessions")

A, B = ("x", "y"), (1, 2, 3)
LISTED = " WHERE a IS NOT NULL AND b IS NOT NULL"


def dataset(unit: Unit, limits: Limits) -> Dataset:
    """A table with two keys and a number."""
    table = Table(
        name="t",
        source=Source(kind="csv", location="t.csv"),
        unit=unit,
        limits=limits,
        columns=(
            Column(name="id", kind=Kind.INTEGER),
            Column(name="a", kind=Kind.TEXT, keys=Keys(A)),
            Column(name="b", kind=Kind.INTEGER, keys=Keys(B)),
            Column(name="v", kind=Kind.REAL, bounds=Bounds(0, 10)),
            Column(name="w", kind=Kind.TEXT),
        ),
    )
    return Dataset(name="t", tables=(table,), budget=Budget(1), ledger="t.ledger")


def plan(sql: str, *, unit: Unit | None = None, limits: Limits | None = None, **request: object) -> Plan:
    """A plan whose answer is to add up."""
    data = dataset(unit or Unit.row(), limits or Limits(rows=1))
    offer = Request.of(epsilon=1, consistent=True, **request)  # type: ignore[arg-type]  # a test's own
    return make_plan(question(sql, data.tables), offer, data)


def released(asked: Plan, truth: dict[tuple[object, object], int], scale: int = 20) -> list[Group]:
    """What a release of these cells gives, at all levels of ROLLUP (a, b), with noise of so many rows."""
    groups = []
    for level, wanted in enumerate(asked.levels):
        for key in product(*(each.values or () for each in wanted.draft.keys)):
            group = Group(key, {}, level)
            rows = sum(count for cell, count in truth.items() if _belongs(group, asked, cell))
            noisy = {
                noise.measure.name: int(rows / noise.step + int(discrete_laplace(scale / noise.step, 1)[0]))
                for noise in wanted.draft.noises
            }
            groups.append(Group(key, noisy, level))
    return groups


def test_it_is_the_least_squares_answer() -> None:
    """The two passes give what solving the normal equations does, to half a row, at the root."""
    asked = plan(f"SELECT a, b, COUNT(*) AS n FROM t{LISTED} GROUP BY ROLLUP (a, b)")
    truth = {cell: 100 + 37 * place for place, cell in enumerate(product(A, B))}
    for _ in range(20):
        groups = released(asked, truth)
        (name,) = groups[0].noisy
        cells = list(truth)
        rows = [[float(_belongs(group, asked, cell)) for cell in cells] for group in groups]
        exact, *_ = np.linalg.lstsq(
            np.array(rows), np.array([float(group.noisy[name]) for group in groups]), rcond=None
        )  # type: ignore[arg-type]  # numbers
        found = consistent([level.draft for level in asked.levels], groups)
        assert abs(found[-1].noisy[name] - exact.sum()) <= 0.5 + 1e-6  # type: ignore[operator]  # a number
        for group, row in zip(found, rows, strict=True):
            assert abs(group.noisy[name] - np.dot(row, exact)) <= 2  # type: ignore[operator]  # rounded at each level


def _belongs(group: Group, asked: Plan, cell: tuple[object, object]) -> bool:
    """Whether a cell is in a group."""
    names = [key.name for key in asked.levels[group.level].draft.keys]
    return all({"a": cell[0], "b": cell[1]}[name] == value for name, value in zip(names, group.key, strict=True))


@pytest.mark.parametrize("unit", [Unit.row(), Unit("id")])
def test_children_add_up_to_their_parents(unit: Unit) -> None:
    """Exactly, as they are shown, also where rows are counted in parts; and not by themselves.

    By themselves, three sums would have to agree by chance: with noise of 10⁶ rows, in fewer than one of 10¹⁷ runs.
    """
    limits = Limits(rows=1 if unit.is_row else 7)
    asked = plan(f"SELECT a, b, COUNT(*) AS n FROM t{LISTED} GROUP BY ROLLUP (a, b)", unit=unit, limits=limits)
    drafts = [level.draft for level in asked.levels]
    groups = released(asked, dict.fromkeys(product(A, B), 50), scale=10**6)
    shown = [values for _, values in Arrangement(drafts, groups, consistent(drafts, groups)).rows]
    assert _adds_up(shown)
    assert not _adds_up([values for _, values in Arrangement(drafts, groups).rows])


def _adds_up(rows: list[dict[str, object]]) -> bool:
    """Whether all levels of ROLLUP (a, b) agree."""
    counts = {(row["a"], row["b"]): row["n"] for row in rows}
    per_a = {a: sum(counts[a, b] for b in B) for a in A}  # type: ignore[misc]  # numbers
    return all(per_a[a] == counts[a, None] for a in A) and sum(per_a.values()) == counts[None, None]


@pytest.mark.parametrize(
    ("sql", "unit", "limits"),
    [
        ("SELECT a, COUNT(*) AS n FROM t GROUP BY a", Unit.row(), Limits(rows=1)),
        ("SELECT a, b, COUNT(*) AS n FROM t GROUP BY CUBE (a, b)", Unit.row(), Limits(rows=1)),
        ("SELECT a, w, COUNT(*) AS n FROM t GROUP BY ROLLUP (a, w)", Unit.row(), Limits(rows=1)),
        (f"SELECT a, b, COUNT(DISTINCT id) AS n FROM t{LISTED} GROUP BY ROLLUP (a, b)", Unit("id"), Limits(rows=7)),
        ("SELECT a, b, MEDIAN(v) AS n FROM t GROUP BY ROLLUP (a, b)", Unit.row(), Limits(rows=1)),
    ],
)
def test_what_cannot_add_up_is_refused(sql: str, unit: Unit, limits: Limits) -> None:
    """One level, levels that aren't nested, private groups, units and quantiles."""
    with pytest.raises(Unsupported):
        plan(sql, unit=unit, limits=limits, delta=1e-6)


@pytest.mark.parametrize(
    ("where", "unlisted"), [("", "'a'"), ("WHERE a IS NOT NULL", "'b'"), ("WHERE b IN (1, 2)", "'a'")]
)
def test_rows_of_no_group_are_not_shared_out(where: str, unlisted: str) -> None:
    """A total counts rows whose key isn't listed, too: forced to add up, groups would grow by rows of nobody's."""
    with pytest.raises(Unsupported, match=unlisted) as caught:
        plan(f"SELECT a, b, COUNT(*) AS n FROM t {where} GROUP BY ROLLUP (a, b)")
    assert "IS NOT NULL" in caught.value.hint


def test_levels_share_the_offer() -> None:
    """Three levels cost what was offered, and no more."""
    asked = plan(f"SELECT a, b, COUNT(*) AS n FROM t{LISTED} GROUP BY ROLLUP (a, b)")
    assert len(asked.levels) == 3
    assert asked.cost.epsilon == 1  # type: ignore[union-attr]  # pure
    assert all(level.draft.request.epsilon == Fraction(1, 3) for level in asked.levels)


@pytest.mark.parametrize(("kind", "grid", "steps"), [(Kind.INTEGER, -2, 4), (Kind.INTEGER, 3, 1), (Kind.REAL, -2, 1)])
def test_whole_numbers_stay_whole(kind: Kind, grid: int, steps: int) -> None:
    """They are adjusted by as many steps as one has, and by one where a step is more than that."""
    measure = ir.Sum(name="s", value=ir.Literal(1, ir.Type(kind)), grid=grid, lo=0, hi=2)
    assert _quantum(measure) == steps
