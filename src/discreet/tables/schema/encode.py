"""From a dataset to the text of discreet.toml, with comments where they help a custodian."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import TypeAlias

from discreet.errors import ConfigError, SourceUnsupported
from discreet.exact.rational import rational
from discreet.privacy import Bounds, Budget, Limits, Unit
from discreet.tables.schema.column import Column
from discreet.tables.schema.dataset import Dataset
from discreet.tables.schema.owner import Link
from discreet.tables.schema.source import Source
from discreet.tables.schema.table import ROW_CEILING, Table
from discreet.tables.schema.toml import Value, comment, dotted, key, value

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


Path: TypeAlias = tuple[str, ...]
Notes: TypeAlias = Mapping[Path, Note]
"""Comments by the entry's path; the empty path is the whole file."""

_SILENT = Note()


def encode(dataset: Dataset, notes: Notes | None = None) -> str:
    """The text that `decode` reads back as the same dataset, in a stable order; paths stay as they are.

    Args:
        dataset: what to write.
        notes: comments; they change nothing about what is read back, whatever they say.

    Raises:
        ConfigError: a table exists in memory only, or a name or number can't be written.
    """
    writer = _Writer(notes or {})
    return "\n".join([*writer.document(dataset), ""])


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
        yield from self.entry((), "adjacency", dataset.adjacency.value)
        yield from self.budget(("budget",), dataset.budget)
        for analyst, share in dataset.analysts.items():
            yield from self.budget(("analysts", analyst), share)
        for table in dataset.tables:
            yield from self.table(table)
        yield from map(comment, top.below)

    def budget(self, path: Path, budget: Budget) -> Iterator[str]:
        """A budget under its header."""
        yield from self.header(path)
        amounts = {"epsilon": budget.epsilon, "rho": budget.rho, "delta": budget.delta or None}
        for name, amount in amounts.items():
            if amount is not None:
                yield from self.entry(path, name, amount)

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
        yield from self.header((*path, "columns"))
        for column in table.columns:
            yield from self.entry((*path, "columns"), column.name, declaration(column))

    def header(self, path: Path) -> Iterator[str]:
        """The header of a table of TOML."""
        yield ""
        yield from self.noted(path, f"[{dotted(path)}]")

    def entry(self, path: Path, name: str, item: Value) -> Iterator[str]:
        """One key and its value."""
        yield from self.noted((*path, name), f"{key(name)} = {value(item)}")

    def noted(self, path: Path, text: str) -> Iterator[str]:
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
    """What stands after the column's name."""
    item: dict[str, Value] = {"kind": column.kind.value}
    if column.bounds is not None:
        item["bounds"] = _bounds(column.bounds)
    if column.keys is not None:
        item["keys"] = list(column.keys)
    if column.time_zone is not None:
        item["time_zone"] = column.time_zone
    if not column.nullable:
        item["nullable"] = False
    return item


def _bounds(bounds: Bounds) -> Value:
    """The two ends."""
    return [end if isinstance(end, date) else rational(end, "bound") for end in (bounds.lo, bounds.hi)]


def _source(table: Table) -> Value:
    """The path alone where that says it all, else with what is declared; the kind where the ending doesn't say it."""
    source = table.source
    if source.kind == "memory":
        raise ConfigError(
            f"table {table.name!r} exists in memory only, so no configuration can name it",
            hint="write it to a Parquet file first",
        )
    declared = {name: said for name, said in source.declared().items() if name != "missing"}
    try:
        plain = Source.of(source.location).kind == source.kind
    except SourceUnsupported:
        plain = False
    if plain and not declared:
        return source.location
    kind: dict[str, Value] = {} if plain else {"kind": source.kind}
    return {**kind, "path": source.location, **declared}


def _whose(table: Table) -> dict[str, Value]:
    """Whose the rows are, and how many of them count; or that they are nobody's."""
    if table.public:
        unique: dict[str, Value] = {"unique": list(table.unique)} if table.unique else {}
        return {"public": True, **unique}
    whose: dict[str, Value] = {}
    if table.unit is not None:
        whose["unit"] = _unit(table.unit)
    if table.links:
        whose["links"] = {link.column: _target(link) for link in table.links}
    if table.unit is None or not table.unit.is_row or table.limits != Limits(rows=1):
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
