"""Examples: questions that work, made of what is declared of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

from discreet.results import quoted

_PLAIN = re.compile("[a-z_][a-z0-9_]*", re.ASCII)

_RESERVED = frozenset(
    """all and any as asc between by case cast cross current_date current_time current_timestamp date day default desc
    distinct else end except exists extract false filter first following for from full group grouping having hour if
    in index inner intersect interval into is join key keys last left like limit minute month natural not null nulls of
    offset on or order outer over partition percent position preceding primary qualify range rank references right row
    rows sample second select set similar some table tablesample text then time timestamp to trim true type unbounded
    union unique unit unnest user using value values week when where window with year""".split()  # noqa: SIM905 — read more easily than a word a line
)
"""Words that mean something in SQL: a column of such a name is quoted."""

_MOST_KEYS = 40
"""Groups, of which a picture is still read at a glance."""

_BINS = 15
"""About how many bins a range of numbers has."""

_FEWEST = 10
"""A shorter range has no bins."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question to begin with.

    Args:
        words: what it asks.
        sql: the same.
    """

    words: str
    sql: str


def is_plain(name: str) -> bool:
    """Whether a name can stand in SQL as it is."""
    return _PLAIN.fullmatch(name) is not None and name not in _RESERVED


def named(name: str) -> str:
    """A name as SQL has it: as it is where it can stand so, else in quotes.

    Examples:
        >>> named("age"), named("Order"), named("order")
        ('age', '"Order"', '"order"')
    """
    return name if is_plain(name) else quoted(name)


def examples(tables: Sequence[Mapping[str, Any]], most: int = 5) -> list[Example]:
    """Questions that need nothing but what is declared; the first one needs the least.

    Args:
        tables: as the service describes them; the first private one is asked about.
        most: how many.

    Examples:
        >>> ward = {"name": "ward", "kind": "text", "keys": ["A", "B"], "bounds": None}
        >>> age = {"name": "age", "kind": "integer", "keys": None, "bounds": [0, 120]}
        >>> for each in examples([{"name": "people", "public": False, "columns": [ward, age]}]):
        ...     print(each.words)
        How many rows are there?
        How many rows for each ward?
        What is age on average, for each ward?
        How is age spread?
        What is the median of age?
    """
    table = next((each for each in tables if not each["public"]), None)
    return [] if table is None else list(_about(table))[:most]


def _about(table: Mapping[str, Any]) -> Iterator[Example]:
    """Questions about a table."""
    source = f"FROM {named(table['name'])}"
    yield Example("How many rows are there?", f"SELECT COUNT(*) AS n\n{source}")
    columns = table["columns"]
    key = next((each["name"] for each in columns if each["keys"] and 1 < len(each["keys"]) <= _MOST_KEYS), None)
    numbers = [each for each in columns if is_number(each)]
    number = max(numbers, key=lambda each: each["bounds"][1] - each["bounds"][0], default=None)
    if key is not None:
        by = named(key)
        yield Example(f"How many rows for each {key}?", f"SELECT {by}, COUNT(*) AS n\n{source}\nGROUP BY {by}")
        if number is not None:
            of = named(number["name"])
            sql = f"SELECT {by}, COUNT(*) AS n, AVG({of}) AS average\n{source}\nGROUP BY {by}"
            yield Example(f"What is {number['name']} on average, for each {key}?", sql)
    for each in numbers[:1]:
        width = width_of(*each["bounds"])
        if width is not None:
            bins = f"FLOOR({named(each['name'])} / {width}) * {width}"
            sql = f"SELECT {bins} AS begins_at, COUNT(*) AS n\n{source}\nGROUP BY begins_at"
            yield Example(f"How is {each['name']} spread?", sql)
    if number is not None:
        sql = f"SELECT MEDIAN({named(number['name'])}) AS median\n{source}"
        yield Example(f"What is the median of {number['name']}?", sql)


def is_number(column: Mapping[str, Any]) -> bool:
    """Whether a column has numbers within bounds."""
    bounds = column["bounds"]
    return bounds is not None and all(isinstance(end, int | float) and not isinstance(end, bool) for end in bounds)


def width_of(least: float, most: float) -> int | None:
    """The width of bins that are read easily; None for a range that has none."""
    if most - least < _FEWEST:
        return None
    exact = (most - least) / _BINS
    power = 10 ** floor(log10(exact))
    return max(1, int(next(part * power for part in (1, 2, 5, 10) if part * power >= exact)))
