"""Clauses on groups and on what is released: GROUP BY with its grouping sets, ORDER BY, LIMIT, OFFSET, and margins.

DP_INTERVAL_LOW, DP_INTERVAL_HIGH and DP_STDDEV tell how far the noise may have carried a value; Snowflake has the first
two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from discreet.errors import TypeMismatch, UnknownColumn, Unsupported
from discreet.query import ir
from discreet.query.ir import MOST_GROUPING_SETS, listed, public_values
from discreet.query.sql.aggregate_syntax import MARGINS
from discreet.query.sql.conversions import Bind
from discreet.query.sql.places import offset_of
from discreet.query.sql.scopes import Facts
from discreet.tables import Kind

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


# ── Keys ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def checked_key(node: exp.Expression, bound: ir.Expr) -> ir.Expr:
    """A grouping expression as groups are made of it.

    Args:
        node: of the key.
        bound: the expression it means.

    Raises:
        TypeMismatch: its values are too fine to make groups.
        Unsupported: it is a constant.
    """
    key = _stepped(bound)
    if key.type.kind in _FINE:
        hint = "FLOOR or CAST AS INTEGER" if key.type.kind is Kind.REAL else "DATE_TRUNC('day', …) or EXTRACT(hour …)"
        raise TypeMismatch(f"a {key.type.kind} value makes no group", hint=f"{hint} does", at=offset_of(node))
    if not any(True for _ in ir.columns_in(key)):
        raise Unsupported("a constant makes no groups", hint="leave it out", at=offset_of(node))
    return key


def are_public(keys: Sequence[ir.Expr]) -> bool:
    """Whether keys make groups that are known in public."""
    found = [_stepped(key) for key in keys]
    return bool(found) and not any(key.type.kind in _FINE or public_values(listed(key)) is None for key in found)


def check_keys(keys: Sequence[tuple[str, ir.Expr]], facts: Facts) -> None:
    """Refuse groups of a single unit each: no threshold would let one through.

    Raises:
        Unsupported: naming the key.
    """
    for name, key in keys:
        if facts.entity(key) and public_values(key) is None:
            raise Unsupported(
                f"{name!r} says whose a row is, so each group would be one unit's own, and none can be released",
                hint="count them instead: COUNT(*) of a subquery with that GROUP BY",
            )


def check_distinct(distinct: exp.Expression, outputs: Sequence[ir.Output], keys: Iterable[str]) -> None:
    """Refuse a DISTINCT that could bring groups together: their noisy numbers aren't what is asked about.

    Raises:
        Unsupported: DISTINCT ON, or a key that isn't shown as it is.
    """
    if distinct.args.get("on"):
        raise Unsupported("DISTINCT ON isn't offered", hint="GROUP BY gives each group once")
    shown = {output.expr.name for output in outputs if isinstance(output.expr, ir.Released)}
    hidden = sorted(set(keys) - shown)
    if hidden:
        raise Unsupported(
            f"SELECT DISTINCT shows groups that differ in {hidden[0]!r} as one, and it isn't shown itself",
            hint="leave DISTINCT out, or show the key",
        )


def released_type(key: ir.Expr, *, rolled: bool) -> ir.Type:
    """The type of a released key; where there are several grouping sets, it is NULL in those that leave it out."""
    found = listed(key).type
    return replace(found, nullable=True, hidden=False) if rolled else found


def _stepped(key: ir.Expr) -> ir.Expr:
    """The whole number that a real one is made of, one to one: FLOOR(x / 10.0) * 10.0 makes the groups of FLOOR.

    What the answer shows of it is computed of the group. Steps are wide enough that no two numbers become one.
    """
    found, scale = key, Fraction(1)
    while isinstance(found, ir.Call) and found.type.kind is Kind.REAL:
        name, rest = found.function.name, [arg for arg in found.args if not isinstance(arg, ir.Literal)]
        numbers = [_number(arg) for arg in found.args if isinstance(arg, ir.Literal)]
        if len(rest) != 1 or name not in _STEPS or (name == "divide" and rest[0] is not found.args[0]):
            return key
        if name in {"multiply", "divide"}:
            scale *= numbers[0]
        elif any(number > _FAR for number in numbers):
            return key
        found = rest[0]
    ends = (found.type.lo, found.type.hi)
    is_near = 1 / _FAR <= scale <= _FAR and all(end is not None and abs(end) <= _FAR**2 for end in ends)
    is_step = isinstance(found, ir.Call) and found.function.name in {"floor", "ceil", "round", "quotient"}
    return found if is_step and found.type.kind is Kind.INTEGER and is_near else key


def _number(constant: ir.Literal) -> Fraction:
    """How large a constant is; nothing, if it is no number."""
    return abs(constant.value) if isinstance(constant.value, Fraction) else Fraction(0)


_FINE = {Kind.REAL, Kind.TIMESTAMP}
"""Kinds of which each value may be one row's own."""

