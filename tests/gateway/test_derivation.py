"""Derivation: what follows from stored answers is free, equals what would have been asked, and errs no more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from math import isclose
from pathlib import Path
from sqlite3 import connect
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given

import discreet as dp
from discreet.gateway.reuse import ReuseIndex
from support.examples import examples
from support.tables import VISITS, visits

pytestmark = pytest.mark.usefixtures("kept_sessions")

ROW, PERSON = dp.Unit.row(), dp.Unit("person_id")
WIDE = "SELECT region, sex, day, COUNT(*) AS n, AVG(age) AS a, SUM(income) AS s FROM t GROUP BY region, sex, day"
PAIR = "SELECT region, day, COUNT(*) AS n, COUNT(age) AS c, SUM(age) AS s FROM t GROUP BY region, day"
NAMED = "SELECT COALESCE(region, 'none') AS r, COUNT(*) AS n FROM t GROUP BY r"
UNITS = "SELECT region, day, COUNT(DISTINCT person_id) AS u, COUNT(*) AS n FROM t GROUP BY region, day"

Unit = tuple[dp.Unit, dp.Limits | None]
BY_ROW: Unit = ROW, None
BY_ROWS: Unit = PERSON, dp.Limits(rows=3)
BY_GROUPS: Unit = PERSON, dp.Limits(groups=2, rows_per_group=2)
IN_ALL_GROUPS: Unit = PERSON, dp.Limits(groups=12, rows_per_group=2)


class Desk:
    """Opens accounts over one table."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self._stack, self._opened = folder, stack, 0

    def __call__(self, unit: Unit = BY_ROW, table: pa.Table | None = None, **declared: Any) -> dp.Protected:
        """A fresh account."""
        self._opened += 1
        budget = declared.pop("budget", dp.Budget(epsilon=1000, delta=1e-3))
        found = dp.protect(
            visits() if table is None else table,
            name="t",
            unit=unit[0],
            limits=unit[1],
            columns={**VISITS, **declared},
            budget=budget,
            ledger=self.folder / f"{self._opened}.ledger",
        )
        return self._stack.enter_context(found)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Accounts that are closed in the end."""
    with ExitStack() as stack:
        yield Desk(tmp_path, stack)


def _is_near(left: object, right: object) -> bool:
    """Whether two are equal, but for whole numbers that were a half and are rounded."""
    if isinstance(left, int) and isinstance(right, int):
        return abs(left - right) <= 1
    return left == right


def same(one: dp.Answer, other: dp.Answer) -> bool:
    """Whether two answers have the same rows, but for rounding on grids."""
    pairs = [
        (left, right)
        for left_row, right_row in zip(one.rows(), other.rows(), strict=True)
        for left, right in zip(left_row.values(), right_row.values(), strict=True)
    ]
    return one.names == other.names and all(
        isclose(left, right, rel_tol=1e-5, abs_tol=1e-4) if isinstance(left, float) else _is_near(left, right)
        for left, right in pairs
    )


FOLLOWS = [
    # the same groups: other columns, order, HAVING, LIMIT, arithmetic, parts of averages
    (BY_ROW, WIDE, "SELECT day, sex, region, COUNT(*) AS m FROM t GROUP BY sex, day, region"),
    (BY_ROW, PAIR, "SELECT region, day, AVG(age) AS a FROM t GROUP BY region, day"),
    (BY_ROW, PAIR, "SELECT region, day, SUM(age) / COUNT(*) AS r, 2 * COUNT(*) AS d FROM t GROUP BY region, day"),
    (
        BY_ROWS,
        PAIR,
        "SELECT day, region, COUNT(*) AS n FROM t GROUP BY 1, 2 HAVING COUNT(*) > 1 ORDER BY n DESC LIMIT 3",
    ),
    (BY_GROUPS, PAIR, "SELECT region AS r, COUNT(*) AS n, day FROM t GROUP BY region, day ORDER BY r"),
    (BY_ROW, "SELECT AVG(age) AS a FROM t", "SELECT COUNT(age) AS n FROM t"),
    # fewer groups
    (BY_ROW, WIDE, "SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM t WHERE region = 'north' AND day = 2 GROUP BY sex"),
    (BY_ROW, PAIR, "SELECT region, COUNT(*) AS n FROM t WHERE day IN (1, 3) AND region IS NOT NULL GROUP BY region"),
    (BY_ROW, PAIR, "SELECT day, COUNT(*) AS n FROM t WHERE region < 'o' GROUP BY day"),
    # coarser groups
    (BY_ROW, PAIR, "SELECT region, COUNT(*) AS n, SUM(age) AS s FROM t GROUP BY region"),
    (BY_ROW, PAIR, "SELECT day >= 2 AS late, COUNT(*) AS n FROM t GROUP BY day >= 2"),
    (BY_ROW, PAIR, "SELECT COUNT(*) AS n, AVG(age) AS a FROM t"),
    (BY_ROWS, PAIR, "SELECT region, COUNT(*) AS n, SUM(age) AS s FROM t GROUP BY region"),
    (BY_ROWS, PAIR, "SELECT COUNT(*) AS n, AVG(age) AS a FROM t"),
    # keys that tell the column that they are computed from
    (BY_ROW, NAMED, "SELECT region, COUNT(*) AS n FROM t GROUP BY region"),
    (BY_ROW, NAMED, "SELECT region = 'north' AS x, COUNT(*) AS n FROM t WHERE region IS NOT NULL GROUP BY 1"),
    (BY_ROW, NAMED, "SELECT COUNT(*) AS n FROM t WHERE region IS NULL"),
    (BY_ROW, "SELECT 10 - day AS d, COUNT(*) AS n FROM t GROUP BY d", "SELECT day, COUNT(*) AS n FROM t GROUP BY day"),
    # rows that are computed, with other columns of them used
    (
        BY_ROW,
        "SELECT region, COUNT(*) AS n, SUM(x) AS s FROM (SELECT region, 2 * age AS x FROM t) AS u GROUP BY region",
        "SELECT COUNT(*) AS n FROM (SELECT region, 2 * age AS x FROM t) AS u WHERE region = 'north'",
    ),
    (
        BY_GROUPS,
        "SELECT c > 3 AS k, COUNT(*) AS n FROM (SELECT person_id, COUNT(*) AS c FROM t GROUP BY 1) AS u GROUP BY 1",
        "SELECT COUNT(*) AS n FROM (SELECT person_id, COUNT(*) AS c FROM t GROUP BY 1) AS u WHERE c > 3 OR NOT c > 3",
    ),
    # a level of ROLLUP, and ROLLUP from its finest level
    (
        BY_ROW,
        "SELECT region, day, COUNT(*) AS n FROM t GROUP BY ROLLUP (region, day)",
        "SELECT region, COUNT(*) AS n FROM t GROUP BY region",
    ),
    (BY_ROW, PAIR, "SELECT region, day, COUNT(*) AS n FROM t GROUP BY ROLLUP (region, day)"),
]


@pytest.mark.usefixtures("noiseless")
@pytest.mark.parametrize(("unit", "first", "then"), FOLLOWS)
def test_what_follows_is_free_and_equals_what_would_be_asked(desk: Desk, unit: Unit, first: str, then: str) -> None:
    """Without noise, the derived answer has the rows of the asked one; nothing is written, and its origin is named."""
    stored, fresh = desk(unit), desk(unit)
    origin = stored.ask(first, epsilon=50)
    head, spent = stored.verify().head, stored.spent
    derived = stored.ask(then, epsilon=0.1)
    assert derived.reused
    assert derived.origin == (origin.entry,) == (1,)
    assert derived.certificate["follows_from"] == [origin.certificate]
    assert (stored.verify().head, stored.spent) == (head, spent)
    asked = fresh.ask(then, epsilon=0.1)
    assert asked.origin == ()
    assert same(derived, asked)


@pytest.mark.usefixtures("noiseless")
def test_groups_that_are_limited_each_on_its_own_may_be_left_out(desk: Desk) -> None:
    """Under ρ, and with as many groups as there are, rows in one group leave those in others alone."""
    part = "SELECT day, COUNT(*) AS n, COUNT(DISTINCT person_id) AS u FROM t WHERE region = 'north' GROUP BY day"
    stored, fresh = desk(IN_ALL_GROUPS), desk(IN_ALL_GROUPS)
    stored.ask(UNITS, rho=20)
    derived = stored.ask(part, rho="0.001")
    assert derived.origin == (1,)
    assert same(derived, fresh.ask(part, rho="0.001"))


DOES_NOT_FOLLOW = [
    ("a filter on what isn't a key", BY_ROW, PAIR, "SELECT day, COUNT(*) AS n FROM t WHERE age > 30 GROUP BY day"),
    ("a filter that the first had", BY_ROW, f"{PAIR.partition(' GROUP')[0]} WHERE day > 1 GROUP BY region, day", PAIR),
    (
        "other rows below",
        BY_ROW,
        "SELECT region, COUNT(*) AS n FROM (SELECT region FROM t WHERE age > 5) AS u GROUP BY region",
        "SELECT region, COUNT(*) AS n FROM (SELECT region FROM t WHERE age > 6) AS u GROUP BY region",
    ),
    (
        "a column of another meaning",
        BY_ROW,
        "SELECT region, SUM(x) AS s FROM (SELECT region, 2 * age AS x FROM t) AS u GROUP BY region",
        "SELECT region, SUM(x) AS s FROM (SELECT region, 3 * age AS x FROM t) AS u GROUP BY region",
    ),
    (
        "a key that has no other value for each of the column",
        BY_ROW,
        "SELECT COALESCE(region, 'north') AS r, COUNT(*) AS n FROM t GROUP BY r",
        "SELECT region, COUNT(*) AS n FROM t GROUP BY region",
    ),
    (
        "a key that some rows lack, under one limit",
        BY_ROWS,
        "SELECT COALESCE(sex, 'none') AS s, COUNT(*) AS n FROM t GROUP BY s",
        "SELECT sex, COUNT(*) AS n FROM t GROUP BY sex",
    ),
    ("another measure", BY_ROW, PAIR, "SELECT region, day, SUM(income) AS s FROM t GROUP BY region, day"),
    ("a key that wasn't there", BY_ROW, PAIR, "SELECT sex, COUNT(*) AS n FROM t GROUP BY sex"),
    ("rows in none of the groups", BY_ROW, WIDE, "SELECT region, day, COUNT(*) AS n FROM t GROUP BY region, day"),
    ("another shape of limits", BY_GROUPS, PAIR, "SELECT COUNT(*) AS n FROM t"),
    (
        "merged groups, limited apart",
        IN_ALL_GROUPS,
        UNITS,
        "SELECT region, COUNT(*) AS n, COUNT(DISTINCT person_id) AS u FROM t GROUP BY region",
    ),
    (
        "dropped groups that count",
        BY_ROWS,
        PAIR,
        "SELECT day, COUNT(*) AS n FROM t WHERE region = 'north' GROUP BY day",
    ),
    (
        "dropped groups whose rows count towards one limit",
        IN_ALL_GROUPS,
        UNITS,
        "SELECT day, COUNT(*) AS n, COUNT(DISTINCT person_id) AS u FROM t WHERE region = 'north' GROUP BY day",
    ),
    (
        "dropped groups where others were left out",
        BY_GROUPS,
        UNITS,
        "SELECT day, COUNT(*) AS n, COUNT(DISTINCT person_id) AS u FROM t WHERE region = 'north' GROUP BY day",
    ),
    (
        "units in several groups",
        BY_GROUPS,
        "SELECT day, COUNT(DISTINCT person_id) AS n FROM t GROUP BY day",
        "SELECT COUNT(DISTINCT person_id) AS n FROM t",
    ),
    (
        "medians of merged groups",
        BY_ROW,
        "SELECT day, MEDIAN(age) AS m FROM t GROUP BY day",
        "SELECT MEDIAN(age) AS m FROM t",
    ),
    (
        "distinct values of merged groups",
        BY_ROW,
        "SELECT day, COUNT(DISTINCT age) AS m FROM t GROUP BY day",
        "SELECT COUNT(DISTINCT age) AS m FROM t",
    ),
]


@pytest.mark.parametrize(
    ("unit", "first", "then"), [case[1:] for case in DOES_NOT_FOLLOW], ids=[case[0] for case in DOES_NOT_FOLLOW]
)
def test_what_does_not_follow_is_paid_for(desk: Desk, unit: Unit, first: str, then: str) -> None:
    """However accurate the first answer was."""
    protected = desk(unit)
    protected.ask(first, epsilon=50)
    spent = protected.spent.epsilon
    answer = protected.ask(then, epsilon=0.1)
    assert not answer.reused
    assert answer.origin == ()
    assert spent is not None
    assert protected.spent.epsilon == spent + dp.PureDP("0.1").epsilon


def test_what_errs_more_is_paid_for(desk: Desk) -> None:
    """Three groups added up err more than one at 2/3 of the offer, and less than one at a fifth of it."""
    protected = desk()
    protected.ask("SELECT region, COUNT(*) AS n FROM t GROUP BY region", epsilon=1)
    total = "SELECT COUNT(*) AS n FROM t"
    assert not protected.ask(total, epsilon="2/3").reused
    assert protected.ask("SELECT COUNT(*) AS n FROM t HAVING COUNT(*) > 0", epsilon="2/3").origin == (2,)
    assert not protected.ask("SELECT region, COUNT(*) AS m FROM t GROUP BY region", epsilon=2).reused
    other = desk()
    other.ask("SELECT region, COUNT(*) AS n FROM t GROUP BY region", epsilon=1)
    assert other.ask(total, epsilon="1/5").origin == (1,)


def test_an_answer_about_fewer_rows_is_passed_over(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its plan isn't made again, which takes longer than everything else that is looked up; others are looked at."""
    looked_at: list[int] = []

    def asked(_: ReuseIndex, stored: Any) -> None:
        looked_at.append(stored.entry)

    monkeypatch.setattr(ReuseIndex, "_asked", asked)
    table, count = desk(), "SELECT COUNT(*) AS n FROM t WHERE age"
    first = table.ask(f"{count} >= 40", epsilon=1)
    table.ask(f"{count} >= 41", epsilon=1)
    table.ask("SELECT COUNT(*) AS n FROM t", epsilon=1)
    assert looked_at == []
    table.ask(f"{count} >= 40 AND region = 'north'", epsilon="1/2")
    assert first.entry in looked_at


