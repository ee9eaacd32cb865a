"""Putting tables behind an account: by declaration in code, or by a configuration file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from discreet.engine import open_engine, source_of
from discreet.errors import InvalidArgument
from discreet.gateway.declaring import Declaration, DeclaredTable, table
from discreet.gateway.protected import Protected
from discreet.privacy import ADD_REMOVE, Adjacency, Budget, Limits, Unit
from discreet.tables import Column, Dataset, Kind, Peek, Source
from discreet.tables.proposals.codebooks import codebook
from discreet.tables.proposals.facts import knowledge
from discreet.tables.schema.config import load_config
from discreet.tables.schema.table import ROW_CEILING

_BY_NAME = (Kind.TEXT, Kind.INTEGER, Kind.DATE, Kind.TIMESTAMP, Kind.REAL, Kind.BOOLEAN)
"""The kinds in the order in which they are tried: all that a CSV file is known to hold is text."""


def protect(  # noqa: PLR0913 — what a custodian declares, each by name
    data: object,
    *,
    name: str,
    unit: Unit | None = None,
    budget: Budget,
    columns: Mapping[str, Declaration] | None = None,
    limits: Limits | None = None,
    adjacency: Adjacency = ADD_REMOVE,
    ledger: str | Path | None = None,
    analysts: Mapping[str, Budget] | None = None,
    row_ceiling: int = ROW_CEILING,
) -> Protected:
    """Put one table behind an account, or several that the same people are in.

    Columns that aren't mentioned may be used too, as their schema has them, but a sum needs bounds and public groups
    need keys. A CSV file has no schema: there, what isn't declared is text, bounds in whole numbers declare whole
    numbers, and `Column(name=…, kind=Kind.REAL, bounds=…)` says what bounds alone can't. Everything declared is taken
    as public, so it must come from knowledge of what the columns mean.

    Args:
        data: a path (CSV, Parquet, DuckDB database), a pandas, Polars or Arrow table, or an Ibis table on DuckDB. For
            several tables: a list of what `table` makes, each of which says unit, columns, limits and row ceiling.
        name: the account's name in the ledger, and what questions call the one table.
        unit: whose presence is hidden; needed for one table.
        budget: the loss allowed over all questions of all analysts, over all tables.
        columns: declarations by column name.
        limits: how much a unit may contribute to one question; needed unless each row is a unit.
        adjacency: which tables are neighbours.
        ledger: a path or database URL; `<name>.ledger` by default. Created if it isn't there.
        analysts: smaller budgets of single analysts; if there are any, nobody else may ask.
        row_ceiling: more rows than the table will ever have.

    Returns:
        The protected tables: `.plan(…)`, `.ask(…)`, `.spent`, `.remaining`.

    Raises:
        SourceError: a table can't be opened, or lacks a declared column.
        InvalidArgument: a declaration contradicts itself, another or the schema.
        LedgerError: the account can't be opened.

    Examples:
        >>> import pyarrow, tempfile
        >>> from discreet.privacy import Bounds, Keys
        >>> people = {"age": [34, 71, 52], "sex": ["Female", "Male", "Female"]}
        >>> census = protect(
        ...     pyarrow.table(people),
        ...     name="census",
        ...     unit=Unit.row(),
        ...     columns={"age": Bounds(0, 110), "sex": Keys(["Female", "Male"])},
        ...     budget=Budget(epsilon=3, delta=1e-6),
        ...     ledger=Path(tempfile.mkdtemp()) / "census.ledger",
        ... )
        >>> print(census.plan("SELECT sex, AVG(age) AS age FROM census GROUP BY sex", epsilon=1).cost)
        ε = 1
    """
    if isinstance(data, list | tuple | DeclaredTable):
        if (unit, columns, limits, row_ceiling) != (None, None, None, ROW_CEILING):
            raise InvalidArgument(
                "unit, columns, limits and row_ceiling are each table's own", hint="give them to table(…), in the list"
            )
        declared = _several(data)
    else:
        whose = _needed(unit)
        alone = table(data, name=name, unit=whose, columns=columns, limits=limits, row_ceiling=row_ceiling)
        declared = (alone,)
    sources = [source_of(each.data, each.name) for each in declared]
    pairs = tuple(zip(sources, declared, strict=True))
    held = {source.location: each.data for source, each in pairs if source.kind == "memory"}
    engine = open_engine(sources, held)
    dataset = Dataset(
        name=name,
        tables=tuple(each.opened(source, engine.describe(source, guess=False)) for source, each in pairs),
        budget=budget,
        ledger=str(ledger) if ledger is not None else f"{name}.ledger",
        analysts=dict(analysts or {}),
        adjacency=adjacency,
    )
    return _open(dataset, held, create_ledger=True)


def _several(data: Sequence[object] | DeclaredTable) -> tuple[DeclaredTable, ...]:
    """The tables of a list, which may be one."""
    listed = (data,) if isinstance(data, DeclaredTable) else tuple(data)
    tables = tuple(each for each in listed if isinstance(each, DeclaredTable))
    if len(tables) < len(listed) or not tables:
        raise InvalidArgument(
            "a list of tables holds what table(…) makes, and nothing else",
            hint='[table("customers.csv", name="customers", unit=Unit("id"), …), table("orders.csv", …)]',
        )
    return tables


def _needed(unit: Unit | None) -> Unit:
    """The unit of a table on its own."""
    if unit is None:
        raise InvalidArgument(
            "whose presence is to be hidden? A table on its own needs a unit",
            hint='unit=Unit.row() if nobody can have two rows, else unit=Unit("person_id")',
        )
    return unit


def load(path: str | Path = "discreet.toml", *, create_ledger: bool = False) -> dict[str, Protected]:
    """Open the tables of a configuration file.

    Args:
        path: of the file; relative paths inside it start from its folder.
        create_ledger: start a fresh account if the ledger isn't there. Off by default: a ledger that went missing
            takes the memory of what was spent with it.

    Returns:
        The private tables by name. They share one account, and whichever is taken, questions may name them all, and
        the public ones beside.

    Raises:
        ConfigError: the file can't be read; the message names the key.
        LedgerMissing: the ledger isn't there, and `create_ledger` is off.
    """
    dataset = load_config(path)
    protected = _open(dataset, {}, create_ledger=create_ledger)
    return {table.name: protected for table in dataset.private}


def inspect(
    path: str | Path, *, table: str | None = None, peek: bool
) -> tuple[tuple[Column, ...], Peek | None, Source]:
    """Look at a table for the custodian who is about to protect it. Nothing of it may reach an analyst.

    Args:
        path: of the file.
        table: inside of a database file.
        peek: whether to read values too; otherwise only the schema is looked at. A CSV file's is the names in its
            header, and columns are of the kinds that are publicly known of these: text, where nothing is.

    Returns:
        The columns as the schema has them, what was seen in them, and the source. With `peek`, the kinds of a CSV
        file's columns are guessed from its cells, so they are as private as these.

    Raises:
        SourceError: the file can't be opened.
    """
    source = Source.of(path, table=table)
    engine = open_engine([source])
    columns = engine.describe(source, guess=peek)
    if peek:
        return columns, engine.peek(source, columns), source
    return _known(columns) if source.kind == "csv" else columns, None, source


def _known(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Columns by the kinds that anybody may know from their names; text, where nobody does."""
    book = codebook([column.name for column in columns])

    def kind_of(name: str) -> Kind:
        in_book = (kind for kind in _BY_NAME if book is not None and book.about(name, kind) is not None)
        anywhere = (kind for kind in _BY_NAME if knowledge(name, kind) is not None)
        return next(chain(in_book, anywhere), Kind.TEXT)

    return tuple(replace(column, kind=kind_of(column.name)) for column in columns)


def _open(dataset: Dataset, data: Mapping[str, object], *, create_ledger: bool) -> Protected:
    """Open the account and put the tables behind it."""
    from discreet.ledger import Ledger

    ledger = Ledger.open(dataset.ledger, create=create_ledger)
    account = ledger.account(dataset.name, dataset.budget, dataset.analysts, adjacency=dataset.adjacency)
    return Protected(dataset, ledger, account, data)
