"""Picked groups: what an answer shows of them holds as often as it says, and every face of it says the same.

Coverage is that among the draws which show a group: fresh noise is drawn about exact numbers, and what HAVING keeps of
it is looked at, until it is clear whether the coverage is what is claimed, see `support.sequential`. Each claim is
rejected by chance with probability at most 1e-11, and there are fewer than 100: false alarm below 1e-9. A coverage of
80 % instead of 94 % is found out with probability above 99 %.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.gateway.answers import Arrangement, Group, evaluate, interval_of
from discreet.privacy import ADD_REMOVE, Budget
from discreet.query import ir
from discreet.query.aggregates import Moment
from discreet.query.planner import Level, Request, make_plan
from discreet.query.sql import question
from discreet.tables import Dataset
from support.asked import PEOPLE, TABLES
from support.sequential import Claim, all_stand

pytestmark = pytest.mark.usefixtures("kept_sessions")

ALARM = Fraction(1, 10**11)
HOLDS = Claim(0.94, wrong=0.8, alarm=ALARM)
BATCH, BATCHES = 4_000, 200

DATASET = Dataset(
    name="people", tables=(PEOPLE,), budget=Budget(epsilon=100, delta="0.1"), ledger="unused", adjacency=ADD_REMOVE
)
OFFERS = pytest.mark.parametrize("offer", [{"epsilon": "0.2"}, {"rho": "0.02"}], ids=["laplace", "gaussian"])
SCALES = pytest.mark.parametrize("scales", [1, 3, 5])
"""How far above the truth a threshold lies, in noise scales: a group is shown in 18 %, 2.5 % and 0.3 % of the draws."""

Scaled = Callable[[float], str]


def level(outputs: str, having: str, *, in_cells: bool = False, **offer: Any) -> Level:
    """The plan of a question by public groups, with each number measured apart or read from cells."""
    asked = question(
        f"SELECT age, {outputs} FROM people WHERE age BETWEEN 20 AND 39 GROUP BY age HAVING {having}", TABLES
    )
    return make_plan(asked, Request.of(**offer), DATASET, in_cells=in_cells).levels[0]


def size(plan: Level, name: str) -> float:
    """The scale of a number's noise, in steps; of Gaussian noise what is as rarely exceeded at 5 scales."""
    mechanism = plan.noises[name].mechanism
    return float(mechanism.sigma) * 0.55 if hasattr(mechanism, "sigma") else float(mechanism.scale)


def rows(plan: Level, number: int = 400) -> dict[str, int]:
    """The exact numbers of a group of so many rows: of what is counted that, of what is added up from its middle 0."""
    return {
        name: number * noise.measure.lo if isinstance(noise.measure, ir.Sum) and noise.measure.lo > 0 else 0
        for name, noise in plan.noises.items()
    }


def drawn(plan: Level, exact: dict[str, int], having: Callable[[dict[str, Any]], Any]) -> Iterator[dict[str, int]]:
    """The noisy numbers of draws that show a group.

    Args:
        plan: of the question.
        exact: what is counted and added up.
        having: the same as the question's, of arrays, to leave out at once what isn't shown.
    """
    for _ in range(BATCHES):
        numbers = {name: np.array(plan.noises[name].mechanism.release([exact[name]] * BATCH)) for name in plan.noises}
        for place in np.flatnonzero(having(numbers)):
            yield {name: int(values[place]) for name, values in numbers.items()}


def held(
    plan: Level, exact: dict[str, int], having: Callable[[dict[str, Any]], Any], *, knows: bool = True
) -> Iterator[list[bool]]:
    """Of which outputs the interval holds the exact value, draw after draw.

    Args:
        plan: of the question.
        exact: what is counted and added up.
        having: what shows a group, see `drawn`.
        knows: whether intervals reckon with that.
    """
    draft = plan.draft
    values = {name: each.estimate(exact, draft.laws) for name, each in draft.estimators}
    outputs = [output.expr for output in draft.question.outputs[1:]]
    truths = [float(evaluate(expr, values)) for expr in outputs]
    usual = [interval_of(draft, expr, 0.95) for expr in outputs]
    for noisy in drawn(plan, exact, having):
        arranged = Arrangement([draft], [Group((20,), noisy)])
        assert len(arranged.rows) == 1
        found = [arranged.intervals.of(expr, 0.95)[0] for expr in outputs] if knows else [rule(noisy) for rule in usual]
        assert None not in found
        yield [one.lo <= truth <= one.hi for one, truth in zip(found, truths, strict=True) if one is not None]


def surely_below(share: float, wrong: float) -> Claim:
    """A claim of which a twin whose intervals hold in less than `wrong` is let through once in 1e11."""
    return Claim(share, wrong=wrong, alarm=ALARM, miss=ALARM)