def test_the_expected_error_is_that_of_the_noise_it_has(desk: Desk) -> None:
    """A derived answer's plan announces no more error than the plan that was made beforehand."""
    protected = desk()
    protected.ask(PAIR, epsilon=50)
    plan = protected.plan("SELECT region, COUNT(*) AS n, AVG(age) AS a FROM t GROUP BY region", epsilon=1)
    answer = protected.ask(plan)
    assert answer.reused
    found = protected._index.find(plan, 1, None)
    assert found is not None
    made = found.plan
    for derived, bought in zip(made.expected, plan.expected, strict=True):
        assert derived.error is not None
        assert bought.error is not None
        assert 0 < derived.error <= bought.error
    assert "the sum of 4 noises" in made.explain()


def test_an_average_may_follow_from_two_answers(desk: Desk) -> None:
    """SUM from one entry and COUNT from another: both are named."""
    protected = desk()
    first = protected.ask("SELECT day, SUM(age) AS s FROM t GROUP BY day", epsilon=20)
    second = protected.ask("SELECT day, COUNT(age) AS n FROM t GROUP BY day", epsilon=20)
    answer = protected.ask("SELECT day, AVG(age) AS a FROM t GROUP BY day", epsilon="1/2")
    assert answer.origin == (1, 2)
    assert answer.certificate["follows_from"] == [first.certificate, second.certificate]
    for value, total, count in zip(answer["a"], first["s"], second["n"], strict=True):
        assert isclose(value, total / count, rel_tol=1e-9) or value in {0, 110}


