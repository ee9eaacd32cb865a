"""Putting tables behind an account: by declaration in code, or by a configuration file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.arguments import taking_known
from discreet.errors import InvalidArgument, LedgerMissing
from discreet.exact import Rationalizable
from discreet.gateway.admissions import Admissions
from discreet.gateway.declaring import (
    BudgetLike,
    DeclarationLike,
    DeclaredTable,
    UnitLike,
    budget_of,
    cluster_of,
    shares_of,
    table,
    text_of,
)
from discreet.gateway.protected import Protected
from discreet.hints import Hint
from discreet.privacy import ADD_REMOVE, FAILURES, Adjacency, Limits
from discreet.tables import Column, Dataset, Source, Table, declarations_of, load_config
from discreet.tables.admission import absence, describe
from discreet.tables.schema.dataset import EMBEDDED
from discreet.tables.schema.table import MOST_LEFT_OUT, MOST_ROWS_PER_UNIT, ROW_CEILING
from discreet.tables.sources import source_at, source_of

if TYPE_CHECKING:
    from discreet.tables.proposals import DataProfile


@taking_known
def protect(  # noqa: PLR0913 — what a custodian declares, each by name
    data: object,
    *,
    name: str,
    unit: UnitLike | None = None,
    budget: BudgetLike,
    columns: Mapping[str, DeclarationLike] | None = None,
    limits: Limits | None = None,
    adjacency: Adjacency = ADD_REMOVE,
    ledger: str | Path | None = None,
    analysts: Mapping[str, BudgetLike] | None = None,
    row_ceiling: int = ROW_CEILING,
    most_rows_per_unit: int = MOST_ROWS_PER_UNIT,
    most_left_out: Rationalizable = MOST_LEFT_OUT,
    time_zone: str | None = None,
    snapshots: str | Path | None = None,
    failures: int = FAILURES,
    least_units: int = 0,
    engine: str = EMBEDDED,
    cluster: object = None,
    weaken: Collection[str] = (),
) -> Protected:
    """Put one table behind an account, or several that the same people are in.

    Tables that weren't admitted yet are read once, into a snapshot that questions are asked of. The custodian calls
    this. Later, `refresh` admits them again; sources aren't looked at in between.

    Columns that aren't mentioned may be used too, as their schema has them, but a sum needs bounds and public groups
    need keys; where a table stays in place, only those that are mentioned. A CSV file has no schema: there, what isn't
    declared is text, bounds in whole numbers declare whole numbers, and `Column(kind=Kind.REAL, bounds=…)` says
    what bounds alone can't. Everything declared is taken as public, so it must come from knowledge of what the columns
    mean.

    Args:
        data: a path (CSV, Parquet, DuckDB database), a `Source`, which also says how it is read, a pandas, Polars or
            Arrow table, or an Ibis table on DuckDB. For several tables: a list of what `table` makes, each of which
            says unit, columns, limits and row ceiling.
        name: the account's name in the ledger, and what questions call the one table.
        unit: whose presence is hidden, or the name of the column that tells units apart; needed for one table.
        budget: the loss allowed over all questions of all analysts, over all tables; a number is its ε.
        columns: declarations by column name: `Bounds` or a pair, `Keys` or a list, or `Column`, which says everything.
        limits: how much a unit may contribute to one question; left out, each question says it, or has it chosen.
        adjacency: which tables are neighbours.
        ledger: a path or database URL; `<name>.ledger` by default. Created if it isn't there.
        analysts: smaller budgets of single analysts, in all or, as `MonthlyShare`, in each month; if there are any,
            nobody else may ask.
        row_ceiling: more rows than the table will ever have.
        most_rows_per_unit: how many rows of one unit are admitted; a hash of them chooses which.
        most_left_out: the part of its records that an admission may leave out: malformed ones, and those of which it
            can't be read whose they are. More is refused, and nothing is put in force.
        time_zone: the zone in which to show times that the source holds as points in time, such as "Europe/Paris".
        snapshots: the folder of the admitted tables; beside a ledger that is a file if left out. What is in it is
            private; only the user who runs this can read it. Tables in memory stay there.
        failures: how many questions may fail after they were paid for, before nothing new is asked until
            `acknowledge_failures`; from 1 to 1,000.
        least_units: values of groups whose noisy number of units is smaller are withheld; 0 if all are shown. The
            number is measured, and paid for, with each question. A rule of many custodians: it adds no privacy.
        engine: what runs questions over the admitted tables: DuckDB, unless another one is installed and named.
        cluster: that the engine "spark" asks: the address of Spark Connect, "local" for Sail in this process, or a
            session of your own, which is used and not closed.
        weaken: changes of what is declared that may weaken what was promised once something was spent, by name:
            "budget", "failures", "publish people", "narrow people.income", "keys people.town".

    Returns:
        The protected tables: `.plan(…)`, `.ask(…)`, `.spent`, `.remaining`.

    Raises:
        SourceError: a table can't be read, or lacks a declared column.
        InvalidArgument: a declaration contradicts itself, another or the schema.
        DeclarationWeakened: something weakens what was promised, and isn't named.
        LedgerError: the account can't be opened.
        EngineUnavailable: there is no such engine.
        SnapshotError: the tables can't be admitted.

    Examples:
        >>> import pyarrow, tempfile
        >>> from discreet.privacy import Bounds, Budget, Keys, Unit
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
        own = (unit, columns, limits, row_ceiling, most_rows_per_unit, most_left_out, time_zone)
        if own != (None, None, None, ROW_CEILING, MOST_ROWS_PER_UNIT, MOST_LEFT_OUT, None):
            raise InvalidArgument(
                "unit, columns, limits, row_ceiling, most_rows_per_unit, most_left_out and time_zone belong to each "
                "table",
                hint="give them to table(…), in the list",
            )
        declared = _several(data)
    else:
        alone = table(
            data,
            name=name,
            unit=_needed(unit),
            columns=columns,
            limits=limits,
            row_ceiling=row_ceiling,
            most_rows_per_unit=most_rows_per_unit,
            most_left_out=most_left_out,
            time_zone=time_zone,
        )
        declared = (alone,)
    sources = [source_of(each.data, each.name) for each in declared]
    pairs = tuple(zip(sources, declared, strict=True))
    held = {source.location: each.data for source, each in pairs if source.kind == "memory"}
    ids = _ids(declared)
    dataset = Dataset(
        name=text_of(name, "name"),
        tables=tuple(_opened(each, source, held, ids[each.name.casefold()]) for source, each in pairs),
        budget=budget_of(budget),
        ledger=_path(ledger, "ledger") or f"{name}.ledger",
        analysts=shares_of(analysts),
        adjacency=adjacency,
        snapshots=_path(snapshots, "snapshots"),
        failures=failures,
        least_units=least_units,
        engine=text_of(engine, "engine", EMBEDDED),
        cluster=cluster_of(cluster),
    )
    protected = _open(dataset, held, create_ledger=True, weaken=weaken)
    protected.admissions.first()
    return protected