@OFFERS
@SCALES
def test_a_count_above_a_threshold_holds(scales: int, offer: dict[str, Any]) -> None:
    """So do other statistics of the same group, whether or not they use its number of rows."""
    outputs = "COUNT(*) AS n, AVG(income) AS a, SUM(age) AS s, COUNT(*) - COUNT(married) AS d"
    scale = size(level(outputs, "n > 400", **offer), "m0")
    plan = level(outputs, f"n >= {round(400 + scales * scale)}", **offer)
    exact = rows(plan)

    def having(numbers: dict[str, Any]) -> Any:
        return numbers["m0"] >= round(400 + scales * scale)

    assert all_stand(held(plan, exact, having), HOLDS)
    if scales > 1:
        assert not all_stand(held(plan, exact, having, knows=False), surely_below(0.94, 0.8))


@OFFERS
@SCALES
def test_a_count_within_a_window_holds(scales: int, offer: dict[str, Any]) -> None:
    """Above one threshold and below another: a lot of noise, but not too much."""
    scale = size(level("COUNT(*) AS n", "n > 400", **offer), "m0")
    low, high = round(400 + scales * scale), round(401 + (scales + 1) * scale)
    plan = level("COUNT(*) AS n, 2 * COUNT(*) AS twice", f"n BETWEEN {low} AND {high}", **offer)

    def having(numbers: dict[str, Any]) -> Any:
        return (numbers["m0"] >= low) & (numbers["m0"] <= high)

    assert all_stand(held(plan, {"m0": 400}, having), HOLDS)


@OFFERS
@SCALES
@pytest.mark.parametrize("negated", [False, True])
def test_a_count_below_a_threshold_holds(scales: int, offer: dict[str, Any], *, negated: bool) -> None:
    """However it is written."""
    scale = size(level("COUNT(*) AS n", "n > 400", **offer), "m0")
    end = round(400 - scales * scale)
    plan = level("COUNT(*) AS n", f"NOT n > {end} OR 1 > 2" if negated else f"{end} >= n", **offer)

    def having(numbers: dict[str, Any]) -> Any:
        return numbers["m0"] <= end

    assert all_stand(held(plan, {"m0": 400}, having), HOLDS)


@OFFERS
def test_conditions_on_two_numbers_hold(offer: dict[str, Any]) -> None:
    """Each of two counts far above the truth: shown in a quarter to half a per cent of the draws."""
    outputs = "COUNT(*) AS n, COUNT(married) AS m, 100.0 * COUNT(*) / NULLIF(COUNT(married), 0) AS r"
    first = level(outputs, "n > 400 AND m > 300", **offer)
    scales = 2 if "epsilon" in offer else 3
    ends = [round(exact + scales * size(first, name)) for name, exact in (("m0", 400), ("m1", 300))]
    plan = level(outputs, f"n > {ends[0]} AND m > {ends[1]}", **offer)
    exact = {"m0": 400, "m1": 300}

    def having(numbers: dict[str, Any]) -> Any:
        return (numbers["m0"] > ends[0]) & (numbers["m1"] > ends[1])

    assert all_stand(held(plan, exact, having), HOLDS)
    assert not all_stand(held(plan, exact, having, knows=False), surely_below(0.94, 0.8))


@OFFERS
@SCALES
def test_averages_above_a_threshold_hold(scales: int, offer: dict[str, Any]) -> None:
    """HAVING of an average is a condition on a sum and a count."""
    outputs = "AVG(age) AS a, COUNT(*) AS n"
    first = level(outputs, "a > 60", **offer)
    (total,) = [name for name in first.noises if name != "m0"]
    estimator = dict(first.draft.estimators)[first.draft.question.aggregates[0].name]
    centre = float(estimator.centre)  # type: ignore[attr-defined]  # an average has one
    end = centre + scales * size(first, total) * float(first.noises[total].step) / 400
    plan = level(outputs, f"a > {end:.6f}", **offer)
    exact = {"m0": 400, total: 0}
    factor = float(plan.noises[total].step)

    def having(numbers: dict[str, Any]) -> Any:
        return numbers[total] * factor > (round(end, 6) - centre) * numbers["m0"]

    assert all_stand(held(plan, exact, having), HOLDS)
    if scales > 1:
        assert not all_stand(held(plan, exact, having, knows=False), surely_below(0.9, 0.8))


