"""Hints on what to do about an error, spelled for the place where they are read."""

from __future__ import annotations

from json import dumps
from shlex import quote
from typing import Literal, Self, TypeAlias

Door: TypeAlias = Literal["python", "cli", "file"]
"""Where a hint is read: in Python, on the command line, or about discreet.toml."""


class Hint(str):
    """A hint that names arguments, as each door spells them. As a text it is Python's.

    Args:
        python: the hint for those who call discreet from Python.
        cli: for those who type commands.
        file: for those who write discreet.toml; Python's if there is no other.

    Examples:
        >>> hint = Hint("limits=Limits(rows=50)", cli="--limits 50", file="limits = { rows = 50 }")
        >>> print(hint, hint.cli, sep="; ")
        limits=Limits(rows=50); --limits 50
    """

    __slots__ = ("cli", "file")
    cli: str
    file: str

    def __new__(cls, python: str, *, cli: str, file: str | None = None) -> Self:
        """In Python, on a command line, and in a file, whose spelling is Python's unless it is said."""
        made = super().__new__(cls, python)
        made.cli, made.file = cli, python if file is None else file
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, str]]:
        return (str(self),), {"cli": self.cli, "file": self.file}

    @classmethod
    def of(cls, template: str, **arguments: float | str | bool | None) -> Self:
        """A hint with arguments in the places of a template: with their value, or None for the name alone.

        Examples:
            >>> hint = Hint.of("{epsilon} without {cut_off}", epsilon=0.5, cut_off=None)
            >>> print(hint, hint.cli, hint.file, sep="; ")
            epsilon=0.5 without cut_off; --epsilon 0.5 without --cut-off; epsilon = 0.5 without cut_off
        """
        named = {door: {name: _argument(door, name, said) for name, said in arguments.items()} for door in _DOORS}
        python, cli, file = (template.format(**named[door]) for door in _DOORS)
        return cls(python, cli=cli, file=file)

    def in_file(self) -> Self:
        """The same of what is said in discreet.toml alone, also by those who type commands."""
        return type(self)(self, cli=self.file, file=self.file)


_DOORS: tuple[Door, ...] = ("python", "cli", "file")


def _argument(door: Door, name: str, said: float | str | bool | None) -> str:
    """An argument as a door spells it."""
    option = f"--{name.replace('_', '-')}"
    quoted = dumps(said, ensure_ascii=False) if isinstance(said, str) else str(said)
    match door:
        case "cli":
            return option if said is None or isinstance(said, bool) else f"{option} {_for_shell(str(said))}"
        case "python":
            return name if said is None else f"{name}={quoted}"
        case "file":
            return name if said is None else f"{name} = {quoted.lower() if isinstance(said, bool) else quoted}"


def _for_shell(text: str) -> str:
    """A text as a shell takes it for one word: in double quotes where these read better."""
    return f'"{text}"' if "'" in text and not set(text) & set('"$`\\!') else quote(text)
