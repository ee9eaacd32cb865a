"""Datasets: private tables that share one budget, because the same people may be in all of them; public ones beside.

Whose a row is, its own table says, or links that are followed from table to table. The public schema is all that a
custodian declared, as data that anyone may see. Nothing here looks at a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from discreet.errors import InvalidArgument
from discreet.exact.rational import rational
from discreet.hints import Hint
from discreet.notebook import framed, notes, schema
from discreet.privacy import (
    ADD_REMOVE,
    FAILURES,
    Adjacency,
    BoundValue,
    Budget,
    MonthlyShare,
    Unit,
    checked_failures,
    checked_least_units,
)
from discreet.tables.schema.column import Column
from discreet.tables.schema.owner import Hop, Owner
from discreet.tables.schema.spark import SPARK, SparkConnect
from discreet.tables.schema.table import Link, Table

EMBEDDED = "duckdb"
"""The engine that comes with discreet."""

CHOSEN_BY = "duckdb hash"
"""The hash by which it chooses. Plans for it don't name the hash, as they didn't before there were others."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Dataset:
    """Everything public about the tables of one account.

    Guarantee: the rows of each private table belong to one unit, which is found in one way (`owner`).

    Args:
        name: the account's name in the ledger; what was spent is remembered under it.
        tables: private ones, at least one, and public ones that they may be joined with.
        budget: for all analysts together: they're assumed to collude.
        analysts: smaller budgets of single analysts, by name, in all or, as `MonthlyShare`, in each month. Empty:
            anyone may ask, under the global budget.
        adjacency: which tables are neighbours.
        ledger: a path (SQLite) or a database URL.
        snapshots: the folder of the admitted tables; beside a ledger that is a file if left out.
        schema: what questions may write before the tables' names, as in `public.census`; any schema, if left out.
        failures: how many questions may fail after they were paid for, before nothing new is asked until the custodian
            has looked.
        least_units: values of groups with a smaller noisy number of units are withheld; 0 if all are shown.
        engine: the name of what runs questions over the admitted tables.
        cluster: that the engine "spark" asks.
        chosen_by: the hash by which that engine chooses which rows of a unit count. Found, never declared.

    Raises:
        InvalidArgument: no name, ledger or engine, a cluster that nothing asks, an empty schema, no tables, none that
            is private, two of one name, a link that `owner_of` refuses or that leads to the owner in another refresh
            group, a share beyond the budget, a budget that renews, or a number of failures or of units out of range.
    """

    name: str
    tables: tuple[Table, ...]
    budget: Budget
    ledger: str
    analysts: dict[str, Budget] = field(default_factory=dict)
    adjacency: Adjacency = ADD_REMOVE
    snapshots: str | None = None
    schema: str | None = None
    failures: int = FAILURES
    least_units: int = 0
    engine: str = EMBEDDED
    cluster: SparkConnect | None = None
    chosen_by: str = field(default=CHOSEN_BY, repr=False)

    def __post_init__(self) -> None:
        checked_failures(self.failures)
        checked_least_units(self.least_units)
        if self.adjacency not in list(Adjacency):
            raise InvalidArgument(
                f"there is no adjacency {str(self.adjacency)[:70]!r}", hint="ADD_REMOVE or SUBSTITUTION"
            )
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))  # rules compare by identity
        if not self.name or not self.ledger:
            raise InvalidArgument("a dataset needs a name and a ledger", hint="the ledger remembers what was spent")
        if not self.engine:
            raise InvalidArgument("an engine needs a name", hint="leave it out to use the embedded one")
        _check_cluster(self.engine, self.cluster)
        check_total(self.budget)
        if self.schema is not None and not all(self.schema.split(".")):
            raise InvalidArgument(f"a schema can't be called {self.schema!r}", hint='schema = "public"')
        if not self.tables:
            raise InvalidArgument(f"dataset {self.name!r} has no tables")
        if all(table.public for table in self.tables):
            raise InvalidArgument(
                f"dataset {self.name!r} has public tables only, so there is nothing to protect",
                hint=Hint.of("leave out {public} if rows are about people", public=True),
            )
        graph = SchemaGraph(self.tables)
        for table in self.tables:
            owner = graph.owner(table)
            _check_refreshed_together(table, owner.hops if owner is not None else ())
        for analyst, share in self.analysts.items():
            if not analyst:
                raise InvalidArgument("an analyst needs a name")
            _check_share(analyst, share, self.budget)

    def __repr__(self) -> str:
        """Its name, its tables and the budget."""
        return f"<Dataset {self.name}: {', '.join(table.name for table in self.tables)}; budget {self.budget}>"

    def _repr_html_(self) -> str:
        """What is public of it, for notebooks."""
        shares = [(f"share of {analyst}", str(share)) for analyst, share in self.analysts.items()]
        return framed(schema(public_schema(self)), notes([("budget", str(self.budget)), *shares]))

    @property
    def groups(self) -> tuple[str, ...]:
        """The refresh groups, each once; the empty text is that of the tables that name none."""
        return tuple(dict.fromkeys(table.refresh for table in self.tables))

    @property
    def private(self) -> tuple[Table, ...]:
        """The tables that are protected, in order."""
        return tuple(table for table in self.tables if not table.public)

    @property
    def units(self) -> dict[str, str]:
        """The unit of each private table in words, by name, as the account notes it; all in lower case.

        A table that is linked to the id itself has the unit that it would have with that column as its own.
        """
        owners = ((table, self.owner(table)) for table in self.tables)
        return {table.name.casefold(): owner.words(table) for table, owner in owners if owner is not None}

    def owner(self, table: Table) -> Owner | None:
        """The way to the unit of a table's rows; None if the table is public."""
        return owner_of(table, self.tables)


