"""Admission: reading sources once, row by row, into a snapshot.

It is the custodian's act, and what it finds out is for the custodian alone. A row is left out if it can't say whose it
is; a value that can't be read as its column's kind is NULL. Neither depends on any other row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.duckdb.session import Session
from discreet.duckdb.sql_text import name, string
from discreet.errors import InvalidArgument, SnapshotChanged, SnapshotError, SourceUnsupported
from discreet.tables.admission.column_casts import cast, days, microseconds, passed_as
from discreet.tables.admission.completeness import report_of
from discreet.tables.admission.scan import Scan
from discreet.tables.admission.snapshot import HeldColumn, HeldTable, Snapshot, digest_of, written
from discreet.tables.admission.unit_ceiling import in_memory, keep_within
from discreet.tables.admission.validation import changed, check_schema, check_unchanged, check_zones
from discreet.tables.arrow_kinds import is_text
from discreet.tables.schema.dataset import required
from discreet.tables.schema.owner import identifying
from discreet.tables.schema.table import Table
from discreet.tables.sources import Field, OpenSource, open_source
from discreet.tables.sources.in_place import held_open, places_of

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_DIGITS = 76
"""Digits of Arrow's longest decimals."""

Progress = Callable[[str, int], None]
"""Called with a table's name and how many of its rows have been read so far."""


def admit(
    tables: Sequence[Table],
    data: Mapping[str, object],
    folder: Path | None,
    *,
    among: Sequence[Table] = (),
    progress: Progress = lambda _table, _rows: None,
) -> Snapshot:
    """Read tables of an account into a snapshot, which isn't saved yet.

    Args:
        tables: that are admitted together.
        data: those in memory, by the location of their source.
        folder: for the others; None if there are none.
        among: all tables of the account, where these aren't all: their links say what identifies rows.
        progress: called with how far it is.

    Raises:
        SourceError: a source can't be read, or not as it is declared; or it was changed while it was read.
        SnapshotError: the folder can't be written.
        InvalidArgument: a table has more rows than its declared ceiling.
    """
    account = among or tables
    paths = {
        table.name: None if table.source.kind == "memory" or folder is None else folder / f"{number}.parquet"
        for number, table in enumerate(tables)
        if not table.source.in_place
    }
    held, report = {}, {}
    for table in tables:
        if table.source.in_place:
            held[table.name.casefold()], report[table.name] = _scanned(table, account, progress)
    with ExitStack() as opened:
        files: list[OpenSource] = []
        for in_memory in (True, False):
            group = [table for table in tables if table.name in paths and (paths[table.name] is None) is in_memory]
            if not group:
                continue
            # Those in memory keep the order of their rows, so that equal ones have equal digests; it decides no more.
            with Session(in_row_order=in_memory) as session:
                _prepare(session, group, [path for path in map(paths.get, (table.name for table in group)) if path])
                for number, table in enumerate(group):
                    reading = _Reading(
                        f"source{number}", table, identifying(table, account), required(table, account), progress
                    )
                    source = open_source(table.source, data)
                    if table.source.kind != "memory":
                        files.append(opened.enter_context(source))
                    held[table.name.casefold()] = reading.into(session, paths[table.name], source)
                    check_unchanged([source])
                    report[table.name] = reading.report(session, source, data)
        check_unchanged(files)  # one that changed while others were read is of another time than these
    within = keep_within(held, tables, account, folder)
    for table in tables:
        held[table.name.casefold()], beyond = within[table.name.casefold()]
        rows = held[table.name.casefold()].rows
        report[table.name] |= {"rows": rows, "beyond_most_rows_per_unit": asdict(beyond)}
        if rows > table.row_ceiling:
            raise InvalidArgument(
                f"table {table.name!r} has more rows than row_ceiling = {table.row_ceiling} says",
                hint="declare a number that it will never exceed",
            )
    return Snapshot(tables=held, folder=folder, report=report)


def _scanned(table: Table, tables: Sequence[Table], progress: Progress) -> tuple[HeldTable, dict[str, Any]]:
    """A table that stays in place, and what is reported of it: nothing was left out."""
    import duckdb

    places = places_of(table.source.location)
    scan = Scan(table, identifying(table, tables), required(table, tables), progress)
    problem = SourceUnsupported(
        f"DuckDB can't read table {table.name!r} in place: it is damaged",
        hint="admit it as a copy: leave in_place out",
    )
    try:
        with held_open(places) as opened, Session() as session, open_source(table.source) as source:
            # Footers are on trial, so nothing may be concluded from what they say.
            session.execute("SET disabled_optimizers = 'statistics_propagation'")
            _prepare(session, [table], [Path(place.path) for place in opened])
            held = scan.admitted(session, source, places, opened)
    except SnapshotChanged:
        problem = changed(table.source.location)
    except duckdb.Error:
        pass
    else:
        return held, report_of(rows=held.rows)
    raise problem  # outside the handler, so that no words that may quote a row are chained to it


def _prepare(session: Session, tables: Sequence[Table], paths: Sequence[Path]) -> None:
    """Let a session write the tables' files, and nothing else; refuse time zones that it doesn't know."""
    session.execute("SET TimeZone = 'UTC'")
    check_zones(session, tables)
    session.lock(allowed=list(map(str, paths)))


