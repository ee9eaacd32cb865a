"""Limits in plain Python, row by row: what the limiting SQL must come to."""

from __future__ import annotations

import atexit
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeAlias
from unittest.mock import patch

import duckdb

from discreet.duckdb.session import Connection
from discreet.engine.duckdb import adding_up
from discreet.engine.duckdb.adding_up import Found, PartsFound, added_up
from discreet.engine.duckdb.aggregation import Shape, Statements
from discreet.engine.duckdb.clauses import salted
from discreet.engine.duckdb.contribution_limits import limit_contributions

Values: TypeAlias = tuple[Any, ...]
Counts: TypeAlias = dict[Values, int]
Hash: TypeAlias = Callable[[Values], int]


@dataclass(frozen=True)
class Entry:
    """One row of the view `contributions`: whose it is, its group, and what it brings to each measure."""

    unit: Values
    key: Values
    values: Values


@dataclass(frozen=True)
class Answer:
    """What a program comes to: per group one number per measure, and per histogram the counts by group and bin."""

    measures: dict[Values, Values]
    histograms: tuple[Counts, ...]


def asked_of_duckdb(
    shape: Shape, entries: Sequence[Entry], types: Sequence[str], *, colliding: bool = False, threads: int = 1
) -> Answer:
    """The answer of the SQL.

    Args:
        shape: of the question.
        entries: the rows.
        types: of the columns `v0, v1, …`.
        colliding: whether all hashes are made equal.
        threads: how many.
    """
    with connected(threads) as connection:
        statements = _prepared(connection, shape, entries, types)
        return run_program(connection, collide(statements) if colliding else statements, shape)


def asked_in_parts(
    shape: Shape, entries: Sequence[Entry], types: Sequence[str], parts: int, *, colliding: bool = False
) -> Answer:
    """The answer of the SQL, asked of one part of the units after the other, and added up two by two."""
    units = list(dict.fromkeys(each.unit for each in entries))
    connection = _connection(1)
    try:
        found = PartsFound(shape, parts)
        for part in range(parts):
            own = units[part::parts] if shape.units else []
            rows = [each for each in entries if each.unit in own] if shape.units else entries[part::parts]
            with connection.cursor() as cursor, patch.object(adding_up, "_TOGETHER", 2):
                cursor.execute("BEGIN TRANSACTION")
                program = _prepared(cursor, shape, rows, types)
                program = collide(program) if colliding else program
                for statement in program.setup:
                    cursor.execute(statement)
                found.add(Connection(cursor), program)
        return _answer(connection, shape, found.all)
    finally:
        for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            connection.execute(f"DROP TABLE {table}")


def _prepared(
    connection: duckdb.DuckDBPyConnection, shape: Shape, entries: Sequence[Entry], types: Sequence[str]
) -> Statements:
    """What the statements read, made, and the statements."""
    units = [("u0", "UINTEGER"), ("size", "UINTEGER"), *_typed("i", unit_types(shape))]
    units = units if shape.is_coded else _typed("u", unit_types(shape))
    columns = [*units, *_typed("k", key_types(shape)), *_typed("v", types), ("one", "BOOLEAN")]
    connection.execute(f"CREATE TEMP TABLE contributions ({', '.join(map(' '.join, columns))})")
    if entries:
        sizes = Counter(each.unit for each in entries)
        codes = {unit: code for code, unit in enumerate(sizes)}
        known = {
            unit: (code, sizes[unit] + code % 3, *unit) if shape.is_coded else unit for unit, code in codes.items()
        }
        rows = [[*known[each.unit], *each.key, *each.values, True] for each in entries]
        unnested = ", ".join("unnest(?)" for _ in columns)
        connection.execute(
            f"INSERT INTO contributions SELECT {unnested}", [list(each) for each in zip(*rows, strict=True)]
        )
    # Half of them had no public key.
    connection.execute("CREATE TEMP VIEW source_rows AS FROM contributions UNION ALL FROM contributions")
    for number in shape.late:
        connection.execute(
            f"CREATE TEMP TABLE keys{number} AS SELECT DISTINCT k{number} AS i, k{number} AS v FROM contributions"
        )
    return limit_contributions(shape)


