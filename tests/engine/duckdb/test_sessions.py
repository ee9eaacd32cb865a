"""Sessions of an engine: each question has one that nobody used before; what waits survives neither exit nor fork."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Barrier, Thread
from time import monotonic, sleep

import duckdb
import pytest

from discreet.duckdb.session import Session
from discreet.engine.duckdb.sessions import Sessions
from discreet.errors import EngineUnavailable
from support.engines import as_if_admitted, engine_on
from support.questions import arrow, column, count, exact, table_of, total


@pytest.fixture
def sessions() -> Sessions:
    """Of some engine."""
    return Sessions(threads=1, memory=2**29)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where sessions make their directories."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_no_session_is_used_for_two_questions(sessions: Sessions) -> None:
    """Nor is one that was tried in; whether or not one waited."""
    used = []
    for _ in range(4):
        with sessions.trial() as tried:
            used.append(tried)
        with sessions.fresh() as session:
            assert all(session is not each for each in used)
            assert session.execute("SELECT count(*) FROM duckdb_tables()") == [(0,)]
            session.execute("CREATE TABLE seen AS SELECT 1")
            used.append(session)
    sessions.close()


def test_nothing_of_a_trial_stays(sessions: Sessions) -> None:
    """The same names can be made again, and no file can be read; after an error the trial is another one."""
    with pytest.raises(ZeroDivisionError), sessions.trial() as failed:
        raise ZeroDivisionError
    for _ in range(2):
        with sessions.trial() as session:
            session.execute("CREATE TEMP TABLE raw0 (x BIGINT)")
            session.execute("CREATE TEMP VIEW contributions AS FROM raw0")
            with pytest.raises(duckdb.PermissionException):
                session.execute(f"FROM read_text('{__file__}')")
        assert session is not failed
    sessions.close()


@pytest.mark.parametrize("in_order", [False, True])
def test_joins_are_made_as_written_where_that_is_asked(sessions: Sessions, in_order: bool) -> None:
    """In trials and questions alike, whatever was asked before."""
    for order in (not in_order, in_order):
        for made in (sessions.trial, sessions.fresh):
            with made(in_order=order) as session:
                ((disabled,),) = session.execute("SELECT current_setting('disabled_optimizers')")
                assert ("join_order" in disabled) is order
    sessions.close()


@pytest.mark.parametrize(("aggregates", "is_array"), [(1, True), (2, False), (60, False)])
def test_arrays_are_as_small_for_many_aggregates_as_for_one(aggregates: int, is_array: bool) -> None:
    """One row far from all others makes them large, and DuckDB counts them towards no limit on memory."""
    with Session(threads=1) as session:
        session.execute("CREATE TABLE t AS SELECT if(i = 0, 250_000, i) AS k, i AS v FROM range(9) AS r(i)")
        session.hold_arrays_to_size(aggregates)
        for each in (session, session.connection()):
            ((_, plan),) = each.execute("EXPLAIN SELECT k, sum(v) FROM t GROUP BY k")
            assert ("Perfect Hash" in plan) is is_array


def test_each_question_says_how_many_aggregates_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before its session is locked."""
    said: list[int] = []
    monkeypatch.setattr(Session, "hold_arrays_to_size", lambda _, aggregates: said.append(aggregates))
    measures = [count(), total("s", column("x"), lo=0, hi=9), total("t", column("x"), lo=0, hi=8)]
    engine_on(as_if_admitted([table_of()], {"t": arrow([])})).run(exact(table_of(), measures))
    assert said == [3]


def test_threads_have_sessions_of_their_own(sessions: Sessions) -> None:
    """Asking at once, no two share one, in trials or in questions."""
    together = Barrier(3)
    seen: list[tuple[Session, Session]] = []

    def ask() -> None:
        """A question."""
        with sessions.trial() as tried:
            together.wait(60)
            tried.execute("CREATE TEMP TABLE raw0 (x BIGINT)")
        with sessions.fresh() as session:
            together.wait(60)
            session.execute("CREATE TABLE raw0 (x BIGINT)")
        seen.append((tried, session))

    threads = [Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(each) for pair in seen for each in pair}) == 6
    sessions.close()