@pytest.mark.parametrize("offer", [{"epsilon": "0.5"}, {"rho": "0.1"}], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("scales", [-1, 1, 3])
@pytest.mark.parametrize("exact", [3, 60])
def test_groups_that_a_threshold_and_having_select_hold(scales: int, exact: int, offer: dict[str, Any]) -> None:
    """Of private keys: whichever of both ends is the higher one, and however few are in the group."""

    def private(end: int) -> Level:
        asked = question(
            f"SELECT code, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY code HAVING n >= {end}", TABLES
        )
        return make_plan(asked, Request.of(delta="0.05", **offer), DATASET, in_cells=False).levels[0]

    first = private(1)
    selector, threshold = first.draft.selector, first.draft.threshold
    assert selector is not None
    assert threshold is not None
    end = round(exact + scales * size(first, selector))
    plan = private(end)
    numbers = rows(plan, exact)

    def having(found: dict[str, Any]) -> Any:
        return found[selector] >= max(end, threshold.value)

    assert all_stand(held(plan, numbers, having), HOLDS)


@OFFERS
@pytest.mark.parametrize("scales", [1, 2])
@pytest.mark.parametrize("picked", ["n", "a"])
def test_what_is_read_from_cells_holds(picked: str, scales: int, offer: dict[str, Any]) -> None:
    """A count, an average and a sum of the same cells, where HAVING picks by one of these."""
    outputs = "COUNT(*) AS n, AVG(income) AS a, SUM(income) AS s"
    first = level(outputs, "n > 400", in_cells=True, **offer)
    (cells,) = first.draft.cells
    value = first.draft.question.aggregates[1].argument
    assert value is not None
    rows_, known, offset = (cells.read(each) for each in (Moment(), *(Moment.of((value, power)) for power in range(2))))
    assert rows_ is not None
    assert known is not None
    assert offset is not None
    step, scale = float(first.noises[cells.vector.sums[0].name].step), size(first, cells.vector.sums[0].name)
    half = 250_000.5 / 2
    reach = {"n": 1.4 * step * scale, "a": 1.4 * half * step * scale / 400}[picked]
    end = {"n": 400.0, "a": half}[picked] + scales * reach
    plan = level(outputs, f"{picked} > {end:.6f}", in_cells=True, **offer)
    exact = {name: int(200 / step) if name in offset.factors else 0 for name in plan.noises}

    def having(numbers: dict[str, Any]) -> Any:
        count, present, total = (
            sum(factor * numbers[name] * step for name, factor in of.floats.items()) for of in (rows_, known, offset)
        )
        return np.rint(count) > round(end, 6) if picked == "n" else half + total / present > round(end, 6)

    assert all_stand(held(plan, exact, having), HOLDS)


@OFFERS
def test_what_is_not_understood_is_not_relied_on(offer: dict[str, Any]) -> None:
    """A condition on an expression that is no combination of numbers: intervals are wide enough for any."""
    outputs = "COUNT(*) AS n"
    scale = size(level(outputs, "n > 400", **offer), "m0")
    end = round(4 * scale)
    plan = level(outputs, f"ABS(n - 400) > {end}", **offer)

    def having(numbers: dict[str, Any]) -> Any:
        return abs(numbers["m0"] - 400) > end

    assert all_stand(held(plan, {"m0": 400}, having), HOLDS)
    assert not all_stand(held(plan, {"m0": 400}, having, knows=False), surely_below(0.5, 0.3))


def test_far_from_every_threshold_nothing_is_lost() -> None:
    """Where a group passes by far, its intervals are those that it would have without HAVING, but for 2 %."""
    plan = level("COUNT(*) AS n, AVG(age) AS a", "n > 100 AND AVG(age) > 25", epsilon=1)
    noisy = dict.fromkeys(plan.noises, 0) | {"m0": 40_000}
    arranged = Arrangement([plan.draft], [Group((20,), noisy)])
    for output in plan.draft.question.outputs[1:]:
        (one,) = arranged.intervals.of(output.expr, 0.95)
        usual = interval_of(plan.draft, output.expr, 0.95)(noisy)
        assert one is not None
        assert usual is not None
        assert usual.hi - usual.lo <= one.hi - one.lo <= 1.02 * (usual.hi - usual.lo)


# ── Every face says the same ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def letters(tmp_path: Any) -> Any:
    """400 rows in ten equal groups, and a value in each."""
    rows = pa.table({"g": ["abcdefghij"[row % 10] for row in range(400)], "x": [row % 7 for row in range(400)]})
    columns = {"g": dp.Keys(list("abcdefghij")), "x": dp.Bounds(0, 6)}
    budget = dp.Budget(epsilon=10**4, delta="0.01")
    ledger = str(tmp_path / "account.ledger")
    with dp.protect(rows, name="t", unit=dp.Unit.row(), columns=columns, budget=budget, ledger=ledger) as found:
        yield found


@pytest.mark.parametrize(
    "picking",
    [
        "ORDER BY n DESC LIMIT 2",
        "ORDER BY n LIMIT 3 OFFSET 2",
        "HAVING n > 45",
        "HAVING n BETWEEN 30 AND 60",
        "HAVING a > 2",
        "HAVING low > 5 ORDER BY a DESC LIMIT 3",
        "HAVING n > 30 OR s > 100",
        "ORDER BY g LIMIT 3",
        "",
    ],
)
def test_columns_and_intervals_are_the_same(letters: Any, picking: str) -> None:
    """DP_INTERVAL_LOW and DP_INTERVAL_HIGH are the ends of `interval`, of JSON and of what is printed."""
    columns = "COUNT(*) AS n, AVG(x) AS a, SUM(x) AS s, 2 * COUNT(*) - COUNT(x) AS d"
    margins = ", ".join(
        f"DP_INTERVAL_{end.upper()}({each}) AS {end}{each}" for each in "nasd" for end in ("low", "high")
    )
    sql = f"SELECT g, {columns}, {margins} FROM t GROUP BY g {picking}"
    answer = letters.ask(sql.replace("lown,", "low, DP_INTERVAL_LOW(n) AS lown,", 1), epsilon="0.5")
    said = answer.to_json()["intervals"]
    for each in "nasd":
        ends = list(zip(answer[f"low{each}"], answer[f"high{each}"], strict=True))
        assert ends == [one or (None, None) for one in answer.interval(each)]
        assert [tuple(one) for one in said.get(each, [])] == answer.interval(each)  # none of an answer without groups


def test_what_picks_goes_by_the_usual_margin(letters: Any) -> None:
    """HAVING compares the interval that a group has whatever is shown; the answer shows the one that holds then."""
    sql = "SELECT g, COUNT(*) AS n, DP_INTERVAL_LOW(n) AS low FROM t GROUP BY g HAVING low > 5"
    answer = letters.ask(sql, epsilon="0.5")
    everything = letters.ask("SELECT g, COUNT(*) AS n, DP_INTERVAL_LOW(n) AS low FROM t GROUP BY g", epsilon="0.5")
    assert answer["g"] == [each for each, low in zip(everything["g"], everything["low"], strict=True) if low > 5]


# ── What was picked stays picked ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "picking", ["ORDER BY n DESC LIMIT 1", "HAVING n > 44 ORDER BY n DESC LIMIT 1", "HAVING n > 44", "HAVING a > 3"]
)
@pytest.mark.parametrize(
    "again",
    [
        "SELECT COUNT(*) AS n FROM t WHERE g = '{}'",
        "SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY g",
        "SELECT g, COUNT(*) AS n, SUM(1) AS m FROM t WHERE g IN ('{}', 'a') GROUP BY g",
    ],
)
def test_a_picked_number_asked_again_is_as_unsure(letters: Any, picking: str, again: str) -> None:
    """Its interval is the one that it was shown with, whichever question it answers."""
    sql = f"SELECT g, COUNT(*) AS n, AVG(x) AS a FROM t GROUP BY g {picking}"
    picked = letters.ask(sql, epsilon="0.5")
    while not len(picked):
        letters.refresh()
        picked = letters.ask(sql, epsilon="0.5")
    group, ends = picked["g"][0], picked.interval("n")[0]
    for version in (None, letters.admissions.current().version):
        derived = letters.ask(again.format(group), epsilon="0.1", version=version)
        assert derived.origin
        assert "picked" in derived.coverage
        place = derived["g"].index(group) if "g" in derived.names else 0
        assert derived.interval("n")[place] == ends


