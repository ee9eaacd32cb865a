"""The tutorials, replayed: every command and all code of a page, from an empty folder, in this process.

python -m support.tutorials custodian analyst     put what is printed now into these pages
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, chdir, closing, contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from typer.main import get_command

from discreet.cli import app
from discreet.cli.show.screen import folded
from discreet.interfaces.http import make_app, serving
from discreet.interfaces.self_signed import SelfSigned, beside
from discreet.service import ReleaseTimes, Service, Settings, workers
from support.pages import Block, blocks
from support.project import DOCS
from support.served import in_threads
from support.uvicorn_server import listening

TUTORIALS = DOCS / "tutorials"

PAGES = [
    *sorted(page for page in TUTORIALS.glob("*.md") if page.stem != "index"),
    DOCS / "limits.md",
    DOCS / "plus-minus.md",
]
"""The pages that are replayed: the tutorials, and two chapters about the same hospital."""

WIDTH = 88
"""Columns of a box."""

ADDRESS = "127.0.0.1:8443"
"""Where the pages' server listens; while they are replayed, at any free port."""

HOME = "/tmp/data"  # noqa: S108 — nothing is written there
"""The folder that was empty, on the pages."""

FINGERPRINT = "5be0cd19137e21791f83d9abfb41bd6b9b05688c2b3e6c1fa54ff53a510e527f"
"""Of its certificate, on the pages."""


@dataclass
class Reader:
    """Somebody who follows a page, in a shell and in Python.

    Args:
        stack: what ends with them: a server, say.
        home: the folder that was empty.
        namespace: what Python blocks have defined so far.
        printed: by the Python block before.
        address: of the server that they have started.
        fingerprint: of its certificate.
    """

    stack: ExitStack
    home: str
    namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    printed: str = ""
    address: str = ADDRESS
    fingerprint: str = FINGERPRINT

    def follow(self, block: Block) -> str:
        """Do what a block says; the block as it would be printed now."""
        kind, _, rest = block.mark.partition(" ")
        match block.language, kind:
            case _, "not":
                assert rest.startswith("run: ")
            case "console", _:
                return self._typed(block.text, kind == "fails", rest)
            case _, "file":
                Path(rest).write_text(block.text, encoding="utf-8")
            case _, "same":
                assert Path(rest).read_text(encoding="utf-8") == block.text
            case "python", _:
                with redirect_stdout(io.StringIO()) as out:
                    exec(compile(block.text, "<page>", "exec"), self.namespace)  # noqa: S102 — that's what it is for
                self.printed = out.getvalue()
            case "text", "output":
                return boxed(self.printed)
            case _:
                raise AssertionError(f"nothing says what this block is, {block.mark!r}")
        return block.text

    def _typed(self, text: str, fails: bool, said: str) -> str:
        """A session of a shell, with what its commands print now; the last of them may have to fail, and say this."""
        typed = re.findall(r"^\$ (?:.*\\\n)*.*$", text, re.MULTILINE)
        shown = []
        for number, command in enumerate(typed, start=1):
            line = re.sub(r" ?\\\n +", " ", command[2:]).replace("\\\n", "").partition("  #")[0].strip()
            printed, found = self._call(line.replace(ADDRESS, self.address).replace(FINGERPRINT, self.fingerprint))
            assert bool(found) == (fails and number == len(typed)), f"{line}\n{printed}"
            for here, there in ((self.address, ADDRESS), (self.fingerprint, FINGERPRINT), (self.home, HOME)):
                printed = printed.replace(here, there)
            shown.append(f"{command}\n{boxed(printed)}")
        assert not fails or said in shown[-1]
        return "".join(shown)

    def _call(self, line: str) -> tuple[str, int]:
        """What a command prints, and its exit code."""
        if loop := re.fullmatch(r"for name in (.+?); do (.+); done", line):
            for name in loop[1].split():
                assert self._call(loop[2].replace("$name", name)) == ("", 0)
            return "", 0
        command, *files = re.split(r" 2?> ", os.path.expandvars(line))
        program, *arguments = shlex.split(command)
        if program == "discreet":
            return (self._serve(arguments), 0) if arguments[0] == "serve" else discreet(arguments, *files)
        match program:
            case "cd":
                os.chdir(arguments[0])
            case "umask":
                pass  # files that commands make here are their reader's alone anyway
            case "unset":
                for name in arguments:
                    del os.environ[name]
            case "export":
                name, _, value = line.removeprefix("export ").partition("=")
                shell = ["/bin/sh", "-c", f"printf %s {value}"]
                os.environ[name] = subprocess.run(shell, check=True, capture_output=True, text=True).stdout
            case _:
                run = subprocess.run(["/bin/sh", "-c", line], check=False, capture_output=True, text=True)
                return run.stdout + run.stderr, run.returncode
        return "", 0

    def _serve(self, arguments: list[str]) -> str:
        """Start a server in this process; what the command prints."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(workers, "load_ahead", lambda: None)  # for processes, of which there are none
            patch.setattr(serving, "serve", lambda *_, bound, **__: bound(int(ADDRESS.partition(":")[2])))
            printed, code = discreet(arguments)
        assert code == 0, printed
        config = Path("discreet.toml").absolute()
        own = SelfSigned.found(beside(config))
        assert own is not None
        service = self.stack.enter_context(closing(Service(config, Settings(times=ReleaseTimes(base=0.2, scan=0.2)))))
        url = self.stack.enter_context(listening(make_app(service), own.certificate, own.key))
        self.address, self.fingerprint = url.partition("://")[2], own.fingerprint
        return printed


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


class Beside(io.StringIO):
    """Standard error, on the same screen, but without lines that say what is going on."""

    def __init__(self, screen: io.StringIO) -> None:
        super().__init__()
        self._screen = screen

    def write(self, text: str) -> int:
        """Write it there."""
        return self._screen.write(text)


def discreet(arguments: list[str], *files: str) -> tuple[str, int]:
    """Run a command in this process; what a terminal shows, and the exit code.

    Args:
        arguments: of the command.
        files: where standard output goes, and standard error, if not to the terminal.
    """
    screen = Screen()
    streams = [io.StringIO() if files else screen, io.StringIO() if files[1:] else Beside(screen)]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"COLUMNS": str(WIDTH), "TERM": "dumb", "NO_COLOR": "1"}.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdout", streams[0])
        patch.setattr(sys, "stderr", streams[1])
        try:
            get_command(app)(arguments, prog_name="discreet")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    for file, stream in zip(files, streams, strict=False):
        Path(file).touch(mode=0o600)
        Path(file).write_text(stream.getvalue(), encoding="utf-8")
    return screen.getvalue(), code


def boxed(printed: str) -> str:
    """What a terminal of so many columns shows; lines to paste are cut off."""
    lines = [
        f"{line[: WIDTH - 1]}…" if len(line) > WIDTH and re.match(r"\s+(discreet|dp\.)", line) else folded(line, WIDTH)
        for line in printed.rstrip().splitlines()
    ]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def shape(text: str) -> str:
    """A page's block without spaces, and without what noise, keys, clocks and the lengths of paths decide."""
    masked = re.sub(r"limits\s+(a limit of|no unit).*?(?=\ncost)", "limits …", text, flags=re.DOTALL)
    masked = re.sub(r"dsc_[\w-]+|\b[0-9a-f]{8,}\b|[\w+/]{43}=", "#", masked)
    masked = re.sub(r"[+−-]?\d[\d,.]*(e-\d+)?", "#", masked)
    masked = re.sub(r"# ± #|# \(# to #\)", "#", masked)
    return "".join(re.sub("─+", "─", masked).split())


