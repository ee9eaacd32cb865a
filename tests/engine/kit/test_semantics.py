"""An engine computes, bit for bit, what the words of the question's representation say of what was admitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, cast

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from discreet.engine import Engine, ExactResult
from discreet.privacy import Bounds, Limits, Unit
from discreet.query.ir import Exact, Expr, Measure, Units
from discreet.tables.admission import Snapshot
from support.engines import Tried, engine_over, order_of, trying
from support.questions import (
    AT_LEAST,
    BROKEN,
    IS_NULL,
    ONE_ROW,
    TIMES,
    arrow,
    by_group,
    call,
    column,
    count,
    declared,
    exact,
    key,
    keys_of,
    literal,
    table_of,
    total,
)
from support.reference import Answer, answer

pytestmark = pytest.mark.usefixtures("kept_sessions")

moment = datetime.fromisoformat
INTEGERS = [None, 0, 1, -1, 3, 7, 10, -(2**63), 2**63 - 1, 2**53 + 1, -(2**53) - 1]
REALS = [
    None, 0.0, -0.0, 0.1, 0.5, -0.5, 1.5, 2.5, -2.5, 7.25, 1e-320, 5e-324, 0.49999999999999994, 2.0**53 + 2,
    9007199254740991.5, 2.0**62, -(2.0**63), 1e300, -1e308, float("inf"), float("-inf"), float("nan"),
]  # fmt: skip
TIMES_AT = [
    None, moment("2024-02-29"), moment("2024-02-29 23:59:59.999999"), moment("2024-03-01"), moment("0001-01-08"),
    moment("1969-12-31 23:00:00"), moment("9999-12-31 23:59:59"),
]  # fmt: skip
GROUPS = [None, "a", "b", "c", "", "a ", "é", "a\0b", "'; --"]
ROWS = st.fixed_dictionaries(
    {
        "id": st.sampled_from([None, 1, 2, 3, -1, 2**63 - 1]),
        "who": st.sampled_from([None, "ann", "bob", "Ann", ""]),
        "at": st.sampled_from(TIMES_AT),
        "g": st.sampled_from(GROUPS),
        "h": st.sampled_from([None, 0, 1, 2, -5, 2**40]),
        "b": st.sampled_from([None, True, False]),
        "d": st.sampled_from([None, date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31), date(1970, 1, 1)]),
        "x": st.sampled_from(INTEGERS) | st.integers(-(2**63), 2**63 - 1),
        "y": st.sampled_from(REALS) | st.floats(),
    }
)
CROWDED = st.lists(ROWS, min_size=5, max_size=12).map(
    lambda rows: [
        {**row, "id": 1, "who": "ann", "at": moment("2024-02-29"), "g": "abcd"[place % 4]}
        for place, row in enumerate(rows)
    ]
)
"""Rows of one unit in four groups, so that it is over its limits."""
KEYS = [
    [], [key("g")], [key("g", ["b", "a", None, "a\0b"])], [key("g", ["a", "c"])], [key("h")], [key("h", [2, 0, 2**70])],
    [key("b", [True, None])], [key("d")], [key("d", [date(1970, 1, 1), date(1, 1, 1)])], [key("at")],
    [key("g"), key("h", [0, 1, None])], [key("b", [False, True]), key("g", ["a", "b", None])],
]  # fmt: skip
VALUES: list[Expr] = [
    column("x"), column("y"), call(TIMES, column("y"), literal(3.0)), call(TIMES, column("y"), column("y")), literal(1),
    literal(2.5), literal(-7), call(BROKEN, column("g")),
]  # fmt: skip
WHERE: list[list[Expr]] = [
    [], [call(AT_LEAST, column("x"), literal(1))], [column("b")],
    [call(AT_LEAST, column("y"), literal(0.1)), column("b")], [call(IS_NULL, column("g"))],
    [call(AT_LEAST, column("g"), literal("a"))], [call(AT_LEAST, column("d"), literal(date(1970, 1, 1)))],
]  # fmt: skip
EVERY_LIMIT = (
    st.builds(Limits, rows=st.integers(1, 5))
    | st.builds(Limits, groups=st.integers(1, 3), rows_per_group=st.integers(1, 3))
    | st.builds(Limits, rows=st.integers(1, 5), groups=st.integers(1, 3))
)


WHOLES = st.sampled_from([1, 5, 2**40, 2**63 - 1])


@st.composite
def sums(draw: st.DrawFn, name: str) -> Measure:
    """A sum of something, on a grid from 2^-40 to 2^40, with bounds up to what 64 bits hold."""
    ends = st.sampled_from([0, 1, -1, 5, -12, 1000, 2**53 + 1, 2**62, -(2**62), 2**63 - 1, 1 - 2**63])
    lo, hi = sorted(draw(st.tuples(ends, ends) | st.tuples(st.just(3), st.just(3))))
    return total(name, draw(st.sampled_from(VALUES)), grid=draw(st.integers(-40, 40)), lo=lo, hi=hi)


@st.composite
def questions(draw: st.DrawFn) -> Exact:
    """A question of any shape the engine offers."""
    unit = draw(
        st.sampled_from(
            [
                Unit.row(),
                Unit("id"),
                Unit("who"),
                *[Unit("id", per=per, at="at") for per in PERIODS],
                Unit("who", per="month", at="d"),
            ]
        )
    )
    keys = draw(st.sampled_from(KEYS))
    limits = ONE_ROW if unit.is_row else draw(EVERY_LIMIT)
    table = table_of(
        unit=unit,
        limits=limits,
        id=draw(
            st.sampled_from([declared("id"), declared("id", bounds=Bounds(0, 2)), declared("id", keys=keys_of(3, 1))])
        ),
        who=declared("who", keys=draw(st.sampled_from([None, keys_of("bob", "ann")]))),
        at=declared("at", bounds=draw(st.sampled_from([None, Bounds(moment("1900-01-01"), moment("2100-01-01"))]))),
        g=declared("g", keys=draw(st.sampled_from([None, keys_of("a", "b"), keys_of("a", None)]))),
        h=declared("h", keys=draw(st.sampled_from([None, keys_of(0, 2)]))),
        d=draw(st.sampled_from([declared("d"), declared("d", bounds=CENTURIES), declared("d", keys=keys_of(*DAYS))])),
        x=declared("x", bounds=draw(st.sampled_from([None, Bounds(-5, 9)]))),
        y=declared("y", bounds=draw(st.sampled_from([None, Bounds("-5/2", "0.7")]))),
    )
    measures = [count(), draw(sums("s")), draw(sums("t"))]
    rest = total("r", draw(st.sampled_from(VALUES)), grid=draw(st.integers(-40, 40)), lo=0, hi=draw(WHOLES)).rest
    measures += draw(st.sampled_from([[], [rest], [rest, replace(rest.rest, name="v")]]))
    if limits.groups is not None or not keys or unit.is_row:
        measures.insert(draw(st.integers(0, 3)), Units(name="u"))
    return exact(table, measures, keys=keys, where=draw(st.sampled_from(WHERE)), salt=draw(st.text(max_size=3)))


@st.composite
def plain(draw: st.DrawFn) -> Exact:
    """A question whose answer depends on each row of a unit over its limits, and on which values are NULL."""
    limits = draw(EVERY_LIMIT)
    keys = draw(st.sampled_from([[], [key("g")]]))
    measures = [count(), total("s", column("x"), lo=-12, hi=1000), total("t", column("x"), lo=3, hi=3)]
    if limits.groups is not None:
        measures.append(Units(name="u"))
    return exact(table_of(unit=Unit("id"), limits=limits), measures, keys=keys)


CASES = st.tuples(questions(), st.lists(ROWS, max_size=12)) | st.tuples(plain(), CROWDED)
Case = tuple[Exact, list[dict[str, Any]]]
CENTURIES = Bounds(date(1900, 1, 1), date(2100, 1, 1))
DAYS = (date(2024, 2, 29), date(1970, 1, 1))
PERIODS = ("hour", "day", "week", "month", "quarter", "year")


def expected(question: Exact, rows: list[dict[str, Any]]) -> Answer:
    """The reference's answer."""
    return answer(question, {"t": rows}, order_of(question))