def test_choices_serve_where_groups_stay(desk: Desk) -> None:
    """A median that was chosen is the same one in any order, and in fewer groups; a sharper one is paid for."""
    protected = desk()
    first = protected.ask("SELECT day, MEDIAN(age) AS m, COUNT(*) AS n FROM t GROUP BY day", epsilon=8)
    again = protected.ask("SELECT MEDIAN(age) AS m, day FROM t GROUP BY day ORDER BY day", epsilon=1)
    assert again.origin == (1,)
    assert dict(zip(again["day"], again["m"], strict=True)) == dict(zip(first["day"], first["m"], strict=True))
    assert not protected.ask("SELECT MEDIAN(age) AS m, day FROM t GROUP BY day", epsilon=40).reused


def test_quantiles_that_were_read_serve_where_they_err_no_more(desk: Desk) -> None:
    """One among many is as good as one by itself; a median that would be nearer is paid for."""
    protected = desk()
    deciles = ", ".join(f"QUANTILE_CONT(age, 0.{tenth}) AS d{tenth}" for tenth in range(1, 10))
    first = protected.ask(f"SELECT {deciles} FROM t", epsilon=20)
    again = protected.ask("SELECT MEDIAN(age) AS m, QUANTILE_CONT(age, 0.9) AS q FROM t", epsilon=1)
    assert again.origin == (1,)
    assert (again["m"], again["q"]) == (first["d5"], first["d9"])
    assert again.interval("m") == first.interval("d5")
    assert not protected.ask("SELECT MEDIAN(age) AS m FROM t", epsilon=15).reused


