"""The embedded engine: DuckDB. Here is what it doesn't share with other engines, above all the SQL that it runs."""

from discreet.engine.duckdb.engine import DuckDB

__all__ = ["DuckDB"]
