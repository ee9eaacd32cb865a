"""The story that `discreet demo --serve` tells: a real server on this machine, and two strangers who hold tokens."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING

from discreet.cli.demo.story import COUNT, OVER_FORTY, Page, private
from discreet.cli.show.errors import as_on_screen
from discreet.cli.show.waiting import working
from discreet.errors import (
    BudgetExhausted,
    EngineUnavailable,
    QuestionFailed,
    ServerUnreachable,
    Unauthenticated,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.interfaces.client import Remote
    from discreet.results import Answer
    from discreet.service import Role

_CONFIG = """\
name = "census"
ledger = "census.ledger"
adjacency = "add_remove"
budget = { epsilon = %s }

[tables.census]
source = "census.csv"
unit = "row"

[tables.census.columns]
sex = { kind = "text", keys = ["Female", "Male"] }
education = { kind = "text", keys = [%s] }
age = { kind = "integer", bounds = [0, 125] }
income = { kind = "integer", bounds = [0, 500000] }
hours = { kind = "integer", bounds = [0, 168] }
dob = { kind = "date" }
zip = { kind = "text" }
"""

_STEP = 1.5
"""Seconds for each question: several times what one takes, even on a busy machine."""

_TIMES = 100
_STARTING = 120.0
_STOPPING = 15.0
_MOST_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Gate(Page):
    """The server and clients that the chapters share.

    Args:
        people: the census.
        address: of the server.
        ann: what one stranger holds.
        bob: what another holds.
    """

    people: pa.Table
    address: str
    ann: Remote
    bob: Remote

    def asked(self, who: Remote, question: str, epsilon: str, confidence: float = 0.95) -> Answer:
        """An answer. If a busy machine misses its time, what was paid stays paid, and the question is asked again."""
        for attempt in range(_MOST_ATTEMPTS):
            try:
                with working("waiting for the answer"):
                    return who.ask(question, epsilon=Fraction(epsilon) / (attempt + 1), confidence=confidence)
            except QuestionFailed as error:
                self.show(as_on_screen(error, question))
                self.say(
                    "This machine was too busy to answer in time. What was paid stays paid; asking once more, for less."
                )
        raise QuestionFailed


def tell_served(people: pa.Table) -> None:
    """Tell the story from beginning to end, and stop the server."""
    with _served(people) as gate:
        for chapter in (
            strangers,
            an_answer_at_its_time,
            a_hundred_times,
            a_difference_between_two,
            the_budget_of_all,
        ):
            chapter(gate)


@contextmanager
def _served(people: pa.Table) -> Iterator[Gate]:
    """A server on a free port; two analysts."""
    from discreet.interfaces.client import connect
    from discreet.service import Role

    with (
        prepared(people, 2, {"ann": Role.ANALYST, "bob": Role.ANALYST}) as (config, (ann, bob)),
        _started(config) as address,
        connect(address, ann) as first,
        connect(address, bob) as second,
    ):
        yield Gate(people, address, first, second)


@contextmanager
def prepared(people: pa.Table, epsilon: int, holders: Mapping[str, Role]) -> Iterator[tuple[Path, list[str]]]:
    """The people, admitted, in a folder that is removed at the end, and a token for each holder: what a server needs.

    Args:
        people: the census.
        epsilon: the budget.
        holders: their roles, by name.
    """
    import pyarrow.csv

    from discreet.census import EDUCATION
    from discreet.gateway import load
    from discreet.service.tokens import issue

    with TemporaryDirectory(prefix="discreet-demo-") as folder:
        config = Path(folder) / "discreet.toml"
        pyarrow.csv.write_csv(people, Path(folder) / "census.csv")
        levels = ", ".join(f'"{level}"' for level in EDUCATION)
        config.write_text(_CONFIG % (epsilon, levels), encoding="utf-8")
        with working("admitting"), load(config, create_ledger=True) as tables:
            tables.refresh()
            tokens = [issue(tables.tokens, name, role, days=1).text for name, role in holders.items()]
        yield config, tokens


def free_port() -> int:
    """A port of this machine that is free."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@contextmanager
