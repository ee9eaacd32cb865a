"""Data profiles: kinds, ends and values of a table's columns, for the custodian who is about to protect it.

What is found in the cells is private. `discreet init` may read it off a table, and must mark it as a leak.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from discreet.errors import SourceUnsupported
from discreet.privacy import BoundValue, KeyValue
from discreet.tables.admission.column_casts import days, microseconds
from discreet.tables.arrow_kinds import kind_of, places_of
from discreet.tables.proposals.codebooks import codebook
from discreet.tables.proposals.kept_rows import KeptRows
from discreet.tables.proposals.layout import ColumnLayout, told, told_of_names, told_of_texts
from discreet.tables.proposals.names import joined
from discreet.tables.proposals.public_knowledge import knowledge
from discreet.tables.proposals.unit_choice import likely_unit, rank_of_id
from discreet.tables.reading_options import ReadingOptions, reading_options
from discreet.tables.schema.column import LONGEST_TEXT, ZONE_NAME, Column, Kind
from discreet.tables.schema.source import Source
from discreet.tables.sources import Field, open_source
from discreet.tables.type_inference import USUAL_NULLS, narrowest, values_of, without_nulls
from discreet.tables.unit_candidates import UnitCandidate

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnProfile:
    """Everything that was seen in one column. All of it is private: the least value belongs to someone.

    Args:
        lo: least value of a column of numbers or times; None if there is none, or nobody looked.
        hi: greatest value, likewise.
        values: the different values of a column of texts, integers, booleans or dates, with None among them if
            there are NULLs; None for the whole if there are more than the engine was asked to list.
        units: how many units at least have each of the values of a column of texts.
        repeats: whether some value occurs twice, of a column that may be an id; None if nobody looked.
    """

    lo: BoundValue | None = None
    hi: BoundValue | None = None
    values: tuple[KeyValue, ...] | None = None
    units: Mapping[str, int] = field(default_factory=dict)
    repeats: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataProfile:
    """Everything that was seen in a table, by column. Only the custodian's own `init` makes one.

    Args:
        columns: what was seen in each.
        written: how the source seems to be written; None where its cells have types, or nobody looked.
        is_empty: whether it has no rows.
        candidates: the columns that may say whose a row is, by how the others depend on them.
        layout: what shows that it is laid out for readers, in words.

    Examples:
        >>> DataProfile(columns={"age": ColumnProfile(lo=17, hi=90)}).of("age").hi
        90
        >>> DataProfile().of("age").hi is None
        True
    """

    columns: Mapping[str, ColumnProfile] = field(default_factory=dict)
    written: ReadingOptions | None = None
    is_empty: bool = False
    candidates: tuple[UnitCandidate, ...] = ()
    layout: tuple[str, ...] = ()

    def of(self, column: str) -> ColumnProfile:
        """The profile of that column; an empty one if nobody looked."""
        return self.columns.get(column, ColumnProfile())

    @property
    def numbers(self) -> tuple[UnitCandidate, ...]:
        """The candidates that say it alone: a unit is one column."""
        return tuple(each for each in self.candidates if not each.beside)

    def usual_nulls(self, columns: Iterable[Column]) -> tuple[str, ...]:
        """The texts often written for NULL that were seen in any of the columns."""
        seen = {text for column in columns for text in self.of(column.name).values or ()}
        trimmed = {text.strip(" ") for text in seen if isinstance(text, str)}
        return tuple(text for text in USUAL_NULLS if text in trimmed)


MOST_VALUES = 1_000
"""How many distinct values are listed; a column with more, or with more ways to write them, has no list."""

_LISTED = {Kind.TEXT, Kind.INTEGER, Kind.BOOLEAN, Kind.DATE}
_BY_NAME = (Kind.TEXT, Kind.INTEGER, Kind.DATE, Kind.TIMESTAMP, Kind.REAL, Kind.BOOLEAN)
"""The kinds in the order in which they are tried where a name is all that is looked at."""


def profile_table(
    source: Source,
    *,
    peek: bool,
    data: Mapping[str, object] = MappingProxyType({}),
    unit: str | None = None,
    ids: Collection[str] = (),
) -> tuple[tuple[Column, ...], DataProfile | None]:
    """The columns of a table that can be admitted, and what is in them.

    The table is read once, part by part: memory grows with the number of columns, not of rows; but for the values of
    columns that may be ids, which are kept until one occurs twice.

    Args:
        source: where the table lies.
        peek: whether to read its cells. If not, only its schema is looked at; in JSON lines, the names of all records.
        data: tables in memory, by the location of their source.
        unit: the column that tells whose row it is, or `row`; None: the likeliest by its name.
        ids: names of other columns that may be ids, as `joined` writes them.

    Returns:
        The columns in the source's order, without those that hold what discreet doesn't compute with; and what was
        seen, None if nobody looked. Where a source has no types, kinds are guessed from the cells, so they are as
        private as these; without a peek they are what is publicly known of the names, and text where nothing is.

    Raises:
        SourceError: it can't be opened or read; a malformed record is named by its line.

    Examples:
        >>> import pyarrow as pa
        >>> people = pa.table({"age": [34, 71], "sex": ["Female", "Male"]})
        >>> columns, seen = profile_table(Source(kind="memory", location="people"), peek=True, data={"people": people})
        >>> print(*columns, seen.of("age").hi, seen.of("sex").values)
        age integer sex text 71 ('Female', 'Male')
    """
    with open_source(source, data) as opened:
        fields = [each for each in opened.fields if kind_of(each.type) is not None]
        if not peek or not fields:
            return _by_schema(fields), DataProfile() if peek else None
        looks = [_Untyped(each, source) if each.untyped else _Typed(each) for each in fields]
        whose = _place_of_unit(_by_schema(fields), unit)
        repeats = {n: _Repeats() for n, each in enumerate(fields) if n == whose or joined(each.name) in ids}
        rows, kept = 0, KeptRows(len(fields))
        for batch in opened.batches([each.name for each in fields]):
            rows += batch.num_rows
            kept.add(batch.columns)
            for each, cells in zip(looks, batch.columns, strict=True):
                each.add(cells)
                each.layout.add(cells)
                each.units.add(cells, None if whose is None else batch.columns[whose])
            for n, each_id in repeats.items():
                each_id.add(batch.columns[n])
        if not opened.is_unchanged():
            raise SourceUnsupported(f"{source.location!r} was changed while it was being read", hint="look again")
    texts = {each.field.name: each.texts for each in looks if isinstance(each, _Untyped) and each.texts is not None}
    columns = tuple(_identifying(each.column(), unit, whole=each.whole) for each in looks)
    return columns, DataProfile(
        columns={
            each.field.name: replace(each.seen(), repeats=repeats[n].found() if n in repeats else None)
            for n, each in enumerate(looks)
        },
        written=reading_options(texts, source) if source.is_untyped else None,
        is_empty=rows == 0,
        candidates=kept.candidates(columns, source),
        layout=(
            *told_of_names([each.name for each in fields]),
            *told_of_texts(texts, [each.name for each in columns if rank_of_id(each) is not None]),
            *told([each.layout for each in looks]),
        ),
    )


def _identifying(column: Column, unit: str | None, *, whole: bool) -> Column:
    """The column; of whole numbers, if they are written as reals and tell whose a row is, as where one was missing.

    Args:
        column: of the kind that its values seem to be of.
        unit: the column that is named as the unit.
        whole: whether all its values are whole numbers.
    """
    as_whole = Column(name=column.name, kind=Kind.INTEGER, nullable=column.nullable)
    is_id = column.name == unit or (whole and rank_of_id(as_whole) is not None)
    return as_whole if column.kind is Kind.REAL and is_id else column


def _place_of_unit(columns: tuple[Column, ...], unit: str | None) -> int | None:
    """The column that says whose row it is; None if each row is someone else's."""
    named = likely_unit(columns).tells if unit is None else unit
    return next((n for n, column in enumerate(columns) if column.name.casefold() == (named or "").casefold()), None)


