"""The words of discreet.toml: every key with an example, and what other systems call it."""

from __future__ import annotations

# Each key with an example, which is the hint when it is missing or wrong. `ALSO` maps what other systems call it.

DATASET = {
    "name": 'name = "census"',
    "ledger": 'ledger = "census.ledger"',
    "adjacency": 'adjacency = "add_remove"',
    "budget": "[budget] epsilon = 3, delta = 1e-6",
    "analysts": "[analysts.alice] epsilon = 1; or leave [analysts] out to let anyone ask",
    "snapshots": 'snapshots = "snapshots", the folder of the admitted tables',
    "schema": 'schema = "public", if questions may name no other before a table',
    "tables": '[tables.census] source = "census.csv", …',
}
BUDGET = {
    "epsilon": "epsilon = 3",
    "delta": "delta = 1e-6",
    "rho": "rho = 0.2, with a delta",
    "renews": 'renews = "monthly", of the share of one analyst',
}
TABLE = {
    "source": 'source = "census.csv"',
    "missing": 'missing = ["?"]',
    "unit": 'unit = "row" if nobody can have two rows, else unit = "person_id"; or links, or public = true',
    "limits": "limits = { groups = 5, rows_per_group = 10 } or { rows = 50 } or { rows = 50, groups = 8 }",
    "links": 'links = { customer_id = "customers.id" }, where those rows belong to somebody',
    "public": "public = true, if everybody may know the table as it is",
    "time_zone": 'time_zone = "Europe/Paris", of timestamps that are points in time',
    "unique": 'unique = ["id"], of a public table',
    "refresh": 'refresh = "daily", where tables are admitted on different schedules',
    "row_ceiling": "row_ceiling = 1_000_000",
    "most_rows_per_unit": "most_rows_per_unit = 1_000",
    "columns": '[tables.census.columns] age = { kind = "integer", bounds = [0, 125] }',
}
SOURCE = {
    "kind": 'kind = "duckdb"',
    "path": 'path = "census.duckdb"',
    "table": 'table = "people", in a database file or a spreadsheet',
    "delimiter": 'delimiter = ";", of a CSV file',
    "encoding": 'encoding = "latin-1", of a text file',
    "decimal": 'decimal = ",", where numbers are texts',
    "dates": 'dates = "dmy", where dates are texts; or "mdy", or "ymd"',
    "multiline": "multiline = false, if no cell of a CSV file may hold a line end",
    "skip_malformed": "skip_malformed = true, to leave malformed records out",
    "in_place": "in_place = true, of Parquet files that nobody changes and that are too large to copy",
}
SOURCE_ALSO = {
    "location": "path",
    "file": "path",
    "sheet": "table",
    "separator": "delimiter",
    "sep": "delimiter",
    "delim": "delimiter",
    "charset": "encoding",
    "decimal_mark": "decimal",
    "decimal_separator": "decimal",
    "date_order": "dates",
    "dateformat": "dates",
    "dayfirst": "dates",
    "ignore_errors": "skip_malformed",
}
UNIT = {"column": 'column = "person_id"', "per": 'per = "day"', "at": 'at = "visited_at"'}
LINK = {"table": 'table = "customers"', "column": 'column = "id"'}
LIMITS = {"groups": "groups = 5", "rows_per_group": "rows_per_group = 10", "rows": "rows = 50"}
COLUMN = {
    "kind": 'kind = "integer"',
    "bounds": "bounds = [0, 125]; dates and timestamps stand without quotes: [2020-01-01, 2029-12-31]",
    "keys": 'keys = ["Female", "Male"]; with NULL as a group: ["Female", "Male", { null = true }]',
    "nullable": "nullable = false",
    "time_zone": 'time_zone = "Europe/Paris", of timestamps that are points in time',
    "places": "places = 2, of reals that are decimals",
    "max_length": "max_length = 40, of texts",
}
COLUMN_ALSO = {
    "scale": "places",
    "type": "kind",
    "dtype": "kind",
    "lower": "bounds",
    "upper": "bounds",
    "min": "bounds",
    "max": "bounds",
    "range": "bounds",
    "values": "keys",
    "categories": "keys",
    "cardinality": "keys",
    "null": "nullable",
}
TABLE_ALSO = {
    "path": "source",
    "file": "source",
    "privacy_unit": "unit",
    "private_id": "unit",
    "row_privacy": "unit",
    "id": "unit",
    "max_ids": "limits",
    "max_groups_contributed": "limits",
    "max_rows_contributed": "limits",
    "rows": "row_ceiling",
    "null_values": "missing",
    "delimiter": "source",
    "encoding": "source",
    "decimal": "source",
    "dates": "source",
    "link": "links",
    "reference": "links",
    "references": "links",
    "foreign_key": "links",
    "foreign_keys": "links",
    "fk": "links",
    "joins": "links",
    "is_public": "public",
    "primary_key": "unique",
    "pk": "unique",
    "keys": "unique",
    "schema": "columns",
    "refresh_group": "refresh",
    "schedule": "refresh",
}
SOURCE_KIND_ALSO = {
    "tsv": "csv",
    "txt": "csv",
    "pq": "parquet",
    "feather": "arrow",
    "ipc": "arrow",
    "ndjson": "jsonl",
    "json": "jsonl",
    "sqlite3": "sqlite",
    "excel": "xlsx",
}
DATES_ALSO = {"iso": "ymd", "day_first": "dmy", "month_first": "mdy", "d/m/y": "dmy", "m/d/y": "mdy"}
ADJACENCY_ALSO = {"unbounded": "add_remove", "bounded": "substitution", "replace": "substitution"}
KIND_ALSO = {
    "int": "integer",
    "bigint": "integer",
    "float": "real",
    "double": "real",
    "decimal": "real",
    "numeric": "real",
    "str": "text",
    "string": "text",
    "varchar": "text",
    "category": "text",
    "bool": "boolean",
    "datetime": "timestamp",
}
