"""Options that say how a file of rows is written, for the commands about re-identification."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from inspect import Parameter, signature
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, TypeAlias, get_type_hints

import typer

from discreet.cli.common.screen import error_console, printable

if TYPE_CHECKING:
    from discreet.tables import Source

TableName: TypeAlias = Annotated[
    str | None,
    typer.Option("--table", metavar="NAME", help="The table of a database, or the sheet of a spreadsheet."),
]
NullTexts: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--null", metavar="TEXT", help="What is written for a missing value. May be repeated."),
]
Delimiter: TypeAlias = Annotated[
    str | None, typer.Option(metavar="SIGN", help="Between the cells of a CSV file. Found out if left out.")
]
Encoding: TypeAlias = Annotated[str, typer.Option(metavar="NAME", help="Of a text file: utf-16, latin-1, cp1252, ….")]
DecimalMark: TypeAlias = Annotated[str, typer.Option(metavar="SIGN", help="In numbers that are texts: . or ,")]
Dates: TypeAlias = Annotated[str, typer.Option(metavar="ORDER", help="Of dates that are texts: ymd, dmy or mdy.")]
SkipMalformed: TypeAlias = Annotated[
    bool, typer.Option("--skip-malformed", help="Leave malformed records of text files out, instead of refusing.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """How a file is written: an option for each field, and what it says.

    Args:
        table: inside of a database or spreadsheet.
        null: texts that stand for a missing value.
        delimiter: between the cells of a CSV file.
        encoding: of a text file.
        decimal: the mark in numbers that are texts.
        dates: the order of dates that are texts.
        skip_malformed: whether malformed records are left out.
    """

    table: TableName = None
    null: NullTexts = None
    delimiter: Delimiter = None
    encoding: Encoding = "utf-8"
    decimal: DecimalMark = "."
    dates: Dates = "ymd"
    skip_malformed: SkipMalformed = False

    def source(self, file: Path) -> Source:
        """The file, so written.

        Raises:
            SourceUnsupported: its ending isn't known.
            InvalidArgument: an option means nothing for such a file, or is wrong.
        """
        from discreet.tables.sources import source_at

        said = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("table", "null")}
        return replace(source_at(file, self.table), missing=tuple(self.null or ()), **said)

    def source_beside(self, file: Path, other: Path) -> Source:
        """Another file that is read beside it: written alike if it is of the same kind.

        Raises:
            SourceError: one of them has an ending that isn't known.
            InvalidArgument: an option is wrong.
        """
        from discreet.tables.sources import source_at

        first, second = replace(self, table=None).source(file), source_at(other)
        return replace(first, location=str(other)) if first.kind == second.kind else second

    def __str__(self) -> str:
        """The options, to be pasted into a shell, each with a blank behind it.

        Examples:
            >>> str(Written(null=["?", "n/a"], decimal=","))
            "--null '?' --null n/a --decimal , "
        """
        words = []
        for each in fields(self):
            said = getattr(self, each.name)
            if said == each.default:
                continue
            option = f"--{each.name.replace('_', '-')} "
            texts = said if isinstance(said, list) else [said]
            words += [option if text is True else f"{option}{quote(text)} " for text in texts]
        return "".join(words)


def with_written(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say how its file is written, in the place of its parameter `how`."""
    options = get_type_hints(Written, include_extras=True)

    @functools.wraps(command)
    def run(*args: object, **kwargs: object) -> None:
        how = Written(**{name: kwargs.pop(name) for name in options})  # type: ignore[arg-type]  # Typer has checked them
        command(*args, how=how, **kwargs)

    own, taken = signature(command, eval_str=True), list[Parameter]()
    for each in own.parameters.values():
        if each.name != "how":
            taken.append(each)
            continue
        taken += [
            Parameter(name, Parameter.KEYWORD_ONLY, default=getattr(Written(), name), annotation=kind)
            for name, kind in options.items()
        ]
    vars(run)["__signature__"] = own.replace(parameters=taken)
    run.__annotations__ = {each.name: each.annotation for each in taken}
    return run


def say_unread(words: Sequence[str]) -> None:
    """Say on standard error what of a file isn't read."""
    for line in words:
        error_console().print(printable(line))
