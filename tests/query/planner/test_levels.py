"""Levels: which are measured, what that costs, and that no plan is worse than another one that the planner knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations
from math import prod, sqrt
from time import process_time

import pytest

from discreet.accounting import charge_of
from discreet.errors import DiscreetError
from discreet.gateway.answers import Workload, workload_planner
from discreet.privacy import ADD_REMOVE, SUBSTITUTION, Adjacency, Bounds, Budget, Keys, Limits, Unit
from discreet.query import ir
from discreet.query.planner import Draft, Plan, Request, make_plan
from discreet.query.planner.accuracy import expected_errors
from discreet.query.sql import question
from discreet.tables import Column, Dataset, Kind, Source, Table
from support.asked import FOLDER, TABLES, pairs
from support.crossed import crossed

CUBE = "SELECT a, b, c, COUNT(*) AS n FROM t GROUP BY CUBE (a, b, c)"
BUDGET = Budget(epsilon=100, delta="1/1000")


def dataset(
    sizes: dict[str, int],
    *,
    unit: Unit | None = None,
    limits: Limits | None = None,
    adjacency: Adjacency = ADD_REMOVE,
) -> Dataset:
    """A table with keys of these sizes, of which all rows have one, and two numbers."""
    keys = [
        Column(name=name, kind=Kind.INTEGER, bounds=Bounds(1, size), nullable=False) for name, size in sizes.items()
    ]
    others = (
        Column(name="id", kind=Kind.INTEGER),
        Column(name="x", kind=Kind.REAL, bounds=Bounds(0, 100)),
        Column(name="g", kind=Kind.TEXT, keys=Keys(["u", "v"])),
        Column(name="w", kind=Kind.TEXT),
    )
    table = Table(
        name="t",
        source=Source(kind="csv", location="t.csv"),
        unit=unit or Unit.row(),
        limits=limits or Limits(rows=1),
        columns=(*others, *keys),
    )
    return Dataset(name="t", tables=(table,), budget=BUDGET, ledger="t.ledger", adjacency=adjacency)


SMALL = {"a": 2, "b": 9, "c": 10}


def planned(sql: str, data: Dataset | None = None, **terms: object) -> Plan:
    """The plan of a question."""
    data = data or dataset(SMALL)
    return make_plan(question(sql, data.tables), Request.of(**terms), data)  # type: ignore[arg-type]  # a test's own


def together(texts: Sequence[str], data: Dataset, **terms: object) -> Workload:
    """The plan of several questions."""
    offer = Request.of(**terms)  # type: ignore[arg-type]  # a test's own
    return workload_planner([question(text, data.tables) for text in texts], offer, data)(offer)


def deviation(drafts: Sequence[Draft]) -> float:
    """The root of the mean square of the noise, over all groups."""
    cells = [prod(len(key.values or ()) for key in draft.keys) for draft in drafts]
    squares = [draft.noises[0].deviation ** 2 for draft in drafts]
    return sqrt(sum(cell * square for cell, square in zip(cells, squares, strict=True)) / sum(cells))


DASHBOARD = [
    "SELECT COUNT(*) AS n FROM t",
    *(f"SELECT {key}, COUNT(*) AS n FROM t GROUP BY {key}" for key in ("a", "b", "c", "a, b")),
]


@pytest.mark.parametrize(
    ("asked", "sizes", "offer", "gain"),
    [
        (CUBE, SMALL, {"epsilon": "1/2"}, 3.5),
        (CUBE, SMALL, {"rho": "1/200"}, 1.75),
        (CUBE.replace("CUBE", "ROLLUP"), dict.fromkeys("abc", 10), {"epsilon": "1/10"}, 2.1),
        (CUBE.replace("CUBE", "ROLLUP"), dict.fromkeys("abc", 10), {"rho": "1/2000"}, 1.55),
        (DASHBOARD, {"a": 2, "b": 10, "c": 10}, {"epsilon": "1/10"}, 2.0),
        (DASHBOARD, {"a": 2, "b": 10, "c": 10}, {"rho": "1/2000"}, 1.38),
    ],
)
def test_errors_against_equal_shares(
    asked: str | list[str], sizes: dict[str, int], offer: dict[str, str], gain: float
) -> None:
    """The error of a group, on average over all of them, divided by what it was with an equal share for each level."""
    data = dataset(sizes)
    plan = together(asked, data, **offer) if isinstance(asked, list) else planned(asked, data, **offer)
    (bundle,) = plan.bundles
    assert bundle.reconstruction is not None
    assert deviation(bundle.reconstruction.apart) / deviation(plan.drafts) >= gain


@pytest.mark.parametrize(
    ("offer", "sets", "adjacency"),
    crossed(
        [{"epsilon": 1}, {"rho": "1/100"}, {"rho": "1/2"}, {"within": 60}, {"within": 5}],
        ["CUBE (a, b, c)", "ROLLUP (a, b, c)", "GROUPING SETS ((a), (b, c), ())"],
        [ADD_REMOVE, SUBSTITUTION],
    ),
)
def test_what_is_charged_is_what_is_done(offer: dict[str, object], sets: str, adjacency: Adjacency) -> None:
    """Each measured level is a mechanism; all of them together cost what was offered, to the last digit of ε."""
    data = dataset(SMALL, adjacency=adjacency)
    plan = planned(f"SELECT a, b, c, COUNT(*) AS n, AVG(x) AS m FROM t GROUP BY {sets}", data, **offer)
    assert plan.reconstruction is not None
    charge = charge_of(plan.event)
    paid = [
        noise.sensitivity.l1 / noise.mechanism.scale  # type: ignore[union-attr]  # Laplace
        if "rho" not in offer
        else noise.sensitivity.l2_squared / (2 * noise.mechanism.sigma**2)  # type: ignore[union-attr]  # Gaussian
        for level in plan.levels
        for noise in level.draft.noises
    ]
    if "rho" in offer:
        assert sum(paid) <= Fraction(str(offer["rho"])) <= sum(paid) * Fraction(1000001, 1000000)
    else:
        assert sum(paid) == charge.epsilon
        assert "within" in offer or charge.epsilon == 1


@pytest.fixture(scope="module")
def accepted() -> list[ir.Question]:
    """The questions of the corpus that have a few keys."""
    every = (question(sql, TABLES) for path in sorted(FOLDER.glob("*accepted.sql")) for sql, _ in pairs(path))
    return [asked for asked in every if 1 <= len(asked.keys) <= 3]


def cubes(asked: ir.Question) -> ir.Question:
    """The same question, of all sets of its keys."""
    names = [name for name, _ in asked.keys]
    return replace(asked, sets=tuple(chain.from_iterable(combinations(names, n) for n in range(len(names), -1, -1))))


@pytest.mark.parametrize("offer", [{"epsilon": "1/10"}, {"epsilon": 2}, {"rho": "1/1000"}, {"rho": "1/2"}])
def test_no_plan_is_dominated(offer: dict[str, object], accepted: list[ir.Question]) -> None:
    """Of all questions of the corpus, and as CUBE: measured apart, some column errs more, or all err alike.

    But for what it takes to show whole numbers that add up: apart, they don't, and are rounded each by itself.
    """
    data = Dataset(name="t", tables=tuple(TABLES), budget=BUDGET, ledger="t.ledger")
    met = 0
    for asked in (each for one in accepted for each in (one, cubes(one))):
        try:
            plan = make_plan(asked, Request.of(delta="1/100000", **offer), data)  # type: ignore[arg-type]  # numbers
        except DiscreetError:
            continue
        if plan.reconstruction is None:
            continue
        met += 1
        drafts = list(zip(plan.drafts, plan.reconstruction.apart, strict=True))
        errors = [
            (ours.error or 0.0, (theirs.error or 0.0) + max(float(one.step * one.rounded) for one in draft.noises))
            for draft, apart in drafts
            for ours, theirs in zip(expected_errors(draft), expected_errors(apart), strict=True)
        ]
        assert any(one < other for one, other in errors) or all(one == other for one, other in errors), asked.text
    assert met >= 10


@pytest.mark.parametrize(
    ("aggregate", "keys", "unit", "limits", "offer"),
    [
        ("MEDIAN(x)", "a, b", Unit.row(), Limits(rows=1), {"epsilon": 1}),
        ("COUNT(DISTINCT id)", "a, b", Unit.row(), Limits(rows=1), {"epsilon": 1}),
        ("COUNT(*)", "a, w", Unit.row(), Limits(rows=1), {"epsilon": 1}),
        ("COUNT(DISTINCT id)", "a, b", Unit("id"), Limits(rows=7), {"epsilon": 1}),
        ("COUNT(*)", "a, b", Unit("id"), Limits(groups=2, rows_per_group=3), {"rho": 1}),
        ("COUNT(*)", "a, b", Unit("id"), Limits(groups=2, rows_per_group=3), {"epsilon": 1}),
    ],
)
def test_what_does_not_add_up_is_measured_apart(
    aggregate: str, keys: str, unit: Unit, limits: Limits, offer: dict[str, object]
) -> None:
    """Choices, different values, private groups, units, and rows that are limited in some groups: with equal shares."""
    sql = f"SELECT {keys}, {aggregate} AS n FROM t GROUP BY ROLLUP ({keys})"
    plan = planned(sql, dataset(SMALL, unit=unit, limits=limits), delta="1/100000", **offer)
    assert plan.reconstruction is None
    assert len(plan.levels) == 3
    assert {level.draft.request.epsilon for level in plan.levels} <= {Fraction(1, 3), None}


def test_rows_that_are_in_no_group_are_measured() -> None:
    """A key whose list may leave out a value has one more group where it is measured, and not where it is shown."""
    plan = planned("SELECT g, COUNT(*) AS n FROM t GROUP BY ROLLUP (g)", epsilon=1)
    assert plan.levels[0].draft.keys[0].values == ("u", "v", None)
    assert plan.drafts[0].keys[0].values == ("u", "v")
    assert planned("SELECT g, COUNT(*) AS n FROM t WHERE g IS NOT NULL GROUP BY ROLLUP (g)", epsilon=1).levels[
        0
    ].draft.keys[0].values == ("u", "v")


def test_a_flag_that_is_no_longer_needed_changes_nothing() -> None:
    """Groups add up in any case: with the same digest."""
    one, other = (planned(CUBE, epsilon=1, consistent=said) for said in (False, True))
    assert one.digest == other.digest
    assert planned("SELECT COUNT(*) AS n FROM t", epsilon=1, consistent=True).digest == (
        planned("SELECT COUNT(*) AS n FROM t", epsilon=1).digest
    )


def test_the_plan_says_what_was_chosen() -> None:
    """What is measured, how far other ways would err, and what it would cost to err as little by them."""
    words = planned(CUBE, epsilon=1).explain()
    assert "8 sets of groups are sums of those of a × b × c, which are measured, with all of the cost" in words
    assert "± 24 instead of 3 for a × b × c" in words
    assert "to err as little in each, at ε = 3.03" in words
    assert "brought together by least squares; of the cost " in planned(CUBE, rho="1/1000").explain()
    assert "sets of groups" not in planned("SELECT a, COUNT(*) AS n FROM t GROUP BY a", epsilon=1).explain()


def test_widths_are_reached_at_less_than_apart() -> None:
    """All levels within the same width; for four nested levels at less than measuring each of them costs."""
    plan = planned(CUBE.replace("CUBE", "ROLLUP"), dataset(dict.fromkeys("abc", 6)), within=200)
    assert plan.reconstruction is not None
    for draft in plan.drafts:
        (error,) = expected_errors(draft)
        assert (error.error or 0) <= 200
    apart = sum(
        charge_of(noise.mechanism.event).epsilon or 0 for draft in plan.reconstruction.apart for noise in draft.noises
    )
    assert (charge_of(plan.event).epsilon or 0) < apart
    capped = planned(CUBE.replace("CUBE", "ROLLUP"), dataset(dict.fromkeys("abc", 6)), within=200, epsilon="1/100")
    assert charge_of(capped.event).epsilon == Fraction(1, 100)
    assert "this is the best that ε = 0.01 does" in capped.explain()


def test_weights_go_where_they_are_said() -> None:
    """In a workload of a total and its groups, the total errs less if it weighs more."""
    data = dataset({"a": 50})
    asked = ["SELECT COUNT(*) AS whole FROM t", "SELECT a, COUNT(*) AS n FROM t GROUP BY a"]
    errors = [
        [
            error.error or 0
            for plan in together(asked, data, epsilon="1/10", weights=weights).plans
            for error in plan.expected
        ]
        for weights in ({}, {"whole": 20})
    ]
    assert errors[1][0] < 0.8 * errors[0][0]
    assert errors[1][1] > errors[0][1]


def test_all_tables_of_two_keys_are_planned_within_a_second() -> None:
    """91 tables of 14 keys, 150,000 cells: of processor time, measured some 0.2 s."""
    sizes = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
    data = dataset({f"k{place}": size for place, size in enumerate(sizes)})
    texts = [
        f"SELECT {a}, {b}, COUNT(*) AS n FROM t GROUP BY {a}, {b}"
        for a, b in combinations([f"k{n}" for n in range(14)], 2)
    ]
    asked, offer = [question(text, data.tables) for text in texts], Request.of(rho="1/100")
    begin = process_time()
    plan = workload_planner(asked, offer, data)(offer)
    took = process_time() - begin
    assert len(plan.levels) == 91
    assert len(plan.bundles) == 1
    assert took < 1


def truths(number: int, *, nullable: bool) -> Dataset:
    """A table with as many keys of two values, which rows may lack."""
    two: dict[str, object] = {"keys": Keys([0, 1])} if nullable else {"bounds": Bounds(0, 1), "nullable": False}
    columns = tuple(Column(name=f"k{place}", kind=Kind.INTEGER, **two) for place in range(number))  # type: ignore[arg-type]  # either
    table = Table(
        name="t", source=Source(kind="csv", location="t.csv"), unit=Unit.row(), limits=Limits(rows=1), columns=columns
    )
    return Dataset(name="t", tables=(table,), budget=BUDGET, ledger="t.ledger")


def of_all_and_one(number: int) -> str:
    """All groups by as many keys, those by one, and the total."""
    names = ", ".join(f"k{place}" for place in range(number))
    return f"SELECT {names}, COUNT(*) AS n FROM t GROUP BY GROUPING SETS (({names}), (k0), ())"


def test_groups_of_rows_that_are_left_are_bounded() -> None:
    """Of 2¹⁴ groups there would be 3¹⁴ with those: then each level is measured by itself, as its groups are."""
    plan = planned(of_all_and_one(14), truths(14, nullable=True), epsilon=1)
    assert plan.reconstruction is None
    assert [prod(len(key.values or ()) for key in level.draft.keys) for level in plan.levels] == [2**14, 2, 1]


def test_planning_many_keys_takes_no_time_that_grows_with_their_subsets() -> None:
    """Weighing 4¹⁴ terms would take minutes, for nothing; the finest level alone needs no weights."""
    began = process_time()
    plan = planned(of_all_and_one(14), truths(14, nullable=False), rho="1/100")
    assert process_time() - began < 10
    assert plan.reconstruction is not None
    assert plan.reconstruction.is_summed
    assert not plan.reconstruction.weights
