"""Reading: the rows of a source on their way into a snapshot, cast, and what is counted on the way.

It is the same wherever it is done: here for a whole source, or in a task of a cluster for a piece of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.duckdb.session import Session
from discreet.duckdb.sql_text import name
from discreet.errors import SnapshotError, SourceUnsupported
from discreet.tables.admission.column_casts import cast, days, microseconds, passed_as
from discreet.tables.admission.completeness import report_of
from discreet.tables.admission.parts import notes_of
from discreet.tables.admission.snapshot import HeldColumn, HeldTable, written
from discreet.tables.admission.staging import Staging
from discreet.tables.admission.unit_ceiling import in_memory
from discreet.tables.admission.validation import check_schema, check_zones
from discreet.tables.arrow_kinds import is_text
from discreet.tables.schema.table import Table
from discreet.tables.sources import Field, OpenSource

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_DIGITS = 76
"""Digits of Arrow's longest decimals."""

Progress: TypeAlias = Callable[[str, int], None]
"""Called with a table's name and how many of its rows have been read so far."""


def prepare(
    session: Session, tables: Sequence[Table], *, files: Sequence[str] = (), folders: Sequence[Path] = ()
) -> None:
    """Let a session use these files and folders, and nothing else; refuse time zones that it doesn't know."""
    session.execute("SET TimeZone = 'UTC'")
    check_zones(session, tables)
    session.lock(allowed=files, folders=list(map(str, folders)))


