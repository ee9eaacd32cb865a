"""Replay: mechanisms whose outputs are recorded on one state of the tables, and handed out again on a neighbour.

After Cebere et al., arXiv 2602.17454: if all that depends on a unit goes through a mechanism, then with the mechanisms'
outputs frozen, neighbours can't be told apart by anything at all.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.mechanisms import Gaussian, Laplace, Mode, Quantile

_RELEASES = (Laplace, Gaussian)
_CHOICES = (Quantile, Mode)


@dataclass
class Tape:
    """What mechanisms gave, in order.

    Args:
        lines: for each call, which mechanism it was, for how many numbers, and what it gave.
        at: where the tape is read; None while it is recorded.
    """

    lines: list[tuple[str, int, Any]] = field(default_factory=list)
    at: int | None = None

    def take(self, what: str, size: int, give: Any) -> Any:
        """What the mechanism gives; or, once the tape is read, gave when it was recorded."""
        if self.at is None:
            self.lines.append((what, size, give()))
            return self.lines[-1][2]
        name, length, given = self.lines[self.at]
        assert (name, length) == (what, size), "the mechanisms are called otherwise on a neighbour"
        self.at += 1
        return given


@contextmanager
def frozen(tape: Tape) -> Iterator[None]:
    """Within it, all mechanisms write to the tape, or read from it."""
    with pytest.MonkeyPatch.context() as patch:
        for mechanism in _RELEASES:
            patch.setattr(mechanism, "release", _releasing(tape, mechanism.__name__, mechanism.release))
        for chooser in _CHOICES:
            patch.setattr(chooser, "choose", _choosing(tape, chooser.__name__, chooser.choose))
        yield


def _releasing(tape: Tape, name: str, release: Any) -> Any:
    """A release on tape."""

    def recorded(self: Any, values: Sequence[int]) -> Any:
        return tape.take(f"{name} {self}", len(values), lambda: release(self, values))

    return recorded


def _choosing(tape: Tape, name: str, choose: Any) -> Any:
    """A choice on tape."""

    def recorded(self: Any, bins: Any, *about: Any) -> Any:
        return tape.take(f"{name} {self} {about}", 1, lambda: choose(self, bins, *about))

    return recorded


def seen_of(protected: dp.Protected, question: str, ledger: Path, **offer: Any) -> list[str]:
    """All that a question shows to anybody: the answer or the error, the certificate, the debit, what is logged."""
    with _logged() as logged:
        try:
            answer = protected.ask(question, **offer)
        except dp.DiscreetError as error:
            seen = [repr(error), json.dumps(error.to_dict()), repr(error.__cause__), repr(error.__context__)]
        else:
            seen = [str(answer), repr(answer.rows()), json.dumps(answer.certificate), f"{answer.entry} {answer.cost}"]
            seen += [f"{name}: {answer.interval(name)}" for name in answer.names if _has_interval(answer, name)]
            seen += [str(answer.cut_off), str(answer.reused)]
    last = protected.history()[-1]
    seen.append(f"{last.number} {last.kind} {last.text} {last.cost} {last.state}")
    return [*seen, str(protected.spent), str(protected.remaining), *debits(ledger)[-2:], *logged]


def _has_interval(answer: dp.Answer, name: str) -> bool:
    """Whether a column is of numbers; a list of the most frequent values has no interval."""
    return not any(isinstance(value, list) for value in answer[name])


@contextmanager
def _logged() -> Iterator[list[str]]:
    """What is logged within it, at any level, by anybody."""
    lines: list[str] = []
    handler, root = logging.Handler(), logging.getLogger()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]  # all it has to do
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def debits(ledger: Path) -> list[str]:
    """The rows of a ledger but for what differs: times, hashes, its secret, its key, and the keyed marks of data."""
    with sqlite3.connect(ledger) as connection:
        columns = "seq, kind, account, number, analyst, digest, version, epsilon, rho, delta, spent_epsilon, spent_rho"
        rows = connection.execute(f"SELECT {columns}, body FROM discreet_entry ORDER BY seq").fetchall()
    connection.close()
    return [str(row if row[1] not in {"open", "data", "key"} else row[:3]) for row in rows]