_PATHS = {"ledger": "census.ledger", "snapshots": "snapshots", "path": "discreet.toml"}
"""An example of each path."""


def _path(given: str | Path | None, name: str) -> str | None:
    """A path or URL as a text; None if there is none.

    Raises:
        InvalidArgument: it is neither.
    """
    if given is not None and not isinstance(given, str | Path):
        raise InvalidArgument(f"{name} must be a path, not {type(given).__name__}", hint=f'{name}="{_PATHS[name]}"')
    if given == "":
        text_of(given, name, _PATHS[name])  # which refuses it
    return None if given is None else str(given)


def _opened(declared: DeclaredTable, source: Source, held: Mapping[str, object], ids: frozenset[str]) -> Table:
    """A table with the columns of its schema; if it stays in place, with those that are mentioned.

    Values of the other columns couldn't be left out, so every one of them would have to be fit for questions.
    """
    schema = describe(source, held, ids)
    known = {column.name.casefold() for column in schema}
    for name in sorted(declared.mentioned) if source.kind != "jsonl" else ():
        if name.casefold() not in known and (error := absence(source, held, name)) is not None:
            raise error
    if source.in_place:
        mentioned = ids | {column.casefold() for column in declared.mentioned}
        schema = tuple(column for column in schema if column.name.casefold() in mentioned)
    return declared.opened(source, schema)


def _ids(declared: Sequence[DeclaredTable]) -> Mapping[str, frozenset[str]]:
    """The columns that tell units or linked rows apart, by table, in lower case."""
    found: dict[str, set[str]] = {each.name.casefold(): set() for each in declared}
    for each in declared:
        if each.unit is not None and each.unit.column is not None:
            found[each.name.casefold()].add(each.unit.column.casefold())
        for link in each.links:
            found[each.name.casefold()].add(link.column.casefold())
            found.get(link.table.casefold(), set()).add(link.to.casefold())
    return {name: frozenset(columns) for name, columns in found.items()}


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


def _needed(unit: UnitLike | None) -> UnitLike:
    """The unit of a table on its own."""
    if unit is None:
        raise InvalidArgument(
            "whose presence should be hidden? A single table needs a unit",
            hint='unit=Unit.row() if nobody can have two rows, else unit=Unit("person_id")',
        )
    return unit


