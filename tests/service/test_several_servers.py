"""Several servers on one ledger on PostgreSQL: they aren't more than one, and outlive a restart of the database."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest

from discreet.errors import TooManyWaiting, from_dict
from discreet.ledger import State, servers_of
from discreet.service import Ask, Service
from support.postgres import Postgres, connected, running_server
from support.served import FAILED, Served, again, answered, asked, outcome, served, spent, until

STEP = 1.5
TENTH = Fraction(1, 10)


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    """A server of our own."""
    with running_server() as started:
        yield started


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory, postgres: Postgres) -> Iterator[Served]:
    """One service for all tests: its processes take seconds to start."""
    with served(tmp_path_factory.mktemp("several"), step=STEP, ledger=postgres.url) as found:
        yield found


def test_two_servers_are_one(running: Served) -> None:
    """Of one slot and two places, whichever server is asked; what one has answered is free at the other."""
    second = Service(running.folder / "discreet.toml", running.service.settings)
    try:
        for _ in range(20):  # on a busy machine the first may be done before the third is asked
            tickets, refusals = [asked(running), asked(running, second)], []
            for service in (running.service, second):
                try:
                    outcome(asked(running, service))
                except TooManyWaiting as refused:
                    refusals.append(refused.retry_after)
            for ticket in tickets:
                outcome(ticket)
            if len(refusals) == len(tickets):
                break
        assert refusals == [2, 2]  # seconds that the question has
        first, last = sorted(ticket.release for ticket in tickets if ticket.release is not None)
        assert (last - first).total_seconds() >= STEP - 0.1  # the clock may have been set a little between
        stored = answered(running)
        found = second.ask(running.callers["bob"], Ask(stored.asked.question, {"epsilon": "1/10"}))
        assert outcome(found)["answer"]["reused"]
    finally:
        second.close()


def test_a_database_that_is_restarted_while_a_question_runs(running: Served, postgres: Postgres) -> None:
    """Once it is paid, or before: it is answered, or refused, or fails; and another one is answered afterwards."""
    for is_paid in (True, False):
        before = spent(running)
        ticket = asked(running)
        if is_paid:
            until(lambda before=before, ticket=ticket: spent(running) > before or ticket.is_done)  # type: ignore[misc]  # of a loop
        postgres.stop()
        postgres.start()
        found = outcome(ticket)
        assert spent(running) - before in {0, TENTH}
        if "answer" in found:
            assert running.states()[-1] is State.COMMITTED
            assert spent(running) == before + TENTH
            assert outcome(again(running, ticket))["answer"]["reused"]
        elif found != FAILED:
            assert from_dict(found["error"]).code == "ledger_unavailable"
            assert spent(running) == before
    answered(running)


def test_a_clock_of_the_database_that_is_set_back(running: Served, postgres: Postgres) -> None:
    """Nobody waits for it to come back before they may plan again."""
    with connected(postgres.url) as connection:
        connection.execute("UPDATE discreet_planning SET until = until + 1000000")
    servers = servers_of(postgres.url, "people")
    assert servers.planned("analyst", 0.1, per_minute=20) <= 61
    servers.close()
    assert running.service.dataset(running.callers["analyst"])
