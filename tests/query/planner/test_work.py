"""Work: how far one unit can move what a question takes is known from public facts, and never told too low."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given

import discreet as dp
from discreet.errors import Unsupported
from discreet.gateway import Protected
from discreet.query.ir import FUNCTIONS, MOST_PAIRS, Call, Column, Expr, Function, Type, call, literal
from discreet.query.planner import Plan
from discreet.query.planner.work import Work, _Effort, pairs_within_work, work_of
from discreet.service.release_times import ReleaseTimes, check_memory
from discreet.tables import Kind
from support.examples import examples

pytestmark = pytest.mark.usefixtures("kept_sessions")

GIB = 2**30


@contextmanager
def opened(folder: Path, *, most: int = 10_000, longest: int = 1_000, unit: str = "pid") -> Iterator[Protected]:
    """A table of people and one of their visits, beside a public one."""
    note = dp.Column(kind=Kind.TEXT, max_length=longest)
    people = dp.table(
        pa.table({"pid": range(9), "income": [10.0] * 9, "note": ["a"] * 9}),
        name="people",
        unit=dp.Unit.row() if unit == "row" else unit,
        limits=dp.Limits(rows=1),
        columns={"income": (0, 100_000), "note": note},
        **({} if unit == "row" else {"most_rows_per_unit": most}),
    )
    visits = dp.table(
        pa.table({"pid": range(9), "cost": [1.0] * 9, "kind": ["x"] * 9, "note": ["b"] * 9}),
        name="visits",
        unit="pid",
        limits=dp.Limits(rows=5),
        columns={"cost": (0, 100), "kind": ["x", "y"], "note": note},
        most_rows_per_unit=most,
    )
    kinds = dp.table(
        pa.table({"kind": ["x", "y"], "w": [1.0, 2.0]}),
        name="kinds",
        public=True,
        unique=["kind"],
        columns={"w": (0, 9)},
    )
    rows = {"kind": ["x"] * 500, "w": [1.0] * 500, "id": range(500), "same": range(500)}
    many = dp.table(pa.table(rows), name="many", public=True, unique=["id"])
    tables = [people] if unit == "row" else [people, visits, kinds, many]
    with dp.protect(tables, name="clinic", budget=9, ledger=folder / "l") as clinic:
        yield clinic


def plan(tables: Protected, question: str) -> Plan:
    """The plan of a question."""
    found = tables.plan(question, epsilon=1)
    assert isinstance(found, Plan)
    return found


def bomb(fact: str, patterns: int = 36, size: int = 1500) -> str:
    """A question that takes long where a fact holds of one row, and not otherwise."""
    rows = f"SELECT pid, CASE WHEN {fact} THEN '{'a' * 1000}' ELSE '' END AS l FROM people WHERE pid = 5"
    text = "||".join(["a.l"] * 16)
    bad = " OR ".join(f"({text}) LIKE '%_{'a' * (size - i)}b%'" for i in range(patterns))
    return f"SELECT COUNT(*) AS n FROM ({rows}) a WHERE {bad}"


def check_both(asked: Plan, memory: int) -> None:
    """What a server looks at before it asks."""
    ReleaseTimes().step(asked)
    check_memory(asked, memory)


BOMBS = {
    "a pattern": bomb("income >= 36133"),
    "of one row": bomb("income >= 36133"),
    "for each pair": "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.pid = b.pid "
    f"WHERE a.note || b.note LIKE '%_{'a' * 500}b%'",
    "a pattern in the join": f"SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.note LIKE '%_{'a' * 900}b%' "
    "AND a.pid = b.pid",
    "a condition of EXISTS": "SELECT COUNT(*) AS n FROM people WHERE EXISTS (SELECT 1 FROM visits v WHERE "
    f"v.pid = people.pid AND v.note LIKE '%_{'a' * 900}b%')",
    "long groups": "SELECT COUNT(*) AS n FROM (SELECT DISTINCT pid, note || note || note || note AS t FROM visits) u "
    "WHERE LENGTH(t) > 9",
    "a long window": "SELECT COUNT(*) AS n FROM (SELECT pid, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY "
    "UPPER(note || note || note || note || note)) AS r FROM visits) u WHERE r = 1",
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_one_unit_could_move_too_far_is_refused(name: str, tmp_path: Path) -> None:
    """Where it is to leave at a time of its own, before anything is charged; the hint says what to do."""
    with opened(tmp_path, unit="row" if name == "of one row" else "pid") as tables:
        asked = plan(tables, BOMBS[name])
        with pytest.raises(Unsupported, match=r"rows could move|as long as reading tables") as refused:
            check_both(asked, GIB)
        assert "max_length" in str(refused.value.hint)
        assert not tables.spent.epsilon


ORDINARY = {
    "a count": "SELECT COUNT(*) AS n FROM visits",
    "groups": "SELECT kind, COUNT(*) AS n, AVG(cost) AS c, SUM(cost) AS s FROM visits GROUP BY kind",
    "a median": "SELECT MEDIAN(cost) AS m FROM visits",
    "a join along the link": "SELECT COUNT(*) AS n FROM visits v JOIN people p ON v.pid = p.pid WHERE p.income > 10",
    "a public join": "SELECT SUM(w) AS w FROM visits JOIN kinds USING (kind)",
    "per person": "SELECT COUNT(*) AS n FROM (SELECT pid, SUM(cost) AS s FROM visits GROUP BY pid) t WHERE s > 10",
    "a window": "SELECT COUNT(*) AS n FROM (SELECT pid, LAG(cost) OVER (PARTITION BY pid ORDER BY cost) AS b "
    "FROM visits) t WHERE b > 1",
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_questions_are_not(name: str, tmp_path: Path) -> None:
    """With the settings that a server has unless it is told otherwise; the time is a hundred times the work."""
    with opened(tmp_path) as tables:
        asked = plan(tables, ORDINARY[name])
        step = ReleaseTimes().step(asked)
        assert step >= 100 * asked.work.seconds
        check_memory(asked, 4 * GIB)
        assert f"by at most {asked.work.in_words(step)}" in asked.explain(step)


def test_a_pattern_over_short_texts_is_not(tmp_path: Path) -> None:
    """Nor one over the beginning of long ones: what the hint says helps."""
    like = "SELECT COUNT(*) AS n FROM visits WHERE {} LIKE '%_a%'"
    with opened(tmp_path) as tables:
        with pytest.raises(Unsupported):
            ReleaseTimes().step(plan(tables, like.format("note")))
        ReleaseTimes().step(plan(tables, like.format("SUBSTR(note, 1, 40)")))
    for number, declared in enumerate(({"longest": 40}, {"most": 200})):
        (tmp_path / str(number)).mkdir()
        with opened(tmp_path / str(number), **declared) as tables:
            ReleaseTimes().step(plan(tables, like.format("note")))


def test_the_beginning_of_a_text_is_soon_looked_at(tmp_path: Path) -> None:
    """However long the rest is; unless its case is folded first, or something follows."""
    like = "SELECT COUNT(*) AS n FROM visits WHERE note {}"
    with opened(tmp_path) as tables:
        ReleaseTimes().step(plan(tables, like.format("LIKE 'E11%'")))
        for other in ("ILIKE 'E11%'", "LIKE 'E11%x'", "LIKE 'E_1%'", "LIKE '%E11'"):
            with pytest.raises(Unsupported):
                ReleaseTimes().step(plan(tables, like.format(other)))


def test_what_nothing_bounds_is_refused(tmp_path: Path) -> None:
    """A public table that nobody looked through may have any number of rows, all of which a row meets."""
    with opened(tmp_path) as tables:
        asked = plan(tables, "SELECT COUNT(*) AS n FROM visits")
        asked.__dict__["work"] = Work(inf, inf)
        for check in (ReleaseTimes().step, lambda asked: check_memory(asked, GIB)):
            with pytest.raises(Unsupported, match="by inf"):
                check(asked)


def test_public_rows_that_meet_one_each_are_all_there(tmp_path: Path) -> None:
    """A unit's rows meet all of them afterwards: a table that is looked up leaves as many as there were."""
    looked_up = "SELECT COUNT(*) AS n FROM visits v JOIN {} ON v.kind = k.kind"
    both = "(SELECT k.kind FROM many k JOIN kinds o ON k.kind = o.kind) k"
    with opened(tmp_path, most=1) as tables:
        alone, joined = (plan(tables, looked_up.format(right)).work.seconds for right in ("many k", both))
        assert joined >= alone


