"""Tickets: what is remembered of what was asked, and how much may be asked at a time."""

from __future__ import annotations

import pytest

from discreet.errors import QuestionFailed
from discreet.service import Reply, tickets
from discreet.service.tickets import Remembered, Ticket
from support.served import encoded, ticket_of


def done(subject: str, name: str, rows: int = 1) -> Ticket:
    """A question that was answered."""
    ticket = ticket_of(subject=subject, step=1.0)
    ticket.id = name
    ticket.finish(encoded({"rows": [{"a": 1, "b": 2}] * rows}))
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
    monkeypatch.setattr(tickets, "_MOST_REMEMBERED", 1200)
    remembered = Remembered()
    assert 500 < done("ann", "x", rows=30).size < 600
    assert [each.id for n in range(4) for each in remembered.add(done("ann", str(n), rows=30), 1000)] == ["0", "1"]
    assert [each.id for each in remembered.add(done("ann", "large", rows=10_000), 1000)] == ["2", "3"]


def test_what_certificates_take_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A workload of many answers of one number each holds as many certificates; and an outcome may yet be another."""
    monkeypatch.setattr(tickets, "_MOST_REMEMBERED", 200_000)
    remembered = Remembered()

    def workload(name: str) -> Ticket:
        ticket = ticket_of(subject="ann", step=1.0)
        ticket.id = name
        answers = [{"rows": [{"n": 1}], "certificate": {"text": "x" * 2000}}] * 60
        ticket.finish(encoded({"answers": answers}))
        return ticket

    assert workload("x").size > 120_000
    assert [each.id for n in range(3) for each in remembered.add(workload(str(n)), 1000)] == ["0", "1"]
    ticket = ticket_of(subject="ann", step=1.0)
    ticket.finish(Reply.of(QuestionFailed()))
    small = ticket.size
    ticket.reply = workload("y").reply
    assert small == 0
    assert ticket.size > 120_000
