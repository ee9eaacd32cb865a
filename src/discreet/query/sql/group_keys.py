"""Keys: the expressions that groups are made of, and those that make none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.ir import listed, public_values
from discreet.query.sql.places import offset_of
from discreet.query.sql.scopes import Facts
from discreet.tables import Kind

if TYPE_CHECKING:
    from sqlglot import exp


def checked_key(node: exp.Expression, bound: ir.Expr) -> ir.Expr:
    """A grouping expression in the form that groups are made of.

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
        raise Unsupported("DISTINCT ON isn't supported", hint="GROUP BY gives each group once")
    shown = {output.expr.name for output in outputs if isinstance(output.expr, ir.Released)}
    hidden = sorted(set(keys) - shown)
    if hidden:
        raise Unsupported(
            f"SELECT DISTINCT would merge groups that differ only in {hidden[0]!r}, which isn't shown",
            hint="leave DISTINCT out, or show the key",
        )


def released_type(key: ir.Expr, *, rolled: bool) -> ir.Type:
    """The type of a released key; where there are several grouping sets, it is NULL in those that leave it out."""
    found = listed(key).type
    return replace(found, nullable=True, hidden=False) if rolled else found


def _stepped(key: ir.Expr) -> ir.Expr:
    """The whole number that a real one is made of, one to one: FLOOR(x / 10.0) * 10.0 makes the groups of FLOOR.

    The answer computes the key that it shows from the group. Steps are wide enough that no two numbers become one.
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
    """The size of a constant; 0 if it isn't a number."""
    return abs(constant.value) if isinstance(constant.value, Fraction) else Fraction(0)


_FINE = {Kind.REAL, Kind.TIMESTAMP}
"""Kinds whose every value may be a single row's."""

_STEPS = {"real", "negate", "add", "subtract", "multiply", "divide"}

_FAR = Fraction(2**16)
