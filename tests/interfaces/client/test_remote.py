"""The client against a real server: plans, answers, the account, Ibis, made-up rows; and what it leaves alone."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pytest
import sqlalchemy as sa

import discreet as dp
from discreet import dbapi
from discreet.errors import AboveCeiling, BudgetExhausted, Forbidden, InvalidArgument, Unauthenticated, UnknownColumn
from discreet.gateway import Protected
from discreet.interfaces.client import Remote
from discreet.interfaces.client.questions import TERMS
from discreet.interfaces.http import make_app
from discreet.interfaces.http.requests import Asked
from discreet.query.planner import Terms
from discreet.results import Explanation
from support.dialect import register
from support.served import COUNT, Served, served
from support.uvicorn_server import listening


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """One service for all tests, and its address: its processes take seconds to start."""
    with (
        served(tmp_path_factory.mktemp("client"), step=1.0) as running,
        listening(make_app(running.service)) as address,
    ):
        yield running, address


@pytest.fixture
def ann(gate: tuple[Served, str]) -> Iterator[Remote]:
    """The tables, as the analyst has them."""
    running, address = gate
    with dp.connect(f"{address}/v1/", running.tokens["analyst"]) as remote:
        yield remote


def answered(remote: Remote, question: object) -> dp.Answer:
    """An answer."""
    return remote.ask(question, epsilon="1/10")


def test_a_question_is_planned_and_asked_and_again_it_is_free(ann: Remote) -> None:
    """The plan says what it costs, the answer costs that once, and the history has it."""
    plan = ann.plan(COUNT, epsilon="1/10")
    assert (plan.cost.epsilon, plan.is_free, plan.warnings) == (Fraction(1, 10), False, ())
    assert 1.0 < plan.seconds < 1.1  # and what one person can add to it, many times over
    assert "Laplace" in plan.explain()
    assert plan.expected[0].column == "n"
    answer = answered(ann, COUNT)
    spent = ann.spent
    again = ann.ask(COUNT, epsilon=answer.cost.epsilon)
    assert (again["n"], again.interval("n"), again.certificate) == (
        answer["n"],
        answer.interval("n"),
        answer.certificate,
    )
    assert again.reused
    assert ann.spent == spent
    account = ann.budget
    assert account.own_spent == spent
    assert account.budget.epsilon == 10
    assert (account.own_this_month, account.own_renews) == (spent, None)
    assert ann.remaining.epsilon == pytest.approx(10 - float(spent.epsilon or 0))
    line = ann.history()[-1]
    assert (line.text, line.analyst, line.state, line.cost.epsilon) == (COUNT, "analyst", "committed", spent.epsilon)


def test_expressions_mean_what_their_sql_means(ann: Remote) -> None:
    """Ibis on the client; what it can't write is said there."""
    answer = answered(ann, ann.table.group_by("k").agg(n=ann.table.count()))
    assert answer["k"] == ["a", "b"]
    assert list(ann.tables) == ["people"]
    with pytest.raises(dp.errors.Unsupported, match="can't write"):
        ann.plan(ann.table.id.corr(ann.table.id), epsilon=1)
    with pytest.raises(InvalidArgument, match="not int"):
        ann.plan(7, epsilon=1)


def test_questions_are_asked_together(ann: Remote) -> None:
    """One debit for all; planned, and asked by their plan; and again for nothing."""
    questions = [COUNT, "SELECT k, COUNT(*) AS m FROM people GROUP BY k"]
    for epsilon in ("1/10", "1/9", "1/8", "1/7"):
        plan = ann.plan(questions, epsilon=epsilon)
        assert [each.column for each in plan.expected] == ["n", "m"]
        try:
            first, second = ann.ask(plan)
            break
        except dp.errors.QuestionFailed:
            continue
    else:
        pytest.fail("four workloads in a row weren't measured in time")
    assert (first.names, second.names, first.entry) == (("n",), ("k", "m"), second.entry)
    spent = ann.spent
    assert [answer["n"] for answer in ann.ask(questions[:1] + questions[1:], epsilon=epsilon)[:1]] == [first["n"]]
    assert ann.spent == spent


