"""PostgreSQL's numbers: whether a value is a whole number, a `numeric` or a `double precision` there.

Here the last two are real numbers both. In PostgreSQL halves of the one are rounded away from 0, those of the other to
even ones, so a cast to whole numbers is refused where it can't be told. ROUND is away from 0 in every dialect here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import Unsupported
from discreet.query import ir
from discreet.query.sql.bind import Bind
from discreet.query.sql.refusals import SAID
from discreet.tables import Kind

if TYPE_CHECKING:
    from sqlglot import exp

    Node: TypeAlias = exp.Expression


class Number(StrEnum):
    """The kinds of numbers that PostgreSQL tells apart when it rounds; where two meet, the later one results."""

    WHOLE = "integer"
    NUMERIC = "numeric"
    DOUBLE = "double precision"


_SAID = {"EXTRACT": Number.NUMERIC, "DATE_PART": Number.DOUBLE}
"""Functions that the parser doesn't tell apart, by the question's own words."""

_CASTS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), Number.WHOLE),
    "DATE": Number.WHOLE,  # as the difference of two is
    "DECIMAL": Number.NUMERIC,
    **dict.fromkeys(("FLOAT", "DOUBLE"), Number.DOUBLE),
}

_ROUNDED = {"Floor", "Ceil", "Round", "Trunc", "Sign", "Sqrt", "Pow"}
"""Functions of a `numeric` or a `double precision`, which take a whole number for the latter."""

_WHOLE = {"Length", "DateDiff", "Count", "CountIf"}

_LIKE_ALL = {"Add", "Sub", "Mul", "Div", "Mod", "Coalesce", "Greatest", "Least", "Nullif"}
_LIKE_THIS = {"Paren", "Neg", "Abs", "Sum"}
_MEANS = {"Avg"}


def number_of(node: Node, bind: Bind) -> Number | None:  # noqa: PLR0911 — a table of what there is
    """The kind of number that a value is in PostgreSQL; None where it can't be told.

    Args:
        node: of the value.
        bind: what names stand for.
    """
    name = type(node).__name__
    if (found := _SAID.get(str(node.meta.get(SAID, "")).upper())) is not None:
        return found
    if name in _WHOLE:
        return Number.WHOLE
    if name in _LIKE_ALL:
        return _met(node.iter_expressions(), bind)
    match name:
        case "Literal":
            return Number.WHOLE if node.name.isdigit() else Number.NUMERIC
        case "Column":
            return _of_column(node, bind)
        case "Cast" | "TryCast":
            return _CASTS.get(getattr(node.args["to"].this, "name", ""))
        case "Case" | "If":
            return _met(_branches(node), bind)
        case "Round" if node.args.get("decimals") is not None:
            return Number.NUMERIC
    return _of_function(name, node, bind)


def _of_function(name: str, node: Node, bind: Bind) -> Number | None:
    """What a function of a number gives, by what it is given."""
    if name not in _LIKE_THIS | _ROUNDED | _MEANS:
        return None
    found = _met(node.iter_expressions(), bind) if name == "Pow" else number_of(node.this, bind)
    if found is not Number.WHOLE or name in _LIKE_THIS:
        return found
    return Number.NUMERIC if name in _MEANS else Number.DOUBLE


def _branches(node: Node) -> Iterator[Node]:
    """The values of a CASE, or of an IF."""
    for part in (*node.args.get("ifs", ()), node):
        yield from filter(None, (part.args.get("true"), part.args.get("false"), part.args.get("default")))


def _met(nodes: Iterable[Node], bind: Bind) -> Number | None:
    """What numbers become where they meet; a NULL or a text becomes what the others are."""
    said = (node for node in nodes if type(node).__name__ != "Null" and not node.args.get("is_string"))
    found = [number_of(node, bind) for node in said]
    if Number.DOUBLE in found:
        return Number.DOUBLE
    return None if None in found else Number.NUMERIC if Number.NUMERIC in found else Number.WHOLE


def _of_column(node: Node, bind: Bind) -> Number | None:
    """A column's: what a subquery computes under a name may be either, whole numbers included."""
    if isinstance(bind(node), ir.Column) and _is_derived(node):
        return None
    return Number.DOUBLE if bind(node).type.kind is Kind.REAL else Number.WHOLE


def _is_derived(node: Node) -> bool:
    """Whether the SELECT around a column reads anything else than tables."""
    from sqlglot import exp

    select = node.find_ancestor(exp.Select)
    if select is None:
        return False
    named = set[str]()
    above: exp.Expr | None = select
    while above is not None:
        named |= {each.alias.casefold() for each in getattr(above.args.get("with_"), "expressions", ())}
        above = above.parent
    read = [each.this for each in (select.args.get("from_"), *select.args.get("joins", ())) if each is not None]
    return any(type(each).__name__ != "Table" or each.name.casefold() in named for each in read)


def rounds_away(node: Node, value: ir.Expr, bind: Bind) -> bool:
    """Whether PostgreSQL rounds the halves of a real number away from 0, rather than to even ones.

    Args:
        node: of the number.
        value: what it was bound to. What is made of released ones alone has noise, and the kind that it has here.
        bind: what names stand for.

    Raises:
        Unsupported: it can't be told.
    """
    found = number_of(node, bind)
    if found is None and any(ir.columns_in(value)):
        raise Unsupported(
            "it isn't known whether this number is a numeric or a double precision, whose halves are rounded in "
            "different ways",
            hint="CAST(x AS NUMERIC) inside it, or CAST(x AS DOUBLE PRECISION)",
        )
    return found is Number.NUMERIC
