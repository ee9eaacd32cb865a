"""Putting tables behind an account: by declaration in code, or by a configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from discreet.dataset import Column, Dataset, Kind, Peek, Source, Table
from discreet.dataset.column import kind_of
from discreet.dataset.config import load_config
from discreet.engine import open_engine, source_of
from discreet.errors import InvalidArgument
from discreet.gateway.protected import Protected
from discreet.privacy import ADD_REMOVE, Adjacency, Bounds, Budget, Keys, Limits, Unit

Declaration: TypeAlias = Bounds | Keys | Column | None
"""What is declared of a column: bounds, keys, everything, or (None) only that questions may use it."""


def protect(  # noqa: PLR0913 — what a custodian declares, each by name
    data: object,
    *,
    name: str,
    unit: Unit,
    budget: Budget,
    columns: Mapping[str, Declaration] | None = None,
    limits: Limits | None = None,
    adjacency: Adjacency = ADD_REMOVE,
    ledger: str | Path | None = None,
    analysts: Mapping[str, Budget] | None = None,
    row_ceiling: int = 2**40,
) -> Protected:
    """Put one table behind an account.

    Columns that aren't mentioned may be used too, as their schema has them, but a sum needs bounds and public groups
    need keys. A CSV file has no schema: there, what isn't declared is text, bounds in whole numbers declare whole
    numbers, and `Column(name=…, kind=Kind.REAL, bounds=…)` says what bounds alone can't. Everything declared is taken
    as public, so it must come from knowledge of what the columns mean.

    Args:
        data: a path (CSV, Parquet, DuckDB database), a pandas, Polars or Arrow table, or an Ibis table on DuckDB.
        name: what questions call the table, and the account's name in the ledger.
        unit: whose presence is hidden.
        budget: the loss allowed over all questions of all analysts.
        columns: declarations by column name.
        limits: how much a unit may contribute to one question; needed unless each row is a unit.
        adjacency: which tables are neighbours.
        ledger: a path or database URL; `<name>.ledger` by default. Created if it isn't there.
        analysts: smaller budgets of single analysts; if there are any, nobody else may ask.
        row_ceiling: more rows than the table will ever have.

    Returns:
        The protected table: `.plan(…)`, `.ask(…)`, `.spent`, `.remaining`.

    Raises:
        SourceError: the table can't be opened, or lacks a declared column.
        InvalidArgument: a declaration contradicts itself or the schema.
        LedgerError: the account can't be opened.

    Examples:
        >>> import pyarrow, tempfile
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
    if limits is None and not unit.is_row:
        raise InvalidArgument(
            f"a unit of {unit} may have many rows, so it needs limits",
            hint="limits=Limits(rows=50), or Limits(groups=5, rows_per_group=10)",
        )
    source = source_of(data, name)
    engine = open_engine(source, data)
    table = Table(
        name=name,
        source=source,
        columns=_declare(engine.describe(guess=False), columns or {}, source),
        unit=unit,
        limits=limits or Limits(rows=1),
        row_ceiling=row_ceiling,
    )
    dataset = Dataset(
        name=name,
        tables=(table,),
        budget=budget,
        ledger=str(ledger) if ledger is not None else f"{name}.ledger",
        analysts=dict(analysts or {}),
        adjacency=adjacency,
    )
    return _open(dataset, {source.location: data}, create_ledger=True)


def load(path: str | Path = "discreet.toml", *, create_ledger: bool = False) -> dict[str, Protected]:
    """Open the tables of a configuration file.

    Args:
        path: of the file; relative paths inside it start from its folder.
        create_ledger: start a fresh account if the ledger isn't there. Off by default: a ledger that went missing
            takes the memory of what was spent with it.

    Returns:
        The tables by name; they share one account.

    Raises:
        ConfigError: the file can't be read; the message names the key.
        LedgerMissing: the ledger isn't there, and `create_ledger` is off.
    """
    dataset = load_config(path)
    protected = _open(dataset, {}, create_ledger=create_ledger)
    return {table.name: protected for table in dataset.tables}


def inspect(
    path: str | Path, *, table: str | None = None, peek: bool
) -> tuple[tuple[Column, ...], Peek | None, Source]:
    """Look at a table for the custodian who is about to protect it. Nothing of it may reach an analyst.

    Args:
        path: of the file.
        table: inside of a database file.
        peek: whether to read values too; otherwise only the schema is looked at.

    Returns:
        The columns as the schema has them, what was seen in them, and the source.

    Raises:
        SourceError: the file can't be opened.
    """
    source = Source.of(path, table=table)
    engine = open_engine(source)
    columns = engine.describe()
    return columns, engine.peek(columns) if peek else None, source


def _open(dataset: Dataset, data: Mapping[str, object], *, create_ledger: bool) -> Protected:
    """Open the account and put the tables behind it."""
    from discreet.ledger import Ledger

    ledger = Ledger.open(dataset.ledger, create=create_ledger)
    account = ledger.account(dataset.name, dataset.budget, dataset.analysts, adjacency=dataset.adjacency)
    return Protected(dataset, ledger, account, data)


def _declare(schema: tuple[Column, ...], declared: Mapping[str, Declaration], source: Source) -> tuple[Column, ...]:
    """The schema's columns with what is declared of them."""
    names = {column.name.casefold(): column for column in schema}
    for name in declared:
        if name.casefold() not in names:
            raise InvalidArgument(
                f"the table has no column {name!r}", hint=f"it has {', '.join(column.name for column in schema)}"
            )
    by_name = {name.casefold(): declaration for name, declaration in declared.items()}
    return tuple(_column(column, by_name.get(column.name.casefold()), source) for column in schema)


def _column(column: Column, declaration: Declaration, source: Source) -> Column:
    """One column with what is declared of it.

    A CSV file has no schema but what its cells look like, and one person's cell may change that look. So there the
    declaration alone says what kind a column is, and without one it is text.
    """
    if isinstance(declaration, Column):
        return declaration
    kind = column.kind
    if source.kind == "csv":
        kind = Kind.TEXT if declaration is None else kind_of(declaration)
    return Column(
        name=column.name,
        kind=kind,
        bounds=declaration if isinstance(declaration, Bounds) else None,
        keys=declaration if isinstance(declaration, Keys) else None,
        nullable=column.nullable,
    )
