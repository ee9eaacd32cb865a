"""A PostgreSQL server with tables to read from: one for each process of tests, started when it is first needed."""

from __future__ import annotations

import atexit
import socket
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

from support.certified import certified
from support.postgres import Postgres, connected, running_server

_NUMBERS = count()


@dataclass(frozen=True)
class Sources:
    """A server, reached by a socket, and by TCP with TLS.

    Args:
        server: itself.
        port: of both.
        authority: the certificate by which its own is verified, which is for localhost.
    """

    server: Postgres
    port: int
    authority: Path

    def url(self, database: str, user: str = "ledger") -> str:
        """Where one of its databases is."""
        return f"postgresql://{user}@/{database}?host={self.server.folder}&port={self.port}"

    def tcp(self, database: str, more: str = "", user: str = "ledger") -> str:
        """The same by TCP, where the role `locked` needs its password."""
        return f"postgresql://{user}@localhost:{self.port}/{database}{more}"

    def new_database(self, encoding: str = "UTF8") -> str:
        """A database of its own, by its name."""
        name = f"clinic{next(_NUMBERS)}"
        self.run("postgres", f"CREATE DATABASE {name} ENCODING {encoding} TEMPLATE template0")
        return name

    def run(self, database: str, *statements: str) -> None:
        """Run SQL on one of its databases."""
        with connected(self.url(database)) as connection:
            for each in statements:
                connection.execute(each)


@cache
def sources() -> Sources:
    """The server of this process, which ends with it."""
    stack = ExitStack()
    atexit.register(stack.close)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    files: list[Path] = []

    def prepare(folder: Path) -> tuple[str, ...]:
        key, certificate = certified(folder)
        files.append(certificate)
        access = "host all locked all scram-sha-256\nhost all all all trust\nlocal all all trust\n"
        (folder / "access.conf").write_text(access, encoding="utf-8")
        return (
            "listen_addresses=localhost", f"port={port}", "ssl=on", f"ssl_cert_file={certificate}",
            f"ssl_key_file={key}", f"hba_file={folder / 'access.conf'}",
        )  # fmt: skip

    server = stack.enter_context(running_server(prepare))
    return Sources(server, port, files[0])
