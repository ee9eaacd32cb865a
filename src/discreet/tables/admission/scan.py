"""Scans: a table that stays where it lies is read once, to see that its values are what a snapshot's would be.

What a copy would mend is refused, by column and count: a value that a column cast changes or drops, a row that doesn't
say whose it is, texts that aren't UTF-8. So questions may rely on the same of files in place as of snapshots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.duckdb.session import Session
from discreet.duckdb.sql_text import SQL_TYPES, name, parquet, string
from discreet.errors import SchemaMismatch, SourceUnsupported
from discreet.tables.admission.column_casts import cast
from discreet.tables.admission.snapshot import HeldColumn, HeldTable, written
from discreet.tables.schema.column import Column, Kind
from discreet.tables.schema.table import Table
from discreet.tables.sources import Field, OpenSource
from discreet.tables.sources.in_place import Place
from discreet.tables.sources.parquet_footers import Footer, Said, footer_of, wrong_groups

if TYPE_CHECKING:
    import pyarrow as pa

_COPY = "admit it as a copy: leave in_place out"
_FIRST_TIME = -9_223_372_022_400_000_000
"""DuckDB's first timestamp, in microseconds: an earlier one makes it fail on the whole column or on its statistics."""
_MINUS_INFINITY = -(2**63) + 1
"""A timestamp that it reads, but that no snapshot holds either."""


@dataclass(frozen=True, slots=True)
class Scan:
    """A table that is to stay where it lies.

    Args:
        table: as declared.
        identifying: its columns that identify, in lower case.
        required: those without which a row can't say whose it is.
        progress: called with how many rows were read.
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
        """The names in the files of declared columns that have the type which snapshots store."""
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
        self._refuse("row groups about which the footer is wrong", Counter(wrong))
        return rows

    def _counted(self, source: OpenSource, names: Sequence[str], beyond: Counter[str]) -> Iterator[pa.RecordBatch]:
        """The rows, while progress is reported, and times that DuckDB fails on are counted."""
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
                hint=f"write it without them, or {_COPY}",
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
        self._refuse("row groups about which the footer has values that can't be compared", found)

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
            raise SourceUnsupported(f"the files of {self.table.source.location!r} are damaged", hint="write them again")
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
                f"table {self.table.name!r} can't stay in place, because it has {what}: {found}", hint=_COPY
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
