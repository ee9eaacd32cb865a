"""Sources: the one room that opens a file, frame or database, and hands out its rows as Arrow record batches."""

from discreet.tables.sources.catalog import tables_in
from discreet.tables.sources.identify import source_at, source_of
from discreet.tables.sources.open import open_source
from discreet.tables.sources.opened import Field, Malformed, OpenSource

__all__ = ["Field", "Malformed", "OpenSource", "open_source", "source_at", "source_of", "tables_in"]