def _by_schema(fields: list[Field]) -> tuple[Column, ...]:
    """The columns, by what anyone may know who never saw a row."""
    book = codebook([each.name for each in fields])

    def kind(field: Field) -> Kind:
        if not field.untyped:
            return kind_of(field.type) or Kind.TEXT
        if field.number is not None:
            is_id = rank_of_id(Column(name=field.name, kind=Kind.TEXT)) is not None
            return Kind.TEXT if is_id else field.number
        in_book = (kind for kind in _BY_NAME if book is not None and book.about(field.name, kind) is not None)
        anywhere = (kind for kind in _BY_NAME if knowledge(field.name, kind) is not None)
        return next(chain(in_book, anywhere), Kind.TEXT)

    return tuple(_column(each, kind(each), _zone(each.type)) for each in fields)


def _column(field: Field, kind: Kind, zone: str | None) -> Column:
    """The column of a field."""
    places = places_of(field.type) if kind is Kind.REAL else None
    return Column(name=field.name, kind=kind, nullable=not field.required, time_zone=zone, places=places)


def _zone(stored: pa.DataType) -> str | None:
    """The zone in which to show points in time: the one that the type names."""
    named: str | None = getattr(stored, "tz", None)
    return named if named is None or ZONE_NAME.fullmatch(named) else "UTC"


