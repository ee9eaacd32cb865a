"""Turns: what is asked by several at the same moment is paid for once."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event

import pyarrow as pa
import pytest

import discreet as dp
from discreet.gateway.turns import Turns
from support.forked import asking

COUNT = "SELECT COUNT(*) AS n FROM t"
PATIENCE = 60.0
LONG_ENOUGH = 0.3
"""Seconds after which other threads would have paid, if nothing kept them from it; on a busy machine, they may not."""


def test_threads_that_ask_the_same_pay_once(tmp_path: Path) -> None:
    """All of them have the one answer, however long it takes; other questions don't wait for it."""
    table, numbers = pa.table({"x": [1, 2, 3]}), Barrier(4)
    stored, free = list[int](), Event()

    def until() -> None:
        stored.append(1)
        if len(stored) == 1:
            other = protected.ask(f"{COUNT} WHERE x > 1", epsilon=1)
            assert not other.reused
            free.wait(LONG_ENOUGH)

    def ask(_: int) -> dp.Answer:
        numbers.wait(PATIENCE)
        return protected.ask(COUNT, epsilon=1)

    with (
        dp.protect(
            table,
            name="t",
            unit=dp.Unit.row(),
            columns={"x": dp.Bounds(0, 9)},
            budget=dp.Budget(epsilon=10),
            ledger=tmp_path / "l",
        ) as protected,
        ThreadPoolExecutor(4) as pool,
    ):
        protected.hold(until)
        answers = list(pool.map(ask, range(4)))
        assert protected.spent.epsilon == 2
        assert len(stored) == 2
    assert sorted(answer.reused for answer in answers) == [False, True, True, True]
    assert len({(answer.entry, *answer["n"]) for answer in answers}) == 1


def test_a_turn_ends_with_an_error() -> None:
    """The next one has it then."""
    turns = Turns()
    for _ in range(2):
        with pytest.raises(ValueError, match="wrong"), turns.of("a"), turns.of("b"):
            raise ValueError("wrong")
    with turns.of("a"):
        pass


FORKED = """
import os, signal
from threading import Event, Thread
from discreet.gateway.turns import Turns

turns, begun, over = Turns(), Event(), Event()

def hold():
    with turns.of("a"):
        begun.set()
        over.wait()

thread = Thread(target=hold)
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    with turns.of("a"), turns.of("b"):
        os._exit(7)
over.set()
thread.join()
with turns.of("a"):
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_process_waits_for_no_thread_that_it_has_not() -> None:
    """Threads stay behind, and whatever turns they have."""
    ended = asking().run(FORKED)
    assert (ended.returncode, ended.stderr) == (0, "")
