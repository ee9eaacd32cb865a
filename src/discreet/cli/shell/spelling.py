r"""Hints and notes in the shell's words: `\set epsilon 0.5` for the option `--epsilon 0.5`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

_FLAGS = {"cut_off", "consistent"}

_OPTION = re.compile(
    r"""--(?P<name>epsilon|delta|rho|within|weights|confidence|expecting|limits|bounds|cut-off|consistent|dialect)\b
    (?:\ (?P<value>"[^"]*"|(?:\w+=)?\d[\w.@%/-]*(?<!\.)|(?:\w+=)?auto\b))?""",
    re.VERBOSE,
)

_COMMANDS: Mapping[str, str] = MappingProxyType({"budget": "budget", "history": "history", "tables": "d"})

_COMMAND = re.compile(rf"\bdiscreet ({'|'.join(_COMMANDS)})\b")


def in_shell(text: str) -> str:
    r"""A hint or a note for the command line, in the shell's words.

    Examples:
        >>> print(in_shell("--epsilon 0.5, or --within 100; `discreet budget` shows what --epsilon is left"))
        \set epsilon 0.5, or \set within 100; `\budget` shows what epsilon is left
        >>> print(in_shell("--cut-off measures how much that leaves out"))
        \set cut_off on measures how much that leaves out
    """
    return _COMMAND.sub(lambda found: f"\\{_COMMANDS[found[1]]}", _OPTION.sub(_set, text))


def _set(option: re.Match[str]) -> str:
    """An option as a command; its name alone where no value is given."""
    name = option["name"].replace("-", "_")
    value = "on" if name in _FLAGS else option["value"]
    return f"\\set {name} {value}" if value else name
