"""Validation: what of a source can be admitted.

By its schema alone: the columns that it offers, and whether those that are declared can be read so. A table that stays
where it lies is read once, too, to see that its values are what a snapshot's would be. What a copy would mend is
refused there, by column and count: a value that a column cast changes or drops, a row that doesn't say whose it is,
texts that aren't UTF-8. So questions may rely on the same of files in place as of snapshots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.duckdb.session import Session
from discreet.duckdb.sql_text import SQL_TYPES, name, parquet, string
from discreet.errors import Hint, InvalidArgument, SchemaMismatch, SourceUnsupported
from discreet.tables.admission.column_casts import cast
from discreet.tables.admission.snapshot import HeldColumn, HeldTable, written
from discreet.tables.arrow_kinds import called, is_text, kind_of, places_of, readable_as
from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.source import Source
from discreet.tables.schema.table import Table
from discreet.tables.sources import Field, OpenSource, open_source
from discreet.tables.sources.in_place import Place
from discreet.tables.sources.parquet_footers import Footer, Said, footer_of, wrong_groups

if TYPE_CHECKING:
    import pyarrow as pa

_DIGITS = 18
"""Integers of so many digits fit in 64 bits."""


def describe(source: Source, data: Mapping[str, object], ids: frozenset[str] = frozenset()) -> tuple[Column, ...]:
    """The columns that can be admitted, in the source's order: names, kinds, and whether NULL may occur.

    Nothing is guessed from cells: where a source has no types, all it holds is text.

    Args:
        source: where the table lies.
        data: tables in memory, by the location of their source.
        ids: the columns, in lower case, that tell units or linked rows apart. Integers that may be beyond 64 bits, and
            decimals with places, are read as texts there, so that nobody is left out for the size of a number; reals
            as whole numbers, which they are where one was missing.

    Raises:
        SourceMissing: the file or table isn't there.
        SourceUnsupported: it can't be read as a table.
    """
    with open_source(source, data) as opened:
        if not opened.has_schema:
            return ()  # each record names its own columns, so only what is declared is there
        return tuple(
            Column(
                name=each.name,
                kind=kind,
                nullable=not (each.required and _always_read(each)),
                places=places_of(each.type) if kind is Kind.REAL else None,
            )
            for each in opened.fields
            if (kind := _kind(each, source, identifies=each.name.casefold() in ids)) is not None
        )


def absence(source: Source, data: Mapping[str, object], name: str) -> SchemaMismatch | None:
    """Why a column that is declared can't be used, where its table seems to have it; None if it hasn't.

    Args:
        source: where the table lies.
        data: tables in memory, by the location of their source.
        name: of the column.
    """
    from discreet.tables.sources.frames import is_index

    if is_index(data.get(source.location), name):
        return SchemaMismatch(f"{name!r} is the table's index, and no column", hint="reset_index() makes it one")
    with open_source(source, data) as opened:
        there = next((each for each in opened.fields if each.name.casefold() == name.casefold()), None)
    if there is None or _kind(there, source, identifies=False) is not None:
        return None
    return SchemaMismatch(
        f"column {name!r} holds {called(there.type)}, which can't be read",
        hint="make texts, numbers or times of it, or leave it out",
    )


def _always_read(field: Field) -> bool:
    """Whether no value of a field becomes NULL when it is cast, as a NaN does, or an integer out of range."""
    from pyarrow import types

    whole = types.is_integer(field.type) and not types.is_uint64(field.type)
    return not field.untyped and (whole or types.is_boolean(field.type) or is_text(field.type))


def _kind(field: Field, source: Source, *, identifies: bool) -> Kind | None:
    """The kind of a field's values; None if discreet doesn't compute with such values."""
    from pyarrow import types

    if field.untyped and source.kind == "duckdb":  # an integer of 128 bits, which Arrow doesn't have
        return Kind.TEXT if identifies else Kind.INTEGER
    if field.untyped:
        return Kind.TEXT
    is_decimal = types.is_decimal(field.type)
    wide = types.is_uint64(field.type) or (is_decimal and (field.type.scale or field.type.precision > _DIGITS))
    if types.is_floating(field.type) and identifies:
        return Kind.INTEGER
    return Kind.TEXT if wide and identifies else kind_of(field.type)


def check_schema(table: Table, fields: Sequence[Field]) -> dict[str, Field]:
    """The source's fields of the declared columns, by lower-case name.

    Raises:
        SchemaMismatch: a declared column is missing, has a type that can't be read as the declared kind, or holds
            instants without a zone to tell them in.
    """
    found = {each.name.casefold(): each for each in fields}
    for column in table.columns:
        there = found.get(column.name.casefold())
        if there is None:
            listed = f"it has {', '.join(each.name for each in fields)}"
            raise SchemaMismatch(
                f"{table.source.location!r} has no column {column.name!r}",
                # Where a file's first line is its schema, it may be a row, so it isn't quoted.
                hint="does its first line name the columns?" if table.source.kind == "csv" else listed,
            )
        if not there.untyped and not (readable_as(there.type, column.kind) or _has_form(there.type, column)):
            kind = kind_of(there.type)
            raise SchemaMismatch(
                f"column {column.name!r} is declared as {column.kind}, but holds {called(there.type)}",
                hint=f"declare it as {kind}" if kind else "discreet doesn't compute with such values",
            )
        if column.form and not (there.untyped or _has_form(there.type, column)):
            raise SchemaMismatch(
                f"column {column.name!r} holds {called(there.type)}, which isn't written in any form",
                hint=f"leave {' and '.join(column.form)} out",
            )
        if getattr(there.type, "tz", None) is not None and column.time_zone is None:
            raise SchemaMismatch(
                f"column {column.name!r} holds points in time, which are another day and hour in each time zone",
                hint=Hint.of("say in which they are to be told: {time_zone}", time_zone="Europe/Paris").in_file(),
            )
    return {column.name.casefold(): found[column.name.casefold()] for column in table.columns}


def _has_form(stored: pa.DataType, column: Column) -> bool:
    """Whether a column's declared form is one of values of an Arrow type: texts, or numbers that count time."""
    from pyarrow import types

    stored = stored.value_type if types.is_dictionary(stored) else stored
    counts = column.epoch is not None and kind_of(stored) in (Kind.INTEGER, Kind.REAL)
    return counts or bool(column.form and is_text(stored))


