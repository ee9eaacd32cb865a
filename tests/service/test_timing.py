"""What can be told from when a reply leaves: D from D′, which holds a heavy person more.

An attacker sees many replies, each from D or from D′ by a coin of its own, so that whatever the machine does falls on
both. On half of them they choose a threshold; on the other half they guess. If times say nothing, each guess is right
with a chance of exactly 1/2, whatever times depend on otherwise, so the count of right ones is binomial. They are said
to know something where their advantage, 2·Pr[right] − 1, is above 0.01 with a confidence of 1 − 10⁻⁹: the false alarm.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any, cast

import pyarrow as pa
import pytest
from pyarrow import csv

import discreet as dp
from discreet.errors import QuestionFailed
from discreet.service import Caller, ReleaseTimes, Role, Service, Settings
from discreet.service.tickets import carried_out
from discreet.service.workers import Message, Worker
from discreet.stats import lower_bound
from support.served import ticket_of

CONFIDENCE = 1 - 1e-9
MOST_ADVANTAGE = 0.01
REPLIES = 1000

Reply = tuple[bool, float]
"""Whether it was from D′, and after how many seconds it came; one of a question that failed counts as an hour later."""


def coin() -> bool:
    """A fair coin."""
    return os.urandom(1)[0] % 2 == 0


def advantage(replies: list[Reply]) -> tuple[float, float]:
    """What an attacker who compares times with a threshold gains: as seen, and at least, with confidence."""
    training, trial = replies[: len(replies) // 2], replies[len(replies) // 2 :]
    ordered = sorted(training, key=lambda reply: reply[1])
    ahead, best = 0, (0, 0, float("-inf"))  # how many more of D than of D′ are at or below each time
    for is_more, time in ordered:
        ahead += -1 if is_more else 1
        best = max(best, (abs(ahead), ahead, time))
    _, ahead, threshold = best
    right = sum((time > threshold) is (is_more is (ahead >= 0)) for is_more, time in trial)
    return 2 * right / len(trial) - 1, 2 * lower_bound(right, len(trial), CONFIDENCE) - 1


def test_the_attacker_sees_what_is_there() -> None:
    """Times that say everything, something and nothing; on 1,000 replies an advantage of 0.6 is always seen."""
    shift = [(label, 1.0 + label * 0.6 + os.urandom(1)[0] / 256) for label in (coin() for _ in range(REPLIES))]
    assert advantage(shift)[1] > MOST_ADVANTAGE  # 4/5 right: below 0.65 of 500 with a chance under 1e-13
    assert advantage([(label, 5.0 - label) for label, _ in shift])[1] > 0.9
    assert advantage([(coin(), time) for _, time in shift])[1] <= MOST_ADVANTAGE


QUICK, SLOW, SHORT = 0.001, 0.012, 0.04
"""How long D and D′ take to measure, and how long a question has."""


class Measuring:
    """A worker that takes as long as its rows do.

    Args:
        obeys: whether it waits with its answer until it is let go.
    """

    def __init__(self, *, obeys: bool) -> None:
        """Nothing was asked yet."""
        self.obeys = obeys
        self.takes = 0.0
        self.released = False

    def wait_until_ready(self) -> None:
        """It is."""

    def send(self, _: object) -> None:
        """Begin."""
        self.done = monotonic() + self.takes
        self.released = False

    def receive(self, until: float | None = None) -> Message | None:
        """What it says next."""
        if self.released:
            return "done", {"answer": 1}
        late = until is not None and self.done > until
        sleep(max(0.0, (until if late and until is not None else self.done) - monotonic()))
        return None if late else ("held" if self.obeys else "done", {"answer": 1})

    def go(self) -> None:
        """It may store it."""
        self.released = True

    def restart(self) -> None:
        """Another one."""


def timed(worker: Measuring) -> list[Reply]:
    """Replies of one slot."""
    found = []
    for label in (coin() for _ in range(REPLIES // 10)):
        worker.takes = SLOW if label else QUICK
        ticket = ticket_of(step=SHORT)
        begun, failed = monotonic(), 0.0
        try:
            carried_out(cast("Worker", worker), ticket, SHORT / 4)
        except QuestionFailed:
            failed = 3600.0
        found.append((label, monotonic() - begun + failed))
    return found


def collected(*, obeys: bool) -> list[Reply]:
    """Replies of ten slots at a time."""
    found: list[list[Reply]] = []
    threads = [Thread(target=lambda: found.append(timed(Measuring(obeys=obeys)))) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [reply for round_ in zip(*found, strict=True) for reply in round_]


def test_when_a_reply_leaves_says_nothing_of_rows() -> None:
    """Of 1,000 replies. The wrong twin, a slot that answers when it is done, is caught.

    Where the machine is so busy that most of either fail, there is nothing to see; the twin never fails.
    """
    assert advantage(collected(obeys=True))[1] <= MOST_ADVANTAGE
    assert advantage(collected(obeys=False))[1] > MOST_ADVANTAGE


# ── The real thing ───────────────────────────────────────────────────────────────────────────────────────────────────

STEP = 0.6
HEAVY = 1_000_000
"""How many rows the heavy person has."""

ANN = Caller(token="", subject="ann", role=Role.ANALYST, most_epsilon=None, expires=cast("Any", None))

CONFIG = """
name = "visits"
ledger = "visits.ledger"
adjacency = "add_remove"
budget = { epsilon = 1000000 }

