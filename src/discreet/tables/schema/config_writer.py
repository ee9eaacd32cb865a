"""Writing discreet.toml: everything public about private tables, each number exact, with comments where they help."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

from discreet.errors import ConfigError, SourceUnsupported
from discreet.exact.rational import rational
from discreet.privacy import FAILURES, Budget, Limits, MonthlyShare, Unit
from discreet.tables.schema.column import LONGEST_TEXT, Column
from discreet.tables.schema.config import relocated
from discreet.tables.schema.dataset import EMBEDDED, Dataset
from discreet.tables.schema.source import Source
from discreet.tables.schema.spark import SparkConnect
from discreet.tables.schema.table import MOST_LEFT_OUT, MOST_ROWS_PER_UNIT, ROW_CEILING, Link, Table
from discreet.tables.schema.toml import comment, dotted, key, write_config
from discreet.tables.schema.toml_values import Value, value


def dumps(dataset: Dataset, *, folder: str | os.PathLike[str] | None = None, notes: Notes | None = None) -> str:
    """Write a configuration as text: `loads(dumps(dataset)) == dataset`.

    Args:
        dataset: what to write.
        folder: where the file will stand; paths inside of it are written relative to it, so that it can be moved as
            a whole. None leaves paths as they are.
        notes: comments, by the path of the entry they're on. They change nothing about what is read back.

    Raises:
        ConfigError: a table exists in memory only, or a name or number can't be written.

    Examples:
        >>> from discreet.tables import Column, Kind, Source, Table
        >>> from discreet.privacy import Bounds, Budget, Unit
        >>> age = Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 125))
        >>> table = Table(name="census", source=Source.of("census.csv"), columns=(age,), unit=Unit.row())
        >>> print(dumps(Dataset(name="census", tables=(table,), budget=Budget(3), ledger="census.ledger")))
        name = "census"
        ledger = "census.ledger"
        adjacency = "add_remove"
        <BLANKLINE>
        [budget]
        epsilon = 3
        <BLANKLINE>
        [tables.census]
        source = "census.csv"
        unit = "row"
        <BLANKLINE>
        [tables.census.columns]
        age = { kind = "integer", bounds = [0, 125] }
        <BLANKLINE>
    """
    if folder is not None:
        base = Path(folder).absolute()
        dataset = relocated(dataset, lambda location: _relative(Path(location).absolute(), base))
    return "\n".join([*_Writer(notes or {}).document(dataset), ""])


def save_config(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write a configuration to a file, whole or not at all; one that is there is replaced.

    Raises:
        ConfigError: a table exists in memory only, a name or number can't be written, or the file can't be.
    """
    write_config(dumps(dataset, folder=Path(path).absolute().parent), path, replacing=True)


def _relative(location: Path, folder: Path) -> str:
    """The path as seen from the folder if it lies inside, else as it is."""
    return location.relative_to(folder).as_posix() if location.is_relative_to(folder) else str(location)


_WIDTH = 110


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Comments on one entry of a configuration.

    Args:
        above: lines before it.
        beside: a remark at the end of its line; it moves above where the line would grow too long.
        below: lines after it.
    """

    above: tuple[str, ...] = ()
    beside: str = ""
    below: tuple[str, ...] = ()


KeyPath: TypeAlias = tuple[str, ...]
Notes: TypeAlias = Mapping[KeyPath, Note]
"""Comments by the entry's path; the empty path is the whole file."""

_SILENT = Note()


