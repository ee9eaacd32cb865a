"""Reading a table, from wherever it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from discreet.anonymity.records.column import Whole
from discreet.anonymity.records.csv import CsvOptions, read_csv
from discreet.anonymity.records.encode import encode
from discreet.anonymity.records.missing import Missing
from discreet.anonymity.records.naming import refuse_twins
from discreet.anonymity.records.records import Records
from discreet.anonymity.records.units import units_of
from discreet.errors import InvalidArgument, SchemaMismatch, SourceMissing, SourceUnsupported

if TYPE_CHECKING:
    import pyarrow as pa

Unit: TypeAlias = str | Sequence[str] | None
"""The column, or columns, that say whose a row is; none of them where every row is a unit of its own."""
_THREADS = 2
"""Columns are encoded side by side; more threads would only hold more of the table in memory at once."""
_PART = 1 << 18
"""So many rows are looked at, at a time, for an example of each category."""
_PARQUET = frozenset({".parquet", ".pq"})


def read(  # noqa: PLR0913 — a table, and how it is to be read
    table: object,
    *,
    columns: Sequence[str] | None = None,
    unit: Unit = None,
    missing: Missing | str | None = None,
    delimiter: str | None = None,
    null_texts: Sequence[str] | None = None,
) -> Records:
    """Read a table of records.

    Neither an index nor the order of rows is read as data: what is computed is the same however they are.

    Args:
        table: the path of a CSV or Parquet file; a pandas, Polars (lazy or not) or Arrow table; a mapping from names to
            lists; or `Records`, which come back as they are.
        columns: which to read; all if left out.
        unit: the column, or columns, that say whose a row is: a person's or a household's number. Rows of one unit are
            counted as one. If left out, every row is a unit of its own, or as it was for `Records`; `()` says so of
            these, too. These columns aren't among those of the result.
        missing: what a missing value is taken to be: its own value if left out, or as it was for `Records`.
        delimiter: of a CSV file, one character; found out if left out.
        null_texts: what a CSV file writes for a missing value; if left out, nothing at all, and what the codebook of a
            public dataset says that is recognised by its columns.

    Raises:
        SourceMissing: the file isn't there.
        SourceUnsupported: it isn't a table that can be read; the message says where it stops being one.
        SchemaMismatch: it lacks one of the columns.
        InvalidArgument: a value is missing though `missing` refuses it, a row doesn't say whose it is, or an argument
            is wrong.

    Examples:
        >>> read({"age": [34, 71], "sex": ["Female", "Male"]}).names
        ('age', 'sex')
    """
    if missing is None:
        missing = table.missing if isinstance(table, Records) else Missing.OWN_VALUE
    policy = _policy(missing)
    naming = _naming(unit, columns)
    if isinstance(table, Records):
        found = _by_unit(replace(table, missing=policy), naming, columns)
    else:
        options = CsvOptions(delimiter=delimiter, null_texts=None if null_texts is None else tuple(null_texts))
        wanted = None if columns is None else [*columns, *(naming or ())]
        found = _by_unit(_coded(_arrow(table, wanted, options), policy), naming, columns)
    if policy is Missing.REFUSE:
        _refuse(found)
    return found


def population_of(table: object, columns: Sequence[str] | None, records: Records) -> Records:
    """Read a population that records were drawn from, by unit as they are if it has the columns for that.

    If it lacks them it lists everybody once, so that each of its rows is a unit.

    Raises:
        SchemaMismatch: it lacks one of `columns`.
    """
    if records.units is not None:
        try:
            return read(table, columns=columns, unit=records.units.names, missing=records.missing)
        except SchemaMismatch:
            pass
    return read(table, columns=columns, missing=records.missing)


def _naming(unit: Unit, columns: Sequence[str] | None) -> tuple[str, ...] | None:
    """The columns that say whose a row is; None if nothing is said of it.

    Raises:
        InvalidArgument: it isn't names; one is named twice, or is to be read as another column, too.
    """
    if unit is None:
        return None
    if not isinstance(unit, Sequence):
        raise InvalidArgument("a unit is the name of a column, or a list of them", hint="unit='patient_id'")
    naming = (unit,) if isinstance(unit, str) else tuple(unit)
    for name in naming:
        if naming.count(name) > 1 or name in (columns or ()):
            raise InvalidArgument(
                f"the column {name!r} is named twice", hint="what says whose a row is has no other role"
            )
    return naming


def _by_unit(records: Records, naming: tuple[str, ...] | None, columns: Sequence[str] | None) -> Records:
    """The same with units, and with these columns; what says whose a row is isn't one of them."""
    if naming is not None and not (records.units is not None and records.units.names == naming):
        units = units_of([records.column(name) for name in naming]) if naming else None
        records = replace(records.without(naming), units=units)
    return records if columns is None else records.only(columns)