def test_quantiles_of_several_answers_serve_one_that_would_read_them_together(desk: Desk) -> None:
    """Each where it errs least: chosen by itself, or read with others."""
    protected = desk()
    asked = {"a": "0.1", "b": "0.25", "c": "0.75", "d": "0.9"}
    apart = [protected.ask(f"SELECT QUANTILE_CONT(age, {asked[name]}) AS {name} FROM t", epsilon=8) for name in "ad"]
    two = protected.ask(
        "SELECT QUANTILE_CONT(age, 0.25) AS b, QUANTILE_CONT(age, 0.75) AS c, AVG(age) AS x FROM t", epsilon=15
    )
    columns = ", ".join(f"QUANTILE_CONT(age, {fraction}) AS {name}" for name, fraction in asked.items())
    again = protected.ask(f"SELECT {columns} FROM t", epsilon=1)
    assert again.origin == (1, 2, 3)
    assert [again[name] for name in "abcd"] == [apart[0]["a"], two["b"], two["c"], apart[1]["d"]]
    assert [again.interval(name) for name in "ad"] == [
        answer.interval(name) for answer, name in zip(apart, "ad", strict=True)
    ]


def test_gaussian_answers_serve_gaussian_ones(desk: Desk) -> None:
    """The same with ρ; an answer with Laplace noise may serve too, where it errs no more."""
    protected = desk()
    protected.ask(PAIR, rho=5)
    assert protected.ask("SELECT day, COUNT(*) AS n FROM t WHERE region = 'north' GROUP BY day", rho="0.01").origin == (
        1,
    )
    assert protected.ask("SELECT region, day, SUM(age) AS s FROM t GROUP BY region, day", epsilon="0.1").origin