@contextmanager
def connected(threads: int = 1) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection, without what others made in it: to start DuckDB takes longer than to ask it."""
    connection = _connection(threads)
    connection.execute("BEGIN TRANSACTION")
    try:
        yield connection
    finally:
        connection.execute("ROLLBACK")


@cache
def _connection(threads: int) -> duckdb.DuckDBPyConnection:
    """The one with so many threads."""
    return duckdb.connect(config={"threads": threads})


atexit.register(_connection.cache_clear)  # DuckDB complains of what is left


def run_program(connection: duckdb.DuckDBPyConnection, program: Statements, shape: Shape) -> Answer:
    """Run all statements on a connection that has the views."""
    for statement in program.setup:
        connection.execute(statement)
    return _answer(connection, shape, [Found.here(program)])


def _answer(connection: duckdb.DuckDBPyConnection, shape: Shape, found: Sequence[Found]) -> Answer:
    """What parts found, added up."""
    groups, histograms = added_up(Connection(connection), shape, found)
    measures = {row[: shape.keys]: row[shape.keys :] for row in groups}
    assert len(measures) == len(groups)
    counts = []
    for table in histograms:
        bins = [
            ((*key, bin_), int(count))
            for *key, numbers, sizes in zip(*(column.to_pylist() for column in table.columns), strict=True)
            for bin_, count in zip(numbers, sizes, strict=True)
        ]
        counts.append(dict(bins))
        assert len(counts[-1]) == len(bins)
    return Answer(measures, tuple(counts))


def collide(program: Statements) -> Statements:
    """The program of an analyst who has made all hashes equal."""
    return replace(program, setup=tuple(each.replace("hash(", "0 * hash(") for each in program.setup))


def by_hand(shape: Shape, entries: Sequence[Entry], types: Sequence[str], *, colliding: bool = False) -> Answer:
    """The answer by the words of the rule."""
    if shape.units == 0:  # each row is a unit
        entries = [Entry((number,), each.key, each.values) for number, each in enumerate(entries)]
    in_groups = list(_in_groups(shape, entries, colliding=colliding))
    kept = in_groups if shape.limits.rows is None or shape.groups is None else entries
    groups = {each.key for each in kept} if shape.keys else {()}
    columns: list[Counts] = []
    histograms = []
    for number, adds in enumerate(shape.measures):
        of_value = types[number]
        match adds.what:
            case "units":
                columns.append(Counter(key for _, key in {(each.unit, each.key) for each in in_groups}))
            case "distinct":
                columns.append(_different(shape, kept, number, of_value, colliding=colliding))
            case "histogram":
                columns.append({})
                histograms.append(_histogram(shape, kept, number))
            case _:
                columns.append(_sums(shape, kept, number))
    return Answer(
        {group: tuple(column.get(group, 0) for column in columns) for group in groups},
        tuple(histograms),
    )


def towards_zero(total: int, limit: int, rows: int) -> int:
    """A total times limit/rows, if there are more rows than the limit."""
    return total if rows <= limit else abs(total) * limit // rows * (1 if total >= 0 else -1)


def unit_types(shape: Shape) -> list[str]:
    """The types of the unit's columns."""
    return ["BIGINT", "DATE"][: shape.units]


def key_types(shape: Shape) -> list[str]:
    """The types of the keys."""
    return ["BIGINT", "VARCHAR"][: shape.keys]


def _in_groups(shape: Shape, entries: Sequence[Entry], *, colliding: bool) -> Iterator[Entry]:
    """The rows in the groups that each unit keeps."""
    if shape.units == 0 or shape.limits.groups is None:
        yield from entries
        return
    for unit, own in _split(entries, lambda each: each.unit):
        place = _place([*unit_types(shape), *key_types(shape)], shape.salt, colliding=colliding)
        groups = sorted({each.key for each in own}, key=lambda key: place(unit, key))
        yield from (each for each in own if each.key in groups[: shape.limits.groups])