@dataclass(slots=True)
class _Reading:
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

    def into(self, session: Session, path: Path | None, source: OpenSource) -> HeldTable:
        """Read all rows, into a file or into memory."""
        fields = self._fields(source)
        columns = tuple(HeldColumn.of(column, self.identifying) for column in self.table.columns)
        session.register(self.view, self._stream(source, fields))
        query = self._query(fields)
        held = self._held(session, query, columns, path)
        self.kept = held.rows
        return held

    def report(self, session: Session, source: OpenSource, data: Mapping[str, object]) -> dict[str, Any]:
        """The report of what was left out, for the custodian alone."""
        left_out, ids = self.rows - self.kept, 0
        if left_out:
            lost, ids = self._lost_again(session, data)
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
        return check_schema(self.table, source.fields)

    def _stream(self, source: OpenSource, fields: Mapping[str, Field]) -> pa.RecordBatchReader:
        """The source's columns as `s0, s1, …`, with times in microseconds; counted as they pass."""
        import pyarrow as pa

        wanted = [fields[column.name.casefold()] for column in self.table.columns]
        names = [column.name for column in self.table.columns]
        schema = pa.schema([(f"s{number}", passed_as(each.type)) for number, each in enumerate(wanted)])

        def passing() -> Iterator[pa.RecordBatch]:
            try:
                for batch in source.batches([each.name for each in wanted]):
                    arrays = [self._passed(*each) for each in zip(names, batch.columns, strict=True)]
                    self.rows += len(batch)
                    self.progress(self.table.name, self.rows)
                    yield pa.RecordBatch.from_arrays(arrays, schema=schema)
            except BaseException as error:
                self.problem = error  # DuckDB would hand on its words alone
                raise

        return pa.RecordBatchReader.from_batches(schema, passing())

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

    def _query(self, fields: Mapping[str, Field]) -> str:
        """The rows as they are kept."""
        casts = ", ".join(
            f"{sql} AS {name(column.name)}" for column, sql in zip(self.table.columns, self._casts(fields), strict=True)
        )
        needed = [column.name for column in self.table.columns if column.name.casefold() in self.required]
        known = " AND ".join(f"{name(each)} IS NOT NULL" for each in needed) or "true"
        return f"SELECT * FROM (SELECT {casts} FROM {self.view}) WHERE {known}"  # noqa: S608 — names are quoted

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

    def _held(self, session: Session, query: str, columns: tuple[HeldColumn, ...], path: Path | None) -> HeldTable:
        """The rows, as they are kept."""
        import duckdb

        try:
            if path is None:
                return self._in_memory(session, query, columns)
            return self._in_file(session, query, columns, path)
        except Exception as error:
            if self.problem is not None:
                raise self.problem from None
            if not isinstance(error, duckdb.Error):
                raise
        # Outside the handler, so that no words that may quote a row are chained to it.
        raise SourceUnsupported(
            f"table {self.table.name!r} can't be read into memory", hint="is there enough memory? A file takes less"
        )

    def _in_memory(self, session: Session, query: str, columns: tuple[HeldColumn, ...]) -> HeldTable:
        """The rows as an Arrow table of our own."""
        table = session.arrow(query)
        self.missing = {column: table[column].null_count for column in table.column_names}
        return in_memory(
            table,
            HeldTable(
                columns=columns,
                rows=0,
                digest="",
                written=written(self.table),
                most_rows_per_unit=self.table.most_rows_per_unit,
            ),
        )

    def _in_file(self, session: Session, query: str, columns: tuple[HeldColumn, ...], path: Path) -> HeldTable:
        """The rows as a Parquet file."""
        import duckdb
        import pyarrow.parquet as pq

        failed = False
        try:
            session.execute(f"COPY ({query}) TO {string(str(path))} (FORMAT parquet)")
            path.chmod(0o600)
            metadata = pq.read_metadata(path)
        except (duckdb.Error, OSError):
            failed = True
        if failed:  # raised outside the handler, so that no words that may quote a row are chained to it
            raise SnapshotError(f"the snapshot of table {self.table.name!r} can't be written", hint="is the disk full?")
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        self.missing = {
            column.name: sum(group.column(place).statistics.null_count for group in groups)
            for place, column in enumerate(self.table.columns)
        }
        return HeldTable(
            columns=columns,
            rows=metadata.num_rows,
            digest=digest_of(path),
            written=written(self.table),
            most_rows_per_unit=self.table.most_rows_per_unit,
            file=path.name,
        )

    def _lost_again(self, session: Session, data: Mapping[str, object]) -> tuple[dict[str, int], int]:
        """How many values of each column, and how many rows' ids, couldn't be read; in a pass of its own."""
        with open_source(self.table.source, data) as source:
            fields = self._fields(source)
            lost = [f"s{number} IS NOT NULL AND ({sql}) IS NULL" for number, sql in enumerate(self._casts(fields))]
            names = [column.name for column in self.table.columns]
            ids = [each for name, each in zip(names, lost, strict=True) if name.casefold() in self.required]
            of_ids = " OR ".join(f"({each})" for each in ids) or "false"
            counts = [f"count(*) FILTER ({each})" for each in (*lost, of_ids)]
            again = _Reading(self.view, self.table, self.identifying, self.required, lambda _table, _rows: None)
            session.register(self.view, again._stream(source, fields))
            ((*found, unread),) = session.execute(f"SELECT {', '.join(counts)} FROM {self.view}")  # noqa: S608 — our own
        return dict(zip(names, found, strict=True)), unread
