"""Clauses on groups and on what is released: GROUP BY with its grouping sets, ORDER BY, LIMIT and OFFSET."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from discreet.errors import UnknownColumn, Unsupported
from discreet.query import ir
from discreet.query.ir import MOST_GROUPING_SETS
from discreet.query.sql.scopes import place_of

if TYPE_CHECKING:
    from sqlglot import exp


MOST_KEYS = 20
"""More keys than this make groups of single people, and each may take a list of values to work out."""

_Set: TypeAlias = tuple[ir.Expr, ...]


@dataclass(frozen=True, slots=True)
class Grouping:
    """What GROUP BY says.

    Args:
        keys: each once, in order of first appearance.
        sets: of keys, each in the order of `keys`; none, if all keys are one set.
    """

    keys: _Set
    sets: tuple[_Set, ...]


def grouping_of(
    group: exp.Group, nodes: Sequence[exp.Expression], bind: Callable[[exp.Expression], ir.Expr]
) -> Grouping:
    """Read a GROUP BY.

    Args:
        group: the clause.
        nodes: the plain keys in it.
        bind: from a key's node to its expression.

    Raises:
        Unsupported: too many keys or sets, or a clause that isn't offered.
    """
    if any(value for part, value in group.args.items() if part not in {"expressions", "all", "rollup", "cube"}):
        raise Unsupported("this kind of GROUP BY isn't offered", hint="ROLLUP, CUBE and GROUPING SETS are")
    parts: list[list[_Set]] = []
    for node in nodes:
        make = _SETS.get(type(node).__name__)
        parts.append([(bind(node),)] if make is None else make([_element(each, bind) for each in node.expressions]))
    for clause, make in (("rollup", _rollup), ("cube", _cube)):  # WITH ROLLUP and WITH CUBE are of all keys
        if group.args.get(clause):
            parts = [make([key for part in parts for key in part])]
    keys = tuple(dict.fromkeys(key for part in parts for each in part for key in each))
    if len(keys) > MOST_KEYS:
        raise Unsupported(f"GROUP BY takes {MOST_KEYS} keys at the most")
    if all(len(part) == 1 for part in parts):
        return Grouping(keys, ())
    return Grouping(keys, _multiplied(parts, keys))


def _rollup(elements: Sequence[_Set]) -> list[_Set]:
    """All of them, then without the last, and so on down to none."""
    return [tuple(chain(*elements[:length])) for length in range(len(elements), -1, -1)]


def _cube(elements: Sequence[_Set]) -> list[_Set]:
    """Every choice of them, the larger ones first."""
    _check(2 ** len(elements))
    sizes = range(len(elements), -1, -1)
    return [tuple(chain(*some)) for size in sizes for some in combinations(elements, size)]


_SETS: Mapping[str, Callable[[Sequence[_Set]], list[_Set]]] = {"Rollup": _rollup, "Cube": _cube, "GroupingSets": list}


def _multiplied(parts: Sequence[Sequence[_Set]], keys: _Set) -> tuple[_Set, ...]:
    """One set of each part, in all combinations, as SQL has it; each set once."""
    size = 1
    for part in parts:
        size *= len(part)
        _check(size)
    found: dict[_Set, None] = {}
    for choice in product(*parts):
        held = set(chain(*choice))
        found[tuple(key for key in keys if key in held)] = None
    return tuple(found)


def _element(node: exp.Expression, bind: Callable[[exp.Expression], ir.Expr]) -> _Set:
    """One element of a clause: a key, or several in parentheses that go together."""
    return tuple(bind(part) for part in _parts(node))


def _parts(node: exp.Expression) -> Iterable[exp.Expression]:
    """The keys of an element."""
    match type(node).__name__:
        case "Tuple":
            return list(node.expressions)
        case "Paren":
            return [node.this]
        case "Rollup" | "Cube" | "GroupingSets":
            raise Unsupported("grouping sets can't be nested", hint="write the sets out")
        case _:
            return [node]


def _check(sets: int) -> None:
    """Refuse too many grouping sets.

    Raises:
        Unsupported: more than `MOST_GROUPING_SETS`.
    """
    if sets > MOST_GROUPING_SETS:
        raise Unsupported(
            f"{sets} grouping sets would leave each next to nothing of the budget",
            hint=f"at most {MOST_GROUPING_SETS}; ask for fewer keys",
        )


def position_of(text: str, node: exp.Expression, clause: str, columns: int) -> int | None:
    """Which of the answer's columns a number means, counted from 0; None if the node isn't a number.

    Raises:
        UnknownColumn: there aren't so many.
    """
    if type(node).__name__ != "Literal" or node.args.get("is_string"):
        return None
    position = int(node.name) if node.name.isdigit() and len(node.name) < 10 else 0  # noqa: PLR2004 — no more columns than that
    if not 1 <= position <= columns:
        raise UnknownColumn(
            f"{clause} {node.name[:20]}: the answer has columns 1 to {columns}", place=place_of(text, node)
        )
    return position - 1


def order_of(
    text: str,
    order: exp.Expression | None,
    bind: Callable[[exp.Expression], ir.Expr],
    outputs: Sequence[ir.Output],
) -> tuple[ir.Order, ...]:
    """The terms of ORDER BY.

    Raises:
        Unsupported: a kind of it that isn't offered.
        QueryError: a term means nothing.
    """
    if order is None:
        return ()
    if order.args.get("siblings") or order.args.get("this"):
        raise Unsupported("ORDER SIBLINGS isn't offered", hint="leave it out")
    return tuple(_term(text, term, bind, outputs) for term in order.expressions)


def _term(
    text: str, term: exp.Expression, bind: Callable[[exp.Expression], ir.Expr], outputs: Sequence[ir.Output]
) -> ir.Order:
    """One term of ORDER BY."""
    if term.args.get("with_fill") or type(term).__name__ != "Ordered":
        raise Unsupported("WITH FILL isn't offered", hint="leave it out", place=place_of(text, term))
    node = cast("exp.Expression", term.this)
    position = position_of(text, node, "ORDER BY", len(outputs))
    expr = bind(node) if position is None else outputs[position].expr
    return ir.Order(expr=expr, descending=bool(term.args.get("desc")), nulls_first=bool(term.args.get("nulls_first")))


def count_of(text: str, part: str, clause: Any) -> int | None:  # noqa: ANN401 — a part of a node, or none
    """The number after LIMIT or OFFSET; None without one.

    Raises:
        Unsupported: it isn't a whole number that is written out.
    """
    if clause is None:
        return None
    node, extra = clause.args.get("expression"), {key for key, value in clause.args.items() if value}
    digits = node.name if type(node).__name__ == "Literal" and not node.args.get("is_string") else ""
    if extra - {"expression"} or not digits.isdigit() or len(digits) > 18:  # noqa: PLR2004 — 64 bits
        called = "TOP" if clause.meta.get("top") else part.upper()
        raise Unsupported(f"{called} takes a whole number", place=place_of(text, clause))
    return int(digits)