_STEPS = {"real", "negate", "add", "subtract", "multiply", "divide"}

_FAR = Fraction(2**16)


# ── ORDER BY and LIMIT ────────────────────────────────────────────────────────────────────────────────────────────────


def position_of(node: exp.Expression, clause: str, columns: int) -> int | None:
    """Which of the answer's columns a number means, counted from 0; None if the node isn't a number.

    Raises:
        UnknownColumn: there aren't so many.
    """
    if type(node).__name__ != "Literal" or node.args.get("is_string"):
        return None
    position = int(node.name) if node.name.isdigit() and len(node.name) < 10 else 0  # noqa: PLR2004 — no more columns than that
    if not 1 <= position <= columns:
        raise UnknownColumn(f"{clause} {node.name[:20]}: the answer has columns 1 to {columns}", at=offset_of(node))
    return position - 1


def order_of(
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
    return tuple(_term(term, bind, outputs) for term in order.expressions)


def _term(term: exp.Expression, bind: Callable[[exp.Expression], ir.Expr], outputs: Sequence[ir.Output]) -> ir.Order:
    """One term of ORDER BY."""
    if term.args.get("with_fill") or type(term).__name__ != "Ordered":
        raise Unsupported("WITH FILL isn't offered", hint="leave it out", at=offset_of(term))
    node = cast("exp.Expression", term.this)
    position = position_of(node, "ORDER BY", len(outputs))
    expr = bind(node) if position is None else outputs[position].expr
    return ir.Order(expr=expr, descending=bool(term.args.get("desc")), nulls_first=bool(term.args.get("nulls_first")))


def count_of(part: str, clause: Any) -> int | None:  # noqa: ANN401 — a part of a node, or none
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
        raise Unsupported(f"{called} takes a whole number", at=offset_of(clause))
    return int(digits)


# ── Margins of noise ──────────────────────────────────────────────────────────────────────────────────────────────────


_CONFIDENCE = Fraction(95, 100)

_LEVEL = re.compile(r"0?\.\d{1,9}", re.ASCII)

_RANGES = {Kind.INTEGER: Fraction(2**52), Kind.REAL: Fraction(2**200)}
"""Noise has no bounds, so these are what arithmetic needs, not what is likely; as of the aggregates themselves."""


def margin(node: exp.Expression, bind: Bind) -> ir.Margin:
    """What such a node means.

    Args:
        node: one for which `is_margin` holds.
        bind: from the node of a column of the answer, or of an aggregate, to its expression.

    Raises:
        TypeMismatch: not one number, or a confidence out of range.
        Unsupported: a margin of a margin.
    """
    side, args = MARGINS[node.name.casefold()], node.expressions
    most = 1 if side is ir.Side.DEVIATION else 2
    if not 1 <= len(args) <= most:
        takes = "a column of the answer" + ("" if most == 1 else ", and perhaps a confidence")
        raise TypeMismatch(f"{node.name.upper()} takes {takes}", hint=f"{node.name.upper()}(n)")
    of = bind(args[0])
    if any(True for _ in ir.margins(of)):
        raise Unsupported("an interval's end has no interval itself", hint="name a column that is measured")
    if not of.type.kind.is_number:
        raise TypeMismatch(f"{node.name.upper()} takes a number, not {of.type.kind}")
    confidence = _confidence(args[1]) if len(args) > 1 else _CONFIDENCE
    whole = isinstance(of, ir.Released) and of.type.kind is Kind.INTEGER and side is not ir.Side.DEVIATION
    kind = Kind.INTEGER if whole else Kind.REAL
    return ir.Margin(side, of, confidence, ir.Type(kind, -_RANGES[kind], _RANGES[kind], nullable=True))


def _confidence(node: exp.Expression) -> Fraction:
    """A number between 0 and 1, written out."""
    text = node.name if type(node).__name__ == "Literal" and not node.args.get("is_string") else ""
    if not _LEVEL.fullmatch(text) or not Fraction(text):
        raise TypeMismatch("a confidence is a number between 0 and 1, written out", hint="DP_INTERVAL_LOW(n, 0.99)")
    return Fraction(text)
