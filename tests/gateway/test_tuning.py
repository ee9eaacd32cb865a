"""Limits and bounds chosen privately: what they cost, what they choose, and what they say of what is cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import BudgetExhausted, InvalidArgument, UnknownColumn, Unsupported
from discreet.mechanisms import Laplace
from discreet.privacy import Sensitivity
from discreet.query import ir
from discreet.query.estimates import Noise
from discreet.query.planner import (
    ENDS,
    OUTSIDE,
    STEPS,
    Profile,
    bounds_of,
    cut_off_by_groups,
    cut_off_by_rows,
)
from discreet.query.planner.clamping import moved
from discreet.tables import Column, Source, Table
from support.crossed import crossed
from support.sequential import Claim, stands

pytestmark = pytest.mark.usefixtures("kept_sessions")

COUNT = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"
PLACES = ["east", "north", "south", "west"]

Make = Callable[..., dp.Protected]


@pytest.fixture(scope="module")
def visits() -> pa.Table:
    """Twenty thousand people, who come 1 to 40 times, and a few 400 times."""
    often = np.concatenate([np.arange(20_000) % 40 + 1, np.full(200, 400)])
    person = np.repeat(np.arange(len(often)), often)
    number = np.arange(len(person))
    return pa.table(
        {
            "person": pa.array(person),
            "region": pa.array(np.array(PLACES)[number % 4]),
            "shop": pa.array(np.char.add("shop ", (number % 300).astype(str))),
            "paid": pa.array((number % 1_000) * 3.0),
        }
    )


@pytest.fixture
def make(visits: pa.Table, tmp_path: Path) -> Iterator[Make]:
    """Protects the visits; every call with an account of its own."""
    opened: list[dp.Protected] = []

    def protect(epsilon: float = 100, **declared: object) -> dp.Protected:
        declared = {"unit": dp.Unit("person"), "limits": dp.Limits(rows=5)} | declared
        found = dp.protect(
            visits,
            name="visits",
            columns={"region": dp.Keys(PLACES)},
            budget=dp.Budget(epsilon=epsilon, delta=1e-3),
            ledger=tmp_path / f"{len(opened)}.ledger",
            **declared,  # type: ignore[arg-type]  # a test's own
        )
        opened.append(found)
        return found

    yield protect
    for each in opened:
        each.close()


def mostly(right: Callable[[str], bool], times: int) -> None:
    """Something holds in most of so many runs, each told to offer a little more than the one before.

    Runs end when they can't change that any more; or after three, if it held in each, so that what holds in one of five
    runs passes in 1.8 % of cases, for 1.2 % if all were waited for.

    Noise alone may fill a class that nobody is in, by which a choice is spoilt. Classes are looked at that hold 10 or
    12 scales of it, or 5 each of two neighbours, so of at most 50 or 410 classes one does with a chance below 1 % or
    0.2 %.
    """
    found = {True: 0, False: 0}
    for number in range(times):
        found[right(f"1.{number:03}")] += 1
        if found == {True: 3, False: 0}:
            return
        if max(found.values()) > times / 2:
            break
    assert found[True] > times / 2


def test_limits_cost_what_was_offered_and_nothing_twice(make: Make) -> None:
    """Profile and question together cost the offer; asked again, neither costs anything."""
    with make() as visits:
        plan = visits.plan(COUNT, epsilon=1, limits="auto")
        assert plan.cost.epsilon == 1  # type: ignore[union-attr]  # pure
        assert "a private question, how much units contribute" in plan.explain()
        first = visits.ask(COUNT, epsilon=1, limits="auto")
        assert visits.spent.epsilon == 1
        again = visits.ask(COUNT, epsilon=1, limits="auto")
        assert visits.spent.epsilon == 1
        assert again.reused
        assert again.rows() == first.rows()
        assert again.cut_off == first.cut_off


def test_limits_are_near_the_best(make: Make) -> None:
    """They cut off little here, where half of the declared five rows would be most.

    False alarm: a choice is spoilt with a chance below 1 %, six of eleven are once in 2e9 runs.
    """
    truth = 490_000 / 4
    with make() as visits:
        declared = visits.ask(COUNT, epsilon=1)
        least = min(abs(n - truth) for n in declared["n"])

        def is_near(epsilon: str) -> bool:
            chosen = visits.ask(COUNT, epsilon=epsilon, limits="auto")
            return max(abs(n - truth) for n in chosen["n"]) < least / 3

        mostly(is_near, 11)


def test_what_is_cut_off_is_said(make: Make, visits: pa.Table) -> None:
    """What is said holds; the exact share is known here. False alarm: see `test_what_is_said_of_limits_holds`."""
    rows = np.bincount(visits["person"].to_numpy())
    with make() as protected:
        found = protected.ask(COUNT, epsilon=20, limits="auto").cut_off
        assert found is not None
        limit = found.limits.rows
        assert limit is not None
        exact = np.maximum(rows - limit, 0).sum() / rows.sum()
        assert found.most is not None  # the ceiling on the rows of one person bounds it
        assert found.least <= exact + 1e-9
        assert exact <= found.most + 1e-9
        assert "cut off" in str(protected.ask(COUNT, epsilon=20, limits="auto"))


def test_what_declared_limits_cut_off_can_be_measured(make: Make, visits: pa.Table) -> None:
    """For the same share of the offer; of given limits in either shape."""
    rows = np.bincount(visits["person"].to_numpy())
    with make() as protected:
        found = protected.ask(COUNT, epsilon=10, cut_off=True).cut_off
        assert found is not None
        assert found.limits == dp.Limits(rows=5)
        exact = np.maximum(rows - 5, 0).sum() / rows.sum()
        assert exact / 2 < found.least <= exact
        assert protected.spent.epsilon == 10
        narrow = protected.ask(COUNT, rho=1, limits=dp.Limits(groups=1, rows_per_group=2), cut_off=True).cut_off
        assert narrow is not None
        assert narrow.share > 0.8
        assert narrow.least <= 1 - 2 / rows.mean()
    with make(unit=dp.Unit.row(), limits=None) as each_row, pytest.raises(Unsupported):
        each_row.plan(COUNT, epsilon=1, cut_off=True)


def test_what_bounds_move_can_be_measured(make: Make, visits: pa.Table) -> None:
    """Of how many people some visit cost more than the bound, and far more; once, for all questions about the column.

    False alarm: noise of scale below 40 in each of three classes is beyond the margin less than once in 1e9 runs where
    the margin is taken eight times.
    """
    greatest = np.zeros(20_200)
    np.maximum.at(greatest, visits["person"].to_numpy(), visits["paid"].to_numpy())
    bounds = {"paid": dp.Bounds(0, 1_000)}
    with make() as protected:
        first = protected.ask("SELECT SUM(paid) AS p FROM visits", epsilon=10, bounds=bounds, cut_off=True)
        (found,) = first.moved
        assert found.column == "visits.paid"
        assert abs(found.share - (greatest > 1_000).mean()) <= 8 * found.margin
        assert abs(found.far - (greatest > 2_000).mean()) <= 8 * found.margin
        assert 0 < found.margin < 0.01
        assert "bounds of visits.paid" in str(first)
        assert protected.spent.epsilon == 10
        other = "SELECT AVG(paid) AS p FROM visits WHERE region = 'east'"
        assert protected.ask(other, epsilon=10, bounds=bounds, cut_off=True).moved == (found,)  # as it was stored
        inner = "SELECT AVG(LEAST(p, 9000)) AS a FROM (SELECT person, SUM(paid) AS p FROM visits GROUP BY person)"
        (nested,) = protected.ask(inner, epsilon=10, bounds=bounds, cut_off=True).moved
        assert nested.column == "visits.paid"
        assert not protected.ask(COUNT, epsilon=10, cut_off=True).moved
    with make(unit=dp.Unit.row(), limits=None) as each_row:
        (of_rows,) = each_row.ask("SELECT SUM(paid) AS p FROM visits", epsilon=1, bounds=bounds, cut_off=True).moved
        assert abs(of_rows.share - (visits["paid"].to_numpy() > 1_000).mean()) <= 8 * of_rows.margin
        with pytest.raises(Unsupported):
            each_row.plan("SELECT SUM(paid) AS p FROM visits", epsilon=1, bounds=bounds, cut_off=True, limits="auto")


def test_values_within_their_bounds_are_said_to_be(make: Make) -> None:
    """The twin whose bounds hold everything: hardly anybody's values are moved; false alarm as above."""
    with make() as protected:
        wide = {"paid": dp.Bounds(0, 5_000)}
        (found,) = protected.ask("SELECT SUM(paid) AS p FROM visits", epsilon=10, bounds=wide, cut_off=True).moved
        assert found.share <= 8 * found.margin
        assert found.far <= 8 * found.margin