def test_another_version_of_the_data_has_no_past(tmp_path: Path) -> None:
    """Admitted again, and what was released before serves nobody."""
    path = tmp_path / "t.csv"
    lines = ["age", *map(str, range(20, 60))]
    path.write_text("\n".join(lines), encoding="utf-8")
    account = {"name": "t", "unit": ROW, "columns": {"age": dp.Bounds(0, 110)}, "budget": dp.Budget(epsilon=9)}
    ask = "SELECT COUNT(*) AS n FROM t HAVING COUNT(*) > 0"
    with dp.protect(path, ledger=tmp_path / "csv.ledger", **account) as before:  # type: ignore[arg-type]  # each is of its type
        before.ask("SELECT COUNT(*) AS n, AVG(age) AS a FROM t", epsilon=2)
        assert before.ask(ask, epsilon="1/2").reused
    path.write_text("\n".join([*lines, "60"]), encoding="utf-8")
    with dp.protect(path, ledger=tmp_path / "csv.ledger", **account) as after:  # type: ignore[arg-type]  # as above
        assert after.ask(ask, epsilon="1/2").reused
        after.refresh()
        assert not after.ask(ask, epsilon="1/2").reused


def test_other_declarations_have_no_past(desk: Desk) -> None:
    """Bounds that were changed make other numbers, so stored answers don't serve."""
    first = desk()
    first.ask("SELECT region, SUM(age) AS s, COUNT(*) AS n FROM t GROUP BY region", epsilon=9)
    ledger = first._ledger._store.location
    columns = {**VISITS, "age": dp.Bounds(0, 50)}
    budget = dp.Budget(epsilon=1000, delta=1e-3)
    terms: dict[str, Any] = {"columns": columns, "budget": budget, "weaken": ["narrow t.age"]}
    with dp.protect(visits(), name="t", unit=ROW, ledger=str(ledger), **terms) as other:
        assert not other.ask("SELECT region, SUM(age) AS t FROM t GROUP BY region", epsilon="1/2").reused


