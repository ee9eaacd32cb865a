"""Admission: reading sources once, row by row, into a snapshot.

It is the custodian's act, and what it finds out is for the custodian alone. A row is left out if it can't say whose it
is; a value that can't be read as its column's kind is NULL. Neither depends on any other row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from discreet.duckdb.session import Session
from discreet.duckdb.sql_text import name
from discreet.errors import InvalidArgument, SnapshotChanged, SnapshotError, SourceUnsupported
from discreet.tables.admission.column_casts import cast, days, microseconds, passed_as
from discreet.tables.admission.completeness import report_of
from discreet.tables.admission.parts import in_parts, is_copied, notes_of, settled_first, stagings_of
from discreet.tables.admission.scan import Scan
from discreet.tables.admission.snapshot import HeldColumn, HeldTable, Snapshot, written
from discreet.tables.admission.staging import Staging
from discreet.tables.admission.unit_ceiling import in_memory, keep_within
from discreet.tables.admission.validation import changed, check_schema, check_unchanged, check_zones
from discreet.tables.arrow_kinds import is_text
from discreet.tables.schema.dataset import required
from discreet.tables.schema.owner import identifying
from discreet.tables.schema.table import Table
from discreet.tables.sources import Field, OpenSource, at_one_moment, open_source
from discreet.tables.sources.in_place import held_open, places_of

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_DIGITS = 76
"""Digits of Arrow's longest decimals."""

Progress = Callable[[str, int], None]
"""Called with a table's name and how many of its rows have been read so far."""


def admit(  # noqa: PLR0913 — the keywords are for callers of several kinds
    tables: Sequence[Table],
    data: Mapping[str, object],
    folder: Path | None,
    *,
    among: Sequence[Table] = (),
    progress: Progress = lambda _table, _rows: None,
    parts: int | None = None,
) -> Snapshot:
    """Read tables of an account into a snapshot, which isn't saved yet.

    Args:
        tables: that are admitted together.
        data: those in memory, by the location of their source.
        folder: for the others; None if there are none.
        among: all tables of the account, where these aren't all: their links say what identifies rows.
        progress: called with how far it is.
        parts: how many the private tables lie in, a power of two; None for as many as their rows need. Tests and
            measurements say it: no answer depends on it.

    Raises:
        SourceError: a source can't be read, or not as it is declared; or it was changed while it was read.
        SnapshotError: the folder can't be written.
        InvalidArgument: a table has more rows than its declared ceiling.
    """
    account = among or tables
    held, report = {}, {}
    for table in tables:
        if table.source.in_place:
            held[table.name.casefold()], report[table.name] = _scanned(table, account, progress)
    copied = [] if folder is None else [table for table in tables if is_copied(table)]
    loaded = [table for table in tables if not table.source.in_place and table not in copied]
    with ExitStack() as used:
        staged = _staging_folder(used, folder) if folder is not None and copied else None
        stagings = {} if staged is None else stagings_of(copied, account, staged)
        with ExitStack() as opened:
            opened.enter_context(at_one_moment())
            files: list[OpenSource] = []
            for group, within in ((loaded, opened), (copied, used)):
                if not group:
                    continue
                # Those in memory keep the order of their rows, so that equal ones have equal digests; it decides no
                # more.
                session = within.enter_context(Session(in_row_order=group is loaded))
                _prepare(session, group, folders=[] if staged is None or group is loaded else [staged])
                for number, table in enumerate(group):
                    reading = _Reading(
                        f"source{number}", table, identifying(table, account), required(table, account), progress
                    )
                    source = open_source(table.source, data)
                    if table.source.kind != "memory":
                        files.append(opened.enter_context(source))
                    held[table.name.casefold()] = reading.into(session, stagings.get(table.name.casefold()), source)
                    check_unchanged([source])
                    report[table.name] = reading.report(session, source, data)
            check_unchanged(files)  # one that changed while others were read is of another time than these
        settled = keep_within(held, settled_first(tables, account, stagings), account, folder)
        if copied:
            settled = in_parts(session, settled, stagings, account, parts)
    for table in tables:
        held[table.name.casefold()], beyond = settled[table.name.casefold()]
        rows = held[table.name.casefold()].rows
        report[table.name] |= {"rows": rows, "beyond_most_rows_per_unit": asdict(beyond)}
        if rows > table.row_ceiling:
            raise InvalidArgument(
                f"table {table.name!r} has more rows than row_ceiling = {table.row_ceiling} says",
                hint="declare a number that it will never exceed",
            )
    return Snapshot(tables=held, folder=folder, report=report)


def _staging_folder(used: ExitStack, folder: Path) -> Path:
    """A folder that is gone when the snapshot is written, or isn't."""
    try:
        return Path(used.enter_context(TemporaryDirectory(prefix="staged-", dir=folder, ignore_cleanup_errors=True)))
    except OSError as error:
        problem = error.strerror
    raise SnapshotError(f"no snapshot can be written in {str(folder)!r}: {problem}", hint="is the disk full?")


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
            _prepare(session, [table], files=[place.path for place in opened])
            held = scan.admitted(session, source, places, opened)
    except SnapshotChanged:
        problem = changed(table.source.location)
    except duckdb.Error:
        pass
    else:
        return held, report_of(rows=held.rows)
    raise problem  # outside the handler, so that no words that may quote a row are chained to it


def _prepare(
    session: Session, tables: Sequence[Table], *, files: Sequence[str] = (), folders: Sequence[Path] = ()
) -> None:
    """Let a session use these files and folders, and nothing else; refuse time zones that it doesn't know."""
    session.execute("SET TimeZone = 'UTC'")
    check_zones(session, tables)
    session.lock(allowed=files, folders=list(map(str, folders)))


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

    def into(self, session: Session, staging: Staging | None, source: OpenSource) -> HeldTable:
        """Read all rows, into files or into memory."""
        fields = self._fields(source)
        held = self._held(session, self._runs(source, fields, staging), fields, staging)
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
            session.register(self.view, next(again._runs(source, fields)))
            ((*found, unread),) = session.execute(f"SELECT {', '.join(counts)} FROM {self.view}")  # noqa: S608 — our own
        return dict(zip(names, found, strict=True)), unread
