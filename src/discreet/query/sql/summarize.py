"""SUMMARIZE: a statement that stands for questions, one about a table and one about each of its columns.

Which they are follows from what is declared, and from whether a δ is offered, so that they tell nothing. They are asked
like any others, as a workload: what they share is measured once.

- Of numbers with bounds: how many are missing, mean, standard deviation and quartiles; of times what is missing, and
  quartiles. Extremes are left out: no private answer can follow one person's value, and bounds are declared.
- Of what has keys, and of truths: how many rows each key has, and how many rows have none: a key more costs nothing.
- Of texts without keys, where a δ is offered: the most frequent ones that enough people share.
- Of anything else how many are missing; and of ids nothing. They name units, which are counted once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import QueryError, SqlSyntax, UnknownColumn, UnknownTable, Unsupported
from discreet.hints import Hint
from discreet.query.sql.names import in_sql
from discreet.query.sql.options_clause import Options
from discreet.query.sql.parsing import Statement, parse
from discreet.query.sql.schemas import Schema, declared_as
from discreet.results import BLANK, SUMMARIZE, quoted
from discreet.suggestions import did_you_mean
from discreet.tables import Column, Kind, Table, owner_of
from discreet.tables.schema.owner import identifying

if TYPE_CHECKING:
    from sqlglot import exp

_SELECT = re.compile(rf"{BLANK}*+(SELECT|FROM|WITH|\()", re.IGNORECASE)

_HINT = "SUMMARIZE census, or of some columns: SUMMARIZE SELECT age, sex FROM census"

_QUARTILES = {"q25": "0.25", "median": "0.5", "q75": "0.75"}

_WEIGHTS = {"rows": 4, "units": 4, "missing": 3, "mean": 3, "std": 3}
"""How many times as much relative errors matter as those of quartiles, by what they are of.

Where all matter alike, the worst is least, and quartiles of wide columns take nearly all of the offer: for the same
error they cost about four times as much as means, and twenty times as much as counts by key. The sum of errors is least
where weights are as the inverse roots of costs; these are about that.
"""

_MOST_COLUMNS = 64
"""Of more columns planning would take longer than a server gives it."""

_MOST_LISTED = 20
"""Of more keys the most frequent are shown, in as many rows as `_LISTED`."""

_LISTED = 10

_MISSING = "(missing)"
"""The key of rows that have none of the declared ones."""


@dataclass(frozen=True)
class Summarized:
    """The questions that a SUMMARIZE stands for.

    Args:
        table: that they are about.
        questions: in DuckDB's SQL.
        weights: of the columns of their answers, where they aren't 1.
        keys: the columns of their answers that rows are counted by, which have no noise.
    """

    table: str
    questions: tuple[str, ...]
    weights: tuple[tuple[str, Fraction], ...]
    keys: frozenset[str]


def summarized(
    text: str, dialect: str, tables: Sequence[Table], schema: str | None, *, selects: bool
) -> Summarized | None:
    """The questions that a SUMMARIZE stands for; None if the text isn't one.

    Args:
        text: of the statement.
        dialect: of it.
        tables: that may be asked about.
        schema: that the tables are in; any, if none is named.
        selects: whether a δ is offered, for keys that aren't public.

    Raises:
        QueryError: it names no table, or one that is public; or it summarizes more than columns of a table.
    """
    found = SUMMARIZE.match(text)
    if found is None:
        return None
    rest = text[found.end() :]
    is_select = _SELECT.match(rest) is not None
    before = re.sub(r"[^\n]", " ", text[: found.end()]) if is_select else "SELECT * FROM "
    try:
        if not rest.strip(" ;\n\t"):
            raise SqlSyntax("SUMMARIZE names a table", hint=_HINT)
        statement = parse(before + rest, dialect)
        select, table = (
            statement.select,
            _table(statement, tables, tuple(schema.casefold().split(".")) if schema else ()),
        )
        asked = [*_of_table(table, tables), *_of_columns(_columns(select, table), table, tables, selects=selects)]
    except QueryError as error:
        error.hint, error.place = error.hint or _HINT, error.place if is_select else None
        raise
    if len(asked) > _MOST_COLUMNS + 1:
        raise Unsupported(
            f"a summary is of at most {_MOST_COLUMNS} columns, not {len(asked) - 1}",
            hint="name those that matter: SUMMARIZE SELECT age, sex FROM census",
        )
    weights = [(name, Fraction(_WEIGHTS[part])) for each in asked for _, name, part in each.parts if part in _WEIGHTS]
    keys = frozenset(name for each in asked for _, name, part in each.parts if not part)
    return Summarized(table.name, tuple(each.text(table) for each in asked), tuple(weights), keys)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question.

    Args:
        parts: what is asked: in SQL, its name in the answer, and which part of a summary it is; empty for a key.
        after: what stands after the table.
    """

    parts: Sequence[tuple[str, str, str]]
    after: str = ""

    def text(self, table: Table) -> str:
        """The question in SQL."""
        outputs = ", ".join(f"{expr} AS {quoted(name)}" for expr, name, _ in self.parts)
        return f"SELECT {outputs} FROM {quoted(table.name)}{self.after}"  # noqa: S608 — names are quoted


