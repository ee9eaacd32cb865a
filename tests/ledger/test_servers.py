"""What the servers of a ledger count together: one on a file, several on PostgreSQL."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from time import monotonic

import pytest

from discreet.errors import InvalidArgument, LedgerUnavailable
from discreet.ledger import Servers, servers_of
from support.postgres import Postgres, connected, psycopg, running_server

PATIENCE = 60.0


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    """A server of our own."""
    with running_server() as started:
        yield started


def test_a_file_has_one_server(tmp_path: Path) -> None:
    """A second one is refused, in this process or another; a killed one leaves nothing behind."""
    ledger = tmp_path / "census.ledger"
    first = servers_of(str(ledger), "census")
    with pytest.raises(LedgerUnavailable, match="another server is answering from the ledger"):
        servers_of(str(ledger), "census")
    servers_of(str(tmp_path / "other.ledger"), "census").close()
    first.close()
    first.close()
    program = "import sys; from discreet.ledger import servers_of as of; _ = of(sys.argv[1], ''); print(1, flush=True)"
    command = [sys.executable, "-c", f"{program}; input()", str(ledger)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"1\n"
        with pytest.raises(LedgerUnavailable):
            servers_of(str(ledger), "census")
        child.kill()
        child.wait()
    servers_of(str(ledger), "census").close()


def test_other_databases_are_refused() -> None:
    """Nothing is known of their locks."""
    with pytest.raises(InvalidArgument, match="several servers can't share the ledger"):
        servers_of("mysql://somebody@localhost/ledger", "census")


def check_places(first: Servers, second: Servers) -> None:
    """Three places of a subject, whichever server gives them; another subject has its own."""
    taken = [first.enter("ann", 3), second.enter("ann", 3), first.enter("ann", 3)]
    assert None not in taken
    assert first.enter("ann", 3) is second.enter("ann", 3) is None
    other = second.enter("bob", 3)
    assert other is not None
    second.leave(other)
    assert taken[1] is not None
    second.leave(taken[1])
    again = first.enter("ann", 3)
    assert again is not None
    assert second.enter("ann", 3) is None
    for place in (taken[0], taken[2], again):
        assert place is not None
        first.leave(place)


def check_planning(first: Servers, second: Servers) -> None:
    """A minute's worth may be saved up, whichever server it is spent on; what is beyond that is waited for."""
    assert first.planned("cy", 10.0, per_minute=20) == 0
    assert second.planned("cy", 9.0, per_minute=20) == 0
    wait = first.planned("cy", 3.0, per_minute=20)  # 22 of 20, so 2 too many, at 20 a minute
    assert 0 < wait <= 6
    assert wait < second.planned("cy", 1.0, per_minute=20) <= 9
    assert first.planned("dee", 19.0, per_minute=20) == 0


def test_one_server_counts_for_itself(tmp_path: Path) -> None:
    """As two would."""
    servers = servers_of(str(tmp_path / "l"), "census")
    check_places(servers, servers)
    check_planning(servers, servers)
    with servers.slot(0):
        pass
    servers.close()


def test_several_servers_count_together(postgres: Postgres) -> None:
    """Places and planning time are shared; those of another account aren't; what a server held goes with it."""
    first, second, other = (servers_of(postgres.url, name) for name in ("census", "census", "visits"))
    check_places(first, second)
    check_planning(first, second)
    assert first.enter("eve", 1) is not None
    assert second.enter("eve", 1) is None
    assert other.enter("eve", 1) is not None
    first.close()  # as if it were killed: nothing is given back, but its connections end
    end = monotonic() + PATIENCE
    while second.enter("eve", 1) is None:  # which the database notices after a moment
        assert monotonic() < end
    for servers in (second, other):
        servers.close()


def test_a_slot_is_one_servers_at_a_time(postgres: Postgres) -> None:
    """Another one waits for it; a server that is gone has it no more."""
    first, second = servers_of(postgres.url, "slots"), servers_of(postgres.url, "slots")
    has_it, may_go = Event(), Event()

    def wait_for_it() -> None:
        with second.slot(0):
            has_it.set()
            may_go.wait(PATIENCE)

    waiting = Thread(target=wait_for_it)
    with first.slot(0):
        waiting.start()
        with first.slot(1):
            assert not has_it.wait(0.3)
    assert has_it.wait(PATIENCE)
    after = Thread(target=lambda: first.slot(0).__enter__())
    after.start()
    with connected(postgres.url) as connection:  # the second server's connections break, and it goes on
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted")
    after.join(PATIENCE)
    assert not after.is_alive()
    may_go.set()
    waiting.join(PATIENCE)
    first.close()
    with second.slot(0):
        pass
    second.close()


def test_a_server_waits_for_its_turn_however_long(postgres: Postgres) -> None:
    """Though the database would end what takes longer than some time, and sessions that do nothing for as long.

    It is two seconds, for connecting has to be quicker, on a busy machine as well.
    """
    limits = ("statement_timeout", "lock_timeout", "idle_session_timeout")
    with connected(postgres.url) as connection:
        for limit in limits:
            connection.execute(f"ALTER ROLE ledger SET {limit} = 2000")  # type: ignore[call-overload]  # names of ours
    first, second = servers_of(postgres.url, "patient"), servers_of(postgres.url, "patient")
    taken = Event()

    def wait_for_it() -> None:
        with second.slot(0):
            taken.set()

    waiting = Thread(target=wait_for_it)
    with first.slot(0):
        waiting.start()
        assert not taken.wait(2.5)
        assert waiting.is_alive()
    assert taken.wait(PATIENCE)
    waiting.join(PATIENCE)
    first.close()
    second.close()
    with psycopg.connect(postgres.url, autocommit=True, options="-c idle_session_timeout=0") as connection:
        for limit in limits:
            connection.execute(f"ALTER ROLE ledger RESET {limit}")  # type: ignore[call-overload]  # names of ours


def test_a_database_that_is_away_is_found_again(postgres: Postgres) -> None:
    """While it is, whoever asks is told; afterwards places are given anew, and old ones are worth nothing."""
    servers = servers_of(postgres.url, "away")
    before = servers.enter("ann", 1)
    assert before is not None
    with servers.slot(0):
        postgres.stop()
        with pytest.raises(LedgerUnavailable):
            servers.enter("bob", 1)
        servers.leave(before)
    with pytest.raises(LedgerUnavailable), servers.slot(0):
        pass
    postgres.start()
    again = servers.enter("ann", 1)
    assert again is not None
    servers.leave(before)  # it is another session's
    assert servers.enter("ann", 1) is None
    servers.leave(again)
    with servers.slot(0):
        pass
    servers.close()