@contextmanager
def reading() -> Iterator[Reader]:
    """Somebody in an empty folder with a short name, so that few lines are folded; their environment is their own."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name in ("DISCREET_SERVER", "DISCREET_TOKEN", "DISCREET_FINGERPRINT", "DISCREET_KEY", "SSL_CERT_FILE"):
            patch.setenv(name, "")  # so that it is put back
            patch.delenv(name)
        patch.setenv("HOME", str(folder))
        patch.syspath_prepend(str(folder))
        stack.enter_context(chdir(folder))
        stack.enter_context(in_threads())
        yield Reader(stack, str(folder))


def replayed(page: Path) -> Iterator[tuple[Block, str]]:
    """Each block of a page, and what it would show now."""
    with reading() as reader:
        for block in blocks(page.read_text(encoding="utf-8")):
            try:
                yield block, reader.follow(block)
            except Exception as error:
                error.add_note(f"{page.name}, line {block.line}")
                raise


def renewed(page: Path) -> None:
    """Put what is printed now into a page."""
    lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
    found = [*replayed(page)]
    for block, now in reversed(found):
        fence = lines[block.line - 1]
        indent = fence[: len(fence) - len(fence.lstrip())]
        end = lines.index(f"{indent}```\n", block.line)
        lines[block.line : end] = [textwrap.indent(now, indent)]
    page.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    for path in PAGES:
        if path.stem in sys.argv[1:]:
            renewed(path)
