"""Reading discreet.toml: from its text to everything public about private tables, by what each key means."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any, get_args

from discreet.errors import ConfigError, SourceUnsupported
from discreet.privacy import (
    FAILURES,
    Adjacency,
    Bounds,
    Budget,
    Keys,
    KeyValue,
    Limits,
    MonthlyShare,
    Period,
    Unit,
    checked_failures,
    checked_least_units,
)
from discreet.suggestions import nearest
from discreet.tables.formats import FORMATS
from discreet.tables.schema.column import LONGEST_TEXT, Column, Kind
from discreet.tables.schema.config_keys import (
    ADJACENCY_ALSO,
    BUDGET,
    COLUMN,
    COLUMN_ALSO,
    DATASET,
    DATES_ALSO,
    KIND_ALSO,
    LIMITS,
    LINK,
    SOURCE,
    SOURCE_ALSO,
    SOURCE_KIND_ALSO,
    SPARK,
    SPARK_ALSO,
    TABLE,
    TABLE_ALSO,
    UNIT,
)
from discreet.tables.schema.dataset import EMBEDDED, Dataset, SchemaGraph, check_total
from discreet.tables.schema.source import DateOrder, DecimalMark, Source
from discreet.tables.schema.spark import SparkConnect
from discreet.tables.schema.table import MOST_LEFT_OUT, MOST_ROWS_PER_UNIT, ROW_CEILING, Link, Table
from discreet.tables.schema.toml import MOST_BYTES, Node, key, parse, quoted, reason


def load_config(path: str | os.PathLike[str]) -> Dataset:
    """Read a configuration; relative paths in it start at its own folder, and come out absolute.

    Guarantee: whatever the file holds, the outcome is a dataset of which every key was understood, or a
    `ConfigError`. Amounts are exact: 0.1 is one tenth.

    Args:
        path: of the file, usually `discreet.toml`.

    Raises:
        ConfigError: the file can't be read, isn't TOML (`place` says where), or has a key that is unknown, missing,
            of a wrong type or value, or at odds with another; the message names the key by its full path.
    """
    file = Path(path)
    try:
        with file.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError(f"there is no file {str(path)!r}", hint="`discreet init FILE` writes one") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"the file {str(path)!r} can't be read: {reason(error)}") from None
    folder = file.absolute().parent
    return relocated(decode(parse(data), folder), lambda location: str(folder / location))


def loads(text: str) -> Dataset:
    """Read the text of a configuration; paths stay as they are written.

    Raises:
        ConfigError: as for `load_config`.
    """
    return decode(parse(text.encode("utf-8", "surrogatepass")))


def relocated(dataset: Dataset, move: Callable[[str], str]) -> Dataset:
    """The dataset with each path moved. What has a scheme, such as a database's URL, is no path."""

    def moved(location: str) -> str:
        return location if "://" in location else move(location)

    tables = tuple(
        table
        if table.source.kind == "memory"
        else replace(table, source=replace(table.source, location=moved(table.source.location)))
        for table in dataset.tables
    )
    snapshots = None if dataset.snapshots is None else moved(dataset.snapshots)
    return replace(dataset, tables=tables, ledger=moved(dataset.ledger), snapshots=snapshots)