@dataclass(slots=True)
class Reading:
    """One table on its way into a snapshot, and what is counted on the way.

    Args:
        view: what to call its source in SQL.
        table: as declared.
        identifying: its columns that identify.
        required: those without which a row is left out.
        progress: called with how many rows were read.
    """

    view: str
    table: Table
    identifying: frozenset[str]
    required: frozenset[str]
    progress: Progress
    rows: int = 0
    there: Counter[str] = field(default_factory=Counter)
    cut: Counter[str] = field(default_factory=Counter)
    kept: int = 0
    missing: dict[str, int] = field(default_factory=dict)
    problem: BaseException | None = None

    def into(self, session: Session, staging: Staging | None, source: OpenSource) -> HeldTable:
        """Read all rows, into files or into memory."""
        fields = self._fields(source)
        held = self._held(session, self._runs(source, fields, staging), fields, staging)
        self.kept = held.rows
        return held

    def report(self, session: Session, source: OpenSource, again: Callable[[], OpenSource]) -> dict[str, Any]:
        """The report of what was left out, for the custodian alone.

        Args:
            session: in which it was read.
            source: that was read.
            again: opens it once more, to look for what couldn't be read.
        """
        left_out, ids = self.rows - self.kept, 0
        if left_out:
            lost, ids = self._lost_again(session, again)
            # Those that the source itself couldn't hand out, such as a list in JSON, are NULL by now.
            ids += sum(count for each, count in source.unreadable.items() if each.casefold() in self.required)
        else:
            lost = {each: count - self.kept + self.missing[each] for each, count in self.there.items()}
        return report_of(
            rows=self.kept,
            left_out=left_out,
            unreadable_ids=min(left_out, ids),
            malformed=source.malformed,
            present=self.there + source.unreadable,
            unreadable=Counter(lost) + source.unreadable,
            cut=self.cut,
        )

    def _fields(self, source: OpenSource) -> dict[str, Field]:
        """The source's own fields for the declared columns; a source without a schema is taken to have them."""
        if not source.has_schema:
            import pyarrow as pa

            return {
                each.name.casefold(): Field(name=each.name, type=pa.string(), untyped=True)
                for each in self.table.columns
            }
        return check_schema(self.table, source.fields, self.identifying)

    def _runs(
        self, source: OpenSource, fields: Mapping[str, Field], staging: Staging | None = None
    ) -> Iterator[pa.RecordBatchReader]:
        """The source's columns as `s0, s1, …`, with times in microseconds; each run is read before the next."""
        import pyarrow as pa

        wanted = [fields[column.name.casefold()] for column in self.table.columns]
        schema = pa.schema([(f"s{number}", passed_as(each.type)) for number, each in enumerate(wanted)])
        batches = self._batches(source, wanted, schema)
        ahead: list[pa.RecordBatch] = []

        def run(most: int | None) -> Iterator[pa.RecordBatch]:
            rows = 0
            for batch in chain(ahead[:], batches):
                if most is not None and rows >= most:
                    ahead[:] = [batch]
                    return
                rows += len(batch)
                yield batch
            ahead.clear()

        for most in iter([None]) if staging is None else staging.runs:
            yield pa.RecordBatchReader.from_batches(schema, run(most))
            if not ahead:
                return

    def _batches(self, source: OpenSource, wanted: Sequence[Field], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The source's record batches as DuckDB can take them; counted as they pass."""
        import pyarrow as pa

        names = [column.name for column in self.table.columns]
        try:
            for batch in source.batches([each.name for each in wanted]):
                arrays = [self._passed(*each) for each in zip(names, batch.columns, strict=True)]
                self.rows += len(batch)
                self.progress(self.table.name, self.rows)
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)
        except BaseException as error:
            self.problem = error  # DuckDB would hand on its words alone
            raise

    def _passed(self, column: str, array: pa.Array) -> pa.Array:
        """An array as DuckDB can take it; what can't be said there is NULL."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_dictionary(array.type):
            return self._categories(column, array)
        self.there[column] += len(array) - array.null_count
        if pa.types.is_timestamp(array.type):
            return microseconds(array, exactly=column.casefold() in self.identifying)
        if pa.types.is_date64(array.type):
            return days(array, exactly=column.casefold() in self.identifying)
        kind = array.type
        if pa.types.is_decimal(kind) and kind.scale < 0 and kind.precision - kind.scale <= _MOST_DIGITS:
            array = array.cast(pa.decimal256(_MOST_DIGITS, 0))  # as a text it would be 3E+3
        most = self.table.column(column).max_length
        if is_text(array.type) and (pc.max(pc.binary_length(array)).as_py() or 0) > most:
            self.cut[column] += pc.sum(pc.greater(pc.utf8_length(array), most)).as_py() or 0
        return array.cast(passed_as(array.type))

    def _categories(self, column: str, array: pa.Array) -> pa.Array:
        """Texts that were stored once each, cut before they stand in every row; one sign more tells that they were."""
        import pyarrow as pa
        import pyarrow.compute as pc

        most = self.table.column(column).max_length
        is_long = pc.greater(pc.utf8_length(array.dictionary), most)
        self.cut[column] += pc.sum(pc.take(is_long, array.indices)).as_py() or 0
        texts = pc.utf8_slice_codeunits(array.dictionary, 0, most + 1)
        found = pa.DictionaryArray.from_arrays(array.indices, texts).cast(passed_as(array.type))
        self.there[column] += len(found) - found.null_count
        return found

    def _query(self, fields: Mapping[str, Field], *, numbered: bool = False) -> str:
        """The rows as they are kept, in columns as they are declared, or in `c0, c1, …`."""
        names = {column.name: name(column.name) for column in self.table.columns}
        if numbered:
            names = {column.name: f"c{number}" for number, column in enumerate(self.table.columns)}
        casts = ", ".join(f"{sql} AS {each}" for each, sql in zip(names.values(), self._casts(fields), strict=True))
        known = " AND ".join(f"{names[each]} IS NOT NULL" for each in names if each.casefold() in self.required)
        return f"SELECT * FROM (SELECT {casts} FROM {self.view}) WHERE {known or 'true'}"  # noqa: S608 — names are quoted

    def _casts(self, fields: Mapping[str, Field]) -> list[str]:
        """The SQL of each declared column."""
        return [
            cast(
                column,
                f"s{number}",
                fields[column.name.casefold()],
                self.table.source,
                identifies=column.name.casefold() in self.identifying,
            )
            for number, column in enumerate(self.table.columns)
        ]

    def _held(
        self,
        session: Session,
        runs: Iterator[pa.RecordBatchReader],
        fields: Mapping[str, Field],
        staging: Staging | None,
    ) -> HeldTable:
        """The rows, as they are kept."""
        import duckdb

        held = HeldTable(
            columns=tuple(HeldColumn.of(column, self.identifying) for column in self.table.columns),
            rows=0,
            digest="",
            written=written(self.table),
            most_rows_per_unit=self.table.most_rows_per_unit,
        )
        try:
            if staging is None:
                return self._in_memory(session, runs, fields, held)
            return self._in_files(session, runs, fields, held, staging)
        except Exception as error:
            if self.problem is not None:
                raise self.problem from None
            if not isinstance(error, duckdb.Error):
                raise
        # Outside the handler, so that no words that may quote a row are chained to it.
        raise SourceUnsupported(
            f"table {self.table.name!r} can't be read into memory", hint="is there enough memory? A file takes less"
        )

    def _in_memory(
        self,
        session: Session,
        runs: Iterator[pa.RecordBatchReader],
        fields: Mapping[str, Field],
        held: HeldTable,
    ) -> HeldTable:
        """The rows as an Arrow table of our own."""
        session.register(self.view, next(runs))
        table = session.arrow(self._query(fields))
        self.missing = {column: table[column].null_count for column in table.column_names}
        return in_memory(table, held)

    def _in_files(
        self,
        session: Session,
        runs: Iterator[pa.RecordBatchReader],
        fields: Mapping[str, Field],
        held: HeldTable,
        staging: Staging,
    ) -> HeldTable:
        """The rows as Parquet files that aren't what they will be yet."""
        import duckdb
        import pyarrow.parquet as pq

        query = self._query(fields, numbered=staging.owner is not None)
        failed = False
        try:
            staging.folder.mkdir()
            for number, run in enumerate(runs):
                session.register(self.view, run)
                session.execute(staging.copy(self.table, query, number))
            files = staging.written()
            written_down = [pq.read_metadata(file) for file in files]
        except (duckdb.Error, OSError):
            failed = True
        if failed:  # raised outside the handler, so that no words that may quote a row are chained to it
            raise SnapshotError(f"the snapshot of table {self.table.name!r} can't be written", hint="is the disk full?")
        groups = [each.row_group(number) for each in written_down for number in range(each.num_row_groups)]
        self.missing = {
            column.name: sum(group.column(place).statistics.null_count for group in groups)
            for place, column in enumerate(self.table.columns)
        }
        return replace(
            held,
            rows=sum(each.num_rows for each in written_down),
            files=tuple(file.relative_to(staging.snapshot).as_posix() for file in files),
            notes=None if staging.owner is None else notes_of(self.table, staging.owner),
        )

    def _lost_again(self, session: Session, open_again: Callable[[], OpenSource]) -> tuple[dict[str, int], int]:
        """How many values of each column, and how many rows' ids, couldn't be read; in a pass of its own."""
        with open_again() as source:
            fields = self._fields(source)
            lost = [f"s{number} IS NOT NULL AND ({sql}) IS NULL" for number, sql in enumerate(self._casts(fields))]
            names = [column.name for column in self.table.columns]
            ids = [each for name, each in zip(names, lost, strict=True) if name.casefold() in self.required]
            of_ids = " OR ".join(f"({each})" for each in ids) or "false"
            counts = [f"count(*) FILTER ({each})" for each in (*lost, of_ids)]
            again = Reading(self.view, self.table, self.identifying, self.required, lambda _table, _rows: None)
            session.register(self.view, next(again._runs(source, fields)))
            ((*found, unread),) = session.execute(f"SELECT {', '.join(counts)} FROM {self.view}")  # noqa: S608 — our own
        return dict(zip(names, found, strict=True)), unread
