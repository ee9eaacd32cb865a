"""A server under load, and killed under load: `discreet serve` on a table of visits, asked over HTTP by 50 analysts.

    python bench/serve.py [--rows 1e6] [--seconds 15] [--kills 5] [--plans 10] [--asks 0.5] [--again 20] [--step 1]

First for some seconds at a stated rate: plans, new questions, and questions that were answered before. Then re-asks
alone, as fast as they go. Then the server is killed (-9) again and again while questions run, and started again. Each
figure is printed beside what is required of it; how busy the machine is otherwise stands in the first line, for all
of it, the analysts included, shares its cores. Exits with 1 if a requirement isn't met.

DISCREET_BENCH=long takes a minute, and kills 20 times.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from socket import socket
from statistics import median
from time import monotonic, perf_counter, sleep

import discreet as dp
from discreet.ledger import State
from discreet.service import Role
from discreet.service.tokens import issue
from visits import CATEGORIES, GREATEST_AMOUNT, REGIONS, write_visits

LONG = os.environ.get("DISCREET_BENCH") == "long"
ANALYSTS = 50
EPSILON = "1/1000"

PLAN_P95, LATE_P99, AGAIN_RATE, RESTART, GROWTH = 0.150, 0.020, 100.0, 3.0, 1.25
"""Seconds for a plan, seconds that a reply may be late, re-asks a second, seconds to start, growth of memory."""

CONFIG = """
name = "visits"
ledger = "visits.ledger"
adjacency = "add_remove"
budget = {{ epsilon = 1000 }}

[tables.visits]
source = "visits.parquet"
unit = "user_id"
limits = {{ rows = 50 }}

[tables.visits.columns]
user_id = {{ kind = "integer" }}
region = {{ kind = "text", keys = {regions} }}
category = {{ kind = "text", keys = {categories} }}
day = {{ kind = "integer", bounds = [0, 365] }}
amount = {{ kind = "real", bounds = [0, {amount}] }}
"""


@dataclass
class Reply:
    """What came back.

    Args:
        status: of HTTP; 0 if the connection broke.
        headers: by name, in lower case.
        body: as JSON.
        at: when it was there, by the wall clock.
        took: seconds.
    """

    status: int
    headers: dict[str, str]
    body: object
    at: datetime
    took: float


@dataclass
class Client:
    """An analyst's connection: HTTP/1.1, one request at a time. A library would take more of the cores that are shared.

    Args:
        port: of the server.
        token: of the analyst.
    """

    port: int
    token: str
    _lines: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, method: str, path: str, body: object = None) -> Reply:
        """Send a request and wait for its reply."""
        begun, is_kept = perf_counter(), self._lines is not None
        try:
            if self._lines is None:
                self._lines = await asyncio.open_connection("127.0.0.1", self.port)
            reader, writer = self._lines
            content = b"" if body is None else json.dumps(body).encode()
            head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n"
            head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
            writer.write(head.encode() + content)
            lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:] if line)}
            data = await reader.readexactly(int(headers.get("content-length", "0")))
            at = datetime.now(UTC)
        except (OSError, asyncio.IncompleteReadError) as error:
            self._lines = None
            if is_kept and not getattr(error, "partial", b""):  # it was idle for so long that the server had closed it
                return await self.send(method, path, body)
            return Reply(0, {}, None, datetime.now(UTC), perf_counter() - begun)
        return Reply(int(lines[0].split()[1]), headers, json.loads(data), at, perf_counter() - begun)


@dataclass
class Server:
    """`discreet serve`, as a process.

    Args:
        folder: of its configuration.
        step: seconds of a question on one table.
        slots: how many questions run at a time.
    """

    folder: Path
    step: float
    slots: int
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> float:
        """Start it; how many seconds until it plans a question."""
        with socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        half = str(self.step / 2)
        command = [sys.executable, "-m", "discreet", "serve", "--port", str(self.port), "--slots", str(self.slots)]
        command += ["--base", half, "--scan", half, "--planning", "60", "-c", str(self.folder / "discreet.toml")]
        begun = perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        asked = {"question": "SELECT COUNT(*) AS n FROM visits", "epsilon": EPSILON}
        token = (self.folder / "token").read_text(encoding="ascii")
        while asyncio.run(Client(self.port, token).send("POST", "/v1/plans", asked)).status != 200:
            if self.process.poll() is not None:
                raise RuntimeError("the server ended")
            sleep(0.02)
        return perf_counter() - begun

    def kill(self) -> None:
        """Kill it, as it stands."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """Stop it."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def memory(self) -> float:
        """The resident memory of the server and its workers, in MB; what they share is counted for each."""
        assert self.process is not None
        found, parents = 0.0, {self.process.pid}
        for stat in sorted(Path("/proc").glob("[0-9]*/stat"), key=lambda path: int(path.parent.name)):
            try:
                parent = int(stat.read_text(encoding="utf-8").rpartition(")")[2].split()[1])
                if int(stat.parent.name) in parents or parent in parents:
                    parents.add(int(stat.parent.name))
                    found += int((stat.parent / "statm").read_text(encoding="ascii").split()[1]) * 4096 / 1e6
            except OSError:
                continue
        return found