def test_a_table_is_summarized(gate: tuple[Served, str], ann: Remote) -> None:
    """As one table, by name or as a statement; planned first, and again for nothing; and above a ceiling refused."""
    for epsilon in ("1/11", "1/12", "1/13", "1/14"):
        plan = ann.plan("SUMMARIZE people", epsilon=epsilon)
        assert [each.column for each in plan.expected] == ["rows", "units", "k rows"]
        try:
            found = ann.ask(plan)
            break
        except dp.errors.QuestionFailed:
            continue
    else:
        pytest.fail("four summaries in a row weren't measured in time")
    assert isinstance(found, dp.Summary)
    assert found.headline.startswith("people: ")
    assert [one.key for one in found.counts()["k"]][-1] == "(missing)"
    spent = ann.spent
    assert (
        ann.summary(epsilon=epsilon).rows() == ann.ask('summarize "people" ;', epsilon=epsilon).rows() == found.rows()
    )
    assert ann.summary(epsilon=epsilon).price.startswith("free: the same answer again")
    assert ann.spent == spent
    assert "2 questions" in str(ann.ask("EXPLAIN SUMMARIZE people", epsilon=1))
    with pytest.raises(InvalidArgument, match="did you mean 'people'"):
        ann.summary("peopel", epsilon=1)
    with pytest.raises(UnknownColumn, match="did you mean k"):
        ann.summary(columns=["kk"], epsilon=1)
    running, address = gate
    with pytest.raises(AboveCeiling):
        dp.connect(address, running.tokens["bob"]).summary(epsilon=2)


def test_explain_is_the_plan_in_words(ann: Remote) -> None:
    """As at the gateway; it costs nothing."""
    spent = ann.spent
    found = ann.ask(f"explain (dp) {COUNT}", epsilon=1)
    assert isinstance(found, Explanation)
    assert "Laplace" in str(found)
    assert ann.spent == spent


def test_errors_are_those_of_the_gateway(gate: tuple[Served, str], ann: Remote) -> None:
    """Typed, with their place."""
    with pytest.raises(UnknownColumn) as refused:
        ann.ask("SELECT nope FROM people", epsilon=1)
    assert refused.value.place == (1, 8)
    with pytest.raises(BudgetExhausted):
        ann.ask(COUNT, epsilon=100)
    with pytest.raises(InvalidArgument, match="nothing says what"):
        ann.plan(COUNT)
    with pytest.raises(InvalidArgument, match="no term 'epsilom'"):
        ann.plan(COUNT, epsilom=1)
    with pytest.raises(InvalidArgument, match="token's holder"):
        ann.plan(COUNT, epsilon=1, analyst="bob")
    running, address = gate
    with pytest.raises(AboveCeiling):
        dp.connect(address, running.tokens["bob"]).ask(COUNT, epsilon=2)
    with pytest.raises(Forbidden):
        dp.connect(address, running.tokens["auditor"]).ask(COUNT, epsilon=1)
    with pytest.raises(Unauthenticated):
        dp.connect(address, "dsc_" + "A" * 43).budget  # noqa: B018 — a property that asks


def test_a_question_above_the_ceiling_is_requested_approved_and_asked_once(gate: tuple[Served, str]) -> None:
    """By its request's id; for another question it is good for nothing."""
    running, address = gate
    with dp.connect(address, running.tokens["bob"]) as bob:
        request = bob.request("SELECT COUNT(*) AS n FROM people WHERE id < 7", purpose="to know", epsilon=2)
        assert (request.state, request.cost.epsilon, request.purpose) == ("open", 2, "to know")
        running.service.approve(running.callers["custodian"], request.id)
        with pytest.raises(dp.errors.NotApproved):
            bob.ask(COUNT, epsilon=2, approval=request.id)
        with suppress(dp.errors.QuestionFailed):  # on a busy machine; paid for all the same
            assert bob.ask(request.question, epsilon=2, approval=request.id).cost.epsilon == 2
        assert [each.state for each in bob.requests()] == ["used"]


def test_what_is_sent_again_under_its_key_is_paid_for_once(ann: Remote) -> None:
    """As after a reply that was lost; what became of it then becomes of it now."""
    body = {"question": "SELECT COUNT(*) AS n FROM people WHERE id < 9", "epsilon": "1/11"}

    def outcome() -> object:
        try:
            return ann._answered("answers", body, "a key of its own").fields()["entry"]
        except dp.errors.QuestionFailed as error:
            return error.code

    first, spent = outcome(), ann.spent
    assert outcome() == first
    assert ann.spent == spent
    with pytest.raises(dp.errors.KeyReused):
        ann._answered("answers", {**body, "epsilon": "1/12"}, "a key of its own")


