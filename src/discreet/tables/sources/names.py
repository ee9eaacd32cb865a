"""The names in a source, of its columns and of its tables: one rule for every format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from discreet.errors import SourceMissing, SourceUnsupported
from discreet.tables.schema.source import Source

T = TypeVar("T")

MOST_COLUMNS = 100_000


def column_names(written: Sequence[str], location: str) -> tuple[str, ...]:
    """The names as they are written, without spaces around them; a blank one is called `column N`.

    Args:
        written: in the source's order.
        location: what to call the source in an error.

    Raises:
        SourceUnsupported: there are no columns or too many, or two names are equal or differ in case alone. Their
            numbers are named, and not they: a text file that lacks its header has somebody's row there.

    Examples:
        >>> column_names(["age", "", " sex "], "census.csv")
        ('age', 'column 2', 'sex')
        >>> column_names(["age", "Age"], "census.csv")
        Traceback (most recent call last):
            ...
        discreet.errors.SourceUnsupported: 'census.csv' has the name of column 1 again for column 2 (...)
    """
    if not 0 < len(written) <= MOST_COLUMNS:
        raise SourceUnsupported(f"{location!r} has {len(written):,} columns", hint=f"a table has 1 to {MOST_COLUMNS:,}")
    names = tuple(name.strip() or f"column {number}" for number, name in enumerate(written, start=1))
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        earlier = first.setdefault(name.casefold(), number)
        if earlier != number:
            raise SourceUnsupported(
                f"{location!r} has the name of column {earlier} again for column {number}",
                hint="give each column a name of its own; case makes no difference",
            )
    return names


def only(matching: Sequence[T], source: Source, whole: str, part: str, there: Sequence[str]) -> T:
    """The one of several parts that a source means; the only one, if none is named.

    Args:
        matching: those that it may mean.
        source: with the name that is wanted, if one is.
        whole: what has the parts, in an error.
        part: what they are.
        there: the names of all.

    Raises:
        SourceMissing: none, or several, may be meant.

    Examples:
        >>> only(["people"], Source.of("clinic.duckdb"), "database", "table", ["people"])
        'people'
    """
    if len(matching) != 1:
        problem = (
            f"no {part} {source.table!r}" if source.table is not None else f"{len(there)} {part}s, and none is named"
        )
        raise SourceMissing(
            f"the {whole} {source.location!r} has {problem}", hint=f"it has {', '.join(there)}" if there else ""
        )
    return matching[0]
