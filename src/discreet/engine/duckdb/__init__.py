"""The embedded engine: DuckDB. What it doesn't share with other engines is here, the SQL that it runs above all."""

from discreet.engine.duckdb.engine import DuckDB

__all__ = ["DuckDB"]
