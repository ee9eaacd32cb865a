"""The command line as it was said, for reports that tell how they were made."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from shlex import join
from typing import Any

import typer


def as_said(context: typer.Context) -> str:
    """The command with the arguments and options that were given, to be pasted into a shell.

    Args:
        context: of the command that runs.
    """
    arguments, options = list[str](), list[str]()
    for each in context.command.params:
        source, value = context.get_parameter_source(each.name or ""), context.params.get(each.name or "")
        if source is None or source.name != "COMMANDLINE":
            continue
        if each.param_type_name == "argument":
            arguments += _words(value)
        elif value is True:
            options.append(each.opts[0])
        else:
            options += [word for one in _words(value) for word in (each.opts[0], one)]
    return join([*context.command_path.split(), *arguments, *options])


def _words(value: Any) -> Iterator[str]:  # noqa: ANN401 — as Typer read it
    """A value, or each of several, as it was written."""
    for one in value if isinstance(value, list | tuple) else [value]:
        yield str(one.value if isinstance(one, Enum) else one)