def test_private_groups_get_limits_on_groups(make: Make) -> None:
    """So that a threshold can select them.

    False alarm: a choice is spoilt with a chance below 1 %, six of eleven are once in 2e9 runs.
    """
    sql = "SELECT shop, COUNT(*) FROM visits GROUP BY shop"
    with make(epsilon=1_000) as visits:

        def are_all_there(epsilon: str) -> bool:
            found = visits.ask(sql, epsilon=20 * Fraction(epsilon), delta="1e-6", limits="auto")
            assert found.cut_off is not None
            assert found.cut_off.limits.groups is not None
            return len(found) == 300

        mostly(are_all_there, 11)


def test_nothing_is_paid_if_not_all_can_be(make: Make) -> None:
    """A profile isn't paid for, when the question couldn't be."""
    with make(epsilon=0.5) as visits:
        with pytest.raises(BudgetExhausted):
            visits.ask(COUNT, epsilon=1, limits="auto")
        assert visits.spent.epsilon == 0


def test_bounds_are_chosen_privately(make: Make) -> None:
    """A column without bounds can be added up; bounds hold nearly all of its values, and are said.

    False alarm: bounds or limits are spoilt with a chance below 1 %, six of eleven are once in 2e9 runs; an upper bound
    alone below 0.02 %, three of five are once in 1e10 runs.
    """
    sql = "SELECT AVG(paid) AS p FROM visits"
    with make() as visits:
        visits.ask(sql, epsilon="0.9", bounds={"paid": "auto"}, limits="auto")
        assert visits.spent.epsilon == Fraction(9, 10)

        def is_near(epsilon: str) -> bool:
            found = visits.ask(
                "SELECT AVG(paid) AS p FROM visits", epsilon=epsilon, bounds={"paid": "auto"}, limits="auto"
            )
            ends = found.bounds["paid"]
            assert "paid" in str(found)
            return float(ends.lo) <= 0 and 2_900 <= float(ends.hi) <= 8_192 and abs(found["p"][0] - 1_498.5) < 150

        mostly(is_near, 11)
    with make(unit=dp.Unit.row(), limits=None) as rows:

        def is_above(epsilon: str) -> bool:
            found = rows.ask("SELECT SUM(paid) AS p FROM visits", epsilon=epsilon, bounds={"visits.paid": "auto"})
            return 2_900 <= float(found.bounds["visits.paid"].hi) <= 8_192

        mostly(is_above, 5)


