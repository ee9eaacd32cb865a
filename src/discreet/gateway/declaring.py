"""Declaring tables in code. A table's schema completes its declaration when it is opened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from discreet.arguments import taking_known
from discreet.errors import InvalidArgument
from discreet.exact import Rationalizable
from discreet.exact.rational import rational
from discreet.privacy import Bounds, BoundValue, Budget, Keys, Limits, Unit
from discreet.suggestions import did_you_mean
from discreet.tables import Column, Kind, Link, Source, Table
from discreet.tables.schema.column import kind_of
from discreet.tables.schema.spark import SparkConnect
from discreet.tables.schema.table import MOST_LEFT_OUT, MOST_ROWS_PER_UNIT, ROW_CEILING

Declaration: TypeAlias = Bounds | Keys | Column | None
"""The declaration of a column: bounds, keys, a whole `Column`, or None, which only lets questions use it."""

DeclarationLike: TypeAlias = Declaration | tuple[BoundValue, BoundValue] | list[Any]
"""Its shorthands: a pair for bounds, a list for keys."""

UnitLike: TypeAlias = Unit | str
"""A unit, or the column that tells units apart."""

BudgetLike: TypeAlias = Budget | Rationalizable
"""A budget, or its ε."""

_IN_SHORT = (
    'a pair is bounds, (0, 100) or (date(2020, 1, 1), date(2029, 12, 31)); a list is keys, ["a", "b"]; Column(kind=…) '
    "can say everything"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DeclaredTable:
    """One of several tables to be protected together; made by `table`, and opened by `protect`.

    Args:
        data: the table, or where it lies.
        name: what questions call it.
        unit: whose presence is hidden; None if a link says whose a row is, or the table is public.
        columns: declarations by column name.
        limits: how much a unit may contribute to one question; None where each question says it, or has it chosen.
        links: columns whose values name rows of other tables.
        public: whether everyone may know the table as it is.
        unique: columns of a public table in which no value occurs twice.
        row_ceiling: more rows than the table will ever have.
        most_rows_per_unit: how many rows of one unit are admitted.
        most_left_out: the part of its records that an admission may leave out.
        time_zone: the zone in which to show times that the source holds as points in time.
        refresh: the group of tables that it is admitted with; empty for those that name none.
    """

    data: object
    name: str
    unit: Unit | None
    columns: Mapping[str, Declaration]
    limits: Limits | None
    links: tuple[Link, ...] = ()
    public: bool = False
    unique: tuple[str, ...] = ()
    row_ceiling: int = ROW_CEILING
    most_rows_per_unit: int = MOST_ROWS_PER_UNIT
    most_left_out: Rationalizable = MOST_LEFT_OUT
    time_zone: str | None = None
    refresh: str = ""

    @property
    def _each_row(self) -> str:
        """An addition to hints where the unit is a column called `row`, which in a configuration means each row."""
        is_row = self.unit is not None and self.unit.column == "row"
        return "; each row by itself is unit=Unit.row()" if is_row else ""

    @property
    def mentioned(self) -> frozenset[str]:
        """The columns of which something is declared."""
        unit = () if self.unit is None else (self.unit.column, self.unit.at)
        named = [*self.columns, *unit, *(link.column for link in self.links), *self.unique]
        return frozenset(column for column in named if column is not None)

    def opened(self, source: Source, schema: tuple[Column, ...]) -> Table:
        """The table with the columns that its schema has.

        Args:
            source: where it lies.
            schema: its columns, with kinds that weren't guessed.

        Raises:
            InvalidArgument: a declaration contradicts itself or the schema.
        """
        if self._each_row and all(column.name.casefold() != "row" for column in schema):
            raise InvalidArgument(
                f"table {self.name!r} has no column 'row' to be the unit", hint="unit=Unit.row() makes each row a unit"
            )
        is_one_row = self.public or (self.unit is not None and self.unit.is_row)
        return Table(
            name=self.name,
            source=source,
            columns=tuple(self._zoned(column) for column in _declare(schema, self.columns, source)),
            unit=self.unit,
            limits=Limits(rows=1) if self.limits is None and is_one_row else self.limits,
            row_ceiling=self.row_ceiling,
            most_rows_per_unit=self.most_rows_per_unit,
            most_left_out=rational(self.most_left_out, "most_left_out"),
            links=self.links,
            public=self.public,
            unique=self.unique,
            refresh=self.refresh,
        )

    def _zoned(self, column: Column) -> Column:
        """A column of times with the table's zone, unless it has one of its own."""
        if self.time_zone is None or column.kind is not Kind.TIMESTAMP or column.time_zone is not None:
            return column
        return replace(column, time_zone=self.time_zone)


