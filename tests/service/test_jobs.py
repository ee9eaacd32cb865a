"""What workers do, without processes: how often they plan, what they carry out, and what they say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv

import discreet as dp
from discreet.errors import EngineUnavailable, PlanChanged
from discreet.gateway import planning as module
from discreet.ledger import Attempt
from discreet.query.planner import Request
from discreet.service import Planned, ReleaseTimes, Reply, Role, jobs
from discreet.service.jobs import Job, do
from discreet.service.tokens import issue
from discreet.tables import Kind
from support.served import CONFIG, COUNT, FAILED, became

TIMES = ReleaseTimes(base=1, scan=1)
MEMORY = 10**10
ONE = dp.Limits(rows=1)
TERMS = {"epsilon": "1/10", "analyst": "ann"}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration whose table is admitted."""
    csv.write_csv(pa.table({"id": range(10), "k": ["a", "b"] * 5}), tmp_path / "people.csv")
    (tmp_path / "discreet.toml").write_text(CONFIG, encoding="utf-8")
    with dp.load(tmp_path / "discreet.toml", create_ledger=True) as tables:
        tables.refresh()
    return tmp_path / "discreet.toml"


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The texts of the questions that were planned, one for each time."""
    texts: list[str] = []
    original = module.make_plan

    def noted(asked: Any, *arguments: Any, **named: Any) -> Any:
        texts.append(asked.text)
        return original(asked, *arguments, **named)

    monkeypatch.setattr(module, "make_plan", noted)
    return texts


def job(kind: Any, question: str = COUNT, digest: str = "", **terms: str) -> Job:
    """A job."""
    return Job(
        kind=kind, question=question, terms={**TERMS, **terms}, subject=terms.get("analyst", "ann"), digest=digest
    )


def plan_by(tables: dp.Protected, job: Job, times: ReleaseTimes = TIMES) -> Planned:
    """The plan that a job makes."""
    done = do(tables, job, times, MEMORY)
    assert isinstance(done, Planned)
    return done


def became_of(tables: dp.Protected, job: Job, go: Callable[[], None] = lambda: None) -> Any:
    """What becomes of a job that has a reply."""
    done = do(tables, job, TIMES, MEMORY, go)
    assert isinstance(done, Reply)
    return became(done)


def test_a_question_is_planned_no_more_often_than_it_must(config: Path, planned: list[str]) -> None:
    """By a planner, which looks up what is stored as well; and once by a slot, which takes nobody's word for it."""
    with dp.load(config) as planner, dp.load(config) as slot:
        plan = plan_by(planner, job("plan"))
        assert do(planner, job("stored"), TIMES, MEMORY) is None
        assert len(planned) == 1
        answer = became_of(slot, job("ask", digest=plan.digest))["answer"]
        assert len(planned) == 2
        again = became_of(planner, job("stored"))["answer"]
        assert (again["rows"], again["reused"], len(planned)) == (answer["rows"], True, 2)


@pytest.mark.parametrize("digest", ["", "another"])
def test_a_question_without_the_digest_of_its_plan_is_refused_and_free(config: Path, digest: str) -> None:
    """Also where none is named: a job that forgot it would be asked as it comes, whatever was compared before."""
    with dp.load(config) as slot:
        plan = plan_by(slot, job("plan"))
        assert became_of(slot, job("ask", digest=digest))["error"]["code"] == PlanChanged.code
        assert not slot.spent.epsilon
        assert "answer" in became_of(slot, job("ask", digest=plan.digest))