def test_bounds_of_ones_own(make: Make) -> None:
    """An analyst's bounds take the place of none, and can only narrow those that are declared."""
    with make(unit=dp.Unit.row(), limits=None) as visits:
        plan = visits.plan("SELECT SUM(paid) FROM visits", epsilon=1, bounds={"paid": dp.Bounds(0, 10)})
        (noise,) = plan.levels[0].draft.noises
        assert float(noise.step * noise.sensitivity.l1) == 10
        assert visits.ask(plan).rows()
        with pytest.raises(UnknownColumn):
            visits.plan("SELECT COUNT(*) FROM visits", epsilon=1, bounds={"nothing": dp.Bounds(0, 10)})
        with pytest.raises(InvalidArgument):
            visits.plan("SELECT COUNT(*) FROM visits", epsilon=1, bounds={"region": "auto"})
        assert visits.plan("SELECT SUM(paid) FROM visits", epsilon=1, bounds={"paid": (0, 10)}).digest == plan.digest
        with pytest.raises(InvalidArgument):
            visits.plan("SELECT COUNT(*) FROM visits", epsilon=1, bounds={"paid": (0, 10, 20)})  # type: ignore[dict-item]  # the slip
        with pytest.raises(Unsupported):
            visits.plan("SELECT COUNT(*) FROM visits", epsilon=1, limits=dp.Limits(rows=3))


