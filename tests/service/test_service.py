"""The service: what a caller may do, and when an answer leaves."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any, cast

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import (
    AboveCeiling,
    Forbidden,
    InvalidArgument,
    PlanChanged,
    QueryError,
    QuestionFailed,
    TooManyWaiting,
    Unsupported,
)
from discreet.ledger import NamedQuestion, State
from discreet.service import Ask, Caller, PlanningLimits, Role
from discreet.service.carrying_out import carried_out
from discreet.service.workers import Message, Worker
from support.served import COUNT, FAILED, STEP, Served, became, encoded, outcome, served, served_in_threads, ticket_of


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One service for all tests: its processes take seconds to start."""
    with served(tmp_path_factory.mktemp("service"), hurried=True) as found:
        yield found


def test_an_answer_leaves_at_its_time_and_is_pending_until_then(running: Served) -> None:
    """Not before: the ledger has no outcome, so nobody has it for nothing either; afterwards it is free, at once.

    A busy machine may take longer than there is time for, so that there is no answer; that leaves then too, and another
    offer is made, until one is answered.
    """
    service, ann, bob = running.service, running.callers["analyst"], running.callers["bob"]
    for epsilon in (f"1/{number}" for number in range(10, 100)):
        plan = service.plan(ann, COUNT, {"epsilon": epsilon})
        assert STEP < plan.step < STEP + 0.1
        assert (plan.steps, plan.cost.epsilon) == (1, Fraction(epsilon))
        before, begun = len(running.states()), monotonic()
        ticket = service.ask(ann, Ask(COUNT, {"epsilon": epsilon}))
        while not ticket.is_done:
            is_stored = State.COMMITTED in running.states()[before:]
            assert not is_stored or monotonic() - begun >= STEP - service.settings.times.storing
            sleep(0.05)
        assert monotonic() - begun >= STEP
        assert ticket.reply is not None
        if ticket.answer is not None:
            break
    assert ticket.answer is not None, ticket.reply
    assert running.states()[-1] is State.COMMITTED
    again = service.ask(bob, Ask(COUNT, {"epsilon": epsilon}))
    assert again.is_done
    assert again.answer is not None
    assert again.answer.read()["reused"]
    assert again.answer.read()["rows"] == ticket.answer.read()["rows"]
    assert service.verify(running.callers["auditor"]).holds


def test_refusals_leave_at_once_and_cost_nothing(running: Served) -> None:
    """Whatever the reason."""
    service, bob, before = running.service, running.callers["bob"], running.states()
    refused: list[tuple[type[dp.DiscreetError], str, Mapping[str, Any]]] = [
        (AboveCeiling, COUNT, {"epsilon": 2}),
        (AboveCeiling, COUNT, {"epsilon": "1000001/1000000"}),
        (InvalidArgument, COUNT, {"epsilon": 1, "analyst": "analyst"}),
        (InvalidArgument, COUNT, {"epsilon": "nan"}),
        (InvalidArgument, COUNT, {"colour": "red"}),
        (InvalidArgument, COUNT + " " * 65_536, {"epsilon": 1}),
        (QueryError, "SELECT nope FROM people", {"epsilon": 1}),
        (QueryError, "DROP TABLE people", {"epsilon": 1}),
    ]
    for error, question, terms in refused:
        with pytest.raises(error):
            service.ask(bob, Ask(question, terms))
    assert running.states() == before


def test_nobody_does_what_their_role_may_not(running: Served) -> None:
    """Every call, by every role that isn't let in."""
    service = running.service
    named = NamedQuestion(name="people", content={"question": COUNT}, version=1)

    def look_up(who: Caller) -> None:
        with suppress(InvalidArgument):  # nothing is stored for that version
            service.stored(who, "people", Ask(COUNT, {"epsilon": "1/10"}, version=99))

    calls: dict[str, tuple[set[str], Any]] = {
        "plan": ({"analyst", "custodian"}, lambda who: service.plan(who, COUNT, {"epsilon": 1})),
        "ask": ({"analyst"}, lambda who: service.ask(who, Ask(COUNT, {"epsilon": "1/10"}))),
        "ticket": ({"analyst"}, lambda who: service.ticket(who, "x")),
        "named": ({"analyst"}, service.named),
        "name": ({"analyst"}, lambda who: service.name(who, named)),
        "stored": ({"analyst"}, look_up),
        "unname": ({"analyst"}, lambda who: service.unname(who, "people")),
        "dataset": ({"analyst", "custodian", "auditor"}, service.dataset),
        "budget": ({"analyst", "custodian", "auditor"}, service.budget),
        "left": ({"analyst", "custodian", "auditor"}, service.left),
        "history": ({"analyst", "custodian", "auditor"}, service.history),
        "verify": ({"custodian", "auditor"}, service.verify),
        "verified": ({"custodian", "auditor"}, service.verified),
        "head": ({"custodian", "auditor"}, service.head),
        "certificate": ({"custodian", "auditor"}, lambda who: service.certificate(who, 1)),
        "health": ({"operator"}, service.health),
        "admissions": ({"custodian"}, service.admissions),
        "admit": ({"custodian"}, lambda who: service.admit(who, group="none such")),
        "tokens": ({"custodian"}, service.tokens),
        "issue": ({"custodian"}, lambda who: service.issue(who, "eve", Role.ANALYST, days=1)),
        "revoke": ({"custodian"}, lambda who: service.revoke(who, service.tokens(who)[-1][0].id)),
        "request": ({"analyst"}, lambda who: service.request(who, COUNT, {"epsilon": 2}, "a trial")),
        "requests": ({"analyst", "custodian", "auditor"}, service.requests),
        "approve": ({"custodian"}, lambda who: service.approve(who, service.requests(who)[-1]["id"])),
        "deny": ({"custodian"}, lambda who: service.deny(who, service.requests(who)[-1]["id"], "no")),
    }
    run = {
        "caller",
        "close",
        "settings",
        "log",
        "metrics",
        "is_ready",
        "is_stopping",
        "stop",
        "drain",
        "kill",
        "key",
        "sender",
        "sessions",
    }
    public = {name for name in dir(service) if not name.startswith("_")} - run
    assert calls.keys() == public
    for allowed, call in calls.values():
        for role in Role:
            if role in allowed:
                call(running.callers[role])
            else:
                with pytest.raises(Forbidden):
                    call(running.callers[role])