@taking_known
def table(  # noqa: PLR0913 — what a custodian declares, each by name
    data: object,
    *,
    name: str,
    unit: UnitLike | None = None,
    links: Mapping[str, str | tuple[str, str]] | None = None,
    public: bool = False,
    limits: Limits | None = None,
    columns: Mapping[str, DeclarationLike] | None = None,
    unique: Iterable[str] = (),
    row_ceiling: int = ROW_CEILING,
    most_rows_per_unit: int = MOST_ROWS_PER_UNIT,
    most_left_out: Rationalizable = MOST_LEFT_OUT,
    time_zone: str | None = None,
    refresh: str = "",
) -> DeclaredTable:
    """Declare one of several tables that `protect` puts behind one account. Nothing is opened yet.

    Exactly one of three says whose the rows are: `unit`, a link to a table that has one (over further links, if need
    be), or `public`: nobody's.

    Args:
        data: a path (CSV, Parquet, DuckDB database), a pandas, Polars or Arrow table, or an Ibis table on DuckDB.
        name: what questions call the table.
        unit: whose presence is hidden; a text is the column that tells units apart.
        links: columns whose values name rows of other tables, with the table and its column: `"customers.id"`, or
            `("customers", "id")` where a name has points in it.
        public: whether everybody may know the table as it is, every row of it. It is joined with, and never protected.
        limits: how much a unit may contribute to one question; left out, each question says it, or has it chosen.
        columns: declarations by column name, as for `protect`.
        unique: columns of a public table in which no value occurs twice; checked when the table is read.
        row_ceiling: more rows than the table will ever have.
        most_rows_per_unit: how many rows of one unit are admitted; a hash of them chooses which.
        most_left_out: the part of its records that an admission may leave out, malformed or without a readable id.
        time_zone: the zone in which to show times that the source holds as points in time, such as "Europe/Paris".
        refresh: the group of tables that it is admitted with, such as "daily", where there are different schedules.

    Raises:
        InvalidArgument: a link isn't a table and its column.

    Examples:
        >>> orders = table("orders.csv", name="orders", links={"customer_id": "customers.id"}, limits=Limits(rows=20))
        >>> print(*orders.links)
        customer_id → customers.id
    """
    if limits is not None and not isinstance(limits, Limits):
        raise InvalidArgument(f"limits must be Limits, not {type(limits).__name__}", hint="limits=Limits(rows=50)")
    return DeclaredTable(
        data=data,
        name=text_of(name, "name"),
        unit=_unit(unit),
        columns={
            column: _declaration(column, declared)
            for column, declared in _by_name("columns", columns, 'columns={"age": (0, 110)}').items()
        },
        limits=limits,
        links=tuple(
            _link(column, target)
            for column, target in _by_name("links", links, 'links={"customer_id": "customers.id"}').items()
        ),
        public=public,
        unique=_columns(unique),
        row_ceiling=row_ceiling,
        most_rows_per_unit=most_rows_per_unit,
        most_left_out=most_left_out,
        time_zone=None if time_zone is None else text_of(time_zone, "time_zone", "Europe/Paris"),
        refresh=refresh,
    )


def budget_of(budget: BudgetLike) -> Budget:
    """The budget that is meant; a number is its ε.

    Raises:
        InvalidArgument: it is neither.

    Examples:
        >>> budget_of(3) == Budget(epsilon=3)
        True
    """
    if isinstance(budget, Budget):
        return budget
    try:
        return Budget(epsilon=rational(_plain(budget), "a budget"))
    except InvalidArgument as error:
        raise InvalidArgument(error.message, hint="Budget(epsilon=3, delta=1e-6)") from None


def shares_of(analysts: Mapping[str, BudgetLike] | None) -> dict[str, Budget]:
    """The budgets of analysts that are meant.

    Raises:
        InvalidArgument: they aren't budgets by name.
    """
    named = _by_name("analysts", analysts, 'analysts={"alice": 1}')
    return {analyst: budget_of(share) for analyst, share in named.items()}


def cluster_of(cluster: object) -> SparkConnect | None:
    """A cluster, of an address or a session.

    Raises:
        InvalidArgument: it is neither.
    """
    if cluster is None or isinstance(cluster, SparkConnect):
        return cluster
    if isinstance(cluster, str):
        return SparkConnect(remote=cluster)
    if callable(getattr(cluster, "range", None)) and hasattr(cluster, "conf"):
        return SparkConnect(session=cluster)
    raise InvalidArgument(
        f"cluster must be an address or a session of Spark, not {type(cluster).__name__}",
        hint='cluster="sc://host:15002"; or "local", for Sail in this process',
    )


def text_of(value: object, name: str, example: str = "census") -> str:
    """A text that isn't empty.

    Raises:
        InvalidArgument: it is anything else.
    """
    if not isinstance(value, str) or not value:
        got = "an empty one" if isinstance(value, str) else type(value).__name__
        raise InvalidArgument(f"{name} must be a string, not {got}", hint=f'{name}="{example}"')
    return value


