"""Tables of rows, as files that commands write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = (".csv", ".parquet")
"""The endings that say how a table is written."""


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table as its file's ending says.

    Raises:
        InvalidArgument: CSV has no way to write a column of that kind.
    """
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    try:
        if path.suffix.lower() == ".parquet":
            pa.parquet.write_table(table, path)
        else:
            pa.csv.write_csv(plain_cells(table), path)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        raise InvalidArgument(
            f"a column can't be written as {path.suffix}", hint="--output FILE.parquet takes every kind of column"
        ) from None


def plain_cells(table: pa.Table) -> pa.Table:
    """The table without dictionaries, which CSV doesn't know."""
    import pyarrow as pa

    kinds = [field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in table.schema]
    return table.cast(pa.schema(list(zip(table.column_names, kinds, strict=True))))