def percentile(values: Sequence[float], part: float) -> float:
    """The value that so large a part of them doesn't exceed."""
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


@dataclass
class Figures:
    """What was measured, beside what is required."""

    met: list[bool] = field(default_factory=list)

    def show(self, name: str, text: str, *, met: bool) -> None:
        """Print one, and remember whether it is as it must be."""
        self.met.append(met)
        print(f"{name:34} {text}{'' if met else '   ← not met'}", flush=True)


def body(number: int, *, new: bool) -> dict[str, object]:
    """A question: one that nobody asked before, or one of a few."""
    limit = 1 + number / 8 if new else 0.3 + number % 20
    return {"question": f"SELECT COUNT(*) AS n FROM visits WHERE amount >= {limit}", "epsilon": EPSILON}


def grouped(number: int) -> dict[str, object]:
    """A question to be planned: longer, and each another."""
    text = (
        "SELECT region, COUNT(*) AS n, AVG(amount) AS mean, SUM(CASE WHEN category IN ('cat_0001', 'cat_0002') THEN "
        f"amount * 0.9 ELSE amount END) AS total FROM visits WHERE amount >= {number} AND day BETWEEN 10 AND 300 "
        "GROUP BY region ORDER BY n DESC"
    )
    return {"question": text, "epsilon": EPSILON}


async def at_a_rate(rate: float, seconds: float, send: Callable[[int], Awaitable[Reply]]) -> list[Reply]:
    """Send so many a second, whether or not earlier ones were answered."""
    begun, sent = monotonic(), []
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, begun + number / rate - monotonic()))
        sent.append(asyncio.create_task(send(number)))
    return list(await asyncio.gather(*sent))


async def loaded(server: Server, tokens: Sequence[str], arguments: argparse.Namespace) -> dict[str, list[Reply]]:
    """Everything at once, for some seconds."""

    def of(path: str, made: Callable[[int], dict[str, object]]) -> Callable[[int], Awaitable[Reply]]:
        free: dict[int, list[Client]] = {number: [] for number in range(ANALYSTS)}

        async def send(number: int) -> Reply:
            who = number % ANALYSTS
            client = free[who].pop() if free[who] else Client(server.port, tokens[who])
            reply = await client.send("POST", path, made(number))
            free[who].append(client)
            return reply

        return send

    rates = {
        "plans": (arguments.plans, of("/v1/plans", grouped)),
        "asks": (arguments.asks, of("/v1/answers", lambda number: body(number, new=True))),
        "again": (arguments.again, of("/v1/answers", lambda number: body(number, new=False))),
    }
    found = await asyncio.gather(*(at_a_rate(rate, arguments.seconds, send) for rate, send in rates.values()))
    return dict(zip(rates, found, strict=True))