def _policy(missing: Missing | str) -> Missing:
    """Read the policy.

    Raises:
        InvalidArgument: there is none of that name.
    """
    try:
        return Missing(missing)
    except ValueError:
        raise InvalidArgument(
            f"missing values can't be {missing!r}", hint="one of: " + ", ".join(repr(each.value) for each in Missing)
        ) from None


def _refuse(records: Records) -> None:
    """Let no missing value pass.

    Raises:
        InvalidArgument: there is one.
    """
    for column in records.columns.values():
        if column.has_missing:
            count = int(column.counts()[-1])
            raise InvalidArgument(
                f"the column {column.name!r} misses {count:,} of {records.rows:,} values",
                hint="'own value' takes missing values for one more, 'wildcard' for any",
            )


def _coded(table: pa.Table, missing: Missing) -> Records:
    """The table as codes."""
    names = table.column_names
    refuse_twins(names)
    with ThreadPoolExecutor(_THREADS) as pool:
        columns = list(pool.map(encode, names, table.columns))
    return Records(columns=dict(zip(names, columns, strict=True)), rows=table.num_rows, missing=missing)


def _arrow(table: object, columns: Sequence[str] | None, options: CsvOptions) -> pa.Table:
    """The table as Arrow has it, without an index and with no more columns than are wanted."""
    import pyarrow as pa

    match table:
        case str() | Path():
            return _file(Path(table), columns, options)
        case pa.Table():
            return _owned(_select(table, columns))
        case pa.RecordBatch():
            return _owned(_select(pa.Table.from_batches([table]), columns))
        case Mapping():
            return _owned(_select(_made(lambda: pa.table(dict(table))), columns))
    match type(table).__module__.partition(".")[0]:
        case "pandas" if hasattr(table, "columns"):
            return _pandas(table, columns)
        case "polars" if hasattr(table, "collect_schema") or hasattr(table, "to_frame"):
            return _polars(table, columns)
    raise SourceUnsupported(
        f"a table can't be read from {type(table).__name__}",
        hint="a path, a pandas, Polars or Arrow table, or lists by name",
    )


def _file(path: Path, columns: Sequence[str] | None, options: CsvOptions) -> pa.Table:
    """Read a CSV or Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except OSError:  # a name that is too long, a folder that may not be looked into
        raise SourceUnsupported(f"the file {str(path)!r} can't be opened", hint="is this its name?") from None
    if is_folder:
        raise SourceUnsupported(f"{str(path)!r} is a folder", hint="name a file in it")
    if not is_file:
        raise SourceMissing(f"there is no file {str(path)!r}")
    if path.suffix.lower() not in _PARQUET:
        return read_csv(path, columns, options)
    try:
        with pq.ParquetFile(path) as file:
            _check_names(file.schema_arrow.names, columns)
            return file.read(columns=None if columns is None else list(columns))
    except (pa.ArrowException, OSError):
        raise SourceUnsupported(f"the file {str(path)!r} isn't Parquet, or is damaged") from None


def _pandas(table: Any, columns: Sequence[str] | None) -> pa.Table:  # noqa: ANN401 — pandas needn't be installed
    """A pandas table; its index is dropped."""
    import pyarrow as pa

    names = [str(name) for name in table.columns]
    _check_names(names, columns)
    refuse_twins(names)
    wanted = range(len(names)) if columns is None else [names.index(name) for name in columns]
    chosen = table.iloc[:, list(wanted)]
    made = _made(lambda: pa.Table.from_pandas(chosen, preserve_index=False))
    return _owned(made.rename_columns([names[place] for place in wanted]))


def _owned(table: pa.Table) -> pa.Table:
    """The table with codes of categories that nobody else can write to.

    pandas and NumPy lend Arrow their own memory, also in a table that was made of it beforehand. All else is copied as
    it is encoded; codes are looked at later, and must be what they were.
    """
    import pyarrow as pa

    columns = [
        pa.chunked_array([_copied(chunk) for chunk in column.chunks], column.type)
        if pa.types.is_dictionary(column.type)
        else column
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, table.column_names)


def _copied(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same, with places of its own."""
    import pyarrow as pa

    places = array.indices
    held = places.buffers()[1]
    kind = np.dtype(places.type.to_pandas_dtype())
    own = np.frombuffer(held, kind, len(places), places.offset * kind.itemsize).copy() if held else np.zeros(0, kind)
    missing = np.asarray(places.is_null()) if places.null_count else None
    return pa.DictionaryArray.from_arrays(
        pa.array(own, places.type, mask=missing), array.dictionary, ordered=array.type.ordered, safe=False
    )