def check_zones(session: Session, tables: Iterable[Table]) -> None:
    """Refuse time zones that a session doesn't know.

    Raises:
        InvalidArgument: a column is declared to be told in one.
    """
    for column in (column for table in tables for column in table.columns):
        known = "SELECT 1 FROM pg_timezone_names() WHERE name = ?"
        if column.time_zone is not None and not session.execute(known, [column.time_zone]):
            raise InvalidArgument(
                f"column {column.name!r} has a time zone that nobody knows: {column.time_zone!r}",
                hint='a name of the IANA database, such as "Europe/Paris", or "UTC"',
            )


def check_unchanged(sources: Sequence[OpenSource]) -> None:
    """Refuse sources that aren't what they were when they were opened."""
    for source in sources:
        if not source.is_unchanged():
            raise changed(source.location)


def changed(location: str) -> SourceUnsupported:
    """The error for a source that doesn't hold still."""
    return SourceUnsupported(f"{location!r} was changed while it was read", hint="admit it again once it is whole")


# ── Of a table in place, its values ──────────────────────────────────────────────────────────────────────────────────

_COPY = "admit it as a copy: leave in_place out"
_FIRST_TIME = -9_223_372_022_400_000_000
"""DuckDB's first timestamp, in microseconds: of one before it, it fails on the whole column, or on its statistics."""
_MINUS_INFINITY = -(2**63) + 1
"""It reads this one, which no snapshot holds either."""