def test_what_is_made_of_a_picked_number_is_no_surer(letters: Any) -> None:
    """A total of a picked group and another one: at least as wide as that of groups that nothing picked."""
    wide = letters.ask("SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING n > 44", epsilon="0.5")
    assert set(wide.names) == {"g", "n"}
    total = letters.ask("SELECT COUNT(*) AS n FROM t WHERE g IN ('a', 'b')", epsilon="0.01")
    assert total.origin
    letters.refresh()
    letters.ask("SELECT g, COUNT(*) AS n FROM t GROUP BY g", epsilon="0.5")
    usual = letters.ask("SELECT COUNT(*) AS n FROM t WHERE g IN ('a', 'b')", epsilon="0.01")
    widths = [each.interval("n")[0][1] - each.interval("n")[0][0] for each in (total, usual)]
    assert widths[0] > widths[1]


def test_a_workload_that_picks_is_picked_from(letters: Any) -> None:
    """What follows from a stored workload of which one question picks is as unsure as if it had been picked."""
    questions = ["SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY n DESC LIMIT 1", "SELECT AVG(x) AS a FROM t"]
    picked, _ = letters.ask(questions, epsilon="0.5")
    again = letters.ask(f"SELECT COUNT(*) AS n FROM t WHERE g = '{picked['g'][0]}'", epsilon="0.1")
    assert again.origin
    assert again.interval("n") == picked.interval("n")