@pytest.mark.parametrize("change", ["groups", "request", "text"])
def test_a_stored_answer_that_was_changed_serves_nobody(desk: Desk, change: str) -> None:
    """What an entry says is believed as far as its hash and its digest go."""
    protected = desk()
    protected.ask(PAIR, epsilon=50)
    with closing(connect(desk.folder / "1.ledger")) as database, database:
        ((body,),) = database.execute("SELECT body FROM discreet_entry WHERE kind = 'commit'").fetchall()
        old, new = {
            "groups": ('"noisy":{', '"noisy":{"m9":1,'),
            "request": ('"epsilon":"50"', '"epsilon":"99"'),
            "text": ('"text":[0,', '"text":[1,'),
        }[change]
        assert old in body
        database.execute("UPDATE discreet_entry SET body = ? WHERE kind = 'commit'", (body.replace(old, new),))
    with pytest.raises(dp.DiscreetError, match="was altered"):
        protected.ask("SELECT region, COUNT(*) AS n FROM t GROUP BY region", epsilon="0.1")
    assert sum(entry.kind == "question" for entry in protected.history()) == 1


def test_a_lost_index_costs_an_answer_and_nothing_else(desk: Desk) -> None:
    """Without the index of topics, what follows is paid for like anything else."""
    protected = desk()
    protected.ask(PAIR, epsilon=50)
    with closing(connect(desk.folder / "1.ledger")) as database, database:
        database.execute("DROP TABLE discreet_topic")
    assert not protected.ask("SELECT region, COUNT(*) AS n FROM t GROUP BY region", epsilon="0.1").reused
    assert protected.verify().problems == ()


SELECTED = "SELECT city, COUNT(DISTINCT person_id) AS n FROM t GROUP BY city"


def test_selected_groups_serve_the_same_selection_only(desk: Desk) -> None:
    """The same threshold of the same count: another order is free; another δ, or one group, isn't."""
    protected = desk((PERSON, dp.Limits(groups=1, rows_per_group=2)))
    protected.ask(SELECTED, epsilon=20, delta="1e-4")
    again = protected.ask(f"{SELECTED} ORDER BY n DESC LIMIT 1", epsilon=20, delta="1e-4")
    assert again.origin == (1,)
    assert not protected.ask(f"{SELECTED} ORDER BY n", epsilon=20, delta="1e-5").reused
    assert not protected.ask(f"{SELECTED} ORDER BY n", epsilon=19, delta="1e-4").reused
    where = SELECTED.replace("GROUP", "WHERE city = 'Bern' GROUP")
    assert not protected.ask(where, epsilon=1, delta="1e-4").reused


def test_strangers_get_nothing_that_follows(tmp_path: Path) -> None:
    """Whoever has no share is refused, free or not; whoever has one may use what another paid for."""
    shares = {"ada": dp.Budget(epsilon=5), "bob": dp.Budget(epsilon=5)}
    with dp.protect(
        visits(),
        name="t",
        unit=ROW,
        columns=VISITS,
        budget=dp.Budget(epsilon=9),
        analysts=shares,
        ledger=tmp_path / "a",
    ) as protected:
        protected.ask(PAIR, epsilon=4, analyst="ada")
        then = "SELECT region, COUNT(*) AS n FROM t GROUP BY region"
        for stranger in (None, "eve"):
            with pytest.raises(dp.DiscreetError):
                protected.ask(then, epsilon="0.1", analyst=stranger)
        assert protected.ask(then, epsilon="0.1", analyst="bob").origin == (1,)
        assert protected.spent_by("bob").epsilon == 0


