"""What can be told from when a reply leaves: D from D′, which holds a heavy person more.

An attacker sees many replies, in pairs of one from D and one from D′ in an order that a coin says, so that whatever
else the machine does falls on both. They learn a threshold from the replies so far, and guess the next. If times say
nothing, guesses are as likely right as wrong, whatever times depend on otherwise. They are said to know something where
their advantage, 2·Pr[right] − 1, is above 0.01 but for a false alarm of 10⁻⁹.

What that shows: on 10,000 replies that don't depend on each other an advantage has a standard error of 0.01. So what is
seen is the true one to ± 0.02, with 95 % confidence; a true one of 0.11 is caught, but for a chance of 0.1 %; and of
servers that tell nothing, 27,000 replies would show with 95 % confidence that it is below 0.01.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, cast

import pytest

from discreet.errors import QuestionFailed
from discreet.service.carrying_out import carried_out
from discreet.service.workers import Message, Worker
from support.served import encoded, ticket_of
from support.timed import HOUR, Advantage, Asker, Round, advantage, in_pairs, rounds_of, servers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FALSE_ALARM = 1e-9
MOST_ADVANTAGE = 0.01
REPLIES = 1000


def took(each: Round) -> Sequence[float]:
    """How long each reply took."""
    return each.took


def late(each: Round) -> Sequence[float]:
    """How long after the time that it names each reply came."""
    return each.late


def known(rounds: list[Round], *features: Callable[[Round], Sequence[float]]) -> Advantage:
    """What an attacker gains by the feature that tells most; by all of them, the false alarm is the one stated."""
    found = [advantage(rounds, each, FALSE_ALARM / len(features)) for each in features]
    return max(found, key=lambda each: each.least)


def test_the_attacker_sees_what_is_there() -> None:
    """Times that say everything, something and nothing; on 1,000 replies an advantage of 0.6 is always seen."""
    shift = [Round(label, (1.0 + label * 0.6 + os.urandom(1)[0] / 256,)) for label in in_pairs(REPLIES)]
    assert known(shift, took).least > MOST_ADVANTAGE  # seen 0.57 ± 0.04, of which the false alarm takes 0.24
    assert known([Round(each.is_more, (5.0 - each.is_more,)) for each in shift], took).least > 0.6
    others = [Round(label, each.took) for label, each in zip(in_pairs(REPLIES), shift, strict=True)]
    assert known(others, took).least <= MOST_ADVANTAGE


def test_replies_that_come_together_count_as_one() -> None:
    """Eight replies that all are late when one is tell no more of the coin than one does: no false alarm by numbers."""
    rounds = [Round(label, (os.urandom(1)[0] / 256,) * 8) for label in in_pairs(REPLIES // 8)]
    assert known(rounds, took).least <= MOST_ADVANTAGE


QUICK, SLOW, SHORT = 0.001, 0.012, 0.04
"""How long D and D′ take to measure, and how long a question has."""


class Measuring:
    """A worker that takes as long as its rows do.

    Args:
        obeys: whether it waits with its answer until it is let go.
    """

    def __init__(self, *, obeys: bool) -> None:
        self.obeys = obeys
        self.takes = 0.0
        self.released = False

    def begin(self) -> None:
        """Its question is planned."""
        self.done = monotonic() + self.takes
        self.released = False

    def receive(self, until: float | None = None) -> Message | None:
        """What it says next."""
        if self.released:
            return Message("done", encoded({}))
        late = until is not None and self.done > until
        sleep(max(0.0, (until if late and until is not None else self.done) - monotonic()))
        return None if late else (Message("held") if self.obeys else Message("done", encoded({})))

    def go(self) -> None:
        """It may store it."""
        self.released = True

    def kill(self) -> None:
        """It ends."""

    def restart(self) -> None:
        """Another one."""


def timed(worker: Measuring) -> list[Round]:
    """Replies of one slot."""
    found = []
    for label in in_pairs(REPLIES // 10):
        worker.takes = SLOW if label else QUICK
        ticket = ticket_of(step=SHORT)
        begun, failed = monotonic(), 0.0
        worker.begin()
        try:
            carried_out(cast("Worker", worker), ticket, SHORT / 4, lambda: None)
        except QuestionFailed:
            failed = HOUR
        found.append(Round(label, (monotonic() - begun + failed,)))
    return found


def collected(*, obeys: bool) -> list[Round]:
    """Replies of ten slots at a time."""
    found: list[list[Round]] = []
    threads = [Thread(target=lambda: found.append(timed(Measuring(obeys=obeys)))) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [reply for at in range(0, len(found[0]), 2) for each in found for reply in each[at : at + 2]]


def test_when_a_reply_leaves_says_nothing_of_rows() -> None:
    """Of 1,000 replies. The wrong twin, a slot that answers when it is done, is caught.

    Where the machine is so busy that most of either fail, there is nothing to see; the twin never fails.
    """
    assert known(collected(obeys=True), took).least <= MOST_ADVANTAGE
    assert known(collected(obeys=False), took).least > MOST_ADVANTAGE


# ── The real thing ───────────────────────────────────────────────────────────────────────────────────────────────────

HEAVY = 300_000
"""How many rows the heavy person has: measuring takes half as long again."""

SLOTS = int(os.environ.get("DISCREET_SLOTS", "1"))
"""How many questions of a round run at once. On two cores one slot is what `serve` gives: it has a core of its own.

Where more of them share a core with those who plan, a reply waits until its plan was made, and that takes longer while
more rows are read: of eight slots on two cores, which `serve` refuses, 18,800 replies told 0.013 ± 0.011 (95 %).
"""

STEP = float(os.environ.get("DISCREET_STEP", "0.3"))
"""How many seconds each has; longer on a machine that others use, for a question that misses its time tells."""


def seen(askers: list[Asker], replies: int) -> Advantage:
    """What an attacker gains over so many replies."""
    rounds = rounds_of(askers, replies // SLOTS)
    found = known(rounds, took, late)
    failed = [sum(each.failed for each in rounds if each.is_more is is_more) for is_more in (False, True)]
    sys.stdout.write(f"an advantage of {found}; failed of D and of D′: {failed[0]}, {failed[1]}\n")
    return found


@pytest.mark.soak
def test_servers_tell_nothing_by_when_they_reply(tmp_path: Path) -> None:
    """10,000 replies of real servers on D and D′, over HTTP; they take an hour."""
    replies = int(os.environ.get("DISCREET_REPLIES", "10000"))
    with servers(tmp_path / "both", heavy=HEAVY, slots=SLOTS, step=STEP) as askers:
        assert seen(askers, replies).least <= MOST_ADVANTAGE


@pytest.mark.soak
def test_servers_that_reply_when_they_are_done_are_told_apart(tmp_path: Path) -> None:
    """The wrong twin, on 2,000 replies: what measuring takes more on D′ is seen."""
    with servers(tmp_path / "twins", heavy=HEAVY, slots=SLOTS, step=STEP, obeys=False) as askers:
        assert seen(askers, 2 * REPLIES).least > MOST_ADVANTAGE