def test_the_share_that_bounds_move_is_a_share() -> None:
    """And so is its margin, however few units there are beside the noise."""
    column = Column(name="x", kind=dp.Kind.INTEGER, bounds=dp.Bounds(0, 10))
    table = Table(name="t", source=Source(kind="csv", location="t.csv"), unit=dp.Unit.row(), columns=(column,))
    noise = Noise(measure=ir.Units(name="u"), mechanism=Laplace(Fraction(10), Sensitivity.scalar(1)))
    for counts in ([0, 1, 0, 0, 0], [0, -9, 5, 0, 70], [0] * 5):
        found = moved(table, column, counts, noise)
        assert 0 <= found.share <= 1
        assert 0 <= found.margin <= 1


def test_a_profile_reads_noise_as_noise() -> None:
    """Classes that noise alone fills are taken to be empty; those that hold people aren't."""
    units = [0] * len(STEPS)
    units[0], units[5], units[-1] = 10_000, 5_000, 30
    profile = Profile(tuple(units), scale=10.0, reach=100.0)
    assert profile.total() == pytest.approx(10_000 + 5_000 * (6 + 1 + 8) / 2, rel=0.03)
    assert profile.share(10_000) < 1e-6
    assert profile.keeping(0.99) == STEPS[5]


@pytest.mark.parametrize("limit", [1, 5, 24, 25, 28, 31])
@pytest.mark.parametrize("size", [25, 26, 28, 31, 32])
@pytest.mark.parametrize("small", [0, 17, 24])
def test_what_is_said_holds_however_large_units_are_within_their_class(limit: int, size: int, small: int) -> None:
    """Whatever a class hides: all units at its least size, all at its greatest, or anything between; without noise."""
    sizes = np.array([size] * 3_000 + [small] * 1_000 * bool(small))
    units = np.bincount(np.searchsorted(STEPS, sizes), minlength=len(STEPS))
    profile = Profile(tuple(units.tolist()), scale=1e-9, reach=0.0, most=10_000)
    found = cut_off_by_rows(profile, limit, dp.Limits(rows=limit))
    exact = np.maximum(sizes - limit, 0).sum() / sizes.sum()
    assert found.most is not None
    assert found.least - 1e-9 <= exact <= found.most + 1e-9
    assert found.most - found.least < 0.35  # no class is wider than that makes it


HOLDS = Claim(1 - OUTSIDE, wrong=0.94, alarm=Fraction(1, 10**11))
"""What is said is wrong in one of 10,000 draws of a profile's noise; that it is in six of a hundred is found out with a
probability of 99 %, after some 75 draws. False alarm: in 24 cases, below 1e-9."""
MISLEADS = replace(HOLDS, miss=Fraction(1, 10**11))
"""The same for a twin that must be found out, wrong in six of a hundred or more."""