def _started(config: Path) -> Iterator[str]:
    """`discreet serve` in a process that Ctrl-C doesn't reach; it is stopped here, whatever happens."""
    port, seconds = str(free_port()), str(_STEP / 2)
    address = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(  # noqa: S603 — our own command, with our own words
        [sys.executable, "-m", "discreet", "serve", "--port", port, "--base", seconds, "--scan", seconds],
        cwd=config.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        with working("starting the server"):
            _wait_for(server, address)
        yield address
    finally:
        with suppress(ProcessLookupError):
            server.send_signal(signal.SIGINT)
        try:
            server.wait(_STOPPING)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_for(server: subprocess.Popen[bytes], address: str) -> None:
    """Wait until the server answers.

    Raises:
        EngineUnavailable: it ends, or takes too long.
    """
    from discreet.interfaces.client import connect

    end = monotonic() + _STARTING
    while server.poll() is None and monotonic() < end:
        with suppress(ServerUnreachable), connect(address, "nobody", patience=0.5) as stranger:
            try:
                stranger.me()
            except Unauthenticated:
                return
    raise EngineUnavailable("the server didn't start", hint="run discreet serve to see why")


def strangers(gate: Gate) -> None:
    """The chapter on what strangers hold and see."""
    gate.title("The gate: strangers, who hold an address and a token")
    gate.say(
        f"""So far, anyone who asked could just as well have read the table. Now the same people are behind a server,
        with a budget of ε = 2 for all strangers together. It runs at {gate.address}, and ann and bob have a token
        each. This is all they need:"""
    )
    gate.show(f'import discreet as dp\ncensus = dp.connect("{gate.address}", token)\ncensus.dummy(3)["census"]')
    made_up = gate.ann.dummy(3)["census"].to_pylist()
    gate.table(tuple(made_up[0]), [tuple(row.values()) for row in made_up])
    gate.say("Those rows are made up from the declarations, to write code against. Nobody sees any of the real ones.")


def an_answer_at_its_time(gate: Gate) -> None:
    """A plan, and the answer at the time that it names."""
    gate.title("An answer leaves at a time that its plan names")
    plan = gate.ann.plan(OVER_FORTY, epsilon="0.2")
    gate.show(f"{OVER_FORTY}\n-- {plan.cost}, n: {plan.expected[0]}, after {plan.seconds:g} seconds")
    begun = monotonic()
    answer = gate.asked(gate.ann, OVER_FORTY, "0.2")
    gate.say(
        f"""Ann gets {private(answer, "n")[0]}, after {monotonic() - begun:.1f} seconds: how long it really took
        depends on the rows, and stays secret. The answer is signed by key {gate.ann.key.id}, which the client has
        checked."""
    )


def a_hundred_times(gate: Gate) -> None:
    """The averaging attack, by two who share what they hear."""
    gate.title("An attack: ask a hundred times, and take the mean")
    before, begun = gate.ann.spent, monotonic()
    question = f"{COUNT} WHERE hours > 40"
    first = gate.asked(gate.ann, question, "0.2")
    who = [gate.ann, gate.bob]
    with working("asking"):
        others = [who[turn % 2].ask(question, epsilon=first.cost.epsilon) for turn in range(1, _TIMES)]
    different = {answer["n"][0] for answer in (first, *others)}
    gate.say(
        f"""Ann and bob take turns, {_TIMES} times the same question: {private(first, "n")[0]}. With fresh noise each
        time, the mean would have a tenth of its error. They hold {len(different)} distinct
        value{"" if len(different) == 1 else "s"}, {_TIMES} replies in {monotonic() - begun:.1f} seconds; spent {before}
        before, {gate.ann.spent} after."""
    )


def a_difference_between_two(gate: Gate) -> None:
    """The differencing attack, shared out among two."""
    gate.title("An attack: two strangers, and the difference of their sums")
    person = gate.people.slice(0, 1).to_pylist()[0]
    everyone = "SELECT SUM(income) AS total FROM census"
    but_one = f"{everyone}\nWHERE NOT (dob = DATE '{person['dob']}' AND zip = '{person['zip']}')"
    # Each total is within its ± but for 2.5 %, so both are, and so is the difference, but for 5 %.
    totals = [gate.asked(who, sql, "0.25", 0.975) for who, sql in ((gate.ann, everyone), (gate.bob, but_one))]
    first, second = (answer["total"][0] for answer in totals)
    ends = [end for answer in totals for end in answer.interval("total") if end is not None]
    error = sum(high - low for low, high in ends) / 2
    gate.show(f"{everyone}\n{but_one}")
    gate.say(
        f"""Ann asks the first and bob the second, and neither sees a question about {person["name"]}. The difference
        of what they hear is {first - second:,.0f}, ± {error:,.0f}; {person["name"]} earns {person["income"]:,}. It
        says next to nothing about one person."""
    )


def the_budget_of_all(gate: Gate) -> None:
    """Ask until the budget refuses everyone; then the end."""
    gate.title("The budget runs out, for all of them together")
    rows, refusal = [], None
    for turn, hours in enumerate(range(10, 100, 10)):
        who, name = (gate.bob, "bob") if turn % 2 else (gate.ann, "ann")
        try:
            answer = gate.asked(who, f"{COUNT} WHERE hours >= {hours}", "0.4")
        except BudgetExhausted as error:
            rows.append((name, f"hours >= {hours}", "refused", ""))
            refusal = error
            break
        rows.append((name, f"hours >= {hours}", private(answer, "n")[0], str(who.remaining)))
    gate.table(("who", "people with", "private, at ε = 0.4", "left"), rows, right=(False, False, True, False))
    if refusal is not None:
        gate.show(as_on_screen(refusal, ""), hang=2)
    gate.say(
        """Sharing the questions out among many gains nothing: they all draw on one budget. What was answered before
        is answered again, to each of them. The server stops now."""
    )
