"""Faults while questions run: nothing is lost, nothing is free, and no answer leaves without its debit."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from time import monotonic
from typing import Any

import pytest

import discreet as dp
from discreet.errors import EngineUnavailable, LedgerUnavailable, QuestionFailed, from_dict
from discreet.interfaces.http.problems import problem_of
from discreet.ledger import State, chain
from discreet.service import PublicError, Service, Ticket
from discreet.service.workers import Worker
from support.served import COUNT, FAILED, Served, again, answered, asked, outcome, served, spent, told, until

STEP = 1.5
TENTH = Fraction(1, 10)


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One service for all tests: its processes take seconds to start."""
    with served(tmp_path_factory.mktemp("faults"), step=STEP, hurried=True) as found:
        yield found


def pid(running: Served) -> int:
    """The process that carries questions out."""
    slot = running.service._questions._slots[0]
    slot.wait_until_ready()
    return slot._process.pid or 0


def test_a_worker_that_is_killed_before_it_pays(running: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it plans once more: no row was read, so it is said at once, and nothing was spent or counted as failed."""
    before, send = spent(running), Worker.send

    def killed(self: Worker, job: Any) -> None:
        if job.kind == "ask":
            self._process.kill()
        send(self, job)

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "send", killed)
        assert from_dict(outcome(asked(running))["error"]).code == EngineUnavailable.code
    assert spent(running) == before
    assert running.states().count(State.FAILED) == len(running.service._tables.failures.failed)


def asked_until_paid(running: Served, monkeypatch: pytest.MonkeyPatch, then: Callable[[Worker], None]) -> Ticket:
    """A question that costs a tenth, and what happens once it was paid for and measured, before it may be stored.

    A busy machine may fail some before it comes to that: it asks until one is reached. The outcome comes at its time.
    """
    reached, go = list[Worker](), Worker.go

    def first(self: Worker) -> None:
        reached.append(self)
        then(self)
        go(self)

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "go", first)
        while not reached:
            before, begun = spent(running), monotonic()
            ticket = asked(running)
            outcome(ticket)
            assert monotonic() - begun >= STEP
    assert spent(running) == before + TENTH
    return ticket


def test_a_worker_that_is_killed_once_it_has_paid(running: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The question failed, at its time, in the same bytes; it stays paid, and is asked anew by who asks again."""
    ticket = asked_until_paid(running, monkeypatch, lambda worker: worker._process.kill())
    assert outcome(ticket) == FAILED
    anew = again(running, ticket)
    assert not anew.is_done
    outcome(anew)


def test_a_worker_that_is_killed_as_it_stores(running: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either it has stored its answer, which is free from then on, or it hasn't; it is paid once in both cases.

    First it is killed at once, then after its answer was stored and before it could say so.
    """
    for is_late in (False, True):
        before, go = spent(running), Worker.go

        def killed(self: Worker, *, is_late: bool = is_late, go: Callable[[Worker], None] = go) -> None:
            go(self)
            if is_late:
                until(lambda: running.states()[-1] is not State.RESERVED)
            self._process.kill()

        with monkeypatch.context() as patch:
            patch.setattr(Worker, "go", killed)
            ticket = asked(running)
            found = outcome(ticket)
        assert spent(running) in {before, before + TENTH}
        if running.states()[-1] is State.COMMITTED:
            once_more = outcome(again(running, ticket))["answer"]
            assert once_more["reused"]
            assert found == FAILED or found["answer"]["rows"] == once_more["rows"]
            assert spent(running) == before + TENTH
        else:
            assert found == FAILED


def test_a_disk_that_is_full_before_it_is_paid(running: Served) -> None:
    """It is refused at once, and nothing was charged; with room again it goes on."""
    if sys.platform != "linux":
        pytest.skip("no other process's files can be limited here")
    import resource

    before, worker = spent(running), pid(running)
    whole = resource.prlimit(worker, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    try:
        error = from_dict(outcome(asked(running))["error"])
        assert isinstance(error, LedgerUnavailable | QuestionFailed)  # the latter if it took longer than it has
        assert spent(running) == before
    finally:
        resource.prlimit(worker, resource.RLIMIT_FSIZE, whole)
    answered(running)


def test_a_disk_that_is_full_once_it_is_paid(running: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """What can't be stored isn't given; it fails in the same bytes as ever, and stays paid."""
    if sys.platform != "linux":
        pytest.skip("no other process's files can be limited here")
    import resource

    def limit(size: int) -> None:
        resource.prlimit(pid(running), resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    ticket = asked_until_paid(running, monkeypatch, lambda _: limit(0))
    assert outcome(ticket) == FAILED
    assert problem_of(told(from_dict(FAILED["error"]))) == problem_of(PublicError.of(QuestionFailed()))
    assert State.COMMITTED is not running.states()[-1]
    limit(resource.RLIM_INFINITY)
    answered(running)


def test_an_admission_while_a_question_runs(running: Served) -> None:
    """It is answered of the version that it began with, or fails; of the next one it is asked, and paid for, anew."""
    before, version = spent(running), running.service._tables.admissions.current().version
    ticket = asked(running)
    until(lambda: spent(running) == before + TENTH or ticket.is_done)
    with dp.load(running.folder / "discreet.toml") as tables:
        assert tables.refresh().version == version + 1
    found = outcome(ticket)
    assert found == FAILED or found["answer"]["certificate"]["data_version"] == version
    anew = again(running, ticket)
    assert not anew.is_done
    found = outcome(anew)
    assert found == FAILED or found["answer"]["certificate"]["data_version"] == version + 1


def test_a_clock_that_is_set_back(running: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is paid back, nothing is paid twice, and the ledger holds; nor does a release wait for the clock."""
    ticket = answered(running)
    before = spent(running)
    earlier = (datetime.now(UTC) - timedelta(days=40)).isoformat()
    with monkeypatch.context() as patch:
        patch.setattr(chain, "now", lambda: earlier)
        with dp.load(running.folder / "discreet.toml") as tables:
            tables.ask(f"{COUNT} WHERE id > 998", epsilon=TENTH, analyst="analyst")
    assert spent(running) == before + TENTH
    assert outcome(again(running, ticket))["answer"]["reused"]
    assert spent(running) == before + TENTH
    answered(running)


def test_a_second_server_on_a_file_is_refused(running: Served) -> None:
    """Before it starts anything."""
    with pytest.raises(LedgerUnavailable, match="another server is answering from the ledger"):
        Service(running.folder / "discreet.toml")