def test_nobody_finds_the_questions_of_others(running: Served) -> None:
    """Whoever knows its name."""
    service, ann, bob = running.service, running.callers["analyst"], running.callers["bob"]
    ticket = service.ask(bob, Ask(COUNT, {"epsilon": "1/10"}))
    assert service.ticket(bob, ticket.id) is ticket
    assert service.ticket(ann, ticket.id) is None
    assert service.ticket(bob, "0" * 32) is None


@pytest.mark.long
def test_a_caller_may_not_fill_the_queue(running: Served) -> None:
    """Two may wait, here. A worker that is killed has no answer, at its time; another one takes its place."""
    service, bob = running.service, running.callers["bob"]
    begun = monotonic()
    questions = [f"SELECT COUNT(*) AS n FROM people WHERE id < {number}" for number in range(3)]
    tickets = [service.ask(bob, Ask(question, {"epsilon": "1/9"})) for question in questions[:2]]
    with pytest.raises(TooManyWaiting):
        service.ask(bob, Ask(questions[2], {"epsilon": "1/9"}))
    while tickets[0].release is None:
        sleep(0.01)
    service._questions._slots[0]._process.kill()
    assert tickets[0].wait(120)
    assert monotonic() - begun >= STEP
    assert became(tickets[0].reply) == FAILED
    slot = service._questions._slots[0]
    assert tickets[1].wait(120)
    assert slot._process.is_alive()
    service.ask(bob, Ask(questions[2], {"epsilon": "1/9"})).wait(120)


def test_what_two_ask_at_once_is_paid_once(tmp_path: Path) -> None:
    """In two slots, of which the one waits for what the other stores."""
    with served_in_threads(tmp_path, slots=2) as running:
        asked = [
            running.service.ask(running.callers[who], Ask(COUNT, {"epsilon": "1/7"})) for who in ("bob", "analyst")
        ]
        first, second = (outcome(ticket)["answer"] for ticket in asked)
        assert len(running.states()) == 1
        assert first["rows"] == second["rows"]
        assert [first["reused"], second["reused"]].count(True) == 1