def _check_refreshed_together(table: Table, hops: Iterable[Hop]) -> None:
    """Refuse a table whose rows' owners are found in a table of another refresh group.

    One admission of its rows would meet several of that table. A row could then belong to one unit in some questions,
    and to another in others, and each would be protected in some of them only.
    """
    for hop in hops:
        if hop.table.refresh != table.refresh:
            raise InvalidArgument(
                f"table {hop.table.name!r} says whose the rows of table {table.name!r} are, so both are admitted "
                "together",
                hint="give them the same refresh group, or add the unit's id to the rows themselves",
            )


def _check_cluster(engine: str, cluster: SparkConnect | None) -> None:
    """Refuse a cluster that would be ignored, and an engine that has none to ask."""
    if (engine == SPARK) != (cluster is not None):
        in_file = 'engine = "spark", and under [spark] remote = "sc://host:15002"; or "local", for Sail in the process'
        raise InvalidArgument(
            f"the engine {SPARK!r} asks a cluster, and no other does",
            hint=Hint(
                'engine="spark", cluster="sc://host:15002"; or cluster="local", for Sail in this process',
                cli=in_file,
                file=in_file,
            ),
        )


def check_total(budget: Budget) -> None:
    """Refuse a budget of all that renews.

    A loss doesn't wear off. Another month's budget would be honest only if what a question of an old period costs were
    charged to that period again, and to each that it touches; accounts don't do so.
    """
    if isinstance(budget, MonthlyShare):
        raise InvalidArgument(
            "the budget itself never renews, because what was lost stays lost",
            hint=Hint(
                'Budget(epsilon=3), and analysts={"alice": MonthlyShare(epsilon=1)}',
                cli='renews = "monthly" under [analysts.alice], not under [budget]',
                file='renews = "monthly" under [analysts.alice], not under [budget]',
            ),
        )


def _check_share(analyst: str, share: Budget, budget: Budget) -> None:
    """Refuse a share that promises more than there is, in any amount that both budgets name."""
    pairs = {
        "epsilon": (share.epsilon, budget.epsilon),
        "rho": (share.rho, budget.rho),
        "delta": (share.delta, budget.delta),
    }
    for name, (part, whole) in pairs.items():
        if part is not None and whole is not None and part > whole:
            raise InvalidArgument(f"the share of {analyst!r} has more {name} than the budget has")


MOST_HOPS = 16
"""How many links may be followed to a row's owner. Each is a join in every question, and no honest schema needs
more.
"""


