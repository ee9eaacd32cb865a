"""Unforeseen kinds: an aggregate, an estimator or a relation that nobody taught a piece of code is refused by it.

And what is promised of those that are known is kept: over draws of the noise, the announced radius holds the errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from discreet.engine import relation_compiler, rewrites
from discreet.errors import Unsupported
from discreet.privacy import ADD_REMOVE, Budget
from discreet.query import ir
from discreet.query.aggregates import Form
from discreet.query.estimates import ROWS, Estimator, Interval, Noises, Noisy
from discreet.query.ir import limits, relations
from discreet.query.planner import Level, Request, make_plan
from discreet.query.sql import aggregate_syntax, question
from discreet.stats import upper_bound
from discreet.tables import Dataset
from support.asked import PEOPLE, TABLES
from support.reference import answer

DATASET = Dataset(
    name="people", tables=(PEOPLE,), budget=Budget(epsilon=100), ledger="unused", analysts={}, adjacency=ADD_REMOVE
)
SURE = 1 - Fraction(1, 10**11)


def level(sql: str, **offer: Any) -> Level:
    """The plan of a question of one column."""
    return make_plan(question(f"SELECT {sql} AS x FROM people", TABLES), Request.of(**offer), DATASET).levels[0]


@dataclass(frozen=True)
class _Truth(Estimator):
    """An estimator that is true whatever noise there is: its slope looks like 0, and it doesn't say how it moves."""

    measure: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The measure."""
        return (self.measure,)

    def estimate(self, _noisy: Noisy, _noises: Noises) -> bool:
        """True."""
        return True

    def interval(self, _noisy: Noisy, _noises: Noises, _confidence: float) -> Interval | None:
        """None."""
        return None


@dataclass(frozen=True)
class _Shuffled:
    """A relation that nobody knows."""

    source: ir.Relation
    alias: str = "s"


def test_an_aggregate_that_leaves_something_unsaid_is_none() -> None:
    """Nothing takes it for another one: without an argument, a type or an estimator of its own it can't be made."""
    make: Any = ir.AggregateFunction
    with pytest.raises(TypeError, match="'takes', 'result', and 'estimator'"):
        make(name="geomean")


def test_a_form_that_nobody_reads_is_refused() -> None:
    """Each name in SQL has a form, and each form a reader, or there would be no table of syntax."""
    assert aggregate_syntax._FORMS.keys() == set(Form)


def test_an_estimator_that_does_not_say_how_it_moves_is_none() -> None:
    """There is nothing that would guess it: the estimator can't be made."""
    make: Any = _Truth
    with pytest.raises(TypeError, match="slopes"):
        make("m0")


def test_a_relation_that_nobody_taught_is_refused() -> None:
    """It isn't taken for one that keeps its source's rows."""
    source = level("COUNT(*)", epsilon=1).draft.question.source
    unknown: Any = _Shuffled(source)
    for asked in (
        lambda: relations.sources(unknown),
        lambda: limits._limits_of(unknown, {}, None),
        lambda: limits.has_one_row(unknown),
        lambda: rewrites.visible(unknown),
        lambda: rewrites._Pass().of(unknown),
        lambda: rewrites._Pushdown()._below(unknown, ()),
        lambda: rewrites._private_scan(unknown),
        lambda: relation_compiler._expressions(unknown),
        lambda: relation_compiler.RelationCompiler(()).rows(unknown),
    ):
        with pytest.raises(Unsupported, match="_Shuffled"):
            asked()


DRAWS = 2_000


def misses(plan: Level, radius: float) -> int:
    """In how many of so many draws the error is beyond a radius, in a group of 1,000 rows.

    Its means lie at three quarters of their ranges, and its deviations are a quarter of them, as those of the group
    that errors are announced for.
    """
    people = [
        {"age": 55 + row % 2 * 55, "hours-per-week": 50 + row % 2 * 50, "married": True, "code": 1}
        for row in range(1_000)
    ]
    exact = answer(plan.exact, {"people": people}, lambda *_: 0)[()]
    draft = plan.draft
    ((_, estimator),) = draft.estimators
    truth = estimator.estimate(exact, draft.laws)
    assert isinstance(truth, (int, float))
    columns = {name: noise.mechanism.release([exact[name]] * DRAWS) for name, noise in plan.noises.items()}
    found = 0
    for draw in zip(*columns.values(), strict=True):
        value = estimator.estimate(dict(zip(columns, draw, strict=True)), draft.laws)
        found += not isinstance(value, (int, float)) or abs(value - truth) > radius * (1 + 1e-9)
    return found


@pytest.mark.parametrize("offer", [{"epsilon": 1}, {"rho": "0.5"}], ids=["laplace", "gaussian"])
@pytest.mark.parametrize(
    "sql",
    [
        "COUNT(*)",
        "COUNT(married)",
        "SUM(age)",
        "AVG(age)",
        "AVG(CASE WHEN married THEN 1 ELSE 0 END)",
        "VAR_POP(age)",
        "VAR_SAMP(age)",
        'COVAR_POP(age, "hours-per-week")',
        'COVAR_SAMP(age, "hours-per-week")',
    ],
)
def test_what_is_promised_covers_the_errors(sql: str, offer: dict[str, Any]) -> None:
    """The announced radius holds 95 % of the errors of fresh noise; a sixth of it, which must be caught, far fewer.

    False alarm: 18 cases, each below 1e-11. Of 2,000 draws, 90 % of errors within the radius instead of 95 % are found
    out with probability above 99 %.
    """
    plan = level(sql, **offer)
    ((_, estimator),) = plan.draft.estimators
    slopes = estimator.slopes(plan.draft.laws, ROWS)
    assert slopes is not None
    radius = slopes.radius(plan.draft.laws, 0.95)
    assert upper_bound(DRAWS - misses(plan, radius), DRAWS, SURE) >= 0.94
    assert upper_bound(DRAWS - misses(plan, radius / 6), DRAWS, SURE) < 0.94
