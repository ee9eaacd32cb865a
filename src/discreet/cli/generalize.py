"""`discreet generalize`: is a table k-anonymous, and would it be with these columns coarser?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common import columns, options, table_file
from discreet.cli.common.files import refuse_to_replace, write_all
from discreet.cli.common.reporting import reported
from discreet.cli.common.tables_written import TABLES, write_table
from discreet.cli.show.formats import TextFormat
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import show_json
from discreet.cli.show.waiting import working
from discreet.errors import InvalidArgument
from discreet.printable import printable

if TYPE_CHECKING:
    from discreet.anonymity.hierarchies import Hierarchy
    from discreet.anonymity.records import Records
    from discreet.anonymity.reduce.clipping import Bound


@reported
@table_file.with_written
def generalize(  # noqa: PLR0913 — each is an option of the command
    file: table_file.File,
    *,
    on: Annotated[
        list[str], typer.Option("--on", metavar="COLUMNS", help="What others may know, separated by commas.")
    ],
    k: Annotated[int, typer.Option("--k", metavar="COUNT", min=1, help="The k that is asked for.")] = 2,
    clip: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=LOW..HIGH", help="Move outliers of a column to bounds first: age=10..60."),
    ] = None,
    truncate: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN=DIGITS", help="Drop digits of numbers: with age=1, 57 is 50.")
    ] = None,
    round_: Annotated[
        list[str] | None,
        typer.Option("--round", metavar="COLUMN=DIGITS", help="Round numbers: with age=1, 57 is 60."),
    ] = None,
    mask: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=SIGNS", help="Hide signs at the end of texts: with zip=2, 12345 is 123**."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COLUMNS", help="Other columns to write, as they are, separated by commas."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the table, if k is reached: .csv or .parquet."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    how: table_file.Written,
    format_: options.TextOrJson = TextFormat.TABLE,
) -> None:
    """Say which k a table reaches with these columns known, as it is or after clipping and generalising by hand.

    `discreet anonymize` searches for the levels that lose least; here you choose them. Each of --clip, --truncate,
    --round and --mask may be repeated. Without `--output` nothing is written.
    """
    if output is not None:
        refuse_to_replace(output, force=force, read=[file], endings=TABLES)
    with working("counting"):
        from discreet.anonymity import generalize as by_hand
        from discreet.anonymity import read

        records = read(how.source(file))
        known, kept = columns.names(on) or [], columns.names(keep) or []
        columns.check({"--on": known, "--keep": kept}, records.names)
        records, moved = _clipped(records, clip)
        levels = _levels({"--truncate": truncate, "--round": round_, "--mask": mask})
        found = by_hand(records, known, levels, keep=kept)
    short = found.sizes.below(k)
    if output is not None:
        if short:
            raise InvalidArgument(
                f"{short:,} rows hide among fewer than {k}, so nothing was written",
                hint="generalise further, or let discreet anonymize search",
            )
        write_all({output: lambda draft: write_table(found.table, draft)})
    if format_ is TextFormat.JSON:
        sizes = found.sizes.to_dict()
        show_json({"k": found.k, "asked": k, "anonymous": not short, "below": short, "class_sizes": sizes})
        return
    for line in (*moved, str(found)):
        say(printable(line))
    say(f"{k}-anonymous: {f'no, {short:,} rows hide among fewer than {k}' if short else 'yes'}")
    if output is not None:
        say(f"Written to {printable(str(output))}")


def _clipped(records: Records, asked: Sequence[str] | None) -> tuple[Records, list[str]]:
    """The table with columns clipped, and what that did to each."""
    from discreet.anonymity import clip

    moved: list[str] = []
    for name, text in _pairs(asked, "--clip"):
        low, _, high = text.partition("..")
        done = clip(records, name, _bound(low), _bound(high))
        records, moved = done.records, [*moved, str(done)]
    return records, moved


def _levels(asked: Mapping[str, Sequence[str] | None]) -> dict[str, tuple[Hierarchy, int]]:
    """Of each column the hierarchy and the level that an option names.

    Raises:
        InvalidArgument: two name a column, or it isn't as the option takes it.
    """
    from discreet.anonymity import Digits, Masking

    levels: dict[str, tuple[Hierarchy, int]] = {}
    hierarchies: dict[str, Hierarchy] = {"--truncate": Digits(), "--round": Digits(way="round"), "--mask": Masking()}
    for option, given in asked.items():
        for name, text in _pairs(given, option):
            if name in levels:
                raise InvalidArgument(f"two options generalise the column {name!r}", hint="choose one")
            levels[name] = hierarchies[option], _level(text, option)
    return levels


def _pairs(given: Sequence[str] | None, option: str) -> list[tuple[str, str]]:
    """Names and what is said of each.

    Raises:
        InvalidArgument: one has no equals sign.
    """
    pairs = [text.rpartition("=") for text in given or ()]
    if not all(name for name, _, _ in pairs):
        raise InvalidArgument(f"{option} takes a column, an equals sign and what is to be done", hint="age=1")
    return [(name.strip(), text.strip()) for name, _, text in pairs]


def _level(text: str, option: str) -> int:
    """How many digits or signs go.

    Raises:
        InvalidArgument: it is no whole number.
    """
    if not text.isdecimal():
        raise InvalidArgument(f"{option} takes a whole number for each column, not {text!r}", hint="age=1")
    return int(text)


def _bound(text: str) -> Bound:
    """A bound of a column: a number or a date.

    Raises:
        InvalidArgument: it is neither.
    """
    try:
        number = Decimal(text)
    except InvalidOperation:
        try:
            return date.fromisoformat(text)
        except ValueError:
            raise InvalidArgument(
                "--clip takes two numbers or dates with two dots between", hint="age=10..60"
            ) from None
    return int(number) if number.is_finite() and number == number.to_integral_value() else number