async def again(server: Server, tokens: Sequence[str], seconds: float) -> tuple[int, int]:
    """Stored answers, as fast as they go over 8 connections: how many came, and how many were anything else."""
    end, came, other = monotonic() + seconds, 0, 0

    async def go(client: Client, number: int) -> None:
        nonlocal came, other
        while monotonic() < end:
            reply = await client.send("POST", "/v1/answers", body(number, new=False))
            number += 1
            came += reply.status == 200
            other += reply.status != 200

    await asyncio.gather(*(go(Client(server.port, tokens[number]), number) for number in range(8)))
    return came, other


async def killed(server: Server, tokens: Sequence[str], after: float, numbers: range) -> list[Reply]:
    """Ask, and kill the server after some seconds; what came before."""
    sent = [
        asyncio.create_task(
            Client(server.port, tokens[number % ANALYSTS]).send("POST", "/v1/answers", body(number, new=True))
        )
        for number in numbers
    ]
    await asyncio.sleep(after)
    server.kill()
    return [reply for reply in await asyncio.gather(*sent) if reply.status == 200]


def set_up(folder: Path, rows: int) -> list[str]:
    """A table, its configuration, and the analysts' tokens."""
    write_visits(rows, folder / "visits.parquet")
    text = CONFIG.format(regions=json.dumps(REGIONS), categories=json.dumps(CATEGORIES), amount=GREATEST_AMOUNT)
    (folder / "discreet.toml").write_text(text, encoding="utf-8")
    with dp.load(folder / "discreet.toml", create_ledger=True) as tables:
        tables.refresh()
        issue(tables.tokens, "custodian", Role.CUSTODIAN, days=1)
        named = [issue(tables.tokens, f"analyst {each}", Role.ANALYST, days=1).text for each in range(ANALYSTS)]
        (folder / "token").write_text(issue(tables.tokens, "starter", Role.ANALYST, days=1).text, encoding="ascii")
        for number in range(20):
            asked = body(number, new=False)
            tables.ask(str(asked["question"]), epsilon=EPSILON, analyst="analyst 0")
    return named


def judged(folder: Path, replies: Sequence[Reply], figures: Figures, when: str) -> None:
    """Whether the ledger holds, pays for each answer, and has no more than that."""
    with dp.load(folder / "discreet.toml") as tables:
        found, spent = tables.verify(), tables.spent.epsilon or Fraction(0)
        entries = [entry for entry in tables.history() if entry.kind == "question"]
    figures.show(f"ledger, {when}", str(found), met=found.holds)
    paid = sum((entry.cost.epsilon or Fraction(0) for entry in entries if entry.cost), Fraction(0))
    figures.show("spent, and the sum of all debits", f"{float(spent):g}, {float(paid):g}", met=spent == paid)
    stored = {entry.number for entry in entries if entry.state is State.COMMITTED}
    named = {reply.body["entry"] for reply in replies if isinstance(reply.body, dict)}
    figures.show("answers without a debit", f"{len(named - stored)} of {len(named)}", met=named <= stored)


def late(reply: Reply) -> float:
    """By how many seconds a reply came after its time; negative if before."""
    return (reply.at - datetime.fromisoformat(reply.headers["release-time"])).total_seconds()


