"""`discreet deidentify`: a table without the columns that name people, and those columns apart."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.common import columns, options, table_file
from discreet.cli.common.files import Write, refuse_to_replace, write_all
from discreet.cli.common.reporting import reported
from discreet.cli.common.tables_written import TABLES, write_table
from discreet.cli.show.formats import TextFormat
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import show_json
from discreet.cli.show.waiting import working
from discreet.errors import InvalidArgument
from discreet.printable import printable


@reported
@table_file.with_written
def deidentify(  # noqa: PLR0913 — each is an option of the command
    file: table_file.File,
    *,
    identifying: Annotated[
        list[str], typer.Option("--identifying", "-i", metavar="COLUMNS", help="The columns to split off.")
    ],
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COLUMNS", help="Columns that both parts have: what others may know."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the rest: .csv or .parquet.")
    ] = None,
    auxiliary: Annotated[
        Path | None,
        typer.Option("--auxiliary", metavar="FILE", help="Write what was split off, with --keep: .csv or .parquet."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    how: table_file.Written,
    format_: options.TextOrJson = TextFormat.TABLE,
) -> None:
    """Split off the columns that name people, and say how many of the other rows are unique all the same.

    Both parts are sorted by all their columns, so no order links them. It protects nobody: see `discreet attack
    linkage`. Without `--output` nothing is written.
    """
    targets = [path for path in (output, auxiliary) if path is not None]
    for path in targets:
        refuse_to_replace(path, force=force, read=[file], endings=TABLES)
    if output is not None and auxiliary is not None and output.resolve() == auxiliary.resolve():
        raise InvalidArgument("--output and --auxiliary are the same file", hint="name two")
    with working("reading"):
        from discreet.anonymity import deidentify as split
        from discreet.anonymity import read, uniqueness

        records = read(how.source(file))
        gone, kept = columns.names(identifying) or [], columns.names(keep) or []
        columns.check({"--identifying": gone, "--keep": kept}, records.names)
        parts = split(records, identifying=gone, keep=kept)
        alone = uniqueness(parts.table, kept or None)
    writes: dict[Path, Write] = {}
    if output is not None:
        writes[output] = partial(write_table, parts.table)
    if auxiliary is not None:
        writes[auxiliary] = partial(write_table, parts.auxiliary)
    write_all(writes)
    if format_ is TextFormat.JSON:
        show_json({
            "rows": parts.table.num_rows,
            "columns": parts.table.column_names,
            "identifying": list(parts.identifying),
            "uniqueness": alone.to_dict(),
        })  # fmt: skip
        return
    say(printable(str(parts)))
    say(printable(f"unique by {', '.join(alone.columns)}: {alone.unique:,} rows, found by whoever knows that much"))
    for path in targets:
        say(f"Written to {printable(str(path))}")
