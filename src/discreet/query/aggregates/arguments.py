"""Arguments of aggregates: what each family takes, and what it refuses."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import TypeMismatch, UnboundedColumn, Unsupported
from discreet.query import ir
from discreet.query.ir import call, cast, is_null, literal, unbounded
from discreet.tables import Kind


def number(label: str, argument: ir.Expr) -> ir.Expr:
    """A number that is added up, with known ends; a condition counts as 0 or 1."""
    if argument.type.kind is Kind.BOOLEAN:
        argument = cast(argument, Kind.INTEGER)
    if is_null(argument):
        return no_number()
    if not argument.type.kind.is_number:
        raise TypeMismatch(f"{label} takes numbers, not {argument.type.kind}", hint="COUNT counts values of any kind")
    if not argument.type.is_bounded:
        raise unbounded(argument, f"{label} can't tell how much one row may add")
    return argument


def varying(argument: ir.Expr) -> ir.Expr:
    """What isn't the same for all rows."""
    if not is_null(argument) and not any(True for _ in ir.columns_in(argument)):
        raise Unsupported("a constant is the same for all rows", hint="write it down, or name a column")
    return argument


def no_number() -> ir.Literal:
    """NULL, as a number: what is over it is over no rows, as public facts tell."""
    return ir.Literal(None, ir.Type(Kind.INTEGER, Fraction(0), Fraction(0)))


def given(argument: ir.Expr | None) -> ir.Expr:
    """The argument of an aggregate that takes one."""
    if argument is None:
        raise AssertionError("the binder gives each of these an argument")
    return argument


def range_of(value: ir.Expr) -> tuple[Fraction, Fraction]:
    """The range of a value that is to be added up.

    Raises:
        UnboundedColumn: an end isn't known.
    """
    if value.type.lo is None or value.type.hi is None:
        raise UnboundedColumn(
            "a sum needs bounds on what one row can add",
            hint="declare bounds for the column, or clamp in the question: GREATEST(LEAST(x, 100), 0)",
        )
    return value.type.lo, value.type.hi


def present(value: ir.Expr) -> ir.Expr:
    """1 where the value isn't NULL, NULL where it is."""
    return literal(1) if not value.type.nullable else call("if", call("is_null", value), literal(None), literal(1))