@pytest.mark.parametrize(
    ("shape", "scale", "huge", "most"),
    crossed([(1, None), (24, None), (2, 3)], [5, 100], [0, 9_000], [None, 10_000]),
)
def test_what_is_said_of_limits_holds(shape: tuple[int, int | None], scale: int, huge: int, most: int | None) -> None:
    """Of lognormal tables, as of one with a unit of as many rows as a thousand others, over draws of the noise."""
    noise = Noise(measure=ir.Units(name="u"), mechanism=Laplace(Fraction(scale), Sensitivity.scalar(1)))
    sizes = np.maximum(np.round(np.exp(np.log(5) + 0.88 * np.array(NORMAL))), 1).astype(int)
    sizes = np.append(sizes, huge) if huge else sizes
    units = np.bincount(np.searchsorted(STEPS, sizes), minlength=len(STEPS)).tolist()
    groups, rows = shape
    exact = 1 - np.minimum(sizes, groups * (rows or 1)).sum() / sizes.sum()
    reach = float(noise.radius(1 - OUTSIDE / len(STEPS)))

    def drawn() -> Iterator[Profile]:
        while True:
            yield Profile(tuple(noise.mechanism.release(units)), scale=scale, reach=reach, most=most)

    def holds(profile: Profile) -> bool:
        if rows is None:
            found = cut_off_by_rows(profile, groups, dp.Limits(rows=groups))
        else:
            found = cut_off_by_groups(profile, profile, dp.Limits(groups=groups, rows_per_group=rows))
        assert (found.most is None) is (profile.most is None)
        return bool(found.least - 1e-9 <= exact <= (1 if found.most is None else found.most) + 1e-9)

    def holds_without_noise(profile: Profile) -> bool:
        found = cut_off_by_rows(replace(profile, reach=0.0, most=10_000), groups, dp.Limits(rows=groups))
        return bool(found.least <= exact <= (found.most or 0))

    assert stands(map(holds, drawn()), HOLDS)
    if huge and scale == 100:  # the twin that takes noise for rows, and no rows for none
        assert not stands(map(holds_without_noise, drawn()), MISLEADS)


NORMAL = tuple(NormalDist().inv_cdf((place + 0.5) / 5_000) for place in range(5_000))


def test_an_upper_end_takes_a_bound_on_what_one_unit_has() -> None:
    """With one, the more so the less noise there is; without, never, and the words say why."""
    units = [0] * len(STEPS)
    units[3], units[8] = 9_000, 1_000
    ends = []
    for reach in (1, 10, 100):
        profile = Profile(tuple(units), scale=reach / 10, reach=float(reach), most=100)
        unbounded = replace(profile, most=None)
        found = cut_off_by_rows(profile, 8, dp.Limits(rows=8))
        assert found.most is not None
        ends.append(found.most)
        assert " to " in str(found)
        assert "wouldn't show" in str(cut_off_by_rows(unbounded, 8, dp.Limits(rows=8)))
        assert "0.0%" not in str(cut_off_by_rows(unbounded, STEPS[-1], dp.Limits(rows=STEPS[-1])))
    assert ends == sorted(ends)


def test_what_is_made_of_rows_and_units_has_no_interval_of_one_number_for_both(make: Make) -> None:
    """Where one row of a unit counts, rows are counted for units; but what is cut off moves either by itself.

    Both cancel out in what is kept, so nothing is said of what isn't. Alone, each holds the truth, but with a chance of
    10⁻¹⁰.
    """
    ratio, gap = "COUNT(*) / COUNT(DISTINCT person) AS ratio", "COUNT(*) - COUNT(DISTINCT person) AS gap"
    sql = f"SELECT region, {ratio}, {gap}, COUNT(*) AS n, COUNT(DISTINCT person) AS u FROM visits GROUP BY region"
    with make(limits=dp.Limits(rows=1)) as visits:
        answer = visits.ask(sql, epsilon=10, cut_off=True)
    (said,) = (note.words for note in answer.notes() if note.title == "±")
    assert said.endswith("with what limits cut off, all of which may be of one group, but for ratio, gap")
    for name, least in (("n", 490_000 / 4), ("u", 5_000)):
        assert all(high >= least for _, high in answer.interval(name, 1 - Fraction(1, 10**10)))  # type: ignore[misc]  # there


