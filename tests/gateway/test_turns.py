"""Turns: what is asked by several at the same moment is paid for once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event

import pyarrow as pa
import pytest

import discreet as dp
from discreet.gateway.turns import Turns

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