[tables.visits]
source = "visits.csv"
unit = "id"
limits = { rows = 2 }

[tables.visits.columns]
id = { kind = "integer" }
day = { kind = "integer", bounds = [0, 365] }
"""


def started(folder: Path, rows: int) -> Service:
    """A service on a thousand people with a row each, and one with so many."""
    folder.mkdir()
    people = [*range(1000), *[1000] * rows]
    days = [number % 365 for number in range(len(people))]
    csv.write_csv(pa.table({"id": people, "day": days}), folder / "visits.csv")
    (folder / "discreet.toml").write_text(CONFIG, encoding="utf-8")
    with dp.load(folder / "discreet.toml", create_ledger=True) as tables:
        tables.refresh()
    return Service(folder / "discreet.toml", Settings(times=ReleaseTimes(base=STEP / 2, scan=STEP / 2)))


def replied(service: Service, question: str) -> float:
    """After how many seconds a reply came."""
    begun, done = monotonic(), Event()
    ticket = service.ask(ANN, question, {"epsilon": "1/10"})
    ticket.when_done(done.set)
    done.wait()
    failed = 3600.0 if ticket.outcome is None or "error" in ticket.outcome else 0.0
    return monotonic() - begun + failed


def seen(ask: Callable[[bool, str], float], replies: int) -> float:
    """The least advantage, with confidence, over so many replies, each to another question."""
    labels = [coin() for _ in range(replies)]
    asked = [
        f"SELECT SUM(day) AS n FROM visits WHERE day <> {number % 365} AND id < {2000 + number}"
        for number in range(replies)
    ]
    found, least = advantage([(label, ask(label, question)) for label, question in zip(labels, asked, strict=True)])
    sys.stdout.write(f"over {replies} replies an advantage of {found:+.4f}, and of {least:+.4f} at the least\n")
    return least


@pytest.mark.soak
def test_a_service_tells_nothing_by_when_it_replies(tmp_path: Path) -> None:
    """10,000 replies of real services on D and D′. The wrong twin, who answers when the engine is done, is caught."""
    replies = int(os.environ.get("DISCREET_REPLIES", "10000"))
    few, many = started(tmp_path / "D", 1), started(tmp_path / "D′", HEAVY)
    try:
        least = seen(lambda label, question: replied(many if label else few, question), replies)
    finally:
        few.close()
        many.close()
    assert least <= MOST_ADVANTAGE
    with dp.load(tmp_path / "D" / "discreet.toml") as one, dp.load(tmp_path / "D′" / "discreet.toml") as other:

        def ask(label: bool, question: str) -> float:
            begun = monotonic()
            (other if label else one).ask(f"{question} AND id > -1", epsilon="1/10")
            return monotonic() - begun

        assert seen(ask, 1000) > MOST_ADVANTAGE