def decode(document: Mapping[str, object], folder: Path = Path()) -> Dataset:
    """The dataset a document declares; paths stay as they are written.

    Guarantee: every key of the document has a meaning here, or it is refused; nothing that loosens the guarantee has
    a silent default (the adjacency and whose the rows are must be stated; where an id has no limits, questions must).

    Args:
        document: as TOML has it.
        folder: that relative paths start in.

    Raises:
        ConfigError: a key is unknown, missing, of a wrong type or value, or contradicts another.
    """
    top = Node("", dict(document)).table(DATASET, required=("name", "ledger", "adjacency", "budget", "tables"))
    analysts = top["analysts"].named() if "analysts" in top else {}
    nodes = top["tables"].named()
    tables = tuple(_table(name, node, folder) for name, node in nodes.items())
    adjacency = Adjacency(top["adjacency"].one_of(list(Adjacency), ADJACENCY_ALSO))
    name, ledger, budget = top["name"].text(), top["ledger"].text(), _budget(top["budget"])
    with top["budget"].blamed():
        check_total(budget)
    with top["tables"].blamed():
        graph = SchemaGraph(tables)
    _check_owners(graph, tables, nodes)
    snapshots = top["snapshots"].text() if "snapshots" in top else None
    schema = top["schema"].text() if "schema" in top else None
    failures = top["failures"].whole() if "failures" in top else FAILURES
    if "failures" in top:
        with top["failures"].blamed():
            checked_failures(failures)
    least_units = top["least_units"].whole() if "least_units" in top else 0
    if "least_units" in top:
        with top["least_units"].blamed():
            checked_least_units(least_units)
    with top["tables"].blamed():
        dataset = Dataset(
            name=name,
            tables=tables,
            budget=budget,
            ledger=ledger,
            adjacency=adjacency,
            snapshots=snapshots,
            schema=schema,
            failures=failures,
            least_units=least_units,
            engine=top["engine"].text() if "engine" in top else EMBEDDED,
            cluster=_cluster(top["spark"]) if "spark" in top else None,
        )
    for analyst, node in analysts.items():
        share = _budget(node)
        with node.blamed():
            dataset = replace(dataset, analysts={**dataset.analysts, analyst: share})
    return dataset


def _check_owners(graph: SchemaGraph, tables: tuple[Table, ...], nodes: Mapping[str, Node]) -> None:
    """Refuse links that lead nowhere, or to no owner, under the name of their table or their own."""
    for table in tables:
        node = nodes[table.name]
        links = node.table(TABLE)["links"].named() if table.links else {}
        for link in table.links:
            with links[link.column].blamed():
                graph.target(table, link)
        with node.blamed():
            graph.owner(table)


def _cluster(node: Node) -> SparkConnect:
    """Where the cluster is."""
    entries = node.table(SPARK, required=("remote",), also=SPARK_ALSO)
    remote = entries["remote"]
    tasks = entries["tasks"].whole() if "tasks" in entries else None
    with remote.blamed():
        found = SparkConnect(remote=remote.text())
    with node.blamed():
        return replace(found, tasks=tasks)


def _budget(node: Node) -> Budget:
    """A budget: epsilon and perhaps delta, or rho and delta; that of one analyst may renew."""
    entries = node.table(BUDGET)
    renews = entries.pop("renews", None)
    kind = Budget if renews is None else MonthlyShare
    if renews is not None:
        renews.one_of(["monthly"])
    amounts = {name: entry.number() for name, entry in entries.items()}
    with Node(node.path, node.value, "epsilon = 3, delta = 1e-6").blamed():
        return kind(amounts.get("epsilon"), amounts.get("delta"), rho=amounts.get("rho"))


def _table(name: str, node: Node, folder: Path) -> Table:
    """One table."""
    required = ("source", "columns") if _goes_without_unit(node) else ("source", "unit", "columns")
    entries = node.table(TABLE, required=required, also=TABLE_ALSO)
    zone = entries["time_zone"].text() if "time_zone" in entries else None
    columns = tuple(_column(column, entry, zone) for column, entry in entries["columns"].named().items())
    names = [column.name for column in columns]
    public = entries["public"].flag() if "public" in entries else False
    declared = entries["links"].named() if "links" in entries else {}
    links = tuple(_link(entry, column, names) for column, entry in declared.items())
    unit = _unit(entries["unit"], columns) if "unit" in entries else None
    unique = tuple(_column_name(entry, names) for entry in entries["unique"].array()) if "unique" in entries else ()
    limits = _table_limits(entries.get("limits"), unit, public=public)
    source = _source(entries["source"], entries.get("missing"), folder)
    with node.blamed():
        return Table(
            name=name,
            source=source,
            columns=columns,
            unit=unit,
            limits=limits,
            links=links,
            public=public,
            unique=unique,
            refresh=entries["refresh"].text() if "refresh" in entries else "",
            row_ceiling=entries["row_ceiling"].whole() if "row_ceiling" in entries else ROW_CEILING,
            most_rows_per_unit=entries["most_rows_per_unit"].whole()
            if "most_rows_per_unit" in entries
            else MOST_ROWS_PER_UNIT,
            most_left_out=entries["most_left_out"].number() if "most_left_out" in entries else MOST_LEFT_OUT,
        )