def test_what_waits_has_a_directory_until_it_is_closed(sessions: Sessions, folder: Path) -> None:
    """One for the next question, one for trials; none afterwards, and none once nobody holds the sessions."""
    for _ in range(2):
        with sessions.trial():
            pass
        with sessions.fresh():
            pass
    sessions.close()
    assert not list(folder.iterdir())
    with sessions.trial():
        pass
    assert len(list(folder.iterdir())) == 2
    others = Sessions(threads=1, memory=2**29)
    with others.trial():
        pass
    del others
    assert len(list(folder.iterdir())) == 2
    sessions.close()
    assert not list(folder.iterdir())


def test_what_a_question_used_is_closed_though_somebody_holds_it(sessions: Sessions, folder: Path) -> None:
    """It holds rows, in memory and in its directory: nothing of them waits until garbage is collected."""
    held = []
    for _ in range(2):
        with sessions.fresh() as session:
            session.execute("CREATE TABLE seen AS SELECT 1")
            held.append(session)
    sessions.close()
    assert not list(folder.iterdir())
    for session in held:
        with pytest.raises(duckdb.Error):
            session.execute("FROM seen")


def test_a_directory_that_was_swept_away_is_noticed(sessions: Sessions, folder: Path) -> None:
    """DuckDB would make another, which others could read."""
    for _ in range(2):
        with sessions.trial(), sessions.fresh():
            pass
        for left in folder.iterdir():
            shutil.rmtree(left)
    with sessions.trial() as tried, sessions.fresh() as session:
        assert tried.is_whole
        assert session.is_whole
    sessions.close()


def test_a_session_waits_after_every_trial(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also after the second: a first question starts none for the next, which a command hasn't got."""
    for _ in range(4):
        with sessions.trial():
            pass
        with monkeypatch.context() as patch:
            patch.setattr(sessions, "_start", None)
            with sessions.fresh():
                pass
    sessions.close()


def test_the_next_one_starts_while_a_long_question_is_carried_out(sessions: Sessions, folder: Path) -> None:
    """A process that asks once needs no second."""
    with sessions.fresh(is_long=True):
        assert len(list(folder.iterdir())) == 1
    sessions.close()
    with sessions.fresh(is_long=True):
        deadline = monotonic() + 60
        while len(list(folder.iterdir())) < 2:
            assert monotonic() < deadline
            sleep(0.01)
    sessions.close()
    assert not list(folder.iterdir())


def test_what_cannot_be_started_is_told_by_the_trial(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is paid, with the cause; also where the trial itself has its session already."""
    with sessions.trial():
        pass
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "tempdir", "/nowhere")
        with sessions.fresh():
            pass  # the one that waited
        with pytest.raises(EngineUnavailable, match="nowhere"), sessions.trial():
            pass
    with sessions.trial(), sessions.fresh():
        pass
    sessions.close()


def test_there_may_be_no_threads(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the end of a process: everything is done at once."""

    def refused(_: Thread) -> None:
        """No thread."""
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", refused)
    for _ in range(2):
        with sessions.trial() as session:
            assert session.execute("SELECT 1") == [(1,)]
        with sessions.fresh() as session:
            assert session.execute("SELECT 1") == [(1,)]
    sessions.close()


PROGRAM = """
import os, sys
from discreet.engine.duckdb.sessions import Sessions

def ask():
    with sessions.trial() as session:
        session.execute("CREATE TEMP TABLE raw0 (x BIGINT)")
    with sessions.fresh() as session:
        assert session.execute("SELECT 1") == [(1,)]

sessions = Sessions(threads=1, memory=2**29)
ask()
ask()  # from here on one is being started for the next question
child = os.fork()
if child == 0:
    ask()
    sys.exit(7)
ask()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
ask()
{end}
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.parametrize(("end", "code"), [("pass", 0), ("raise KeyboardInterrupt", -2), ("sys.exit(3)", 3)])
def test_a_process_leaves_nothing(end: str, code: int, folder: Path) -> None:
    """However it ends while a session is being started; and its forked child goes on, and leaves nothing either."""
    program = PROGRAM.format(end=end)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert not list(folder.iterdir())
