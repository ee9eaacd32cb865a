r"""Commands: what begins with a backslash or a point, and what SQL has for settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

import typer

from discreet.cli.shell.modes import Mode
from discreet.cli.show.declared import show_schema
from discreet.cli.show.entries import Line, brief, whole
from discreet.cli.show.formats import Format
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import Sheet
from discreet.cli.show.standing import of_each, show_standing
from discreet.errors import InvalidArgument, UnknownTable
from discreet.printable import limits_to_read
from discreet.suggestions import did_you_mean

if TYPE_CHECKING:
    from discreet.gateway import Protected
    from discreet.interfaces.client import Remote
    from discreet.query.planner import SessionSettings


class Session(Protocol):
    """What commands know of a session: its tables, what is set, and the form of answers."""

    tables: Protected | Remote
    settings: SessionSettings
    mode: Mode

    def explain(self, question: str) -> None:
        """Show the plan of a question."""


class Leave(typer.Exit):
    """The command to leave."""


class Command(NamedTuple):
    """A command.

    Args:
        takes: what follows it, as its help says.
        words: what it does, in one line.
        run: does it; takes the session, and what follows.
    """

    takes: str
    words: str
    run: Callable[[Session, str], None]


def _describe(session: Session, name: str) -> None:
    r"""The tables; or the columns of one."""
    schema = session.tables.schema
    if not name:
        rows = [
            [each["name"], each["unit"] or "public", limits_to_read(each["limits"] or ""), len(each["columns"])]
            for each in schema["tables"]
        ]
        Sheet(("table", "unit", "limits", "columns"), rows).show(session.mode.elsewhere, empty="")
        return
    found = [each for each in schema["tables"] if each["name"].casefold() == name.strip('"').casefold()]
    if not found:
        names = [each["name"] for each in schema["tables"]]
        raise UnknownTable(f"there is no table {name[:_LONGEST]!r}", hint=did_you_mean(name, names))
    show_schema({**schema, "tables": found}, session.mode.elsewhere)


def _cost(session: Session, question: str) -> None:
    """The plan of a question."""
    if not question:
        raise InvalidArgument("which question?", hint=r"\cost SELECT …, on one line; EXPLAIN SELECT …; takes several")
    session.explain(question)


def _budget(session: Session, _: str) -> None:
    """The standing of the account."""
    show_standing(*of_each(session.tables), session.mode.elsewhere)


def _history(session: Session, count: str) -> None:
    """The last entries of the account."""
    if count and not (count.isdecimal() and int(count)):
        raise InvalidArgument(f"{count[:_LONGEST]!r} isn't a number of entries", hint=r"\history 5")
    entries: Sequence[Line] = session.tables.history()
    shown = entries[-int(count or _ENTRIES) :]
    (brief if session.mode.elsewhere is Format.TABLE else whole)(shown).show(session.mode.elsewhere)


def _mode(session: Session, name: str) -> None:
    """The form of answers."""
    if not name:
        say(session.mode)
        return
    if name.lower() not in set(Mode):
        raise InvalidArgument(f"there is no mode {name[:_LONGEST]!r}", hint=", ".join(Mode))
    session.mode = Mode(name.lower())


def _set(session: Session, said: str) -> None:
    """Set what is offered; or show everything that is set."""
    from discreet.query.planner import OFFERED

    if not said:
        rows = [[name, session.settings.show(name)] for name in OFFERED]
        Sheet(("setting", "value"), rows).show(session.mode.elsewhere)
        return
    name, _, value = re.sub(r"\s*=\s*|\s+", " ", said, count=1).partition(" ")
    if not value:
        say(session.settings.show(name.lower()))
        return
    session.settings = session.settings.set(name.lower(), value)


def _reset(session: Session, name: str) -> None:
    """Take one setting back, or all."""
    session.settings = session.settings.reset(name.lower() or None)


def _help(_: Session, name: str) -> None:
    """The commands, and what else may be typed."""
    shown = {name: _known(name)} if (name := name.lstrip("\\.")) else COMMANDS
    lines = {f"\\{each} {command.takes}".rstrip(): command.words for each, command in shown.items()}
    lines |= {} if name else _SQL
    wide = max(map(len, lines)) + 2
    for usage, words in lines.items():
        say(f"{usage:<{wide}}{words}", wide)


def _quit(_: Session, __: str) -> None:
    """Leave."""
    raise Leave


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "d": Command("[TABLE]", "the tables; or the columns of one, with bounds and keys", _describe),
        "cost": Command("SELECT …", "what a question would cost, and the ± to expect; free", _cost),
        "budget": Command("", "what was spent, and what is left", _budget),
        "history": Command("[COUNT]", "the last questions, and what became of them", _history),
        "set": Command("[NAME [VALUE]]", "what is offered for each question: epsilon 0.5, or within 100", _set),
        "reset": Command("[NAME]", "take a setting back, or all", _reset),
        "mode": Command("[NAME]", f"how answers are shown: {', '.join(Mode)}", _mode),
        "h": Command("[COMMAND]", "this", _help),
        "q": Command("", "leave; so does Ctrl-D", _quit),
    }
)
"""All of them, by name."""

_SQL: Mapping[str, str] = MappingProxyType(
    {
        "SELECT …;": "ask, and pay",
        "EXPLAIN SELECT …;": r"the same as \cost, on several lines",
        "SUMMARIZE TABLE;": "all columns of a table at once; paid for",
    }
)
"""What else may be typed."""

_LONGEST = 100
"""At most this many characters of what can't be read are repeated."""

_ENTRIES = 10
"""How many entries of the history are shown unless it is said."""

_SET = re.compile(
    r"SET\s+(?:SESSION\s+)?(?:discreet\.)?(?P<name>\w+)(?:\s*=\s*|\s+TO\s+)(?:'(?P<quoted>[^']*)'|(?P<bare>[^']+))",
    re.IGNORECASE,
)
_RESET = re.compile(r"RESET\s+(?:discreet\.)?(?P<name>\w+)", re.IGNORECASE)
_SHOW = re.compile(r"SHOW\s+(?:discreet\.)?(?P<name>\w+)", re.IGNORECASE)


def command(session: Session, said: str) -> None:
    """Carry out a command.

    Raises:
        Leave: it was the one to leave.
        DiscreetError: there is no such command, or it is refused.
    """
    name, _, rest = said[1:].rstrip("; ").partition(" ")
    _known(name).run(session, rest.strip())


def setting(session: Session, said: str) -> bool:
    """Carry out SET, RESET or SHOW, as psql and others have them; whether it was one.

    Raises:
        InvalidArgument: there is no such setting, or it can't be that.
    """
    if (found := _SET.fullmatch(said)) is not None:
        value = found["bare"] if found["quoted"] is None else found["quoted"]
        _set(session, f"{found['name']} {value.strip()}")
    elif (found := _RESET.fullmatch(said)) is not None:
        _reset(session, "" if found["name"].lower() == "all" else found["name"])
    elif (found := _SHOW.fullmatch(said)) is not None:
        _set(session, "" if found["name"].lower() == "all" else found["name"])
    return found is not None


def _known(name: str) -> Command:
    """A command by its name.

    Raises:
        InvalidArgument: there is none.
    """
    found = COMMANDS.get(name.lower()) or COMMANDS.get({"?": "h", "help": "h", "quit": "q"}.get(name.lower(), ""))
    if found is None:
        known = did_you_mean(name, COMMANDS, lambda each: f"\\{each}")
        raise InvalidArgument(f"there is no command \\{name[:_LONGEST]}", hint=known)
    return found
