"""Programs in processes of their own, forked from one that has imported what they need.

To start an interpreter and import discreet takes longer than most programs of the tests run. So one process does it,
starts nothing else, and forks for each: the program is killed, limited or forked again like any other process.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

SERVER = "import sys; from support.forked import serve; serve(sys.argv[1:])"


@dataclass(frozen=True)
class Finished:
    """How a program ended.

    Args:
        returncode: as of `subprocess`: minus the signal that killed it.
        stdout: what it printed.
        stderr: what it said of an error.
    """

    returncode: int
    stdout: str
    stderr: str


class Forked:
    """A program that runs.

    Args:
        server: that forked it.
        pid: its process.
        stdout: what it prints.
        errors: where it says of an error.
    """

    def __init__(self, server: Server, pid: int, stdout: IO[str], errors: Path) -> None:
        self.pid, self.stdout = pid, stdout
        self._server, self._errors = server, errors
        self.is_over = False

    def wait(self) -> Finished:
        """Its end, and what it printed that wasn't read yet."""
        printed = self.stdout.read()
        self.is_over = True
        return Finished(self._server.answer(), printed, self._errors.read_text(encoding="utf-8"))


class Server:
    """The process that forks, one program at a time.

    Args:
        imports: the modules that it imports first.
    """

    def __init__(self, imports: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", SERVER, *imports],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        atexit.register(self.close)

    @contextmanager
    def start(self, source: str, *arguments: object) -> Iterator[Forked]:
        """Run a source text with these arguments; it is killed at the end, unless it was waited for."""
        assert self._process.stdin is not None
        with TemporaryDirectory(prefix="discreet-test-") as folder:
            output, errors = Path(folder, "output"), Path(folder, "errors")
            os.mkfifo(output)
            asked = {"source": source, "arguments": list(map(str, arguments)), "folder": folder}
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            with output.open(encoding="utf-8") as stdout:
                program = Forked(self, self.answer(), stdout, errors)
                try:
                    yield program
                finally:
                    if not program.is_over:
                        os.kill(program.pid, signal.SIGKILL)
                        program.wait()

    def run(self, source: str, *arguments: object) -> Finished:
        """Run a source text to its end."""
        with self.start(source, *arguments) as program:
            return program.wait()

    def answer(self) -> int:
        """The next number that the server says: a program's process, then how it ended."""
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """Let it end."""
        self._process.communicate()


@cache
def server(*imports: str) -> Server:
    """The server that has imported these modules; it lives as long as the tests do."""
    return Server(imports)


def asking() -> Server:
    """The server for programs that ask questions."""
    return server("discreet.gateway.opening", "discreet.engine.duckdb.engine", "discreet.query.sql", *_LIBRARIES)


_LIBRARIES = (
    "cryptography.hazmat.primitives.ciphers",
    "duckdb",
    "ibis",
    "pyarrow.parquet",
    "sqlalchemy.dialects.sqlite",
)


def serve(imports: Sequence[str]) -> None:
    """Fork for each program that is asked for on standard input, and say its process and how it ended."""
    for module in imports:
        import_module(module)
    said = os.fdopen(os.dup(1), "w", encoding="utf-8")
    for line in sys.stdin:
        asked = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become(asked["source"], asked["arguments"], Path(asked["folder"]))
        print(pid, file=said, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), file=said, flush=True)


def _become(source: str, arguments: Sequence[str], folder: Path) -> None:
    """Be the program, in a forked child."""
    code = 1
    try:
        streams = ((os.devnull, os.O_RDONLY), ("output", os.O_WRONLY), ("errors", os.O_WRONLY | os.O_CREAT))
        for number, (name, flags) in enumerate(streams):
            opened = os.open(folder / name, flags, 0o600)
            os.dup2(opened, number)
            os.close(opened)
        sys.argv = ["program", *arguments]
        exec(compile(source, "program", "exec"), {"__name__": "__main__"})  # noqa: S102 — a test's own program
        code = 0
    except SystemExit as end:  # a number, or why
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        sys.stderr.write(str(end.code or ""))
    except BaseException:  # noqa: BLE001 — the test reads it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
