"""The k-persons rule: values of groups that are too small aren't shown, at no door, and what is shown holds as it says.

Coverage is that among the draws which show a group, drawn until it is clear, see `support.sequential`: false alarm of
each claim below 1e-11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dp
from discreet.accounting import charge_of
from discreet.gateway.answers import Arrangement, Group, interval_of
from discreet.gateway.answers.intervals import selected_by
from discreet.privacy import ADD_REMOVE, Budget
from discreet.query.estimates import Window
from discreet.query.planner import Level, Request, make_plan
from discreet.query.sql import question
from discreet.results import Answer, cell_texts
from discreet.tables import Dataset
from support.asked import PEOPLE, TABLES
from support.sequential import Claim, all_stand

pytestmark = pytest.mark.usefixtures("kept_sessions")

Opened = Callable[..., dp.Protected]

SIZES = {"a": 100, "b": 9, "c": 10, "d": 0}
PEOPLE_OF = {"g": [g for g, size in SIZES.items() for _ in range(size)]}
COUNT = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens a table of 119 people, of whom each has two rows, and the account that goes with it."""
    ids = list(range(sum(SIZES.values())))
    data = pa.table({"id": ids * 2, "g": PEOPLE_OF["g"] * 2, "x": [70.0] * 2 * len(ids)})
    held: list[dp.Protected] = []

    def opens(least_units: int = 10, *, keys: bool = True, **more: Any) -> dp.Protected:
        columns: dict[str, Any] = {"x": dp.Bounds(0, 100)} | ({"g": dp.Keys(list("abcd"))} if keys else {})
        settings: dict[str, Any] = {
            "name": "t",
            "unit": dp.Unit("id"),
            "limits": dp.Limits(groups=1, rows_per_group=2),
            "columns": columns,
            "budget": dp.Budget(epsilon=10**6, delta=1e-3),
            "ledger": tmp_path / "t.ledger",
        }
        held.append(dp.protect(data, **(settings | more), least_units=least_units))
        return held[-1]

    yield opens
    for each in held:
        each.close()


@pytest.mark.usefixtures("noiseless")
def test_small_groups_are_null_and_marked(opened: Opened) -> None:
    """A group of 9 people is withheld and one of 10 is not; public keys stay, and no interval is left beside NULL."""
    answer = opened().ask("SELECT g, COUNT(*) AS n, AVG(x) AS m, 1 + 1 AS two FROM t GROUP BY g", epsilon=1)
    assert answer["g"] == list("abcd")
    assert answer["n"] == [200, None, 20, None]
    assert answer["m"] == [pytest.approx(70), None, pytest.approx(70), None]
    assert answer["two"] == [2, 2, 2, 2]
    assert answer.withheld == (1, 3)
    assert [answer.interval("n")[row] for row in (1, 3)] == [None, None]
    assert cell_texts(answer.column("n"), answer.interval("n"))[1] == "withheld"
    assert "values of 2 of 4 rows" in str(answer)


@pytest.mark.usefixtures("noiseless")
def test_marks_are_in_json(opened: Opened) -> None:
    """Column by column, and only where there are any; what is read back has them."""
    protected = opened()
    data = protected.ask(COUNT, epsilon=1).to_json()
    assert data["withheld"] == {"n": [1, 3]}
    assert Answer.from_json(data).withheld == (1, 3)
    assert "withheld" not in protected.ask("SELECT COUNT(*) AS n FROM t", epsilon=1).to_json()


@pytest.mark.usefixtures("noiseless")
@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("SELECT g, COALESCE(COUNT(*), 0) AS n FROM t GROUP BY g", [("a", 200), ("b", None), ("c", 20), ("d", None)]),
        ("SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING n < 100", [("c", 20)]),
        ("SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING n IS NULL", [("b", None), ("d", None)]),
        ("SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING COALESCE(n, 18) = 18", [("b", None), ("d", None)]),
        ("SELECT g, DP_INTERVAL_HIGH(n) AS h, COUNT(*) AS n FROM t GROUP BY g HAVING h < 100", [("c", 20)]),
        (
            "SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY n, g DESC",
            [("c", 20), ("a", 200), ("d", None), ("b", None)],
        ),
        ("SELECT 'x' AS g, COUNT(*) AS n FROM t WHERE g = 'b'", [("x", None)]),
    ],
)
def test_nothing_rests_on_what_is_withheld(opened: Opened, sql: str, shown: list[tuple[str, int | None]]) -> None:
    """HAVING and ORDER BY see NULL; what stands in its place is NULL as well."""
    answer = opened().ask(sql, epsilon=1)
    assert list(zip(answer["g"], answer["n"], strict=True)) == shown