def _by_name(what: str, given: Mapping[str, Any] | None, example: str) -> Mapping[str, Any]:
    """Declarations by name. No name may come twice, and case makes no difference between columns."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidArgument(f"{what} are declared by name, not by a {type(given).__name__}", hint=example)
    seen: dict[str, str] = {}
    for name in given or {}:
        if not isinstance(name, str):
            raise InvalidArgument(
                f"{what} are declared by names, which are strings, not {type(name).__name__}", hint=example
            )
        if what != "analysts" and name.casefold() in seen:
            raise InvalidArgument(
                f"{what} name {name!r} twice, as {seen[name.casefold()]!r} too", hint="declare it in one place"
            )
        seen[name.casefold()] = name
    return given or {}


def _columns(unique: Iterable[str]) -> tuple[str, ...]:
    """Names of columns; a text is one."""
    named = (unique,) if isinstance(unique, str) else tuple(unique) if isinstance(unique, Iterable) else (unique,)
    if not all(isinstance(name, str) for name in named):
        raise InvalidArgument("unique columns are named by strings", hint='unique=["id"]')
    return named


def _plain(value: Any) -> Any:  # noqa: ANN401 — anything in; a number of NumPy's, or a time of pandas', as Python has it
    """A value as Python has it, where NumPy or pandas made it: those are what frames are full of."""
    home = type(value).__module__.partition(".")[0]
    if home == "numpy" and getattr(value, "shape", None) == () and value.dtype.kind in "biufU":
        return value.item()
    return value.to_pydatetime() if home == "pandas" and hasattr(value, "to_pydatetime") else value


def _unit(unit: UnitLike | None) -> Unit | None:
    """The unit that is meant."""
    if unit is None or isinstance(unit, Unit):
        return unit
    if isinstance(unit, str):
        return Unit(unit)
    raise InvalidArgument(
        f"a unit must be a Unit or the name of a column, not {type(unit).__name__}",
        hint='Unit("person_id"), or Unit.row() if each row is another person',
    )


def _declaration(column: str, declared: DeclarationLike) -> Declaration:
    try:
        match declared:
            case None | Bounds() | Keys() | Column():
                return declared
            case tuple() if len(declared) == len(("lo", "hi")):
                return Bounds(*map(_plain, declared))
            case list():
                return Keys(map(_plain, declared))
    except InvalidArgument as error:
        raise InvalidArgument(f"column {column!r}: {error.message}", hint=error.hint or _IN_SHORT) from None
    many = f" of {len(declared)}" if isinstance(declared, tuple) else ""
    raise InvalidArgument(
        f"column {column!r} is declared by a {type(declared).__name__}{many}, which has no meaning here", hint=_IN_SHORT
    )


def _link(column: str, target: str | tuple[str, str]) -> Link:
    """A link to `table.column`, or to the two apart."""
    if isinstance(target, str):
        return Link.of(column, target)
    if not isinstance(target, tuple) or [type(part) for part in target] != [str, str]:
        raise InvalidArgument(
            f"the link of {column!r} must be a table and its column, not {type(target).__name__}",
            hint=f'links={{{column!r}: "customers.id"}}, or ("customers", "id")',
        )
    return Link(column, *target)


def _declare(schema: tuple[Column, ...], declared: Mapping[str, Declaration], source: Source) -> tuple[Column, ...]:
    """The schema's columns with what is declared of them."""
    if source.kind == "jsonl":  # without a schema: what is declared is there
        return tuple(
            _column(Column(name=name, kind=Kind.TEXT), declaration, source) for name, declaration in declared.items()
        )
    names = {column.name.casefold(): column for column in schema}
    for name in declared:
        if name.casefold() not in names:
            raise InvalidArgument(
                f"the table has no column {name!r}", hint=did_you_mean(name, [column.name for column in schema])
            )
    by_name = {name.casefold(): declaration for name, declaration in declared.items()}
    return tuple(_column(column, by_name.get(column.name.casefold()), source) for column in schema)


def _column(column: Column, declaration: Declaration, source: Source) -> Column:
    """One column with what is declared of it.

    A CSV file, and what is like it, has no schema but what its cells look like, and one person's cell may change that
    look. So there the declaration alone says what kind a column is, and without one it is text.
    """
    if isinstance(declaration, Column):
        if declaration.name.casefold() not in {"", column.name.casefold()}:
            raise InvalidArgument(
                f"column {column.name!r} is declared as one called {declaration.name!r}",
                hint="leave the name out of it: Column(kind=…)",
            )
        return replace(declaration, name=column.name)
    kind = column.kind
    if source.is_untyped:
        kind = Kind.TEXT if declaration is None else kind_of(declaration)
    elif kind is Kind.TEXT and isinstance(declaration, Bounds):  # objects of Python, such as decimals
        kind = kind_of(declaration) if declaration.is_time else Kind.REAL
    return Column(
        name=column.name,
        kind=kind,
        bounds=declaration if isinstance(declaration, Bounds) else None,
        keys=declaration if isinstance(declaration, Keys) else None,
        nullable=column.nullable,
        places=column.places if kind is Kind.REAL else None,
    )