class _Different:
    """The different values of a column, as long as they are few."""

    def __init__(self) -> None:
        self.values: pa.Array | None = None
        self.too_many = False
        self.null = False

    def add(self, cells: pa.Array) -> None:
        """Add those of a part."""
        import pyarrow as pa
        import pyarrow.compute as pc

        found = cells.drop_null()
        self.null = self.null or len(found) < len(cells)
        if self.too_many:
            return
        known = found if self.values is None else pc.unique(pa.chunked_array([self.values, found]))
        self.too_many = len(known) > MOST_VALUES
        self.values = None if self.too_many else known

    def listed(self) -> list[Any] | None:
        """The values; None if there are too many."""
        if self.too_many:
            return None
        return [] if self.values is None else self.values.to_pylist()


class _Units:
    """How many units have each of the texts of a column, as long as these are few."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._too_many = False

    def add(self, cells: pa.Array, whose: pa.Array | None) -> None:
        """Count those of a part. Units of several parts are those of the part that has most: never too many."""
        import pyarrow as pa

        if pa.types.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)
        if self._too_many or not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)):
            return
        table = pa.table({"text": cells, "unit": pa.nulls(len(cells), pa.bool_()) if whose is None else whose})
        how = ("unit", "count_distinct") if whose is not None else ([], "count_all")
        counted = table.group_by("text").aggregate([how])
        self._too_many = len(counted) > MOST_VALUES
        found = zip(counted["text"].to_pylist(), counted.column(counted.num_columns - 1).to_pylist(), strict=True)
        for text, count in () if self._too_many else found:
            before = self.counts.get(text, 0)
            self.counts[text] = before + count if whose is None else max(before, count)
        self._too_many = self._too_many or len(self.counts) > MOST_VALUES

    def listed(self) -> dict[str, int]:
        """How many have each text; nothing if there are too many texts."""
        return {} if self._too_many else {text: count for text, count in self.counts.items() if text is not None}


class _Repeats:
    """Whether some value of a column occurs twice."""

    def __init__(self) -> None:
        self._parts: list[pa.Array] = []
        self._twice = False

    def add(self, cells: pa.Array) -> None:
        """Keep those of a part, unless one of them occurs twice there."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self._twice:
            return
        if pa.types.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)
        found = cells.drop_null()
        if pa.types.is_string(found.type):
            found = without_nulls(pc.utf8_trim(found, " "))
        self._twice = len(pc.unique(found)) < len(found)
        self._parts = [] if self._twice else [*self._parts, found]

    def found(self) -> bool | None:
        """Whether one does; None if there are no values."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self._twice:
            return True
        together = pa.chunked_array(self._parts) if self._parts else ()
        return len(pc.unique(together)) < len(together) if len(together) else None


class _Range:
    """The least and the greatest of values; and whether all of them are whole numbers."""

    def __init__(self) -> None:
        self.lo: Any = None
        self.hi: Any = None
        self.whole = True

    def add(self, values: pa.Array) -> None:
        """Widen it by those of a part."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.whole and pa.types.is_floating(values.type):
            self.whole = pc.all(pc.equal(values, pc.floor(values))).as_py() is not False
        lo, hi = pc.min_max(values).as_py().values()
        if lo is not None:
            self.lo = lo if self.lo is None else min(self.lo, lo)
            self.hi = hi if self.hi is None else max(self.hi, hi)