def owner_of(table: Table, tables: Sequence[Table]) -> Owner | None:
    """The way to the unit of a table's rows; None if the table is public.

    Guarantee: there is one way only. A table whose links lead to private tables in two ways is refused, because its
    rows would belong to two units, of which one would be protected and the other not.

    Args:
        table: whose rows.
        tables: all of the dataset.

    Raises:
        InvalidArgument: no link leads to a table with a unit, or two do; a link leads nowhere, to values of another
            kind, to a table where each row is a unit, or elsewhere than the table's own unit; or links lead in a
            circle, or beyond `MOST_HOPS`.
    """
    return SchemaGraph(tables).owner(table)


def required(table: Table, tables: Sequence[Table]) -> frozenset[str]:
    """The columns, in lower case, without which a row can't say whose it is."""
    owner = owner_of(table, tables)
    if owner is None:
        return frozenset()
    if owner.hops:
        return frozenset({owner.hops[0].column.casefold()})
    return frozenset(column.casefold() for column in (owner.unit.column, owner.unit.at) if column is not None)


class SchemaGraph:
    """The tables of a dataset by name, and the links between them.

    Args:
        tables: all of the dataset.

    Raises:
        InvalidArgument: two tables have one name (names differ in more than case).
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        self._tables: dict[str, Table] = {}
        for table in tables:
            if table.name.casefold() in self._tables:
                raise InvalidArgument(f"there are two tables of one name: {table.name!r}")
            self._tables[table.name.casefold()] = table

    def target(self, table: Table, link: Link) -> Table:
        """The table that a link leads to.

        Raises:
            InvalidArgument: there is no such table or column, or values of the two columns can't be equal.
        """
        target = self._tables.get(link.table.casefold())
        if target is None:
            raise InvalidArgument(
                f"table {table.name!r} is linked to {link.table!r}, which isn't declared",
                hint="declare that table too, or leave the link out",
            )
        if not target.has(link.to):
            raise InvalidArgument(
                f"table {table.name!r} is linked to the column {link.to!r}, which table {target.name!r} doesn't have",
                hint=f"it has {', '.join(column.name for column in target.columns)}",
            )
        kinds = table.column(link.column).kind, target.column(link.to).kind
        if kinds[0] is not kinds[1]:
            raise InvalidArgument(
                f"the link {link} of table {table.name!r} leads from {kinds[0]} values to {kinds[1]} values",
                hint="declare both columns as one kind",
            )
        return target

    def owner(self, table: Table) -> Owner | None:
        """The way to the unit of a table's rows; None if the table is public.

        Raises:
            InvalidArgument: as for `owner_of`.
        """
        if table.public:
            return None
        ways = [link for link in table.links if not self.target(table, link).public]
        if table.unit is None:
            return self._beyond(table, self._way(table))
        own = Owner(table.unit)
        for link in ways:
            other = self._beyond(table, link)
            if table.unit.is_row or _folded(other) != _folded(own):
                raise InvalidArgument(
                    f"the unit of table {table.name!r} is {table.unit}, but its link {link} says that rows belong "
                    f"to another",
                    hint="leave out the link; or the unit, if the link says whose a row is",
                )
        return own

    def _way(self, table: Table) -> Link:
        """The one link to a private table."""
        ways = [link for link in table.links if not self.target(table, link).public]
        if not ways:
            raise InvalidArgument(
                f"nothing says whose the rows of table {table.name!r} are",
                hint=Hint.of("declare a unit, a link to a table that has one, or {public}", public=True),
            )
        if len(ways) > 1:
            raise InvalidArgument(
                f"the links {ways[0]} and {ways[1]} of table {table.name!r} both say whose the rows are",
                hint="keep the one that leads to the people to be protected",
            )
        return ways[0]

    def _beyond(self, table: Table, link: Link) -> Owner:
        """The owner that is found where a link leads."""
        hops = [Hop(link.column, self.target(table, link), link.to)]
        while (unit := hops[-1].table.unit) is None:
            here = hops[-1].table
            if here.name == table.name or any(hop.table.name == here.name for hop in hops[:-1]):
                raise InvalidArgument(
                    f"the links of table {here.name!r} lead in a circle", hint="declare the unit in one of its tables"
                )
            if len(hops) == MOST_HOPS:
                raise InvalidArgument(
                    f"the links of table {table.name!r} lead further than {MOST_HOPS} tables",
                    hint="add the id itself to the table",
                )
            link = self._way(here)
            hops.append(Hop(link.column, self.target(here, link), link.to))
        if unit.is_row:
            raise InvalidArgument(
                f"each row of table {hops[-1].table.name!r} is a unit of its own, so no row of {table.name!r} "
                f"belongs to one",
                hint=f"declare {hops[-1].to!r} as the unit of {hops[-1].table.name!r}",
            )
        while hops and unit.per is None and hops[-1].to.casefold() == str(unit.column).casefold():
            unit = Unit(hops.pop().column)
        return Owner(unit, tuple(hops))


def _folded(owner: Owner) -> tuple[str, ...]:
    """A form that is equal for equal owners: names of tables and columns differ in more than case."""
    return tuple(name.casefold() for hop in owner.hops for name in (hop.column, hop.table.name, hop.to)) + tuple(
        str(part).casefold() for part in (owner.unit.column, owner.unit.per, owner.unit.at)
    )


def public_schema(dataset: Dataset) -> dict[str, Any]:
    """The declarations of a dataset, without where its sources, snapshots and ledger lie.

    Returns:
        JSON-ready data: `name`, `adjacency`, `least_units` if any are needed, and `tables`, each with its unit, limits,
        links and columns.
    """
    return {
        "name": dataset.name,
        "adjacency": str(dataset.adjacency),
        **({"least_units": dataset.least_units} if dataset.least_units else {}),
        "tables": [_table(table, dataset) for table in dataset.tables],
    }


def _table(table: Table, dataset: Dataset) -> dict[str, Any]:
    """One table."""
    owner = dataset.owner(table)
    return {
        "name": table.name,
        "public": table.public,
        "unit": None if owner is None else str(owner.unit),
        "limits": None if table.public or table.limits is None else str(table.limits),
        "links": [f"{link.column} → {link.table}.{link.to}" for link in table.links],
        "columns": [_column(column) for column in table.columns],
    }


def _column(column: Column) -> dict[str, Any]:
    """One column."""
    return {
        "name": column.name,
        "kind": str(column.kind),
        "nullable": column.nullable,
        "bounds": None if column.bounds is None else [_shown(column.bounds.lo), _shown(column.bounds.hi)],
        "keys": None if column.keys is None else [_shown(key) for key in column.keys],
    }


def declarations_of(dataset: Dataset) -> dict[str, dict[str, Any]]:
    """The declarations of each table, by its name in lower case, as JSON-ready data with exact numbers.

    Where its source lies isn't in it. To add a key, say in `ledger.changes` what a change of it weakens.
    """
    return {table.name.casefold(): _declared(table, dataset) for table in dataset.tables}


def _declared(table: Table, dataset: Dataset) -> dict[str, Any]:
    return {
        **{name: said for name, said in _table(table, dataset).items() if name != "columns"},
        "unique": list(table.unique),
        "refresh": table.refresh,
        "row_ceiling": str(table.row_ceiling),
        "most_rows_per_unit": str(table.most_rows_per_unit),
        "most_left_out": str(table.most_left_out),
        "columns": {
            column.name.casefold(): {
                **_column(column),
                "bounds": None if column.bounds is None else [_exact(column.bounds.lo), _exact(column.bounds.hi)],
                "keys": None if column.keys is None else [_shown(key) for key in column.keys],
                "time_zone": column.time_zone,
                "places": column.places,
                "max_length": column.max_length,
                "form": column.form,
            }
            for column in table.columns
        },
    }


def _exact(value: BoundValue) -> str:
    """An end of bounds: a number as a fraction, a date or moment as it is written."""
    return value.isoformat() if isinstance(value, date) else str(rational(value, "bound"))


def _shown(value: BoundValue | object) -> object:
    """A value as JSON has it."""
    if isinstance(value, bool | int | str) or value is None:
        return value
    if hasattr(value, "isoformat"):
        return value.isoformat()
    number = float(value)  # type: ignore[arg-type]  # a fraction, which all other bounds are
    return int(number) if number.is_integer() else number
