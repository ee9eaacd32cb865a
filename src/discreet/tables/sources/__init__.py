"""Sources: the one room that opens a file, frame or database, and hands out its rows as Arrow record batches."""

from discreet.tables.sources.at_one_moment import at_one_moment
from discreet.tables.sources.malformed import Malformed
from discreet.tables.sources.opening import open_source, schema_declared, source_at, source_of, tables_in
from discreet.tables.sources.reader import Field, OpenSource

__all__ = [
    "Field",
    "Malformed",
    "OpenSource",
    "at_one_moment",
    "open_source",
    "schema_declared",
    "source_at",
    "source_of",
    "tables_in",
]
