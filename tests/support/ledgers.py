"""What tests about the ledger share: events of a given cost, filled ledgers, and programs that run beside the test."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from sqlite3 import connect
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from discreet.ledger import Ledger
from discreet.ledger.row import GENESIS, Row
from discreet.privacy import Budget, ComposedEvent, GaussianEvent, LaplaceEvent, SelectionEvent
from support.forked import server

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from discreet.ledger import Account, Reservation
    from support.forked import Finished, Forked, Server

COLUMNS = tuple(Row.__dataclass_fields__)

CHILD = Path(__file__).parents[1] / "ledger" / "child.py"


def laplace(epsilon: Fraction | int | str) -> LaplaceEvent:
    """Laplace noise that costs this ε exactly."""
    return LaplaceEvent(scale=1 / Fraction(epsilon), l1=1)


def gaussian(rho: Fraction | int | str) -> GaussianEvent:
    """Gaussian noise that costs this ρ exactly."""
    return GaussianEvent(sigma=Fraction(1), l2_squared=2 * Fraction(rho))


def selection(delta: Fraction | int | str, epsilon: Fraction | int | str) -> ComposedEvent:
    """A selection of groups at this δ, by counts with Laplace noise at this ε."""
    return ComposedEvent((laplace(epsilon), SelectionEvent(delta=Fraction(delta))))


def admitted(account: Account, contents: str = "the data") -> int:
    """The version of the tables in force, which are admitted first where none was."""
    found = account.admitted() or account.admit(contents, after=account.versions())
    return found.version


def ask(
    account: Account, question: str, epsilon: Fraction | int | str = "1/10", analyst: str | None = None
) -> Reservation:
    """Reserve a question with Laplace noise, of the tables in force."""
    return account.reserve(
        question=question,
        text=f"SELECT {question}",
        version=admitted(account),
        event=laplace(epsilon),
        analyst=analyst,
    )


def marks_of(url: str | Path) -> Path | None:
    """Where programs keep the key of the marks of a ledger on a server; that of a file is beside it."""
    text = str(url)
    return Path(gettempdir(), f"discreet-{sha256(text.encode()).hexdigest()[:16]}.marks") if "://" in text else None


def fill(path: str | Path) -> None:
    """A ledger with every kind of entry, two accounts, analysts and shares."""
    shares = {"ada": Budget(epsilon=2), "bob": Budget(epsilon=1)}
    with Ledger.open(path, create=True) as ledger:
        census = ledger.account("census", Budget(epsilon=3, delta=1e-6))
        census.admit("first data", snapshot="first", after=0)
        census.admit("the data", snapshot="second", after=1)
        census.commit(ask(census, "a"), certificate={"text": "a"}, answer={"n": 17})
        census = ledger.account("census", Budget(epsilon=3, delta=1e-6), shares)
        ask(census, "b", analyst="ada")
        visits = ledger.account("visits", Budget(epsilon=1))
        paid = ask(visits, "a")
        census.fail(ask(census, "c", analyst="bob"))
        visits.commit(paid, certificate={}, answer={"n": 3})
        census.commit(ask(census, "d", analyst="ada"), certificate={}, answer={"n": 1})


def sql(path: str | Path, statement: str, *values: object) -> list[tuple[Any, ...]]:
    """Change or read a ledger behind discreet's back."""
    with closing(connect(path, isolation_level=None)) as connection:
        return connection.execute(statement, values).fetchall()


def rows(path: str | Path) -> list[Row]:
    """The entries, as they stand."""
    return [
        Row(**dict(zip(COLUMNS, values, strict=True)))
        for values in sql(path, f"SELECT {', '.join(COLUMNS)} FROM discreet_entry ORDER BY seq")
    ]


def rewrite(path: str | Path, change: Callable[[list[Row]], object]) -> None:
    """Change entries and chain them anew, as one would who knows how: every hash fits, and so does the head."""
    changed = rows(path)
    change(changed)
    before = GENESIS
    for place, row in enumerate(changed):
        anew = replace(row, seq=place + 1, previous=before)
        changed[place] = replace(anew, hash=anew.seal())
        before = changed[place].hash
    with closing(connect(path)) as connection, connection:
        connection.execute("DELETE FROM discreet_entry")
        marks = ", ".join("?" * len(COLUMNS))
        for row in changed:
            connection.execute(f"INSERT INTO discreet_entry VALUES ({marks})", tuple(row.columns().values()))
        connection.execute("UPDATE discreet_ledger SET seq = ?, hash = ?", (len(changed), before))


def _server() -> Server:
    """What runs the programs in `child.py`."""
    return server("support.ledgers", "discreet.ledger.store", "discreet.exact.ball", "sqlalchemy.dialects.sqlite")


def start(program: str, *arguments: object) -> AbstractContextManager[Forked]:
    """Start one of the programs in `child.py`."""
    return _server().start(CHILD.read_text(encoding="utf-8"), program, *arguments)


def run(program: str, *arguments: object, prefix: tuple[str, ...] = ()) -> list[str]:
    """Run one of the programs in `child.py` to its end, and return the lines it printed.

    Args:
        program: its name.
        arguments: of the program.
        prefix: a command that runs it, in an interpreter of its own.
    """
    finished: Finished | subprocess.CompletedProcess[str]
    if prefix:
        finished = subprocess.run(
            [*prefix, sys.executable, "-W", "error", str(CHILD), program, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
    else:
        finished = _server().run(CHILD.read_text(encoding="utf-8"), program, *arguments)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.splitlines()


def killed(program: str, *arguments: object) -> list[str]:
    """Run a program that must die of a kill, and return the lines it printed before."""
    with start(program, *arguments) as process:
        finished = process.wait()
    assert finished.returncode == -9, finished.stderr
    return finished.stdout.splitlines()


def raised(kind: type[Exception], action: Callable[[], object]) -> str:
    """The full text of the error that an action must raise."""
    try:
        action()
    except kind as error:
        return str(error)
    message = f"nothing was raised, where {kind.__name__} should be"
    raise AssertionError(message)