def _polars(table: Any, columns: Sequence[str] | None) -> pa.Table:  # noqa: ANN401 — Polars needn't be installed
    """A Polars table, a lazy one with the wanted columns only.

    Raises:
        SourceUnsupported: a lazy one can't be worked out. Polars' own message may quote a value.
        SchemaMismatch: it lacks a wanted column.
    """
    import polars as pl
    import pyarrow as pa

    if isinstance(table, pl.Series):
        table = table.to_frame()
    try:
        names = table.collect_schema().names()
        _check_names(names, columns)
        chosen = table if columns is None else table.select(list(columns))
        eager = chosen.collect() if isinstance(chosen, pl.LazyFrame) else chosen
    except pl.exceptions.PolarsError:
        raise SourceUnsupported("the Polars query fails", hint="collect() says why") from None
    with ThreadPoolExecutor(_THREADS) as pool:
        return pa.table(dict(zip(eager.columns, pool.map(_series, eager), strict=True)))


def _series(column: Any) -> pa.ChunkedArray:  # noqa: ANN401 — Polars needn't be installed
    """A column of a Polars table, chunk by chunk as it is held, categories too: converting costs four times more.

    Raises:
        SourceUnsupported: Arrow has no such values.
    """
    import polars as pl
    import pyarrow as pa

    oldest = pl.CompatLevel.oldest()
    listed = isinstance(column.dtype, pl.Categorical | pl.Enum) and len(column) > 0
    try:
        stored = (column.to_physical() if listed else column).to_frame().to_arrow(compat_level=oldest).column(0)
    except pa.ArrowException:
        raise SourceUnsupported(
            f"the column {column.name!r} holds {column.dtype}, which can't be read", hint="make texts of it"
        ) from None
    if not listed:
        return stored
    values = column.gather(_examples(stored)).cast(pl.String).to_arrow(compat_level=oldest)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(chunk, values, safe=False) for chunk in stored.chunks])


def _examples(codes: pa.ChunkedArray) -> Whole:
    """Of each code up to the greatest, a row that has it; the first row of one that none has.

    Rows are looked at in parts, until each code from the least to the greatest is found: the first part has nearly
    always all of them. Polars numbers the categories of all columns together, so those below the least are others'.
    """
    import pyarrow.compute as pc

    least, greatest = pc.min_max(codes).as_py().values()
    if greatest is None:
        return np.zeros(0, dtype=np.int64)
    example = np.full(greatest + 1, -1, dtype=np.int64)
    for start in range(0, len(codes), _PART):
        part = codes.slice(start, _PART)
        example[np.asarray(part.drop_null())] = np.flatnonzero(part.is_valid()) + start
        if (example[least:] >= 0).all():
            break
    return np.maximum(example, 0)


def _made(make: Any) -> pa.Table:  # noqa: ANN401 — a function without arguments
    """An Arrow table from what may not fit into one.

    Raises:
        SourceUnsupported: it doesn't. Arrow's own message would quote a value.
    """
    import pyarrow as pa

    try:
        return make()
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise SourceUnsupported(
            "the table can't be read: a column mixes kinds of values, or columns differ in length",
            hint="make each column texts, or numbers, or dates",
        ) from None


def _select(table: pa.Table, columns: Sequence[str] | None) -> pa.Table:
    """These columns of an Arrow table."""
    _check_names(table.column_names, columns)
    return table if columns is None else table.select(list(columns))


def _check_names(names: Sequence[str], columns: Sequence[str] | None) -> None:
    """All wanted columns are there.

    Raises:
        SchemaMismatch: one isn't.
    """
    for name in columns or ():
        if name not in names:
            raise SchemaMismatch(f"the table has no column {name!r}", hint=f"it has {', '.join(names)}")
