"""The release and its report, as files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.anonymize.outcome import Outcome, is_formula, is_text
from discreet.cli.anonymize.page import page
from discreet.cli.common.files import Write, refuse_to_replace, write_all
from discreet.cli.common.tables_written import TABLES, plain_cells, write_table
from discreet.results import no_formula, plain

if TYPE_CHECKING:
    import pyarrow as pa

REPORTS = (".html", ".json")


def check(read: Sequence[str | Path], output: Path | None, report: Path | None, *, force: bool) -> None:
    """Refuse files that can't be written or would replace one that is read, before anything is computed.

    Args:
        read: the original, and hierarchies.
        output: where the table is to go.
        report: where the report is to go.
        force: whether files that are there may be replaced.

    Raises:
        InvalidArgument: an ending is another, a file is in the way, or two are the same.
    """
    for path, endings in ((output, TABLES), (report, REPORTS)):
        if path is not None:
            refuse_to_replace(path, force=force, read=read, endings=endings)


def save(outcome: Outcome, output: Path | None, report: Path | None, *, name: str, for_spreadsheets: bool) -> None:
    """Write the release and the report, both or neither.

    Raises:
        InvalidArgument: one can't be written.
    """
    files: dict[Path, Write] = {}
    if output is not None:
        is_read = for_spreadsheets and output.suffix.lower() == ".csv"
        table = _without_formulas(plain_cells(outcome.release.table)) if is_read else outcome.release.table
        files[output] = lambda draft: write_table(table, draft)
    if report is not None:
        files[report] = lambda draft: draft.write_text(_report(outcome, draft.suffix.lower(), name), encoding="utf-8")
    write_all(files)


def _without_formulas(table: pa.Table) -> pa.Table:
    """The table without texts that a spreadsheet takes for formulas; all else is what it was."""
    import pyarrow as pa

    columns = []
    for column in table.columns:
        if is_text(column.type):
            coded = column.combine_chunks().dictionary_encode()
            texts = [no_formula(text) if is_formula(text) else text for text in coded.dictionary.to_pylist()]
            columns.append(pa.array(texts, column.type).take(coded.indices))
        else:
            columns.append(column)
    return pa.table(columns, names=[no_formula(name) for name in table.column_names])


def _report(outcome: Outcome, ending: str, name: str) -> str:
    """The report as its file's ending says."""
    if ending == ".json":
        return json.dumps(plain(outcome.to_dict()), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    return page(outcome, name)
