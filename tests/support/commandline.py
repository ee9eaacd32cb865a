"""The command line as its documentation must describe it: commands, options, help texts."""

from __future__ import annotations

import re
import shlex
from functools import cache
from typing import Any, TypeAlias

from typer.main import get_command
from typer.testing import CliRunner

from discreet.cli import app

Command: TypeAlias = Any
"""A command as Click has it, or whatever Typer has in its place: `.params`, and `.commands` for a group."""

_WIDTH = 1200
"""Columns of a terminal in which each option has a line of its own."""


@cache
def commands() -> dict[str, Command]:
    """All commands by name, subcommands as `name subcommand`."""
    return dict(_below("", get_command(app)))


def _below(prefix: str, command: Command) -> list[tuple[str, Command]]:
    """The command's subcommands, theirs, and so on; or the command itself."""
    subcommands = getattr(command, "commands", None)
    if subcommands is None:
        return [(prefix, command)]
    return [leaf for name, child in subcommands.items() for leaf in _below(f"{prefix} {name}".strip(), child)]


def options(command: Command) -> list[str]:
    """The long and short spellings of a command's options."""
    return [
        spelling
        for parameter in command.params
        for spelling in (*parameter.opts, *parameter.secondary_opts)
        if spelling.startswith("-")
    ]


def help_text(command: str) -> str:
    """What `discreet COMMAND --help` prints, as Markdown; the empty command is discreet itself.

    Boxes of it become tables, which a page that is narrow wraps within their cells.
    """
    result = CliRunner().invoke(
        app,
        [*command.split(), "--help"],
        prog_name="discreet",
        env={"COLUMNS": str(_WIDTH), "TERM": "dumb", "NO_COLOR": "1"},
        catch_exceptions=False,
    )
    text: list[str] = []
    for line in (line.strip() for line in result.output.splitlines()):
        match line[:1]:
            case "╭":
                text += [f"| {line.strip('╭─╮ ')} | |", "|---|---|"]
            case "╰":
                text.append("")
            case "│" if (cells := re.split(r" {2,}", line.strip("│* "))) and len(cells) > 1:
                text.append(f"| {_named(cells[:-1])} | {_spoken(cells[-1])} |")
            case "│":  # what belongs to the option above: its default, its variable
                text[-1] = f"{text[-1].removesuffix(' |')} {_spoken(cells[0])} |".replace("  |", " |")
            case _ if line.startswith(("Usage: ", "Example: ")):
                title, _, words = line.partition(": ")
                text += [f"{title}:", "", "```text", re.sub("[{}]", "", words), "```", ""]
            case _:
                text += [_spoken(line), ""] if line else []
    return re.sub(r"\n{3,}", "\n\n", "\n".join(text)).strip()


def _named(cells: list[str]) -> str:
    """An option or argument with its short name and what it takes; a type's name says less than its help."""
    spelled = [cell for cell in cells if not re.fullmatch(r"<\w+>", cell)]
    return " ".join(f"`{cell.strip('{}<>')}`".replace("|", "` \\| `") for cell in spelled)


def _spoken(words: str) -> str:
    """A help text, in which nothing is Markdown's."""
    return re.sub(r"([\\`*_<>|$])", r"\\\1", words.replace("[required]", "").strip())


def words(text: str) -> list[str]:
    """The words of a help text, without what differs between versions of the libraries that lay it out.

    That is boxes, and how they mark a flag, a choice of files and a required argument.
    """
    bare = re.sub(r"[╭╮╰╯│─├┤{}]|<\w+>|\[required\]", " ", text)
    return bare.split()


def unknown(line: str) -> str | None:
    """What is wrong with a line that calls discreet: no such command, or no such option; None if nothing is."""
    program, *arguments = shlex.split(line)
    if program != "discreet":
        return None
    names = [argument for argument in arguments[:2] if not argument.startswith("-")]
    known = commands()
    command = known.get(" ".join(names)) or known.get(names[0] if names else "")
    if command is None:
        alone = {*options(get_command(app)), "--help", "-h"}
        return None if not names and set(arguments) <= alone else f"no command in: {line}"
    there = {*options(command), "--help", "-h"}
    wrong = [word for word in arguments if word.startswith("-") and word != "-" and word.partition("=")[0] not in there]
    return f"no option {wrong[0]}: {line}" if wrong else None
