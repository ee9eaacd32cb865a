"""Arguments: bringing them to the kinds a function takes, or saying why they don't fit."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet.errors import TypeMismatch, UnboundedColumn, Unsupported
from discreet.privacy import KeyValue
from discreet.query.ir.expressions import Expr, Literal, Type, columns_in
from discreet.query.ir.functions.casts import cast
from discreet.query.ir.literals import is_null, moment, null
from discreet.query.ir.ranges import REAL_LIMIT, Interval, outward
from discreet.tables import Kind

Args = tuple[Expr, ...]
Prepare = Callable[[Args], Args]


def of_kind(label: str, args: Args, *kinds: Kind) -> Args:
    """The arguments, all of them of one of these kinds; NULL becomes one of the first.

    Raises:
        TypeMismatch: one isn't.
    """
    return tuple(null(kinds[0]) if is_null(arg) else _checked(label, arg, kinds) for arg in args)


def taking(label: str, *kinds: Kind) -> Prepare:
    """A preparation that lets arguments of these kinds through."""
    return lambda args: of_kind(label, args, *kinds)


def numbers(label: str, args: Args) -> Args:
    """The arguments as numbers, all real if one of them is.

    Raises:
        TypeMismatch: one isn't a number.
    """
    checked = of_kind(label, args, Kind.INTEGER, Kind.REAL)
    return reals(checked) if any(arg.type.kind is Kind.REAL for arg in checked) else checked


def reals(args: Args) -> Args:
    """Numbers as reals."""
    return tuple(cast(arg, Kind.REAL) for arg in args)


def alike(label: str, args: Args) -> Args:
    """The arguments as one kind: whole numbers as reals beside a real, dates as timestamps beside a timestamp.

    A text constant beside a date or timestamp is read as one, as SQL does.

    Raises:
        TypeMismatch: they have no kind in common, or the text isn't a date.
    """
    kinds = {arg.type.kind for arg in args if not is_null(arg) and not _is_text(arg)}
    if any(kind.is_time for kind in kinds):
        args = tuple(_as_moment(label, arg, kinds) for arg in args)
    kinds = {arg.type.kind for arg in args if not is_null(arg)}
    target = _common(kinds)
    if target is None:
        raise TypeMismatch(
            f"{label} takes values of one kind, not {' and '.join(sorted(kinds))}",
            hint="CAST one of them to the other's kind",
        )
    return tuple(cast(arg, target) for arg in args)


def demand_bounds(label: str, args: Args) -> None:
    """Refuse an argument whose range isn't known, if it is computed from rows: one of them could overflow.

    Released numbers need no bounds: what is computed from them is computed in Python, where nothing overflows.

    Raises:
        UnboundedColumn: naming the column and both ways to bound it.
    """
    for arg in args:
        if not arg.type.is_bounded and any(True for _ in columns_in(arg)):
            raise unbounded(arg, f"{label} could overflow on one of its rows")


def unbounded(expr: Expr, danger: str) -> UnboundedColumn:
    """The error that names what lacks bounds, and the fix."""
    loose = next(
        (column for column in columns_in(expr) if not column.type.is_bounded and column.type.kind.is_number), None
    )
    if loose is None:
        return UnboundedColumn(
            f"nothing bounds the values of this expression, so {danger}",
            hint="clamp it in the question: GREATEST(LEAST(…, 100), 0)",
        )
    name = loose.name if loose.name.isidentifier() else f'"{loose.name}"'
    skipped = "; NULLs would count as 100, so add WHERE … IS NOT NULL" if loose.type.nullable else ""
    return UnboundedColumn(
        f"column {loose.name!r} has no bounds, so {danger}",
        hint=f"declare bounds for {name} in the configuration, "
        f"or clamp it in the question: GREATEST(LEAST({name}, 100), 0){skipped}",
    )


def number_type(kind: Kind, span: Interval, args: Args, *, nullable: bool = False) -> Type:
    """The type of a number computed from `args`; NULL if one of them is.

    Raises:
        Unsupported: a row's result could be beyond 2⁵⁰⁰.
    """
    lo, hi = span
    if kind is Kind.REAL:
        sizes = [abs(end) for end in span if end is not None]
        if sizes and max(sizes) > REAL_LIMIT and any(True for arg in args for _ in columns_in(arg)):
            raise Unsupported(
                "a row's result could be larger than 2⁵⁰⁰",
                hint="tighter bounds, or GREATEST(LEAST(…, 100), 0) around a part, keep it small",
            )
        lo, hi = outward(span)
    return Type(kind, lo, hi, nullable or any(arg.type.nullable for arg in args), nothing(args))


def nothing(args: Args) -> tuple[KeyValue, ...] | None:
    """The values of a function that is NULL for NULL: none at all if an argument is the constant NULL."""
    return () if any(map(is_null, args)) else None


def constant(label: str, arg: Expr, least: int, most: int) -> int:
    """The value of an argument that must be a whole number known in advance.

    Raises:
        Unsupported: it isn't a constant, or is out of range.
    """
    if not isinstance(arg, Literal) or type(arg.value) is not int or not least <= arg.value <= most:
        raise Unsupported(f"{label} must be a whole number from {least} to {most}, written out")
    return arg.value


def span_of(arg: Expr) -> Interval:
    """The range of an argument."""
    return arg.type.lo, arg.type.hi


def counted(least: int, most: int, args: Args) -> Type:
    """The type of a whole number that lies between two ends whatever the arguments."""
    return number_type(Kind.INTEGER, (Fraction(least), Fraction(most)), args)


def condition(args: Args) -> Type:
    """The type of a condition on the arguments: unknown if one of them is NULL."""
    return Type(Kind.BOOLEAN, nullable=any(arg.type.nullable for arg in args), values=nothing(args))


def _checked(label: str, arg: Expr, kinds: tuple[Kind, ...]) -> Expr:
    """The argument, if it is of one of the kinds."""
    if arg.type.kind not in kinds:
        hint = "CAST it, if its values mean that"
        if arg.type.kind is Kind.BOOLEAN and Kind.INTEGER in kinds:
            hint = "CAST(… AS INTEGER) makes it 0 or 1"
        elif kinds == (Kind.BOOLEAN,):
            hint = "write a condition, such as x <> 0"
        raise TypeMismatch(f"{label} takes {' or '.join(kinds)}, not {arg.type.kind}", hint=hint)
    return arg


def _is_text(arg: Expr) -> bool:
    """Whether the argument is a text constant."""
    return isinstance(arg, Literal) and isinstance(arg.value, str)


def _as_moment(label: str, arg: Expr, kinds: set[Kind]) -> Expr:
    """A text constant as the date or timestamp it is compared with."""
    if not isinstance(arg, Literal) or not isinstance(arg.value, str):
        return arg
    found = moment(arg.value, Kind.TIMESTAMP if Kind.TIMESTAMP in kinds else Kind.DATE)
    if found is None:
        raise TypeMismatch(f"{label}: {arg.value!r} isn't a date", hint="write it as '2024-12-31'")
    return found


def _common(kinds: set[Kind]) -> Kind | None:
    """The one kind that holds values of all of these, if there is one."""
    if len(kinds) <= 1:
        return next(iter(kinds), Kind.INTEGER)
    if kinds == {Kind.INTEGER, Kind.REAL}:
        return Kind.REAL
    return Kind.TIMESTAMP if kinds == {Kind.DATE, Kind.TIMESTAMP} else None