def _scopes(shape: Shape, kept: Sequence[Entry]) -> Iterator[tuple[int, list[Entry]]]:
    """Rows that share one limit, with that limit."""
    for _, own in _split(kept, lambda each: each.unit):
        if shape.units == 0:
            yield 1, own
        elif shape.limits.rows is not None:
            yield shape.limits.rows, own
        else:
            assert shape.limits.rows_per_group is not None
            yield from ((shape.limits.rows_per_group, group) for _, group in _split(own, lambda each: each.key))


def _different(shape: Shape, kept: Sequence[Entry], number: int, of_value: str, *, colliding: bool) -> Counts:
    """Different values per group: of each scope, the first pairs of group and value in the order of their hashes."""
    place = _place([*unit_types(shape), *key_types(shape), of_value], shape.salt, colliding=colliding)
    found = set()
    for limit, own in _scopes(shape, kept):
        pairs = {(*each.key, each.values[number]) for each in own if each.values[number] is not None}
        if shape.units == 0:
            found |= pairs
        else:
            found |= set(sorted(pairs, key=lambda pair: place(own[0].unit, pair))[:limit])
    return Counter(pair[:-1] for pair in found)


def _histogram(shape: Shape, kept: Sequence[Entry], number: int) -> Counts:
    """Counts by group and bin: each scope's own, scaled."""
    found: Counts = defaultdict(int)
    for limit, own in _scopes(shape, kept):
        bins = Counter((*each.key, each.values[number]) for each in own if each.values[number] is not None)
        for place, count in bins.items():
            found[place] += towards_zero(count * shape.measures[number].constant, limit, bins.total())
    return {place: count for place, count in found.items() if count}


def _sums(shape: Shape, kept: Sequence[Entry], number: int) -> Counts:
    """Sums per group: each scope's own, scaled."""
    adds = shape.measures[number]
    found: Counts = defaultdict(int)
    for limit, own in _scopes(shape, kept):
        for key, rows in _split(own, lambda each: each.key):
            values = [each.values[number if adds.of is None else adds.of] for each in rows]
            total = {
                "constant": adds.constant * len(values),
                "present": adds.constant * sum(value is not None for value in values),
                "values": sum(value or 0 for value in values) if adds.what == "values" else 0,
                "rest": sum(adds.constant - value for value in values if value is not None)
                if adds.what == "rest"
                else 0,
            }[adds.what]
            found[key] += towards_zero(total, limit, len(own))
    return found


def _place(types: Sequence[str], salt: str, *, colliding: bool) -> Callable[[Values, Values], Values]:
    """What is chosen goes by its hash, then by itself, NULL last and text by its bytes."""

    def place(unit: Values, chosen: Values) -> Values:
        order = ((value is None, value.encode() if isinstance(value, str) else value) for value in chosen)
        return 0 if colliding else _hashed((*unit, *chosen), tuple(types), salt), *order

    return place


_HASHES = duckdb.connect()


@cache
def _hashed(values: Values, types: tuple[str, ...], salt: str) -> int:
    """DuckDB's hash of these values and the salt."""
    arguments = ", ".join(f"CAST(? AS {each})" for each in types)
    ((found,),) = _HASHES.execute(f"SELECT hash({arguments}, {salted(salt)})", values).fetchall()
    return int(found)


def _split(entries: Sequence[Entry], by: Callable[[Entry], Values]) -> Iterator[tuple[Values, list[Entry]]]:
    """Rows by what they have in common."""
    parts: dict[Values, list[Entry]] = defaultdict(list)
    for each in entries:
        parts[by(each)].append(each)
    return iter(parts.items())


def _typed(prefix: str, types: Sequence[str]) -> list[tuple[str, str]]:
    """Numbered columns with their types."""
    return [(f"{prefix}{number}", each) for number, each in enumerate(types)]
