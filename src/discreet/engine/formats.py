"""How DuckDB is asked to read files: every row, whatever is in it. SQL text, and the names that a header gives."""

from __future__ import annotations

from functools import cache

from discreet.engine.header import Header
from discreet.engine.session import Session
from discreet.engine.text import name, string


def parquet(path: str) -> str:
    """The table function that reads a Parquet file."""
    options = "".join(f", {option}" for option in parquet_options())
    return f"read_parquet({string(path)}{options})"


@cache
def parquet_options() -> tuple[str, ...]:
    """What is asked of DuckDB's Parquet reader, as far as the version at hand knows it.

    A file's statistics leave NaN out, so DuckDB would think there is none, and drop our test for it. And text that
    isn't UTF-8 would make every question fail that reads its column; so its wrong bytes are replaced.
    """
    wanted = {"can_have_nan": "can_have_nan = true", "utf8_validation": "utf8_validation = 'replace'"}
    with Session() as session:
        rows = session.execute("SELECT parameters FROM duckdb_functions() WHERE function_name = 'read_parquet'")
    known = {parameter for (parameters,) in rows for parameter in parameters}
    return tuple(option for name, option in wanted.items() if name in known)


def required_in_parquet(path: str) -> str:
    """The columns that a Parquet file's schema calls required; of names that occur twice in it, nested, it's silent."""
    return (
        f"SELECT name FROM parquet_schema({string(path)}) GROUP BY name "
        "HAVING count(*) = 1 AND bool_and(repetition_type = 'REQUIRED' AND num_children IS NULL)"
    )


def csv(path: str, header: Header, missing: tuple[str, ...], *, zipped: bool) -> str:
    """A query of a CSV file's cells, without the spaces around them; NULL where nothing is left, or a `missing` text.

    Nothing is guessed from the rows, and no row is refused: a short one is filled up with NULLs, a long one cut, and
    one that isn't UTF-8 or is longer than two megabytes left out. It runs on one thread, for the parallel reader
    raises on some malformed quotes. A quote that is opened and never closed swallows what follows it: the price of
    allowing line breaks inside quotes, and why a file must come from a writer that quotes properly.
    """
    columns = ", ".join(f"{string(column)}: 'VARCHAR'" for column in header.names)
    reader = (
        f"read_csv({string(path)}, auto_detect = false, header = true, columns = {{{columns}}}, "
        f"delim = {string(header.delimiter)}, quote = '\"', escape = '\"', null_padding = true, "
        "ignore_errors = true, strict_mode = false, parallel = false, "
        f"compression = '{'gzip' if zipped else 'none'}')"
    )
    nulls = ", ".join(string(each) for each in ("", *missing))
    bare = ", ".join(f"trim({name(column)}, ' ') AS {name(column)}" for column in header.names)
    cells = ", ".join(
        f"CASE WHEN {name(column)} NOT IN ({nulls}) THEN {name(column)} END AS {name(column)}"
        for column in header.names
    )
    return f"SELECT {cells} FROM (SELECT {bare} FROM {reader})"