def test_a_question_that_asks_nothing_moves_nothing(tmp_path: Path) -> None:
    """It is answered from public facts."""
    with opened(tmp_path) as tables:
        free = plan(tables, "SELECT COUNT(*) AS n FROM visits WHERE FALSE")
        assert free.is_free
        assert not free.work.seconds
        assert "can move what it takes" not in free.explain()


def test_the_more_a_pair_takes_the_fewer_there_are(tmp_path: Path) -> None:
    """As many as their work allows, down to the rows on either side; and never more than a million."""
    joined = "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.pid = b.pid WHERE {}"
    with opened(tmp_path, longest=40, most=2_000) as tables:
        plain, cased, liked = (
            plan(tables, joined.format(condition)).levels[0].exact
            for condition in (
                "a.cost < b.cost",
                "UPPER(a.note) < UPPER(b.note)",
                f"a.note || b.note LIKE '%_{'a' * 60}%'",
            )
        )
        assert MOST_PAIRS > plain.most_pairs > cased.most_pairs > liked.most_pairs
        alone = plan(tables, "SELECT COUNT(*) AS n FROM visits").levels[0].exact
        assert alone.most_pairs == MOST_PAIRS
        # The number is the greatest power of two that the work allows.
        least = work_of(replace(plain, most_pairs=1)).seconds
        assert work_of(plain).seconds <= least + 0.03 < work_of(replace(plain, most_pairs=2 * plain.most_pairs)).seconds
        assert pairs_within_work(plain) == plain.most_pairs