@taking_known
def load(path: str | Path = "discreet.toml", *, create_ledger: bool = False, weaken: Collection[str] = ()) -> Protected:
    """Open the tables of a configuration file.

    Args:
        path: of the file; relative paths inside it start from its folder.
        create_ledger: start a fresh account if the ledger isn't there. Off by default: a ledger that went missing
            takes the memory of what was spent with it.
        weaken: as for `protect`.

    Returns:
        The tables behind their one account. `load()["census"]` is the same, and checks that there is such a table.

    Raises:
        ConfigError: the file can't be read; the message names the key.
        LedgerMissing: the ledger isn't there, and `create_ledger` is off.
        EngineUnavailable: there is no such engine.
        DeclarationWeakened: something weakens what was promised, and isn't named.
    """
    found = _path(path, "path") or ""
    return _open(load_config(found), {}, create_ledger=create_ledger, config=Path(found), weaken=weaken)


def create_ledger(path: str | Path) -> Dataset:
    """Begin the account of a configuration that was written by hand, in a ledger of its own.

    Args:
        path: of the configuration.

    Returns:
        What it declares.

    Raises:
        ConfigError: the file can't be read; the message names the key.
        InvalidArgument: there is a ledger: it remembers what was spent.
        LedgerError: none can be made there.
    """
    from discreet.ledger import Ledger

    dataset = load_config(path)
    try:
        Ledger.open(dataset.ledger, create=False).close()
    except LedgerMissing:
        _open(dataset, {}, create_ledger=True, config=Path(path)).close()
        return dataset
    raise InvalidArgument(
        f"there is a ledger at {dataset.ledger}, which remembers what was spent",
        hint=Hint("load it: `remaining` shows what it has left", cli="`discreet budget` shows what it has left"),
    )


@contextmanager
def admissions_of(dataset: Dataset) -> Iterator[Admissions]:
    """The versions of the tables of a configuration, for its custodian.

    Raises:
        LedgerError: the account can't be opened.
    """
    with _open(dataset, {}, create_ledger=False) as protected:
        yield protected.admissions


def inspect(
    path: str | Path | Source,
    *,
    table: str | None = None,
    peek: bool,
    unit: str | None = None,
    ids: Collection[str] = (),
) -> tuple[tuple[Column, ...], DataProfile | None, Source]:
    """Look at a table for the custodian who is about to protect it. Nothing of it may reach an analyst.

    Args:
        path: of the file, or of a folder or pattern of Parquet files; or a source, which says how it is read.
        table: inside of a database file or spreadsheet.
        peek: whether to read cells too; otherwise only the schema is looked at. Where cells have no types, columns are
            then of the kinds that are publicly known of their names: text, where nothing is.
        unit: the column that tells whose row it is, or `row`; None: the likeliest by its name.
        ids: names of other columns that may be ids, because other tables have them, too.

    Returns:
        The columns as the schema has them, what was seen in them, and the source. With `peek`, the kinds of a CSV
        file's columns are guessed from its cells, so they are as private as these.

    Raises:
        SourceError: the file can't be opened.
    """
    from discreet.tables.proposals import profile_table

    source = path if isinstance(path, Source) else source_at(path, table)
    columns, seen = profile_table(source, peek=peek, unit=unit, ids=ids)
    return columns, seen, source


def _open(
    dataset: Dataset,
    data: Mapping[str, object],
    *,
    create_ledger: bool,
    config: Path | None = None,
    weaken: Collection[str] = (),
) -> Protected:
    """Open the account and put the tables behind it. A call that may create the ledger also makes its signing key."""
    from discreet.engine import chosen_by
    from discreet.ledger import Ledger
    from discreet.ledger.database_errors import hint_to_create
    from discreet.ledger.location import key_path, locate, marks_path

    dataset = replace(dataset, chosen_by=chosen_by(dataset.engine))
    try:
        ledger = Ledger.open(dataset.ledger, create=create_ledger)
    except LedgerMissing as error:
        error.hint = hint_to_create("create_ledger=True")
        raise
    account = ledger.account(
        dataset.name,
        dataset.budget,
        dataset.analysts,
        adjacency=dataset.adjacency,
        units=dataset.units,
        failures=dataset.failures,
        tables=declarations_of(dataset),
        weaken=weaken,
        marks=marks_path(locate(dataset.ledger), config, Path(dataset.snapshots) if dataset.snapshots else None),
    )
    protected = Protected(dataset, ledger, account, data, key_path(dataset.ledger, config))
    if create_ledger and protected.signing.path is not None and protected.signing.public is None:
        protected.signing.make()
    return protected
