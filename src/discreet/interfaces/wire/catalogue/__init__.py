"""The catalogue: PostgreSQL's, by which tools find tables and columns, made of declarations alone.

An empty DuckDB in memory holds the relations of PostgreSQL's own catalogue, and the declared tables without a row. It
is made of the public schema, in a process that has no tables, no configuration and no ledger; so whatever is asked of
it, there is nothing of a row to be had.
"""

from discreet.interfaces.wire.catalogue.database import Asked, Database, Found

__all__ = ["Asked", "Database", "Found"]
