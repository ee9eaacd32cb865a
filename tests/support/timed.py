"""Two real servers, on D and on D′, which holds a heavy person more; and when their replies come, as clients see it.

In a round, some connections ask one of the servers at once. So what a server's questions do to one another, and to
its replies, falls on its own replies. Rounds come in pairs, one of each server, in an order that a coin says: what else
the machine does falls on both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException
from itertools import count
from math import inf, log, sqrt
from pathlib import Path
from socket import socket
from time import monotonic, sleep
from typing import Any

from discreet.service import PlanningLimits, ReleaseTimes, Role, Service, Settings
from discreet.service.carrying_out import carried_out
from discreet.service.tokens import issue
from support.accounts import declared, founded

HOUR = 3600.0
"""As so much later counts a reply that says that the question failed."""

LATER = 20
"""How often an attacker learns anew from what came so far."""

COLUMNS = """
id = { kind = "integer" }
day = { kind = "integer", bounds = [0, 365] }
"""


def in_pairs(rounds: int) -> Iterator[bool]:
    """Whether D′ is asked, in so many rounds: in one of each two, by a fair coin."""
    for _ in range(rounds // 2):
        first = os.urandom(1)[0] % 2 == 0
        yield from (first, not first)


@dataclass(frozen=True, slots=True)
class Round:
    """What came in one round.

    Args:
        is_more: whether D′ was asked.
        took: seconds of each reply.
        late: by how many seconds each came after the time that it names; 0 for one that never had a slot.
        failed: how many said that the question failed.
    """

    is_more: bool
    took: tuple[float, ...]
    late: tuple[float, ...] = ()
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Advantage:
    """What an attacker gains, 2·Pr[right] − 1.

    Args:
        seen: on so many replies.
        error: its standard error.
        least: below which it isn't, but for the false alarm.
    """

    seen: float
    error: float
    least: float

    def __str__(self) -> str:
        return f"{self.seen:+.4f} ± {1.96 * self.error:.4f} (95 %), at least {self.least:+.4f}"


def advantage(rounds: list[Round], times: Callable[[Round], tuple[float, ...]], false_alarm: float) -> Advantage:
    """What an attacker gains who compares times with a threshold, which they learn from the rounds before.

    If times say nothing of the coin, then the sum of a pair, right guesses minus wrong ones, is as likely to have one
    sign as the other, whatever was seen before and however the replies of a pair depend on each other. So the sum of
    all, with V the sum of their squares, is above √(2·V·ln(1/p)) with a chance of at most p.

    Source: V. H. de la Peña, "A general class of exponential inequalities for martingales and ratios", 1999.
    """
    sums, replies, threshold, is_above = list[int](), 0, float("-inf"), True
    for number, pair in enumerate(zip(rounds[::2], rounds[1::2], strict=True)):
        assert pair[0].is_more is not pair[1].is_more
        if number % max(1, len(rounds) // (2 * LATER)) == 0:
            threshold, is_above = _learned(rounds[: 2 * number], times)
        guesses = [((time > threshold) is is_above) is each.is_more for each in pair for time in times(each)]
        sums.append(2 * sum(guesses) - len(guesses))
        replies += len(guesses)
    squares = sum(each * each for each in sums)
    seen, gap = sum(sums) / replies, sqrt(2 * squares * log(1 / false_alarm)) / replies
    return Advantage(seen, sqrt(squares) / replies, seen - gap)


def _learned(rounds: list[Round], times: Callable[[Round], tuple[float, ...]]) -> tuple[float, bool]:
    """The threshold that tells best, and whether D′ is above it."""
    ordered = sorted((time, each.is_more) for each in rounds for time in times(each))
    ahead, best = 0, (0, 0, float("-inf"))  # how many more of D than of D′ are at or below each time
    for time, is_more in ordered:
        ahead += -1 if is_more else 1
        best = max(best, (abs(ahead), ahead, time))
    return best[2], best[1] >= 0


@dataclass(slots=True)
class Asker:
    """A client: an analyst with a connection to each server, who asks what nobody asked before.

    Args:
        ports: of the servers.
        tokens: of the analyst, at each.
    """

    ports: tuple[int, int]
    tokens: tuple[str, str]
    numbers: Iterator[int]
    _open: dict[int, HTTPConnection] = field(default_factory=dict)

    def close(self) -> None:
        """Close the connections."""
        for each in self._open.values():
            each.close()

    def ask(self, is_more: bool) -> tuple[float, float, bool]:
        """Ask one of them: seconds, how late the reply was, and whether it failed."""
        number = next(self.numbers)
        question = f"SELECT SUM(day) AS n FROM visits WHERE day <> {number % 365} AND id < {2000 + number}"
        body = json.dumps({"question": question, "epsilon": "1/10"})
        headers = {"Authorization": f"Bearer {self.tokens[is_more]}", "Content-Type": "application/json"}
        connection = self._open.setdefault(is_more, HTTPConnection("127.0.0.1", self.ports[is_more], timeout=120))
        for _ in range(2):
            begun = monotonic()
            try:
                connection.request("POST", "/v1/answers", body, headers)
                reply = connection.getresponse()
                said = reply.read()
                took, now = monotonic() - begun, datetime.now(UTC)
            except (OSError, HTTPException):  # it idled for so long that the server closed it
                connection.close()
            else:
                break
        else:
            raise RuntimeError("no reply")
        if reply.status not in {200, 500}:
            raise RuntimeError(f"{reply.status} {said.decode()}")
        failed, release = reply.status != 200, reply.headers["Release-Time"]
        late = 0.0 if release is None else (now - datetime.fromisoformat(release)).total_seconds()
        return took + HOUR * failed, late + HOUR * failed, failed


def rounds_of(askers: list[Asker], how_many: int) -> list[Round]:
    """So many rounds."""
    found = []
    with ThreadPoolExecutor(len(askers)) as pool:
        for is_more in in_pairs(how_many):
            replies = pool.map(Asker.ask, askers, [is_more] * len(askers))
            took, late, failed = zip(*replies, strict=True)
            found.append(Round(is_more, took, late, sum(failed)))
    return found


@contextmanager
def servers(folder: Path, *, heavy: int, slots: int, step: float, obeys: bool = True) -> Iterator[list[Asker]]:
    """A server on a thousand people with a row each and somebody with one more, and one where they have `heavy`.

    Args:
        folder: for their files.
        heavy: how many rows the heavy person has.
        slots: how many questions run at a time.
        step: how many seconds each has.
        obeys: whether answers wait for their release times.
    """
    folder.mkdir(parents=True)
    made = [_made(folder / name, rows, slots) for name, rows in (("D", 1), ("D′", heavy))]
    ports = (free_port(), free_port())
    command = [sys.executable, "-m", "support.timed", str(slots), str(step), str(int(obeys))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    running = [
        subprocess.Popen([*command, str(folder / name), str(port)], env=environment)
        for name, port in zip(("D", "D′"), ports, strict=True)
    ]
    try:
        for port, process in zip(ports, running, strict=True):
            wait_for(port, process)
        numbers = count()
        askers = [Asker(ports, (few, many), numbers) for few, many in zip(*made, strict=True)]
        yield askers
        for each in askers:
            each.close()
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


def _made(folder: Path, rows: int, analysts: int) -> list[str]:
    """A table, its configuration and its ledger; the tokens of so many analysts."""
    people = [*range(1000), *[1000] * rows]
    data = {"id": people, "day": [each % 365 for each in range(len(people))]}
    with founded(folder, declared("visits", COLUMNS, rows=2, most=2**24, epsilon=1_000_000), data) as tables:
        return [issue(tables.tokens, f"analyst {each}", Role.ANALYST, days=1).text for each in range(analysts)]


def free_port() -> int:
    """A port that is free now."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        found: int = free.getsockname()[1]
        return found


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until a server takes questions."""
    while True:
        assert process.poll() is None
        with suppress(OSError), closing(HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        sleep(0.05)


def _serve(slots: int, step: float, obeys: bool, folder: Path, port: int) -> None:
    """Serve, as `discreet serve` does, but for how many slots there may be."""
    from discreet.interfaces.http.serving import serve
    from discreet.service import questions, release_times

    release_times._TIMES_WORK, release_times.MOST_SHARE = (
        0,
        inf,
    )  # far more than any plan would allow for
    if not obeys:
        assert questions.carried_out is carried_out, "what is to be replaced is elsewhere"
        questions.carried_out = _at_once
    settings = Settings(
        slots=slots,
        times=ReleaseTimes(base=step / 2, scan=step / 2),
        planning=PlanningLimits(per_minute=HOUR),
    )
    service = Service(folder / "discreet.toml", settings)
    try:
        serve(service, host="127.0.0.1", port=port)
    finally:
        service.close()


def _at_once(slot: Any, ticket: Any, _: float) -> Any:
    """The wrong twin of carrying out: the answer leaves when it is there."""
    from datetime import timedelta

    slot.wait_until_ready()
    slot.send(ticket.job("ask"))
    ticket.release = datetime.now(UTC) + timedelta(seconds=ticket.plan.step)
    message = slot.receive()
    while message.reached != "done":
        slot.go()
        message = slot.receive()
    return message.done


if __name__ == "__main__":
    _serve(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "1", Path(sys.argv[4]), int(sys.argv[5]))