@dataclass(frozen=True, slots=True)
class _Writer:
    """The lines of a configuration, with the comments that belong to them."""

    notes: Notes

    def document(self, dataset: Dataset) -> Iterator[str]:
        """The whole file."""
        top = self.notes.get((), _SILENT)
        if top.above:
            yield from map(comment, top.above)
            yield ""
        yield from self.entry((), "name", dataset.name)
        yield from self.entry((), "ledger", dataset.ledger)
        if dataset.snapshots is not None:
            yield from self.entry((), "snapshots", dataset.snapshots)
        if dataset.schema is not None:
            yield from self.entry((), "schema", dataset.schema)
        yield from self.entry((), "adjacency", dataset.adjacency.value)
        if dataset.failures != FAILURES:
            yield from self.entry((), "failures", Fraction(dataset.failures))
        if dataset.least_units:
            yield from self.entry((), "least_units", Fraction(dataset.least_units))
        if dataset.engine != EMBEDDED:
            yield from self.entry((), "engine", dataset.engine)
        yield from self.cluster(("spark",), dataset.cluster)
        yield from self.budget(("budget",), dataset.budget)
        for analyst, share in dataset.analysts.items():
            yield from self.budget(("analysts", analyst), share)
        for table in dataset.tables:
            yield from self.table(table)
        yield from map(comment, top.below)

    def budget(self, path: KeyPath, budget: Budget) -> Iterator[str]:
        """A budget under its header."""
        yield from self.header(path)
        amounts = {"epsilon": budget.epsilon, "rho": budget.rho, "delta": budget.delta or None}
        for name, amount in amounts.items():
            if amount is not None:
                yield from self.entry(path, name, amount)
        if isinstance(budget, MonthlyShare):
            yield from self.entry(path, "renews", "monthly")

    def cluster(self, path: KeyPath, cluster: SparkConnect | None) -> Iterator[str]:
        """Where the cluster is, if there is one."""
        if cluster is None:
            return
        if cluster.session is not None:
            raise ConfigError("no configuration can name a session", hint="name the address of its cluster")
        yield from self.header(path)
        yield from self.entry(path, "remote", cluster.remote)
        if cluster.tasks is not None:
            yield from self.entry(path, "tasks", Fraction(cluster.tasks))

    def table(self, table: Table) -> Iterator[str]:
        """A table and its columns."""
        path = ("tables", table.name)
        yield from self.header(path)
        yield from self.entry(path, "source", _source(table))
        if table.source.missing:
            yield from self.entry(path, "missing", list(table.source.missing))
        for name, item in _whose(table).items():
            yield from self.entry(path, name, item)
        if table.refresh:
            yield from self.entry(path, "refresh", table.refresh)
        if table.row_ceiling != ROW_CEILING:
            yield from self.entry(path, "row_ceiling", Fraction(table.row_ceiling))
        if table.most_rows_per_unit != MOST_ROWS_PER_UNIT:
            yield from self.entry(path, "most_rows_per_unit", Fraction(table.most_rows_per_unit))
        if table.most_left_out != MOST_LEFT_OUT:
            yield from self.entry(path, "most_left_out", table.most_left_out)
        yield from self.header((*path, "columns"))
        for column in table.columns:
            yield from self.entry((*path, "columns"), column.name, declaration(column))

    def header(self, path: KeyPath) -> Iterator[str]:
        """The header of a table of TOML."""
        yield ""
        yield from self.noted(path, f"[{dotted(path)}]")

    def entry(self, path: KeyPath, name: str, item: Value) -> Iterator[str]:
        """One key and its value."""
        yield from self.noted((*path, name), f"{key(name)} = {value(item)}")

    def noted(self, path: KeyPath, text: str) -> Iterator[str]:
        """The text, with the comments on it."""
        note = self.notes.get(path, _SILENT)
        yield from map(comment, note.above)
        remark = comment(note.beside) if note.beside else ""
        fits = "\n" not in text and len(text) + len(remark) < _WIDTH
        if remark and not fits:
            yield remark
        yield f"{text}  {remark}" if remark and fits else text
        yield from map(comment, note.below)


def declaration(column: Column) -> dict[str, Value]:
    """The right-hand side of a column's declaration."""
    item: dict[str, Value] = {"kind": column.kind.value}
    if column.bounds is not None:
        ends = column.bounds.lo, column.bounds.hi
        item["bounds"] = [end if isinstance(end, date) else rational(end, "bound") for end in ends]
    if column.keys is not None:
        item["keys"] = list(column.keys)
    if column.time_zone is not None:
        item["time_zone"] = column.time_zone
    if column.places is not None:
        item["places"] = column.places
    if column.max_length != LONGEST_TEXT:
        item["max_length"] = column.max_length
    item |= column.form
    if not column.nullable:
        item["nullable"] = False
    return item


def _source(table: Table) -> Value:
    """The path alone where that says it all, else with what is declared; the kind where the ending doesn't say it.

    That of a Delta table always: a folder that isn't there says nothing.
    """
    source = table.source
    if source.kind == "memory":
        raise ConfigError(
            f"table {table.name!r} exists in memory only, so no configuration can name it",
            hint="write it to a Parquet file first",
        )
    declared = {name: said for name, said in source.declared().items() if name != "missing"}
    try:
        plain = Source.of(source.location).kind == source.kind != "delta"
    except SourceUnsupported:
        plain = False
    if plain and not declared:
        return source.location
    kind: dict[str, Value] = {} if plain else {"kind": source.kind}
    return {**kind, "path": source.location, **declared}


def _whose(table: Table) -> dict[str, Value]:
    """The lines that say whose the rows are and how many of them count, or that they are nobody's."""
    if table.public:
        unique: dict[str, Value] = {"unique": list(table.unique)} if table.unique else {}
        return {"public": True, **unique}
    whose: dict[str, Value] = {}
    if table.unit is not None:
        whose["unit"] = _unit(table.unit)
    if table.links:
        whose["links"] = {link.column: _target(link) for link in table.links}
    if table.limits is not None and (table.unit is None or not table.unit.is_row or table.limits != Limits(rows=1)):
        whose["limits"] = _limits(table.limits)
    return whose


def _target(link: Link) -> Value:
    """A text where it says which part is the table's name, else both names apart."""
    plain = "." not in link.table + link.to
    return f"{link.table}.{link.to}" if plain else {"table": link.table, "column": link.to}


def _unit(unit: Unit) -> Value:
    """A word where one says it all. An id column that is called "row" needs the longer form."""
    if unit.column is None:
        return "row"
    if unit.per is None or unit.at is None:
        return {"column": unit.column} if unit.column == "row" else unit.column
    return {"column": unit.column, "per": unit.per, "at": unit.at}


def _limits(limits: Limits) -> Value:
    """The limits in their shape."""
    named = {"rows": limits.rows, "groups": limits.groups, "rows_per_group": limits.rows_per_group}
    return {name: limit for name, limit in named.items() if limit is not None}