class _Untyped:
    """A column of texts that may mean anything.

    Args:
        field: of the source.
        source: how it is written.
    """

    def __init__(self, field: Field, source: Source) -> None:
        self.field = field
        self._source = source
        self._kind: Kind | None = None
        self._zoned = False
        self._texts = _Different()
        self._range = _Range()
        self.units = _Units()
        self.layout = ColumnLayout(field.name)
        self.texts: pa.Array | None = None

    def add(self, cells: pa.Array) -> None:
        """Look at a part of the column."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.texts is None or len(self.texts) < MOST_VALUES:
            found = pc.unique(cells).drop_null()
            known = found if self.texts is None else pc.unique(pa.chunked_array([self.texts, found]))
            self.texts = known.slice(0, MOST_VALUES)
        if self._kind is Kind.TEXT and self._texts.too_many and self._texts.null:
            return
        # Where there are many, finding out which are different costs more than it saves.
        different = cells if self._texts.too_many else pc.unique(cells)
        if self._kind is not Kind.TEXT:
            self._guess(different.drop_null())
        self._texts.add(_cut(different) if self._kind is Kind.TEXT else different)

    def _guess(self, texts: pa.Array) -> None:
        """Guess the kind that these texts, and those before, are of."""
        import pyarrow as pa

        self._kind, values = narrowest(texts, self._source, self._kind)
        if self._kind in (None, Kind.BOOLEAN, Kind.TEXT):
            return
        if pa.types.is_timestamp(values.type):
            self._zoned = self._zoned or values.type.tz is not None
            values = values.cast(pa.timestamp("us"))
        self._range.add(values)

    @property
    def whole(self) -> bool:
        """Whether all its numbers are whole."""
        return self._range.whole

    def column(self) -> Column:
        """The column, of the kind that was guessed, unless its type says which numbers it holds."""
        kind = self._kind or self.field.number or Kind.TEXT
        kind = self.field.number if self.field.number is not None and kind.is_number else kind
        return _column(self.field, kind, "UTC" if self._zoned else None)

    def seen(self) -> ColumnProfile:
        """The profile of its values."""
        kind = self._kind or Kind.TEXT
        if kind is Kind.TEXT:
            if self._texts.values is not None:
                self._texts.values = _cut(self._texts.values)  # some may have been taken for long numbers
            seen = _seen(kind, _Range(), self._texts.listed(), null=self._texts.null)
            return replace(seen, units=self.units.listed())
        texts, null, values = self._texts.values, self._texts.null, None
        if texts is not None:
            said = without_nulls(texts)
            null = null or len(said) < len(texts)
            found = values_of(said, kind, self._source)
            values = None if found is None else found.unique().to_pylist()
        return _seen(kind, self._range, values, null=null)


class _Typed:
    """A column whose type says what it holds."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self._kind = kind_of(field.type) or Kind.TEXT
        self._values = _Different()
        self._range = _Range()
        self.units = _Units()
        self.layout = ColumnLayout(field.name)

    def add(self, cells: pa.Array) -> None:
        """Look at a part of the column."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_dictionary(cells.type):
            cells = pc.unique(cells).cast(cells.type.value_type)
        cells = _readable(cells)
        if self._kind.is_number or self._kind.is_time:
            self._range.add(cells)
        if self._kind in _LISTED and not (self._values.too_many and self._values.null):
            self._values.add(pc.unique(cells))

    @property
    def whole(self) -> bool:
        """Whether all its numbers are whole."""
        return self._range.whole

    def column(self) -> Column:
        """The column, as its type says."""
        return _column(self.field, self._kind, _zone(self.field.type))

    def seen(self) -> ColumnProfile:
        """The profile of its values."""
        values = self._values.listed()
        if self._kind is Kind.INTEGER and values is not None:
            values = list(map(int, values))
        if (zone := _zone(self.field.type)) is not None:
            self._range.lo, self._range.hi = _told(self._range.lo, zone), _told(self._range.hi, zone)
        return replace(_seen(self._kind, self._range, values, null=self._values.null), units=self.units.listed())


def _seen(kind: Kind, ends: _Range, values: list[KeyValue] | None, *, null: bool) -> ColumnProfile:
    """The profile of values in order, with NULL last."""
    if kind not in _LISTED or values is None or len(values) + null > MOST_VALUES:
        return ColumnProfile(lo=ends.lo, hi=ends.hi)
    ordered: list[Any] = sorted(cast("list[Any]", values))  # of one kind
    return ColumnProfile(lo=ends.lo, hi=ends.hi, values=(*ordered, *([None] if null else [])))


def _cut(texts: pa.Array) -> pa.Array:
    """Texts as they are admitted: of no more characters than are kept."""
    import pyarrow.compute as pc

    if texts.nbytes <= LONGEST_TEXT or (pc.max(pc.binary_length(texts)).as_py() or 0) <= LONGEST_TEXT:
        return texts
    return pc.unique(pc.utf8_slice_codeunits(texts, 0, LONGEST_TEXT))


def _readable(cells: pa.Array) -> pa.Array:
    """Cells of a type as they are admitted: what can't be held there is NULL."""
    import pyarrow as pa
    import pyarrow.compute as pc

    stored = cells.type
    if pa.types.is_string(stored):
        return _cut(cells)
    if pa.types.is_floating(stored):
        whole = cells.cast(pa.float64())
        return pc.if_else(pc.is_finite(whole), whole, pa.scalar(None, pa.float64()))
    if pa.types.is_timestamp(stored):
        return microseconds(cells, exactly=False).cast(pa.timestamp("us"))
    if pa.types.is_date(stored):
        return days(cells.cast(pa.date64()), exactly=False)
    return cells


def _told(moment: BoundValue | None, zone: str) -> datetime | None:
    """A time of UTC as the clocks of a zone tell it; UTC where the zone isn't known here."""
    if not isinstance(moment, datetime):
        return None
    try:
        return moment.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    except (ZoneInfoNotFoundError, ValueError, OverflowError):
        return moment