def test_what_shapes_the_answer_is_in_the_digest(tmp_path: Path) -> None:
    """Fewer pairs may be another answer; and another ceiling makes other numbers of pairs."""
    question = "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.pid = b.pid AND a.cost < b.cost"
    digests = set()
    for most in (10, 100_000):
        (tmp_path / str(most)).mkdir()
        with opened(tmp_path / str(most), most=most) as tables:
            digests.add(plan(tables, question).digest)
    assert len(digests) == 2


COSTLY = {
    "a filter": "SELECT COUNT(*) AS n FROM visits WHERE {}",
    "a filter beside one that few rows pass": "SELECT COUNT(*) AS n FROM visits WHERE cost > 99 AND {}",
    "a measure": "SELECT COUNT_IF({}) AS n FROM visits",
    "a group": "SELECT {} AS g, COUNT(*) AS n FROM visits GROUP BY g",
    "different values": "SELECT COUNT(DISTINCT CASE WHEN {} THEN kind END) AS n FROM visits",
    "an arm of CASE": "SELECT COUNT(*) AS n FROM visits WHERE CASE WHEN cost > 99 THEN {} ELSE TRUE END",
    "a side of a join": "SELECT COUNT(*) AS n FROM visits v JOIN people p ON p.pid = v.pid AND p.income > 9 WHERE {}",
    "pairs": "SELECT COUNT(*) AS n FROM visits v JOIN visits o ON o.pid = v.pid AND o.cost > v.cost AND {}",
    "a condition of EXISTS": "SELECT COUNT(*) AS n FROM people p WHERE EXISTS (SELECT 1 FROM visits WHERE pid = p.pid "
    "AND {})",
    "a person": "SELECT COUNT(*) AS n FROM (SELECT pid, SUM(CASE WHEN {} THEN cost END) AS s FROM visits "
    "GROUP BY pid) t WHERE s > 9",
    "a window": "SELECT COUNT(*) AS n FROM (SELECT pid, LAG(cost) OVER (PARTITION BY pid ORDER BY {}) AS b "
    "FROM visits) t WHERE b > 9",
    "what a public table is joined with": "SELECT SUM(w) AS w FROM visits v JOIN kinds k ON k.kind = v.kind WHERE {}",
}


@pytest.mark.parametrize("name", COSTLY)
def test_a_release_time_has_room_for_all_rows(name: str, tmp_path: Path) -> None:
    """For what is computed of each, wherever it stands: one row may decide whether an engine looks at the others.

    Its wrong twin is the time of before, which followed from how many tables a question names: that is the same for
    both questions.
    """
    note = "v.note" if " v " in COSTLY[name] else "note"
    with opened(tmp_path, most=10) as tables:
        plain, costly = (
            plan(tables, COSTLY[name].format(condition)).levels[0]
            for condition in (f"{note} IS NULL", f"{note} LIKE '%_{'a' * 20}%'")
        )
        assert len(plain.exact.scans) == len(costly.exact.scans)
        assert plain.readings == len(plain.exact.scans)
        assert costly.readings > 4 * plain.readings


def test_a_release_time_has_room_for_a_public_table(tmp_path: Path) -> None:
    """What is computed of it alone takes as long for whoever asks, but not where engines see that nobody needs it."""
    asked = "SELECT COUNT(*) AS n FROM visits v JOIN (SELECT kind FROM kinds WHERE {}) k ON k.kind = v.kind"
    with opened(tmp_path) as tables:
        plain, costly = (
            plan(tables, asked.format(condition)).levels[0]
            for condition in ("w > 0", " OR ".join(f"kind || 'b' LIKE '%_{'a' * each}b%'" for each in range(60)))
        )
        assert plain.readings == 2
        assert costly.readings > 4


