"""Tickets: questions that were taken, and are answered at a time that is known from the start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from threading import Event
from typing import Any


@dataclass(slots=True, eq=False)
class Ticket:
    """A question of one caller: waiting, running, or done.

    Args:
        id: what it is asked for by: 128 random bits, so nobody finds another's.
        subject: whose it is.
        question: SQL; a list of them is a workload.
        terms: what was offered for it.
        digest: of its plan: that is carried out, or nothing.
        step: how many seconds each of its steps has.
        steps: how many it has at the most.
    """

    id: str
    subject: str
    question: str | list[str]
    terms: Mapping[str, Any]
    digest: str
    step: float
    steps: int
    started: datetime | None = None
    outcome: Mapping[str, Any] | None = None
    _done: Event = field(default_factory=Event)

    @property
    def is_done(self) -> bool:
        """Whether it was answered, refused or failed."""
        return self._done.is_set()

    def finish(self, outcome: Mapping[str, Any]) -> None:
        """Note what became of it, and let those who wait have it."""
        self.outcome = outcome
        self._done.set()

    def wait(self, seconds: float) -> bool:
        """Wait until it is done, for so long at the most; whether it is."""
        return self._done.wait(seconds)