@st.composite
def regroupings(draw: st.DrawFn) -> str:
    """A question whose answer follows from that to PAIR, if each row is a unit."""
    filters = draw(
        st.lists(st.sampled_from(["region = 'north'", "region IS NULL", "day <> 2", "day + 1 > 2"]), unique=True)
    )
    keys = draw(
        st.lists(st.sampled_from(["region", "day", "day > 1", "COALESCE(region, 'none')"]), unique=True, max_size=2)
    )
    where = f" WHERE {' AND '.join(filters)}" if filters else ""
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    shown = [f"{key} AS k{number}" for number, key in enumerate(keys)]
    return f"SELECT {', '.join([*shown, 'COUNT(*) AS n', 'SUM(age) AS s', 'AVG(age) AS a'])} FROM t{where}{group}"


@pytest.mark.usefixtures("noiseless")
def test_random_regroupings_equal_what_would_be_asked(desk: Desk) -> None:
    """Filters and keys made of the old keys, in any combination."""
    stored, fresh = desk(), desk()
    stored.ask(PAIR.replace("COUNT(*)", "AVG(age) AS a, COUNT(*)"), epsilon=90)

    @given(regroupings())
    @examples(25)
    def check(question: str) -> None:
        derived = stored.ask(question, epsilon="0.01")
        assert derived.origin == (1,) or derived.certificate["entry"] is None, question
        assert same(derived, fresh.ask(question, epsilon="0.01")), question

    check()


@pytest.mark.parametrize("unit", [BY_ROW, BY_ROWS], ids=["rows", "people"])
def test_what_rests_on_the_same_parts_follows_for_nothing(desk: Desk, unit: Unit) -> None:
    """From a correlation by region and sex: that of the values swapped, covariances, lines; all of it by sex alone."""
    account = desk(unit)
    first = account.ask("SELECT region, sex, CORR(age, income) AS c FROM t GROUP BY region, sex", epsilon=2)
    spent = account.spent
    lines = (
        "REGR_SLOPE(income, age)",
        "REGR_INTERCEPT(age, income)",
        "REGR_R2(income, age)",
        "REGR_COUNT(age, income)",
    )
    for asked in ("CORR(income, age)", "COVAR_POP(age, income)", "COVAR_SAMP(income, age)", *lines):
        for keys in ("region, sex", "sex"):
            found = account.ask(f"SELECT {keys}, {asked} AS c FROM t GROUP BY {keys}", epsilon="0.01")
            assert (found.origin or (found.entry,)) == (first.entry,), (asked, keys)
    assert account.spent == spent
    swapped = account.ask("SELECT region, sex, CORR(income, age) AS c FROM t GROUP BY region, sex", epsilon="0.01")
    assert swapped["c"] == pytest.approx(first["c"])


def test_parts_are_found_again_in_a_ledger(desk: Desk) -> None:
    """A stored answer has nine numbers in each group; the same question, and one that follows, are read from it."""
    asked = "SELECT sex, CORR(age, income) AS c, COUNT(*) AS n FROM t GROUP BY sex"
    account = desk()
    first = account.ask(asked, epsilon=1)
    again = account.ask(asked, epsilon=1)
    assert (again.reused, again.rows()) == (True, first.rows())
    assert not account.ask("SELECT sex, AVG(age) AS a FROM t GROUP BY sex", epsilon=1).reused
    assert account.verify().problems == ()


def test_parts_of_nested_groups_add_up(desk: Desk) -> None:
    """Consistent answers settle each of the nine numbers, so that both levels have numbers of the same rows."""
    found = desk().ask(
        """SELECT region, sex, CORR(age, income) AS c, COUNT(*) AS n FROM t
        WHERE region IS NOT NULL AND sex IS NOT NULL GROUP BY ROLLUP (region, sex)""",
        epsilon=50,
        consistent=True,
    )
    assert len(found["c"]) == len(found["n"])
    assert all(value is None or -1 <= value <= 1 for value in found["c"])