def test_intervals_hold_what_limits_cut_off_where_that_was_measured(make: Make, visits: pa.Table) -> None:
    """Of counts and what is made of them, and of groups; every face says on what the upper end rests.

    False alarm: intervals are taken at a confidence of 1 − 10⁻¹⁰. That noise denies that anybody could hide happens in
    one question of ten or so, and in 20 of them less often than once in 1e17 runs.
    """
    surely = 1 - Fraction(1, 10**10)
    truth = visits.num_rows
    with make(epsilon=1_000) as protected:
        sql = "SELECT COUNT(*) AS n, COUNT(*) + 1 AS m, STDDEV(paid) AS s FROM visits"
        asked = (
            protected.ask(sql, epsilon=Fraction(1_000 + place, 100), bounds={"paid": (0, 3_000)}, cut_off=True)
            for place in range(20)
        )
        answer = next(each for each in asked if each.unless_hidden)
        ((low, high),), ((lower, higher),) = answer.interval("n", surely), answer.interval("m", surely)
        assert low <= truth <= high
        assert lower <= truth + 1 <= higher
        assert answer["n"][0] < truth / 2  # five rows of each
        assert low > answer["n"][0]  # and what surely is cut off is more than the noise
        assert set(answer.unless_hidden) == {"n", "m"}
        assert answer.cut_off is not None
        assert answer.cut_off.shows == 512
        assert answer.cut_off.ceiling == 1_000
        assert "with what limits cut off, but for s" in answer.coverage
        words = f"n if no unit has more than 512 rows: {answer.unless_hidden['n'][0]:,} to"  # type: ignore[index]  # numbers
        for shown in (str(answer), answer._repr_html_()):
            assert words in shown
            assert answer.cut_off.upper_ends in shown
        again = type(answer).from_json(answer.to_json())
        assert again.unless_hidden == answer.unless_hidden
        assert (str(again), str(again.cut_off)) == (str(answer.__replace__(left="")), str(answer.cut_off))
        grouped = protected.ask(COUNT, epsilon=10, cut_off=True)
        assert all(low <= truth / 4 <= high for low, high in grouped.interval("n", surely))  # type: ignore[misc]  # there
        assert not grouped.unless_hidden
        assert "may be of one group" in grouped.coverage
        alone = protected.ask(COUNT, epsilon=10)
        assert all(high < truth / 4 for _, high in alone.interval("n", surely))  # type: ignore[misc]  # without the profile


def test_chosen_bounds_say_what_they_move(make: Make, visits: pa.Table) -> None:
    """Of how many people values lie beyond; that a few with very large ones wouldn't show."""
    greatest = np.zeros(20_200)
    np.maximum.at(greatest, visits["person"].to_numpy(), visits["paid"].to_numpy())
    with make() as protected:
        answer = protected.ask("SELECT SUM(paid) AS p FROM visits", epsilon=20, bounds={"paid": "auto"})
        (found,) = answer.moved
        exact = (greatest > float(answer.bounds["paid"].hi)).mean()
        assert abs(found.share - exact) <= 2 * found.margin
        assert found.margin < 0.2
        assert "wouldn't show" in str(answer)


def test_bounds_weigh_what_they_cut_off_against_noise() -> None:
    """The few who have much decide as long as noise is cheap; classes that noise alone fills never do."""
    highs = [0] * len(ENDS)
    highs[ENDS.index(8)], highs[ENDS.index(1024)], highs[-1] = 100_000, 300, 40
    lows = [0] * len(ENDS)
    lows[len(ENDS) - 1 - ENDS.index(0)] = 100_000
    cheap = bounds_of(lows, highs, 10.0, price=5.0, kind=dp.Kind.REAL)
    assert (cheap.lo, cheap.hi) == (0, 1024)
    dear = bounds_of(lows, highs, 10.0, price=500.0, kind=dp.Kind.REAL)
    assert (dear.lo, dear.hi) == (0, 8)
    nobody = [0] * len(ENDS)
    assert bounds_of(nobody, nobody, 10.0, price=5.0, kind=dp.Kind.REAL) == dp.Bounds(-1, 1)