@pytest.mark.parametrize(("terms", "steps"), [({}, 1), ({"limits": "auto"}, 2)])
@pytest.mark.parametrize("rungs", [1, 3])
def test_a_plan_says_how_long_its_answer_takes_at_the_most(
    config: Path, terms: dict[str, str], steps: int, rungs: int
) -> None:
    """All of its steps, each until the last of its times."""
    times, doubled = ReleaseTimes(base=1, scan=0.5, rungs=rungs), {1: 1, 3: 4}[rungs]
    with dp.load(config) as tables:
        plan = plan_by(tables, job("plan", **terms), times)
        assert (plan.steps, plan.rungs, plan.seconds) == (steps, rungs, doubled * steps * plan.step)
        together = replace(job("plan"), question=[COUNT, f"{COUNT} WHERE id < 5"])
        plan = plan_by(tables, together, times)
        assert (plan.steps, plan.seconds) == (1, doubled * plan.step)


def test_another_question_is_planned_anew(config: Path, planned: list[str]) -> None:
    """Whatever differs: its text, its terms, who asks."""
    others: list[Job] = [
        job("plan"),
        job("plan", f"{COUNT} WHERE k = 'a'"),
        job("plan", epsilon="1/5"),
        job("plan", confidence="0.9"),
        job("plan", analyst="bob"),
        job("plan", dialect="postgres"),
    ]
    with dp.load(config) as planner:
        plans = [plan_by(planner, each) for each in others]
        assert len(planned) == len(others)
        assert plans[-1] == plan_by(planner, others[-1])
        assert len(planned) == len(others)
        assert "error" in became_of(planner, job("plan", "SELECT nope FROM people"))
        assert plans[-1] == plan_by(planner, others[-1])


def test_a_plan_of_a_public_table_holds_until_it_is_admitted_again(tmp_path: Path) -> None:
    """The same question is another one then, whether or not its rows differ."""
    people = dp.table(pa.table({"id": range(9), "genre": [1, 2, 3] * 3}), name="people", unit="id", limits=ONE)
    genres = tmp_path / "genres.csv"
    genres.write_text("id,name\n1,Rock\n2,Jazz\n", encoding="utf-8")
    columns = {"id": dp.Column(name="id", kind=Kind.INTEGER), "name": dp.Column(name="name", kind=Kind.TEXT)}
    public = dp.table(genres, name="genre", public=True, unique=["id"], columns=columns)
    question = "SELECT g.name, COUNT(*) AS n FROM people JOIN genre AS g ON people.genre = g.id GROUP BY g.name"
    with dp.protect([people, public], name="shop", budget=9, ledger=tmp_path / "l") as shop:
        first = shop.plan(question, epsilon=1)
        assert shop.plan(question, epsilon=1) is first
        genres.write_text("id,name\n1,Rock\n2,Folk\n", encoding="utf-8")
        assert shop.plan(question, epsilon=1) is first
        shop.refresh()
        second = shop.plan(question, epsilon=1)
        assert second.digest != first.digest
        assert sorted(shop.ask(question, epsilon=1)["name"]) == ["Folk", "Rock"]
        third = shop.plan(question, epsilon=1)
        assert (third.digest, len(third.answered_by)) == (second.digest, 1)