def admitted(question: Exact, rows: list[dict[str, Any]], **settings: Any) -> Answer:
    """The engine's answer about rows that are admitted first."""
    (table,) = question.tables
    return by_group(engine_over([table], {table.source.location: arrow(rows)}, **settings), question)


def computes_what_the_words_say(case: Case, random: Any) -> None:
    """For any question and rows: the same groups and integers, in any order of rows."""
    question, rows = case
    wanted = expected(question, rows)
    assert admitted(question, rows) == wanted
    random.shuffle(rows)
    assert admitted(question, rows, threads=1) == wanted


SEARCH = settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
FIRST_FAILURE = settings(SEARCH, phases=[Phase.generate])
MANY = settings(FIRST_FAILURE, max_examples=1_000)
RANDOM = st.randoms(use_true_random=True)


@pytest.mark.long
@SEARCH
@given(CASES, RANDOM)
def test_the_engine_computes_what_the_words_say(case: Case, random: Any) -> None:
    """See above."""
    computes_what_the_words_say(case, random)


@pytest.mark.parametrize("keys", [[], [key("g")]])
def test_what_a_constant_leaves_is_counted_beside_it(keys: list[Any]) -> None:
    """No row brings a value of a constant, from which to take what is left."""
    table = table_of(unit=Unit("id"), limits=Limits(rows=1))
    twos = total("n", literal(2), lo=0, hi=5)
    question = exact(table, [twos, replace(twos.rest, name="r")], keys=keys)
    rows = [{"id": number, "g": group} for number, group in ((1, "a"), (1, "a"), (2, "a"), (3, "b"))]
    assert admitted(question, rows) == expected(question, rows)