def test_the_oldest_questions_are_forgotten(running: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many are remembered as was said, whatever anybody asks; free ones too."""
    service, bob = running.service, running.callers["bob"]
    monkeypatch.setattr(service._questions, "_settings", replace(service.settings, kept=2))
    asked = [service.ask(bob, Ask("SELECT k FROM people GROUP BY k", {"epsilon": 1})) for _ in range(4)]
    assert all(ticket.is_done for ticket in asked)
    assert [service.ticket(bob, ticket.id) for ticket in asked] == [None, None, *asked[2:]]


def test_another_plan_is_not_carried_out(running: Served) -> None:
    """A slot that plans the question otherwise, for declarations that were changed meanwhile, refuses it unpaid."""
    service, before = running.service, running.states()
    ticket = ticket_of(COUNT, subject="bob", digest="0" * 64, step=STEP, epsilon="1/3", analyst="bob")
    service._questions._waiting.put("bob", ticket, seconds=STEP)
    assert ticket.wait(120)
    assert became(ticket.reply)["error"]["code"] == PlanChanged.code
    assert running.states() == before


def test_planning_has_a_limit(running: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that takes longer is refused, and the planner is another one; so it is where a planner ends."""
    service, ann = running.service, running.callers["analyst"]
    planner = service._questions._planners.workers[0]
    stuck = planner._process.pid
    assert stuck is not None
    os.kill(stuck, signal.SIGSTOP)
    with monkeypatch.context() as patch:
        patch.setattr(service._questions._planners, "limits", PlanningLimits(patience=0.2, seconds=0.1))
        with pytest.raises(Unsupported, match="too long to plan"):
            service.plan(ann, COUNT, {"epsilon": 1})
    assert service.plan(ann, COUNT, {"epsilon": 1}).steps == 1
    assert planner._process.pid != stuck
    os.kill(planner._process.pid or 0, signal.SIGSTOP)
    asking = Thread(target=lambda: raised.append(_refusal(lambda: service.plan(ann, COUNT, {"epsilon": 1}))))
    raised: list[str] = []
    asking.start()
    sleep(0.1)
    planner._process.kill()
    asking.join()
    assert raised == ["engine_unavailable"]
    assert service.plan(ann, COUNT, {"epsilon": 1}).steps == 1


def _refusal(call: Callable[[], object]) -> str:
    """The code of the error by which a call ends."""
    with pytest.raises(dp.DiscreetError) as caught:
        call()
    return caught.value.code


# ── Time, without processes ──────────────────────────────────────────────────────────────────────────────────────────

SHORT = 0.2


class Fake:
    """A worker that says what it is told to, when it is told to.

    Args:
        after: how long it takes to measure; None if it never does.
        obeys: whether it waits with its answer until it is let go.
    """

    def __init__(self, after: float | None, *, obeys: bool = True) -> None:
        self.after, self.obeys = after, obeys
        self.started = self.released = 0.0
        self.restarts = 0

    def begin(self) -> None:
        """Its question is planned."""
        self.started = monotonic()

    def receive(self, until: float | None = None) -> Message | None:
        """What it says next."""
        if self.released or not self.obeys:
            return Message("done", encoded({}))
        due = float("inf") if self.after is None else self.started + self.after
        if until is not None and due > until:
            sleep(max(0.0, until - monotonic()))
            return None
        sleep(max(0.0, due - monotonic()))
        return Message("held")

    def go(self) -> None:
        """It may store it."""
        self.released = monotonic()

    def kill(self) -> None:
        """It ends."""

    def restart(self) -> None:
        """Killed."""
        self.restarts += 1


def elapsed(worker: Fake, step: float = SHORT) -> float:
    """After how long a question was done."""
    begun = monotonic()
    ticket = ticket_of(step=step)
    worker.begin()
    try:
        carried_out(cast("Worker", worker), ticket, step / 4, lambda: None)
    except QuestionFailed:
        assert worker.restarts == 1
    return monotonic() - begun


def test_nothing_leaves_before_its_time() -> None:
    """However soon it was measured; nor later, if it never is. Wrong twin: a worker that says so when it is done."""
    for after in (0.0, SHORT / 2, None):
        assert elapsed(Fake(after)) >= SHORT
    assert elapsed(Fake(0.0, obeys=False), step=60) < 60


def test_everybody_who_waits_is_told() -> None:
    """In the thread that finishes a question, or at once; and whatever one of them does about it."""
    ticket, told = ticket_of(step=SHORT), list[int]()
    ticket.when_done(lambda: told.append(1))
    ticket.when_done(lambda: told.append(1 // 0))
    ticket.when_done(lambda: told.append(2))
    assert told == []
    ticket.finish(encoded({}))
    assert told == [1, 2]
    ticket.when_done(lambda: told.append(3))
    assert told == [1, 2, 3]


def test_a_slot_goes_on_whatever_happens(running: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no process can be started, which nobody foresaw: the question failed, and the next one is asked."""
    service, bob = running.service, running.callers["bob"]
    questions = [f"SELECT COUNT(*) AS n FROM people WHERE id > {number}" for number in (5, 6)]

    def broken(*_: object) -> None:
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr("discreet.service.questions.carried_out", broken)
        ticket = service.ask(bob, Ask(questions[0], {"epsilon": "1/9"}))
        assert ticket.wait(120)
    assert became(ticket.reply) == FAILED
    assert service.ask(bob, Ask(questions[1], {"epsilon": "1/9"})).wait(120)


def test_what_is_held_is_stored_once_it_may_be(tmp_path: Path) -> None:
    """`Protected.hold`: paid, measured, and not stored until the call returns; a failure waits as well."""
    people = pa.table({"id": range(10)})
    settings: dict[str, Any] = {"unit": "id", "budget": 3, "limits": dp.Limits(rows=1), "ledger": tmp_path / "l"}
    with dp.protect(people, name="people", **settings) as tables:
        seen = []
        tables.hold(lambda: seen.append([entry.state for entry in tables.history()][-1]))
        tables.ask(COUNT, epsilon=1)
        tables.ask(COUNT, epsilon=1)  # free: nothing is made, so nothing waits
        assert seen == [State.RESERVED]
        waiting = Thread(target=lambda: tables.ask(f"{COUNT} WHERE id > 3", epsilon=1))
        tables.hold(lambda: sleep(SHORT))
        begun = monotonic()
        waiting.start()
        waiting.join()
        assert monotonic() - begun >= SHORT