@pytest.mark.usefixtures("noiseless")
def test_each_level_is_withheld_by_itself(opened: Opened) -> None:
    """Of ROLLUP, the total is shown though two groups aren't."""
    answer = opened(limits=dp.Limits(rows=2)).ask("SELECT g, COUNT(*) AS n FROM t GROUP BY ROLLUP (g)", epsilon=1)
    assert sorted(answer["n"], key=str) == [20, 200, 238, None, None]


@pytest.mark.usefixtures("noiseless")
def test_questions_of_a_workload_are_withheld_alike(opened: Opened) -> None:
    """Each by its own number of people."""
    asked = [COUNT, "SELECT g, AVG(x) AS m FROM t GROUP BY g", "SELECT SUM(x) AS s FROM t"]
    counts, means, total = opened().ask(asked, epsilon=1)
    assert counts["n"] == [200, None, 20, None]
    assert means["m"] == [pytest.approx(70), None, pytest.approx(70), None]
    assert total.withheld == ()


def test_the_number_of_units_is_measured_and_paid_for(opened: Opened) -> None:
    """An average has a measure more, all of them cost what was offered, and that is what the ledger holds."""
    protected = opened()
    plan = protected.plan("SELECT g, AVG(x) AS m FROM t GROUP BY g", epsilon="0.3")
    names = [str(noise.measure) for noise in plan.levels[0].draft.noises]
    assert [name for name in names if not name.startswith("vector")] == ["units()"]
    assert plan.levels[0].draft.counter is not None
    assert charge_of(plan.event).epsilon == Fraction(3, 10)
    answer = protected.ask(plan)
    assert answer.cost.epsilon == Fraction(3, 10)
    assert protected.spent.epsilon == Fraction(3, 10)


@pytest.mark.usefixtures("noiseless")
def test_rows_are_people_where_each_has_one_in_a_group(opened: Opened) -> None:
    """Then their number is the only one that is measured, in fine steps, and all of the cost is its own."""
    protected = opened(limits=dp.Limits(groups=2, rows_per_group=1))
    (noise,) = protected.plan(COUNT, epsilon=1).levels[0].draft.noises
    assert noise.step < 1
    assert protected.ask(COUNT, epsilon=1)["n"] == [100, None, 10, None]


def test_what_is_known_of_a_withheld_group(opened: Opened) -> None:
    """Its number of units is at most one step below the least of those that are shown, and no number is below 0."""
    (level,) = opened(limits=dp.Limits(groups=2, rows_per_group=1)).plan(COUNT, epsilon=1).levels
    least = level.draft.least_count
    assert least == 10 / level.draft.laws["m0"].step
    for seen in (least - 1, least):
        (window,) = selected_by(level.draft, {"m0": seen})
        assert isinstance(window, Window)
        assert window.exact_least == 0
        assert (window.least, window.most) == ((least, None) if seen == least else (None, least - 1))


def test_the_rule_is_in_the_plan(opened: Opened, tmp_path: Path) -> None:
    """In its words, its identity and its digest; without the rule all of these are as they were."""
    with_rule = opened().plan(COUNT, epsilon=1)
    without = opened(0, ledger=tmp_path / "other.ledger").plan(COUNT, epsilon=1)
    assert "noisy number of units below 10, as NULL" in with_rule.explain()
    assert "withheld" not in without.explain()
    rule = {"value": 10, "measure": with_rule.levels[0].draft.counter}
    assert with_rule.to_dict()["levels"][0]["least_units"] == rule  # type: ignore[index]  # it is JSON
    assert "least_units" not in without.to_dict()["levels"][0]  # type: ignore[index]  # it is JSON
    assert with_rule.digest != without.digest