@dataclass(frozen=True, slots=True)
class Scan:
    """A table that is to stay where it lies.

    Args:
        table: as declared.
        identifying: its columns that identify, in lower case.
        required: those without which a row can't say whose it is.
        progress: is told how many rows were read.
    """

    table: Table
    identifying: frozenset[str]
    required: frozenset[str]
    progress: Callable[[str, int], None]

    def admitted(
        self, session: Session, source: OpenSource, places: Sequence[Place], opened: Sequence[Place]
    ) -> HeldTable:
        """The table as it is admitted.

        Args:
            session: that may read the open files, and nothing else.
            source: the table.
            places: its files, by the names under which they will be found again.
            opened: the same, open.

        Raises:
            SchemaMismatch: a declared column is missing, or stored as another type than its kind's.
            SourceUnsupported: a value isn't what a snapshot would hold, or a footer says what isn't so.
        """
        files = [place.path for place in opened]
        footers = [footer_of(file, self.table.source.location) for file in files]
        names = self._stored_names(footers)
        self._check_types(session, files, names)
        rows = self._check_footers(source, footers, names)
        self._check_writer(session, files)
        self._check_compared(session, dict(zip(files, footers, strict=True)), names)
        self._check_values(session, files, names, rows)
        return HeldTable(
            # As its files call them: to DuckDB, only names that differ in case in a simpler way are alike.
            columns=tuple(HeldColumn.of(column, self.identifying, names[column.name]) for column in self.table.columns),
            rows=rows,
            digest="",
            written=written(self.table),
            most_rows_per_unit=self.table.most_rows_per_unit,
            places=tuple(places),
        )

    def _stored_names(self, footers: Sequence[Footer]) -> Mapping[str, str]:
        """What declared columns are called in the files, where their type is the one that snapshots have."""
        names = {}
        for column in self.table.columns:
            for footer in footers:
                found = {stored.casefold(): stored for stored in footer.kinds}
                stored = found.get(column.name.casefold())
                if stored is None or footer.kinds[stored] is not column.kind:
                    raise _stored_otherwise(self.table, column)
                names[column.name] = stored
        return names

    def _check_types(self, session: Session, files: Sequence[str], names: Mapping[str, str]) -> None:
        """Refuse columns of which the engine makes another type."""
        listed = ", ".join(map(name, names.values()))
        found = session.execute(f"DESCRIBE SELECT {listed} FROM {parquet(files)}")  # noqa: S608 — names are quoted
        for column, (_, kind, *_) in zip(self.table.columns, found, strict=True):
            if kind != SQL_TYPES[column.kind]:
                raise _stored_otherwise(self.table, column)

    def _check_footers(self, source: OpenSource, footers: Sequence[Footer], names: Mapping[str, str]) -> int:
        """Read all rows with the checksums of their pages; refuse texts that aren't UTF-8, and wrong footers."""
        known = {each.name.casefold(): each.name for each in source.fields}
        fields = {known[column.casefold()]: stored for column, stored in names.items()}
        groups = [group for footer in footers for group in footer.groups]
        beyond = Counter[str]()
        wrong, rows = wrong_groups(groups, self._counted(source, list(fields), beyond), fields)
        self._refuse("bytes that aren't UTF-8", source.unreadable)
        self._refuse("times before DuckDB's first", beyond)
        self._refuse("row groups of which their footer says what isn't so", Counter(wrong))
        return rows

    def _counted(self, source: OpenSource, names: Sequence[str], beyond: Counter[str]) -> Iterator[pa.RecordBatch]:
        """The rows, while somebody is told how many there were, and times are counted that DuckDB fails on."""
        import pyarrow as pa
        import pyarrow.compute as pc

        rows = 0
        for batch in source.batches(names):
            rows += batch.num_rows
            for each, column in zip(names, batch.columns, strict=True):
                if pa.types.is_timestamp(column.type):
                    ticks = column.cast(pa.int64())
                    early = pc.and_(pc.less(ticks, _FIRST_TIME), pc.not_equal(ticks, _MINUS_INFINITY))
                    beyond[each] += pc.sum(early).as_py() or 0
            self.progress(self.table.name, rows)
            yield batch

    def _check_writer(self, session: Session, files: Sequence[str]) -> None:
        """Refuse what footers lead to and can't be compared with values, unless DuckDB itself has written it."""
        query = (
            "SELECT count(*) FROM {0}({2}) AS chunk JOIN {1}({2}) AS file USING (file_name) "
            "WHERE NOT starts_with(coalesce(created_by, ''), 'DuckDB ') AND (bloom_filter_offset IS NOT NULL "
            "OR type = 'BYTE_ARRAY' AND stats_min_value IS NULL AND stats_min IS NOT NULL)"
        )
        listed = f"[{', '.join(map(string, files))}]"
        ((found,),) = session.execute(query.format("parquet_metadata", "parquet_file_metadata", listed))
        if found:
            raise SourceUnsupported(
                f"{self.table.source.location!r} has Bloom filters, or ends of texts in the old form, which can't be "
                "checked",
                hint=f"write it without, or {_COPY}",
            )

    def _check_compared(self, session: Session, footers: Mapping[str, Footer], names: Mapping[str, str]) -> None:
        """Refuse what DuckDB reads in footers and PyArrow doesn't, so that it was compared with no value.

        PyArrow passes over the ends of texts where a footer doesn't say in which order they are, or says that a program
        wrote it which once got them wrong.
        """
        listed = f"[{', '.join(map(string, footers))}]"
        query = (
            "SELECT file_name, row_group_id, path_in_schema, stats_null_count IS NOT NULL, "  # noqa: S608 — quoted
            "coalesce(stats_min, stats_max, stats_min_value, stats_max_value) IS NOT NULL "
            f"FROM parquet_metadata({listed}) WHERE path_in_schema IN ({', '.join(map(string, names.values()))})"
        )
        declared = {stored: column for column, stored in names.items()}
        found = Counter[str]()
        for file, group, stored, has_missing, has_ends in session.execute(query):
            said = footers[file].groups[group].said.get(stored, Said())
            found[declared[stored]] += (has_ends and said.least is None) or (has_missing and said.missing is None)
        self._refuse("row groups of which their footer says what can't be compared", found)

    def _check_values(self, session: Session, files: Sequence[str], names: Mapping[str, str], rows: int) -> None:
        """Refuse values that a snapshot wouldn't hold."""
        selected = ", ".join(f"{name(stored)} AS s{number}" for number, stored in enumerate(names.values()))
        counts = ["count(*)"]
        for number, column in enumerate(self.table.columns):
            counts.append(f"count(*) FILTER ({self._is_changed(column, f's{number}')})")
            needed = column.name.casefold() in self.required
            counts.append(f"count(*) FILTER ({f's{number} IS NULL' if needed else 'false'})")
        stored = f"SELECT {selected} FROM {parquet(files)}"  # noqa: S608 — names are quoted
        ((there, *found),) = session.execute(f"SELECT {', '.join(counts)} FROM ({stored})")  # noqa: S608 — our own SQL
        if there != rows:
            raise SourceUnsupported(f"the files of {self.table.source.location!r} are damaged", hint="write them anew")
        declared = [column.name for column in self.table.columns]
        self._refuse("values that a copy would change or leave out", dict(zip(declared, found[::2], strict=True)))
        self._refuse("rows that don't say whose they are", dict(zip(declared, found[1::2], strict=True)))

    def _is_changed(self, column: Column, value: str) -> str:
        """Whether casting changes a value; −0 equals 0, and is another number."""
        identifies = column.name.casefold() in self.identifying
        field = Field(name=column.name, type=_own_type(column.kind))
        made = cast(column, value, field, self.table.source, identifies=identifies)
        changed = f"{value} IS DISTINCT FROM ({made})"
        return f"{changed} OR ({value} = 0 AND signbit({value}))" if column.kind is Kind.REAL else changed

    def _refuse(self, what: str, counts: Mapping[str, int]) -> None:
        """Refuse a table if there are such values."""
        found = ", ".join(f"{column!r} {count:,}" for column, count in counts.items() if count)
        if found:
            raise SourceUnsupported(
                f"table {self.table.name!r} can't stay in place, for it has {what}: {found}", hint=_COPY
            )


def _own_type(kind: Kind) -> pa.DataType:
    """The Arrow type of a kind's values, as the footer was seen to have it."""
    import pyarrow as pa

    types = {
        Kind.INTEGER: pa.int64(),
        Kind.REAL: pa.float64(),
        Kind.TEXT: pa.string(),
        Kind.BOOLEAN: pa.bool_(),
        Kind.DATE: pa.date32(),
        Kind.TIMESTAMP: pa.timestamp("us"),
    }
    return types[kind]


def _stored_otherwise(table: Table, column: Column) -> SchemaMismatch:
    """The error for a column that isn't stored as its kind is."""
    return SchemaMismatch(
        f"{table.source.location!r} doesn't store a column {column.name!r} as {SQL_TYPES[column.kind]}, which a table "
        "in place needs",
        hint=f"write it with that type (times in microseconds, without a zone), or {_COPY}",
    )