def _table(statement: Statement, tables: Sequence[Table], schema: Schema) -> Table:
    """The table, if nothing is done with it."""
    if statement.options != Options():
        raise Unsupported("SUMMARIZE takes no OPTIONS", hint=Hint.of("{epsilon} beside it", epsilon="0.5"))
    source = statement.select.args.get("from_")
    if source is None or _beside(statement.select, "expressions", "from_") or type(source.this).__name__ != "Table":
        raise Unsupported("SUMMARIZE takes a table, or columns of one", hint=_HINT)
    if statement.unread is not None or _beside(source.this, "this", "db", "catalog"):
        raise Unsupported("SUMMARIZE takes a table as it is", hint=_HINT)
    table = declared_as(source.this, tables, schema)
    private = [each.name for each in tables if not each.public]
    if table is None:
        name = source.this.name
        raise UnknownTable(f"no table here is called {name!r}", hint=did_you_mean(name, private))
    if table.public:
        raise Unsupported(
            f"table {table.name!r} is public, so nothing of it is private", hint=f"there are {', '.join(private)}"
        )
    return table


def _beside(node: exp.Expression, *known: str) -> bool:
    """Whether a node has other parts than those."""
    return any(value and part not in known for part, value in node.args.items())


def _columns(select: exp.Select, table: Table) -> list[Column]:
    """The columns that are named, each once; all of them for `*`."""
    found: dict[str, Column] = {}
    for node in select.expressions:
        match type(node).__name__:
            case "Star" if not any(node.args.values()):
                found |= {column.name: column for column in table.columns}
            case "Column" if not node.args.get("table"):
                if not table.has(node.name):
                    known = [column.name for column in table.columns]
                    raise UnknownColumn(
                        f"{table.name!r} has no column {node.name!r}", hint=did_you_mean(node.name, known, in_sql)
                    )
                column = table.column(node.name)
                found[column.name] = column
            case _:
                raise Unsupported("SUMMARIZE takes columns as they are", hint=_HINT)
    return list(found.values())


def _of_table(table: Table, tables: Sequence[Table]) -> Iterator[_Asked]:
    """How many rows and units there are; where each row is a unit, or none of its columns names one, rows."""
    counted = [("COUNT(*)", "rows", "rows")]
    owner = owner_of(table, tables)
    if owner is not None and not owner.hops and owner.unit.column is not None and owner.unit.per is None:
        counted.append((f"COUNT(DISTINCT {quoted(owner.unit.column)})", "units", "units"))
    yield _Asked(counted)


def _of_columns(columns: Sequence[Column], table: Table, tables: Sequence[Table], *, selects: bool) -> Iterator[_Asked]:
    """What is asked of each column that names no unit."""
    ids = identifying(table, tables)
    for column in columns:
        if column.name.casefold() in ids:
            continue
        name = quoted(column.name)
        has_all = column.keys is not None or column.kind is Kind.BOOLEAN
        if has_all or (selects and column.kind is Kind.TEXT):
            is_short = has_all and len(column.keys or ()) <= _MOST_LISTED
            after = " GROUP BY 1" if is_short else f" GROUP BY 1 ORDER BY 2 DESC LIMIT {_LISTED}"
            yield _Asked([(_key(column), column.name, ""), _part("COUNT(*)", column, "rows")], after)
            continue
        parts = [_part(f"COUNT_IF({name} IS NULL)", column, "missing")] if column.nullable else []
        if column.bounds is not None and column.kind.is_number:
            parts += [_part(f"AVG({name})", column, "mean"), _part(f"STDDEV({name})", column, "std")]
        if column.bounds is not None:
            parts += [_part(f"QUANTILE_CONT({name}, {at})", column, part) for part, at in _QUARTILES.items()]
        if parts:
            yield _Asked(parts)


def _part(expr: str, column: Column, part: str) -> tuple[str, str, str]:
    """A part of a summary, whose name says what it is of: `age mean`."""
    return expr, f"{column.name} {part}", part


def _key(column: Column) -> str:
    """A column that rows are counted by, with a key of those that have none, where NULL isn't one anyway."""
    name = quoted(column.name)
    if column.keys is None or not column.nullable or None in column.keys:
        return name
    missing = _MISSING
    while missing in column.keys:
        missing = f"({missing})"
    as_text = name if column.kind is Kind.TEXT else f"CAST({name} AS VARCHAR)"
    return f"COALESCE({as_text}, '{missing}')"