def test_private_groups_need_as_many_to_be_named(opened: Opened, tmp_path: Path) -> None:
    """Their threshold is the greater of both: of a rule below it nothing is seen, and none of its groups is NULL."""
    thresholds = {}
    for least_units in (0, 2, 60):
        protected = opened(least_units, keys=False, ledger=tmp_path / f"{least_units}.ledger")
        (level,) = protected.plan(COUNT, epsilon=1, delta=1e-6).levels
        thresholds[least_units] = level.draft.threshold.value * level.draft.laws[level.draft.selector].step  # type: ignore[union-attr, index]  # its groups are private
    assert thresholds[0] == thresholds[2] < 60 == thresholds[60]


def test_profiles_have_no_rule(opened: Opened) -> None:
    """What is asked first, to choose limits, is shown to nobody group by group."""
    plan = opened().plan("SELECT COUNT(*) AS n FROM t", epsilon=1, limits="auto")
    assert plan.profiles
    assert all(level.draft.counter is None for profile in plan.profiles for level in profile.levels)
    assert all(level.draft.counter is not None for level in plan.levels)


def test_answers_of_before_serve_under_the_rule(opened: Opened) -> None:
    """A custodian who declares a rule later: the same question follows from the stored answer, free, with the rule."""
    before = opened(0)
    first = before.ask("SELECT g, COUNT(*) AS n, COUNT(DISTINCT id) AS people FROM t GROUP BY g", epsilon=10_000)
    before.close()
    again = opened().ask("SELECT g, COUNT(*) AS n, COUNT(DISTINCT id) AS people FROM t GROUP BY g", epsilon=10_000)
    assert again.origin == (first.entry,)
    assert again["people"] == [first["people"][0], None, first["people"][2] if 2 not in again.withheld else None, None]


def test_levels_are_measured_apart_under_the_rule(opened: Opened) -> None:
    """Numbers of people aren't put together from other levels: each level says by its own who is too few."""
    sql = "SELECT g, COUNT(*) AS n FROM t GROUP BY ROLLUP (g)"
    plan = opened(limits=dp.Limits(rows=2)).plan(sql, epsilon=1)
    assert plan.reconstruction is None
    assert len(plan.levels) == 2


@pytest.mark.parametrize("wrong", [-1, 10**6 + 1, True, 2.5, "10"], ids=repr)
def test_a_wrong_number_is_refused(opened: Opened, wrong: Any) -> None:
    """Before anything is read."""
    with pytest.raises(dp.DiscreetError, match="withheld"):
        opened(wrong)


# ── What is shown near the number ─────────────────────────────────────────────────────────────────────────────────────

ALARM = Fraction(1, 10**11)
DATASET = Dataset(
    name="people", tables=(PEOPLE,), budget=Budget(epsilon=100, delta="0.1"), ledger="unused", adjacency=ADD_REMOVE
)


def held(plan: Level, exact: int, *, knows: bool) -> Iterator[list[bool]]:
    """Whether the interval of a count holds it, draw after draw that shows its group of so many rows.

    Args:
        plan: of the question.
        exact: how many.
        knows: whether intervals reckon with the rule.
    """
    draft, mechanism = plan.draft, plan.noises["m0"].mechanism
    expr = draft.question.outputs[1].expr
    usual = interval_of(replace(draft, counter=None), expr, 0.95)
    for _ in range(200):
        for noisy in mechanism.release([exact] * 4_000):
            group = Group((20,), {"m0": noisy})
            if draft.withholds(group.noisy):
                continue
            found = Arrangement([draft], [group]).intervals.of(expr, 0.95)[0] if knows else usual(group.noisy)
            assert found is not None
            yield [found.lo <= exact <= found.hi]


@pytest.mark.parametrize("exact", [0, 75, 95, 100, 140])
@pytest.mark.parametrize("offer", [{"epsilon": "0.1"}, {"rho": "0.005"}], ids=["laplace", "gaussian"])
def test_intervals_near_the_number_hold(exact: int, offer: dict[str, Any]) -> None:
    """Among the draws that show a group, whether it is below the number or above it; usual intervals don't, below."""
    dataset = replace(DATASET, least_units=100 if exact else 30)
    asked = question("SELECT age, COUNT(*) AS n FROM people WHERE age BETWEEN 20 AND 39 GROUP BY age", TABLES)
    (level,) = make_plan(asked, Request.of(**offer), dataset).levels
    assert all_stand(held(level, exact, knows=True), Claim(0.94, wrong=0.8, alarm=ALARM))
    if exact in {0, 75}:
        assert not all_stand(held(level, exact, knows=False), Claim(0.94, wrong=0.8, alarm=ALARM, miss=ALARM))