@pytest.mark.soak
@settings(SEARCH, max_examples=5_000)
@given(st.tuples(questions(), st.lists(ROWS, max_size=30)))
def test_the_engine_computes_what_the_words_say_at_length(case: Case) -> None:
    """The same, for as long as a soak has."""
    question, rows = case
    assert admitted(question, rows) == expected(question, rows)


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """One mistake that an engine could make: in what it reads, in what it is asked, or in what it answers."""

    reads: Callable[[pa.Table], pa.Table] = lambda rows: rows
    asked: Callable[[Exact], Exact] = lambda question: question
    answers: Callable[[Answer], Answer] = lambda found: found


class WrongTwin:
    """The engine that is tried, but for one mistake.

    Args:
        right: the engine.
        mistake: which one.
    """

    def __init__(self, right: Engine, mistake: Mistake) -> None:
        self._right, self._mistake = right, mistake

    def __getattr__(self, name: str) -> Any:
        """All else is right."""
        return getattr(self._right, name)

    def run(self, question: Exact) -> ExactResult:
        """The wrong answer."""
        found = self._mistake.answers(by_group(self._right, self._mistake.asked(question)))
        measures = {each.name: [values[each.name] for values in found.values()] for each in question.measures}
        return ExactResult(keys=list(found), measures=measures)


def limited(**more: int) -> Callable[[Exact], Exact]:
    """The question with greater limits, where it has them."""

    def asked(question: Exact) -> Exact:
        greater = {name: each + more[name] for name in more if (each := getattr(question.limits, name)) is not None}
        return question if question.owner.unit.is_row else replace(question, limits=replace(question.limits, **greater))

    return asked


def reordered(found: Answer) -> Answer:
    """The numbers of each group under the next one's key."""
    return dict(zip(found, [*list(found.values())[1:], *list(found.values())[:1]], strict=True))


def off_by_one(found: Answer) -> Answer:
    """A sum of the first group that is 1 too large."""
    return {
        group: {name: value + (place == 0 and name == "s") for name, value in values.items()}
        for place, (group, values) in enumerate(found.items())
    }


def shown_empty(found: Answer) -> Answer:
    """A group that no row is in."""
    empty = {name: 0 for values in found.values() for name in values}
    return {**found, tuple("nowhere" for _ in next(iter(found), ())): empty} if empty else found


def nulls_as_0(rows: pa.Table) -> pa.Table:
    """NULL taken for 0 in the columns of numbers that are added up."""
    for name in ("x", "y"):
        place = rows.column_names.index(name)
        rows = rows.set_column(place, rows.schema.field(place), rows.column(place).fill_null(0))
    return rows


MISTAKES = {
    "keeps one group too many": Mistake(asked=limited(groups=1)),
    "keeps one row too many": Mistake(asked=limited(rows=1)),
    "keeps one row too many in a group": Mistake(asked=limited(rows_per_group=1)),
    "drops a group": Mistake(answers=lambda found: dict(list(found.items())[1:])),
    "shows a group that no row is in": Mistake(answers=shown_empty),
    "confuses groups": Mistake(answers=reordered),
    "reads a row twice": Mistake(reads=lambda rows: pa.concat_tables([rows, rows.slice(0, 1)])),
    "passes over a row": Mistake(reads=lambda rows: rows.slice(1)),
    "is off by one in a sum": Mistake(answers=off_by_one),
    "takes NULL for 0": Mistake(reads=nulls_as_0),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_an_engine_with_one_mistake_is_found(mistake: str, engine_tried: Tried) -> None:
    """By the test above, within its 50 examples; where these are new each time, within 1,000.

    About one example in ten finds the rarest mistake.
    """
    wrong = MISTAKES[mistake]
    search = MANY if settings.get_current_profile_name() == "forgetful" else FIRST_FAILURE

    def opened(snapshot: Snapshot, **settings: Any) -> Engine:
        tables = {
            name: replace(held, data=tuple(map(wrong.reads, held.data))) for name, held in snapshot.tables.items()
        }
        return cast("Engine", WrongTwin(engine_tried.opened(replace(snapshot, tables=tables), **settings), wrong))

    with trying(Tried(opened, engine_tried.order)), pytest.raises(AssertionError):
        search(given(CASES, RANDOM)(computes_what_the_words_say))()
