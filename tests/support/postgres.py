"""A PostgreSQL server that tests start for themselves, from the system's packages; without them, tests are skipped."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from psycopg import Connection

psycopg = pytest.importorskip("psycopg", reason="psycopg isn't installed")


@dataclass(frozen=True)
class Postgres:
    """A server that runs, reached by a socket in its folder.

    Args:
        folder: of its socket and its data.
        user: who runs it; None for who runs the tests.
        settings: of its own, beside those of all.
    """

    folder: Path
    user: str | None
    settings: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """Where its database is."""
        return f"postgresql://ledger@/postgres?host={self.folder}"

    def control(self, *arguments: str | Path) -> None:
        """Run `pg_ctl` on it."""
        command = [program("pg_ctl"), "-D", self.folder / "data", "-w", *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=self.user, cwd=self.folder)

    def start(self) -> None:
        """Start it."""
        nowhere = ("fsync=off", "full_page_writes=off", "synchronous_commit=off")  # nothing here outlives the machine
        places = ("listen_addresses=''", f"unix_socket_directories='{self.folder}'")
        options = " ".join(f"-c {each}" for each in (*nowhere, *places, *self.settings))
        self.control("-l", self.folder / "log", "-o", options, "start")

    def stop(self) -> None:
        """Stop it at once; what was committed is kept in its log."""
        self.control("-m", "immediate", "stop")


def program(name: str) -> str:
    """The path of one of the server's programs."""
    places = [shutil.which(name), *map(str, sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}")))]
    for place in places:
        if place is not None:
            return place
    pytest.skip(f"no PostgreSQL server is installed: {name} is missing")


@contextmanager
def running_server(prepare: Callable[[Path], tuple[str, ...]] = lambda _: ()) -> Iterator[Postgres]:
    """A server of our own; root hands it to another user, as it must.

    Args:
        prepare: puts files into its folder, and says its settings.
    """
    initdb, _ = program("initdb"), program("pg_ctl")
    user = None
    if os.geteuid() == 0:
        names = {entry.pw_name for entry in pwd.getpwall()}
        user = next((name for name in ("postgres", "nobody") if name in names), None)
        if user is None:
            pytest.skip("PostgreSQL won't run as root, and there is no other user to run it")
    folder = Path(tempfile.mkdtemp(prefix="discreet-"))
    try:
        settings = prepare(folder)
        for each in (folder, *folder.iterdir()) if user is not None else ():
            shutil.chown(each, user)
        run = partial(subprocess.run, check=True, stdout=subprocess.DEVNULL, user=user, cwd=folder)
        # Its databases are in SQL_ASCII, as they are wherever a server was set up without a locale.
        run([initdb, "-D", folder / "data", "-A", "trust", "-U", "ledger", "--no-sync", "--no-locale"])
        server = Postgres(folder, user, settings)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    """A connection of our own to the ledger's database."""
    with psycopg.connect(url, autocommit=True, client_encoding="utf8") as connection:
        yield connection