def _goes_without_unit(node: Node) -> bool:
    """Whether something else than a unit says whose the rows are, or that they are nobody's."""
    return isinstance(node.value, dict) and not node.value.keys().isdisjoint({"links", "public"})


def _table_limits(declared: Node | None, unit: Unit | None, *, public: bool) -> Limits | None:
    """The limits; one row where each is a unit; None where a unit may have several, and nothing says how many count."""
    if public and declared is not None:
        raise declared.error("a public table has no units to limit", hint="leave limits out")
    if declared is not None:
        return _limits(declared)
    return Limits(rows=1) if public or (unit is not None and unit.is_row) else None


def _link(node: Node, column: str, names: list[str]) -> Link:
    """One link: "table.column", or a table where one of the names has points in it."""
    _check_declared(node, column, names)
    if isinstance(node.value, dict):
        entries = node.table(LINK, required=("table", "column"), also={"to": "column", "id": "column"})
        return Link(column, entries["table"].text(), entries["column"].text())
    node = replace(node, example=f'{key(column)} = "customers.id", or {{ table = "customers", column = "id" }}')
    with node.blamed():
        return Link.of(column, node.text())


def _source(node: Node, missing: Node | None, folder: Path) -> Source:
    """A table's source: a path whose ending says what kind it is, or a table that names the kind."""
    source = _place(node, folder)
    if missing is None:
        return source
    with missing.blamed():
        return replace(source, missing=tuple(entry.text(empty=True) for entry in missing.array()))


_TEXTS = ("table", "delimiter", "encoding", "quote", "escape", "comment")
_FLAGS = ("multiline", "skip_malformed", "trailing_delimiter", "in_place")


def _place(node: Node, folder: Path) -> Source:
    """The source without its texts for NULL."""
    if not isinstance(node.value, dict):
        return _of_path(node, {}, folder)
    entries = node.table(SOURCE, required=("path",), also=SOURCE_ALSO)
    declared: dict[str, object] = {
        **{name: entries[name].text(empty=name == "quote") for name in _TEXTS if name in entries},
        **{name: entries[name].flag() for name in _FLAGS if name in entries},
        **{name: entries[name].whole() for name in ("header_line", "footer_lines") if name in entries},
    }
    if "decimal" in entries:
        declared["decimal"] = entries["decimal"].one_of(list(get_args(DecimalMark)))
    if "dates" in entries:
        declared["dates"] = entries["dates"].one_of(list(get_args(DateOrder)), DATES_ALSO)
    if "kind" not in entries:
        return _of_path(entries["path"], declared, folder)
    kind = entries["kind"].one_of(list(FORMATS), SOURCE_KIND_ALSO)
    try:
        with node.blamed():
            return Source(kind=kind, location=entries["path"].text(), **declared)  # type: ignore[arg-type]  # — each was read as what it is
    except SourceUnsupported as error:
        raise node.error(error.message, hint=error.hint) from None


def _of_path(node: Node, declared: Mapping[str, object], folder: Path) -> Source:
    """The source at a path whose ending says what it is, or its folder."""
    try:
        with node.blamed():
            return Source.of(node.text(), within=folder, **declared)
    except SourceUnsupported as error:
        raise node.error(error.message, hint=f"{error.hint}; or {SOURCE['kind']}") from None