def under_load(server: Server, tokens: Sequence[str], arguments: argparse.Namespace, figures: Figures) -> list[Reply]:
    """The first part."""
    before = server.memory()
    found = asyncio.run(loaded(server, tokens, arguments))
    bad = {name: sum(reply.status != 200 for reply in replies) for name, replies in found.items()}
    figures.show("replies other than 200", f"{bad}", met=not any(bad.values()))
    taken = [reply.took for reply in found["plans"]]
    figures.show(
        f"plans, {arguments.plans:g} a second",
        f"p50 {median(taken) * 1e3:.0f} ms, p95 {percentile(taken, 0.95) * 1e3:.0f} ms (≤ {PLAN_P95 * 1e3:.0f} ms)",
        met=percentile(taken, 0.95) <= PLAN_P95,
    )
    lateness = [late(reply) for reply in found["asks"] if "release-time" in reply.headers]
    figures.show(
        f"new answers, {arguments.asks:g} a second",
        f"{len(lateness)}, off their time: p50 {median(lateness) * 1e3:+.1f} ms, least {min(lateness) * 1e3:+.1f}, "
        f"p99 {percentile(lateness, 0.99) * 1e3:+.1f} ms (± {LATE_P99 * 1e3:.0f} ms)",
        met=min(lateness) >= -LATE_P99 and percentile(lateness, 0.99) <= LATE_P99,
    )
    taken = [reply.took for reply in found["again"]]
    figures.show(
        f"re-asks, {arguments.again:g} a second",
        f"p50 {median(taken) * 1e3:.0f} ms, p95 {percentile(taken, 0.95) * 1e3:.0f} ms",
        met=True,
    )
    seconds = 10 if LONG else 4
    came, other = asyncio.run(again(server, tokens, seconds))
    rate = came / seconds
    figures.show("re-asks alone", f"{rate:.0f} a second (≥ {AGAIN_RATE:.0f})", met=rate >= AGAIN_RATE and not other)
    after = server.memory()
    figures.show(
        "memory of server and workers",
        f"{before:.0f} MB before, {after:.0f} MB after (≤ {GROWTH:g} ×)",
        met=after <= GROWTH * before,
    )
    return [reply for reply in found["asks"] if reply.status == 200]


def under_kills(server: Server, tokens: Sequence[str], arguments: argparse.Namespace, figures: Figures) -> list[Reply]:
    """The second part."""
    came, starts = [], []
    for number in range(arguments.kills):
        after = 2.5 * arguments.step * (number + 1) / arguments.kills
        numbers = range(1_000 + 8 * number, 1_008 + 8 * number)
        came += asyncio.run(killed(server, tokens, after, numbers))
        starts.append(server.start())
    figures.show(
        f"started after {arguments.kills} kills",
        f"p50 {median(starts):.1f} s, most {max(starts):.1f} s (≤ {RESTART:.0f} s)",
        met=max(starts) <= RESTART,
    )
    return came


def main() -> int:
    """Make the table, load the server, kill it, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--seconds", type=float, default=60 if LONG else 15)
    parser.add_argument("--kills", type=int, default=20 if LONG else 5)
    parser.add_argument("--plans", type=float, default=10, help="a second")
    parser.add_argument("--asks", type=float, default=0.5, help="new questions a second")
    parser.add_argument("--again", type=float, default=20, help="questions a second that were answered before")
    parser.add_argument("--step", type=float, default=1.0, help="seconds of a question")
    parser.add_argument("--slots", type=int, default=1)
    arguments = parser.parse_args()
    gc.disable()  # it would stop the analysts' clock for a tenth of a second, which is not the server's delay
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="discreet-bench-") as temporary:
        folder = Path(temporary)
        tokens = set_up(folder, int(arguments.rows))
        print(
            f"{arguments.rows:,.0f} rows, {ANALYSTS} analysts, {arguments.seconds:g} s, {os.cpu_count()} cores; "
            f"load before: {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        server = Server(folder, arguments.step, arguments.slots)
        first = server.start()
        figures.show("started", f"{first:.1f} s (≤ {RESTART:.0f} s)", met=first <= RESTART)
        replies = under_load(server, tokens, arguments, figures)
        judged(folder, replies, figures, "after the load")
        if arguments.kills:
            replies += under_kills(server, tokens, arguments, figures)
            judged(folder, replies, figures, "after the kills")
        server.stop()
        print(f"load afterwards: {os.getloadavg()[0]:.1f}", flush=True)
    return 0 if all(figures.met) else 1


if __name__ == "__main__":
    sys.exit(main())