def test_a_release_time_has_room_for_the_public_rows_that_each_meets(tmp_path: Path) -> None:
    """As many as have the value that most have; all, where no columns are equal for certain."""
    asked = "SELECT COUNT(*) AS n FROM visits v JOIN {}"
    with opened(tmp_path) as tables:
        one, same, all_, any_ = (
            plan(tables, asked.format(joined)).levels[0].readings
            for joined in (
                "kinds k ON k.kind = v.kind",
                "(SELECT kind FROM kinds WHERE w >= 0) k ON k.kind = v.kind",
                "many k ON k.kind = v.kind",
                "many k ON k.w < v.cost",
            )
        )
        assert one == same == 2
        assert all_ > 100
        assert any_ > 100


@pytest.mark.parametrize("column", ["id", "same"], ids=["declared as unique", "found to be"])
def test_columns_of_one_side_say_nothing_of_how_many_rows_meet(column: str, tmp_path: Path) -> None:
    """Though one of them be unique, a row of the other side meets all that are equal to it.

    The wrong twin is what was done before: one row was said to meet one.
    """
    joined = "SELECT COUNT(*) AS n FROM visits v LEFT JOIN many k ON v.kind = k.kind{} AND v.note || k.kind LIKE '%_a%'"
    with opened(tmp_path, most=10) as tables:
        honest, dressed = (
            plan(tables, joined.format(condition)).levels[0]
            for condition in ("", f" AND k.{column} = k.{'id' if column == 'same' else 'same'}")
        )
        assert dressed.readings > 0.9 * honest.readings > 90
        assert dressed.work.seconds > 0.9 * honest.work.seconds
        looked = "SELECT COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT 1 FROM many k WHERE v.kind = k.kind{})"
        assert plan(tables, looked.format("")).levels[0].readings == 2


def test_what_takes_as_long_as_many_readings_is_refused(tmp_path: Path) -> None:
    """It would keep its slot from everybody."""
    patterns = " OR ".join(f"note LIKE '%_{'a' * 30}{each}%'" for each in range(9))
    with opened(tmp_path, most=1) as tables, pytest.raises(Unsupported, match="as long as reading tables"):
        ReleaseTimes().step(plan(tables, f"SELECT COUNT(*) AS n FROM visits WHERE {patterns}"))


TEXTS = st.text(alphabet=st.sampled_from("aAzİıſßẞéΐ😀 \t%_ȺK"), max_size=12)
COLUMN = Column("t", "c", Type(Kind.TEXT))


def _texts(below: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    """Texts made of texts."""
    one = st.sampled_from(["upper", "lower", "trim", "ltrim", "rtrim"])
    part = st.tuples(below, st.integers(1, 5), st.integers(0, 5))
    return st.one_of(
        st.builds(call, one, below),
        part.map(lambda of: call("substring", of[0], literal(of[1]), literal(of[2]))),
        st.builds(lambda *args: call("concat", *args), below, below),
        st.builds(lambda *args: call("coalesce", *args), below, below),
        st.builds(lambda *args: call("greatest", *args), below, below),
        st.builds(lambda one, other: call("if", call("is_null", one), one, other), below, below),
        below.map(lambda arg: call("text", call("length", arg))),
    )


@examples(200)
@given(st.recursive(st.just(COLUMN), _texts, max_leaves=8), TEXTS)
def test_no_text_is_longer_than_is_known(expr: Expr, text: str) -> None:
    """Whatever functions do with it, and whatever signs it has."""

    def value(of: Expr) -> Any:
        if isinstance(of, Call):
            return of.function.evaluate(*(value(arg) for arg in of.args))
        return text if isinstance(of, Column) else getattr(of, "value", None)

    found = value(expr)
    known = _Effort({("t", "c"): len(text.encode())}).of(expr).size
    assert found is None or len(found.encode()) <= known


def test_each_function_that_gives_a_text_says_how_long_it_is() -> None:
    """Its wrong twin, which doesn't say, is refused rather than guessed."""
    texts = [COLUMN, literal(1), call("is_null", COLUMN)]
    giving = set()
    for name, function in FUNCTIONS.items():
        for args in [[arg] * count for arg in texts for count in (1, 2, 3)] + [[COLUMN, literal(1), literal(1)]]:
            try:
                found = call(name, *args)
            except (dp.DiscreetError, TypeError, IndexError, ValueError):  # it takes no such arguments, or fewer
                continue
            if isinstance(found, Call) and found.type.kind is Kind.TEXT and found.function is function:
                giving.add(name)
    assert giving >= {"upper", "trim", "substring", "concat", "coalesce", "text", "least"}
    assert all(FUNCTIONS[name].longest is not None for name in giving)
    silent = replace(FUNCTIONS["upper"], longest=None)
    assert isinstance(silent, Function)
    with pytest.raises(Unsupported, match="how long the texts of UPPER are"):
        _Effort({("t", "c"): 1}).of(Call(silent, (COLUMN,), COLUMN.type))