def _unit(node: Node, columns: tuple[Column, ...]) -> Unit:
    """The unit: "row", the name of an id column, or an id column with a period."""
    names = [column.name for column in columns]
    if isinstance(node.value, str):
        # A column that is called "row" is meant by { column = "row" }.
        if node.value == "row":
            return Unit.row()
        return Unit(_column_name(node, names, "row"))
    entries = node.table(UNIT, required=("column",))
    column = _column_name(entries["column"], names)
    per: Period | None = None
    if "per" in entries:
        periods: dict[str, Period] = {period: period for period in get_args(Period)}
        per = periods[entries["per"].one_of(list(periods), {"date": "day", "daily": "day"})]
    at = _column_name(entries["at"], names) if "at" in entries else None
    with node.blamed():
        return Unit(column, per=per, at=at)


def _column_name(node: Node, names: list[str], *others: str) -> str:
    """The name of one of the table's columns."""
    name = node.text()
    _check_declared(node, name, names, *others)
    return name


def _check_declared(node: Node, name: str, names: list[str], *others: str) -> None:
    """Refuse a name that isn't a column's."""
    if name.casefold() in {declared.casefold() for declared in names}:
        return
    close = nearest(name, [*names, *others])
    hint = f"did you mean {quoted(close)}?" if close else "declare it under columns"
    raise node.error(f"there is no column {quoted(name)}", hint=hint)


def _limits(node: Node) -> Limits:
    """The limits, in one of their shapes."""
    entries = node.table(LIMITS, also={"max_groups": "groups", "max_rows": "rows"})
    limits = {name: entry.whole() for name, entry in entries.items()}
    with node.blamed():
        return Limits(**limits)


def _column(name: str, node: Node, table_zone: str | None) -> Column:
    """One column. A table's time zone is that of its timestamps, unless they say another."""
    if isinstance(node.value, dict) and "kind" not in node.value and _is_split_name(node.value):
        raise node.error("expected a column", hint="a name with points in it stands in quotes")
    node = replace(node, example='{ kind = "integer", bounds = [0, 125] }')
    entries = node.table(COLUMN, required=("kind",), also=COLUMN_ALSO)
    kind = Kind(entries["kind"].one_of(list(Kind), KIND_ALSO))
    bounds = _bounds(entries["bounds"]) if "bounds" in entries else None
    keys = _keys(entries["keys"]) if "keys" in entries else None
    nullable = entries["nullable"].flag() if "nullable" in entries else True
    zone = table_zone if kind is Kind.TIMESTAMP else None
    zone = entries["time_zone"].text() if "time_zone" in entries else zone
    places = entries["places"].whole() if "places" in entries else None
    longest = entries["max_length"].whole() if "max_length" in entries else LONGEST_TEXT
    form: dict[str, Any] = {
        each: entries[each].text() for each in ("thousands", "strip", "format", "epoch") if each in entries
    }
    with node.blamed():
        return Column(
            name=name,
            kind=kind,
            bounds=bounds,
            keys=keys,
            nullable=nullable,
            time_zone=zone,
            places=places,
            max_length=longest,
            **form,
        )


def _is_split_name(entries: dict[str, object]) -> bool:
    """Whether this looks like what TOML makes of a bare `a.b = { kind = … }`."""
    return bool(entries) and all(isinstance(entry, dict) and entry.keys() - {"null"} for entry in entries.values())


def _bounds(node: Node) -> Bounds:
    """Two numbers, two dates or two timestamps."""
    ends = node.array()
    if len(ends) != 2:  # noqa: PLR2004 — an interval has two ends
        raise node.wrong("an array of two: the least and the greatest value")
    lo, hi = (end.value if isinstance(end.value, date) else end.number() for end in ends)
    with node.blamed():
        return Bounds(lo, hi)


def _keys(node: Node) -> Keys:
    """The keys in order; NULL is written as a table, because TOML has no word for it."""
    keys = [_key(entry) for entry in node.array()]
    with node.blamed():
        return Keys(keys)


def _key(node: Node) -> KeyValue:
    """One key."""
    found = node.value
    if found == {"null": True} and isinstance(found, dict) and found["null"] is True:
        return None
    if isinstance(found, bool | str) or (isinstance(found, date) and not isinstance(found, datetime)):
        return found
    if isinstance(found, int):
        return node.whole()
    raise node.wrong("a text, whole number, date, true, false or { null = true }")
