"""Tickets: what is remembered of what was asked, and how much may be asked at a time."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import discreet as dp
from discreet.errors import Unsupported
from discreet.service import ReleaseTimes, settings, tickets
from discreet.service.tickets import Remembered, Ticket
from support.served import ticket_of


def done(subject: str, name: str, rows: int = 1) -> Ticket:
    """A question that was answered."""
    ticket = ticket_of(subject=subject, step=1.0)
    ticket.id = name
    ticket.finish({"answer": {"rows": [{"a": 1, "b": 2}] * rows}})
    return ticket


def test_nobody_pushes_out_what_another_asked() -> None:
    """Of each subject as many are remembered as may be; what waits isn't counted, and stays."""
    remembered = Remembered()
    waiting = ticket_of(subject="ann", step=1.0)
    assert remembered.add(waiting, 2) == remembered.add(done("ann", "1"), 2) == []
    forgotten = [each.id for number in range(100) for each in remembered.add(done("bob", str(number)), 2)]
    assert forgotten == [str(number) for number in range(98)]
    assert remembered.add(done("ann", "2"), 2) == []
    assert [each.id for each in remembered.add(done("ann", "3"), 2)] == ["1"]


def test_large_answers_that_cost_nothing_fill_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer are remembered where they are large; the latest always is, however large it is."""
    monkeypatch.setattr(tickets, "_MOST_VALUES", 100)
    remembered = Remembered()
    assert done("ann", "x", rows=30).size == 60
    assert [each.id for n in range(4) for each in remembered.add(done("ann", str(n), rows=30), 1000)] == ["0", "1", "2"]
    assert [each.id for each in remembered.add(done("ann", "large", rows=10_000), 1000)] == ["3"]
    together = ticket_of(subject="ann", step=1.0)
    together.finish({"answer": {"answers": [{"rows": [{"n": 1}] * 3}, {"rows": []}]}})
    assert together.size == 3


def test_what_keeps_a_slot_for_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question of many grouping sets, and a workload of many questions; before anything is paid."""
    monkeypatch.setattr(settings, "_MOST_SCANS", 3)
    frame, columns = pd.DataFrame({"a": ["x"], "b": ["y"]}), {"a": dp.Keys(["x"]), "b": dp.Keys(["y"])}
    budget, ledger = dp.Budget(epsilon=9), tmp_path / "l"
    with dp.protect(frame, name="t", unit=dp.Unit.row(), columns=columns, budget=budget, ledger=ledger) as table:
        times = ReleaseTimes(base=1, scan=2)
        rolled, cubed = (
            table.plan(f"SELECT a, b, COUNT(*) AS n FROM t GROUP BY {kind}(a, b)", epsilon=1)
            for kind in ("ROLLUP", "CUBE")
        )
        assert times.step(rolled) == 7
        several = [f"SELECT {each}, COUNT(*) AS n FROM t WHERE {each} <> 'z' GROUP BY {each}" for each in "ab"]
        for much in (
            cubed,
            table.plan([*several, *(f"SELECT COUNT(*) AS n FROM t WHERE a <> '{n}'" for n in range(4))], epsilon=1),
        ):
            with pytest.raises(Unsupported, match="may do so 3 times"):
                times.step(much)