def test_what_nobody_foresaw_says_nothing(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a question only that it failed; while it is planned that it can't be, and whether memory was short."""
    with dp.load(config) as tables:
        for error in (RuntimeError("secret"), MemoryError("secret")):

            def broken(*_: object, error: Exception = error, **__: object) -> None:
                raise error

            monkeypatch.setattr(tables._planning, "plan", broken)
            for kind in ("plan", "ask"):
                found = became_of(tables, job(kind))["error"]
                assert "secret" not in str(found)
                assert ("memory" in found["message"]) is isinstance(error, MemoryError)
                assert (found["code"] == EngineUnavailable.code) is isinstance(error, RuntimeError)
        monkeypatch.undo()
        plan = plan_by(tables, job("plan"))
        monkeypatch.setattr(tables, "ask_request", broken)
        assert became_of(tables, job("ask", digest=plan.digest)) == FAILED


@pytest.mark.parametrize("question", [COUNT, [COUNT, f"{COUNT} WHERE id < 5"]], ids=["one", "a workload"])
def test_a_question_is_planned_before_its_time_runs(config: Path, planned: list[str], question: Any) -> None:
    """And not once more afterwards; nothing is paid for until it is let go."""
    with dp.load(config) as tables:
        asked = replace(job("ask"), question=question)
        asked = replace(asked, digest=plan_by(tables, replace(asked, kind="plan")).digest)
        tables.plan("SELECT COUNT(*) AS other FROM people", epsilon=1)  # so that the plan isn't remembered
        begun = list[tuple[int, Fraction]]()

        def go() -> None:
            begun.append((len(planned), tables.spent.epsilon or Fraction(0)))

        assert "answer" in became_of(tables, asked, go)
        assert begun == [(len(planned), Fraction(0))]
        assert tables.spent.epsilon == Fraction(1, 10)


def test_terms_are_read_once_for_a_job_and_not_while_its_time_runs(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may be large, and reading them takes as long; so they are read by nobody but the process that plans."""
    read, begun, original = list[str](), list[int](), jobs.request_of

    def noted(subject: str, terms: Any) -> Any:
        read.append(subject)
        return original(subject, terms)

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(jobs, "request_of", noted)
    with dp.load(config) as tables:
        digest = plan_by(tables, job("plan")).digest

        def go() -> None:
            begun.append(len(read))
            monkeypatch.setattr(Request, "read", never)

        assert "answer" in became_of(tables, job("ask", digest=digest), go)
    assert (read, begun) == (["ann", "ann"], [2])


@pytest.mark.parametrize("reading", [False, True])
def test_a_process_that_asks_is_warm_once_it_has_read_each_table(
    config: Path, monkeypatch: pytest.MonkeyPatch, *, reading: bool
) -> None:
    """As a question would; one that plans reads none. Whatever comes of it, nothing is spent, and nothing is said."""
    read = list[str]()

    def run(plan: Any, _: object) -> None:
        read.append(plan.text)
        raise MemoryError

    monkeypatch.setattr("discreet.gateway.protected.run", run)
    with dp.load(config) as tables:
        tables.warm_up(reading=reading)
        assert read == (['SELECT COUNT(*) AS n FROM "people"'] if reading else [])
        assert not tables.spent.epsilon
        assert len(tables.history()) == 4  # the budget, what is declared, the key, and the version


def test_what_is_carried_out_is_the_plan_whose_cost_was_looked_at(tmp_path: Path) -> None:
    """Not the same with Laplace noise, which a share in ε could pay for and nobody has compared with a ceiling.

    Asked by its text the question would be: that is the wrong twin.
    """
    people = pa.table({"age": [30, 40] * 50})
    question = f"SELECT {', '.join(f'SUM(age * {place}) AS s{place}' for place in range(1, 17))} FROM people"
    terms = {"epsilon": "3/4", "delta": "1e-6", "analyst": "ann"}
    declared: dict[str, Any] = {
        "unit": dp.Unit.row(),
        "columns": {"age": dp.Bounds(0, 110)},
        "budget": dp.Budget(epsilon=10, delta=1e-5),
        "ledger": tmp_path / "l",
    }
    with dp.protect(people, name="people", **declared) as tables:
        token = issue(tables.tokens, "ann", Role.ANALYST, days=1, most_rho="0.02", share=dp.Budget(epsilon=2))
        plan = tables.plan(question, **terms)
        attempt = Attempt(id="0" * 32, plan=plan.digest, seconds=2, token=sha256(token.text.encode()).hexdigest())
        job = Job(kind="ask", question=question, terms=terms, subject="ann", digest=plan.digest, attempt=attempt)
        assert became_of(tables, job)["error"]["code"] == "loss_not_accepted"
        assert tables.spent.epsilon in {None, 0}
        assert tables.during(replace(attempt, id="1" * 32)).ask(question, **terms).cost.epsilon == Fraction(3, 4)