def test_terms_are_said_as_at_the_gateway(ann: Remote) -> None:
    """Objects, pairs and texts: all terms but `analyst`, which is the token's holder; the server takes the same."""
    assert set(TERMS) == set(Terms.__annotations__) - {"analyst"}
    assert set(TERMS) <= set(Asked.model_fields)
    plan = ann.plan(
        "SELECT SUM(id) AS s FROM people",
        epsilon=Fraction(1, 3),
        bounds={"id": dp.Bounds(0, 1000)},
        limits=dp.Limits(rows=1),
        weights={"s": 1},
        confidence=0.9,
    )
    assert plan.cost.epsilon == Fraction(1, 3)
    assert ann.plan("SELECT SUM(id) AS s FROM people", epsilon="1/3", bounds={"id": (0, 1000)}).cost == plan.cost
    assert ann.plan(COUNT, within={"n": ("5%", 1000)}).expected[0].error <= 50


def test_parameters_are_values(ann: Remote) -> None:
    """A server takes them beside the question, and its history has the question with them; texts can't get out."""
    text = "SELECT COUNT(*) AS n FROM people WHERE k = ?"
    for value in ("a", "a' OR 'a' = 'a"):
        plan = ann.plan(text, epsilon="1/10", parameters=[value])
        quoted = value.replace("'", "''")
        assert plan.words.splitlines()[0].endswith(f"WHERE k = '{quoted}'")
        assert plan.is_free == (value != "a")  # the other one isn't among the keys
    with pytest.raises(InvalidArgument, match="1 placeholders, and there are 2"):
        ann.plan(text, epsilon=1, parameters=[1, 2])
    with pytest.raises(InvalidArgument, match="of type bytes"):
        ann.plan(text, epsilon=1, parameters=[b"a"])
    with pytest.raises(InvalidArgument, match="one question"):
        ann.plan([text, text], epsilon=1, parameters=["a"])


def test_the_dbapi_asks_a_server(gate: tuple[Served, str]) -> None:
    """With the token as an argument, or as the password of a URL; a refusal is the server's, with its SQLSTATE."""
    register()
    running, address = gate
    token = running.tokens["bob"]
    with dbapi.connect(address, token, epsilon="1/10", intervals=True) as connection:
        by_k = "SELECT k, COUNT(*) AS n FROM people WHERE k IN (?, ?) GROUP BY k"
        cursor = connection.cursor().execute(by_k, ["a", "b"])
        rows = cursor.fetchall()
        assert [row[0] for row in rows] == ["a", "b"]
        assert all(low < n < high for _, n, low, high in rows)
        assert str(cursor.messages[-2][1]).startswith("cost: ")
        with pytest.raises(dbapi.ProgrammingError) as caught:
            cursor.execute("SELECT COUNT(*) FROM persons")
        assert (caught.value.sqlstate, caught.value.place) == ("42P01", (1, 22))
        with pytest.raises(dbapi.OperationalError, match="costs ε = 9") as refused:
            connection.cursor().execute(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 9) {COUNT[7:]}")
        assert refused.value.sqlstate == "42501"
        assert token not in repr(connection) + repr(caught.value) + str(caught.value.__cause__)
    url = sa.make_url(address.replace("http://", "discreet+http://")).set(password=token, query={"epsilon": "1/10"})
    engine = sa.create_engine(url)
    people = sa.Table("people", sa.MetaData(), autoload_with=engine)
    assert people.c.k.comment == "keys: a, b"
    with engine.connect() as asking:
        again = asking.execute(sa.select(people.c.k, sa.func.count().label("n")).group_by(people.c.k))
        assert dict(again.all()).keys() == {"a", "b"}
    with dbapi.connect(address, "dsc_nobody") as connection, pytest.raises(dbapi.OperationalError) as stranger:
        _ = connection.schema
    assert stranger.value.sqlstate == "28P01"
    engine.dispose()


def test_it_has_the_face_of_protected_tables() -> None:
    """What an analyst does with protected tables, they do with remote ones, by the same names."""
    for name in (
        "schema",
        "tables",
        "table",
        "plan",
        "ask",
        "spent",
        "remaining",
        "history",
        "close",
        "__enter__",
        "__exit__",
    ):
        assert hasattr(Protected, name)
        assert hasattr(Remote, name)
        kinds = [type(inspect.getattr_static(each, name)) for each in (Protected, Remote)]
        assert len({kind in {property, cached_property} for kind in kinds}) == 1


def test_rows_are_made_up_from_declarations(ann: Remote) -> None:
    """Columns, kinds, keys and ids; the same each time."""
    people = ann.dummy(50)["people"]
    assert people.schema == pa.schema({"id": pa.int64(), "k": pa.string()})
    assert people["id"].to_pylist() == list(range(1, 51))
    assert set(people["k"].to_pylist()) == {"a", "b", None}
    assert ann.dummy(50)["people"].equals(people)
    with pytest.raises(InvalidArgument):
        ann.dummy(0)


def test_what_a_server_says_shows_itself(ann: Remote) -> None:
    """On a line at a prompt, as tables in a notebook; an error has the question that its place lies in."""
    plan, answer = ann.plan(COUNT, epsilon="1/10"), answered(ann, COUNT)
    assert repr(plan) == f"<RemotePlan of {COUNT!r}: ε = 0.1>"
    assert repr(ann.schema) == "<Schema of people: people(id, k)>"
    assert repr(ann.dummy()) == "<DummyRows, made up, 100 of each table; people: id, k>"
    said = repr([ann.budget, *ann.history(), ann.remaining, plan.cost])
    assert "Fraction" not in said
    assert f"{COUNT}, ε = 0.1>" in said
    assert repr(ann.budget) == f"<RemoteAccount, what is left: {answer.left}>"
    for shown in (plan, ann.plan([COUNT], epsilon="1/10"), ann.schema, ann.dummy(), ann.budget, answer):
        assert shown._repr_html_().startswith('<div class="discreet">')
    assert "people: unit id; limits 1 row" in ann.schema._repr_html_()
    assert "the first of 100 rows" in ann.dummy()._repr_html_()
    for ask in (ann.plan, ann.ask):
        with pytest.raises(UnknownColumn) as refused:
            ask("SELECT AVG(agee) AS a FROM people", epsilon=1)
        _, source, caret, *_ = refused.value._render_traceback_()
        assert source[caret.index("^") :].startswith("agee")


def test_a_whole_conversation_needs_none_of_what_makes_answers(gate: tuple[Served, str]) -> None:
    """Neither DuckDB nor Ibis, NumPy, SQLAlchemy or sqlglot, nor a room that isn't the client's."""
    running, address = gate
    program = (
        "import sys, discreet as dp\n"
        "remote = dp.connect(sys.argv[1], sys.stdin.read())\n"
        "remote.plan('SELECT COUNT(*) AS n FROM people', epsilon=1)\n"
        "try: answer = remote.ask('SELECT COUNT(*) AS n FROM people', epsilon=1); print(answer)\n"
        "except dp.errors.QuestionFailed: pass\n"
        "remote.budget, remote.history()\n"
        "from discreet import dbapi\n"
        "cursor = dbapi.connect(remote, epsilon=1).cursor()\n"
        "cursor.execute('SELECT COUNT(*) AS n FROM people WHERE k = ?', ['c']).fetchall()\n"
        "heavy = ('duckdb', 'ibis', 'numpy', 'sqlalchemy', 'sqlglot', 'pyarrow', 'pandas', 'flint')\n"
        "heavy += ('rich', 'typer', 'stdnum')\n"
        "rooms = ('interfaces', 'dbapi', 'results', 'errors', 'arguments', 'exact', 'entropy', 'version', 'loopback')\n"
        "rooms += ('hints', 'idempotency_key', 'notebook', 'parameters', 'printable', 'strict_json', 'suggestions')\n"
        "print('loaded', [name for name in heavy if name in sys.modules],"
        " [name for name in sys.modules if name.startswith('discreet.') and name.split('.')[1] not in rooms])\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, address],
        input=running.tokens["analyst"],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path.cwd(),
    )
    assert run.stdout.splitlines()[-1] == "loaded [] []"
