"""Scalar syntax: how SQL says the functions of `ir.FUNCTIONS`.

One entry per kind of syntax node, by the name of sqlglot's class: which of the node's parts are understood, and what
they mean. A node without an entry is refused, and so is one with a part that its entry doesn't name: what isn't
understood can't be passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.errors import TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.ir import call, cast, literal, null, numeral
from discreet.query.sql.aggregate_syntax import is_margin
from discreet.query.sql.arithmetic_syntax import divided, power, rounded, sign, to_whole, truncated
from discreet.query.sql.bind import Bind
from discreet.query.sql.casts import casted
from discreet.query.sql.dialect_semantics import MEANING, meaning_of
from discreet.query.sql.named_arguments import PRIVATE, bounded
from discreet.query.sql.refusals import refusal, said
from discreet.query.sql.time_syntax import LATER, date_diff, formatted, later, minus, part, plus, truncated_time
from discreet.query.sql.truths import as_condition, beside, met, numbered
from discreet.tables import Kind

if TYPE_CHECKING:
    from sqlglot import exp

    Node: TypeAlias = exp.Expression


_MEETING = {"eq", "ne", "lt", "le", "gt", "ge", "distinct", "coalesce"}
"""Functions whose arguments are of one kind."""

_ARITHMETIC = {"multiply", "negate", "abs", "quotient", "remainder"}
"""Functions of numbers, and of truths where these are numbers."""

Build: TypeAlias = Callable[[Any, Bind], ir.Expr]


@dataclass(frozen=True, slots=True)
class ScalarSyntax:
    """How one kind of syntax node is read.

    Args:
        build: from the node, and the way to bind its parts, to the expression.
        parts: the parts of the node that `build` understands, or that change nothing.
    """

    build: Build
    parts: frozenset[str]


def _function(name: str, *parts: str, least: int | None = None) -> ScalarSyntax:
    """The function of that name, of the node's parts in this order; lists are laid out.

    Args:
        name: in `FUNCTIONS`.
        parts: of the node.
        least: how many arguments there must be; as many as parts, by default.
    """

    def build(node: Node, bind: Bind) -> ir.Expr:
        args = [bind(part) for part in _parts(node, parts)]
        if len(args) < (len(parts) if least is None else least):
            raise TypeMismatch(f"{said(node) or 'this'} lacks an argument")
        if name in _ARITHMETIC and meaning_of(node).numeric_truths:
            return call(name, *numbered(args))
        return call(name, *(met(node, args) if name in _MEETING else args))

    return ScalarSyntax(build, frozenset(parts))


def _parts(node: Node, names: tuple[str, ...]) -> Iterator[Node]:
    """The node's parts of these names."""
    for name in names:
        part = node.args.get(name)
        if isinstance(part, list):
            yield from part
        elif part is not None:
            yield part


def _special(build: Build, *parts: str) -> ScalarSyntax:
    """A node that needs more than one function, or more than its parts."""
    return ScalarSyntax(build, frozenset(parts))


def _chain(name: str, class_name: str) -> ScalarSyntax:
    """AND, OR and ||: a long chain is a deep tree, so it is walked down without recursion."""

    def build(node: Node, bind: Bind) -> ir.Expr:
        right: list[Node] = []
        blank = name == "concat" and meaning_of(node).empty_is_null
        while type(node).__name__ == class_name:
            right.append(node.args["expression"])
            node = node.args["this"]
        args = [bind(part) for part in (node, *reversed(right))]
        if name != "concat":
            args = [as_condition(name.upper(), node, arg) for arg in args]
        return concatenated(args) if blank else call(name, *args)

    return ScalarSyntax(build, frozenset(("this", "expression", "safe")))


def concatenated(args: list[ir.Expr]) -> ir.Expr:
    """Texts one after another, where NULL is an empty text and adds nothing."""
    found = call("concat", *(call("coalesce", arg, literal("")) if arg.type.nullable else arg for arg in args))
    if any(isinstance(arg, ir.Literal) and arg.value for arg in args):
        return found
    return call("if", call("eq", found, literal("")), literal(None), found)


def _between(node: Node, bind: Bind) -> ir.Expr:
    """Two comparisons; DuckDB brings all three values to one kind first, which shows where a text meets a date."""
    value, low, high = bind(node.this), bind(node.args["low"]), bind(node.args["high"])
    if node.meta.get(MEANING, "duckdb") == "duckdb":
        value, low, high = met(node, [value, low, high])
        return call("and", call("ge", value, low), call("le", value, high))
    return call("and", call("ge", *met(node, [value, low])), call("le", *met(node, [value, high])))


def _in(node: Node, bind: Bind) -> ir.Expr:
    """A list of constants; anything else in it is compared one by one. Nothing is in an empty one.

    In DuckDB all are brought to one kind; elsewhere, as in PostgreSQL, only the constants are.
    """
    value, items = bind(node.this), [bind(item) for item in node.expressions]
    if not items:
        return literal(False)  # noqa: FBT003 — SQL's FALSE
    constants = [item for item in items if isinstance(item, ir.Literal)]
    if len(constants) == len(items) or node.meta.get(MEANING, "duckdb") == "duckdb":
        value, *listed = met(node, [value, *items])
        if len(constants) == len(items):
            return call("in", value, *listed)
        return call("or", *(call("eq", value, item) for item in listed))
    first, *listed = met(node, [value, *constants])
    others = [met(node, [value, item]) for item in items if not isinstance(item, ir.Literal)]
    return call("or", *(call("eq", first, item) for item in listed), *(call("eq", *pair) for pair in others))


def _is(node: Node, bind: Bind) -> ir.Expr:
    """IS NULL, IS TRUE, IS FALSE and their negations: never unknown."""
    value, what = bind(node.this), node.expression
    match type(what).__name__:
        case "Null":
            found = call("is_null", value)
        case "Boolean":
            truth = as_condition("IS TRUE" if what.this else "IS FALSE", node, value)
            found = call("coalesce", truth if what.this else call("not", truth), literal(False))  # noqa: FBT003 — SQL's FALSE
        case _:
            raise Unsupported("IS takes NULL, TRUE, FALSE or DISTINCT FROM", hint="compare with =")
    return call("not", found) if node.args.get("negate") else found


def _like(name: str) -> ScalarSyntax:
    """LIKE and its negation."""

    def build(node: Node, bind: Bind) -> ir.Expr:
        found = call(name, bind(node.this), bind(node.expression))
        return call("not", found) if node.args.get("negate") else found

    return _special(build, "this", "expression", "negate")


def _case(node: Node, bind: Bind) -> ir.Expr:
    """Both forms of CASE."""
    subject = node.args.get("this")
    value = None if subject is None else bind(subject)
    args: list[ir.Expr] = []
    for branch in node.args["ifs"]:
        condition = bind(branch.this)
        reached = met(node, [value, condition]) if value else None
        args += [
            call("eq", *reached) if reached else as_condition("CASE WHEN", node, condition),
            bind(branch.args["true"]),
        ]
    default = node.args.get("default")
    return _settled(node, [*args, literal(None) if default is None else bind(default)])


def _is_null_of(condition: ir.Expr, result: ir.Expr) -> bool:
    """Whether a condition says that a result, perhaps a number read as real, is NULL."""
    if isinstance(result, ir.Call) and result.function.name == "real":
        (result,) = result.args
    return isinstance(condition, ir.Call) and condition.function.name == "is_null" and condition.args == (result,)


def _settled(node: Node, args: list[ir.Expr]) -> ir.Expr:
    """CASE without the branches that can't be reached; WHEN x IS NULL THEN x gives NULL."""
    *args[1:-1:2], args[-1] = beside(node, [*args[1:-1:2], args[-1]])
    found = call("if", *args)
    if not isinstance(found, ir.Call):
        return found
    kept: list[ir.Expr] = []
    *pairs, default = found.args
    for condition, result in zip(pairs[::2], pairs[1::2], strict=True):
        if isinstance(condition, ir.Literal) and condition.value is not True:
            continue
        if isinstance(condition, ir.Literal):
            default = result
            break
        kept += [condition, null(result.type.kind) if _is_null_of(condition, result) else result]
    return call("if", *kept, default) if kept else default


def _if(node: Node, bind: Bind) -> ir.Expr:
    """IF(condition, result, else)."""
    otherwise = node.args.get("false")
    condition = as_condition("IF", node, bind(node.this))
    results = [bind(node.args["true"]), literal(None) if otherwise is None else bind(otherwise)]
    return call("if", condition, *beside(node, results))


def _nullif(node: Node, bind: Bind) -> ir.Expr:
    """NULL where the two are equal: everywhere, if they are the same."""
    value, other = bind(node.this), bind(node.expression)
    if value == other:
        return null(value.type.kind)
    return call("if", call("eq", *met(node, [value, other])), literal(None), value)


def _extreme(name: str) -> ScalarSyntax:
    """LEAST or GREATEST; in dialects where one NULL makes the result NULL, it does."""

    def build(node: Node, bind: Bind) -> ir.Expr:
        args = beside(node, [bind(part) for part in _parts(node, ("this", "expressions"))])
        found = args[0] if len(args) == 1 else call(name, *args)
        skips = meaning_of(node).extremes_skip
        if skips or not any(arg.type.nullable for arg in args):
            return found
        if skips is None:
            raise Unsupported(
                f"it isn't known whether {name.upper()} skips NULLs in this dialect", hint="COALESCE(x, 0) has none"
            )
        return call("if", call("or", *(call("is_null", arg) for arg in args)), literal(None), found)

    return _special(build, "this", "expressions", "ignore_nulls")


def _trim(node: Node, bind: Bind) -> ir.Expr:
    """TRIM at both ends or at one."""
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position")), "trim")
    return call(name, bind(node.this))


def _concat(node: Node, bind: Bind) -> ir.Expr:
    """CONCAT, which takes NULL for an empty text in some dialects."""
    parts = [bind(part) for part in node.expressions]
    meaning = meaning_of(node)
    if meaning.empty_is_null:
        return concatenated(parts)
    if meaning.concat_skips is None and any(part.type.nullable for part in parts):
        raise Unsupported("it isn't known what CONCAT makes of NULL in this dialect", hint="COALESCE(x, '') has none")
    if meaning.concat_skips:
        parts = [call("coalesce", part, literal("")) if part.type.nullable else part for part in parts]
    return call("concat", *parts)


def _anonymous(node: Node, bind: Bind) -> ir.Expr:
    """Functions that the parser has no class for."""
    args = node.expressions
    match node.name.casefold(), len(args):
        case "date_part" | "datepart", 2:
            return part(args[0], args[1], bind)
        case "weekday", 1:
            return call("day_of_week", bind(args[0]))
        case private, _ if private in PRIVATE:
            return bounded(node, bind)
        case name, _ if is_margin(node):
            raise Unsupported(
                f"{name.upper()} speaks of noise, and there is none before the answer",
                hint="use it in the question's own SELECT, HAVING or ORDER BY",
            )
        case _:
            raise refusal(node)


_BINARY = {
    "IntDiv": "quotient", "Mod": "remainder", "Mul": "multiply",
    "EQ": "eq", "NEQ": "ne", "LT": "lt", "LTE": "le", "GT": "gt", "GTE": "ge", "NullSafeNEQ": "distinct",
}  # fmt: skip
_UNARY = {
    "Neg": "negate", "Abs": "abs", "Sqrt": "sqrt",
    "Upper": "upper", "Lower": "lower", "Length": "length",
    "Year": "year", "Quarter": "quarter", "Month": "month", "Week": "week", "WeekOfYear": "week",
    "Day": "day", "DayOfMonth": "day", "DayOfWeek": "day_of_week", "DayOfWeekIso": "iso_day_of_week",
    "DayOfYear": "day_of_year", "Hour": "hour", "Minute": "minute", "Second": "second",
}  # fmt: skip

SCALAR_SYNTAX: Mapping[str, ScalarSyntax] = {
    **{node: _function(name, "this", "expression") for node, name in _BINARY.items()},
    **{node: _function(name, "this") for node, name in _UNARY.items()},
    "Not": _special(lambda node, bind: call("not", as_condition("NOT", node, bind(node.this))), "this"),
    "And": _chain("and", "And"),
    "Or": _chain("or", "Or"),
    "DPipe": _chain("concat", "DPipe"),
    "Paren": _special(lambda node, bind: bind(node.this), "this"),
    "Literal": _special(
        lambda node, _bind: literal(node.name) if node.args.get("is_string") else numeral(node.name),
        "this",
        "is_string",
    ),
    "RawString": _special(lambda node, _bind: literal(node.name), "this"),
    "Boolean": _special(lambda node, _bind: literal(bool(node.this)), "this"),
    "Null": _special(lambda _node, _bind: null(Kind.INTEGER)),
    "Div": _special(divided, "this", "expression", "typed", "safe"),
    "SafeDivide": _function("divide", "this", "expression"),
    "Add": _special(plus, "this", "expression"),
    "Sub": _special(minus, "this", "expression"),
    **{name: _special(later, "this", "expression", "unit") for name in LATER},
    "Pow": _special(power, "this", "expression"),
    "Sign": _special(sign, "this"),
    "NullSafeEQ": _special(
        lambda node, bind: call("not", call("distinct", *met(node, [bind(node.this), bind(node.expression)]))),
        *("this", "expression"),
    ),
    "Between": _special(_between, "this", "low", "high"),
    "In": _special(_in, "this", "expressions"),
    "Is": _special(_is, "this", "expression", "negate"),
    "Like": _like("like"),
    "ILike": _like("ilike"),
    "Case": _special(_case, "this", "ifs", "default"),
    "If": _special(_if, "this", "true", "false"),
    "Coalesce": _function("coalesce", "this", "expressions", least=1),
    "Nullif": _special(_nullif, "this", "expression"),
    "Least": _extreme("least"),
    "Greatest": _extreme("greatest"),
    "Round": _special(rounded, "this", "decimals"),
    "Floor": _special(lambda node, bind: to_whole("floor", bind(node.this)), "this"),
    "Ceil": _special(lambda node, bind: to_whole("ceil", bind(node.this)), "this"),
    "Trunc": _special(truncated, "this", "decimals"),
    "Cast": _special(casted, "this", "to", "safe", "rounding", "digits"),
    "TryCast": _special(casted, "this", "to", "safe", "rounding", "digits"),
    "Date": _special(lambda node, bind: cast(bind(node.this), Kind.DATE), "this"),
    "Trim": _special(_trim, "this", "position"),
    "Substring": _function("substring", "this", "start", "length", least=2),
    "Left": _special(
        lambda node, bind: call("substring", bind(node.this), literal(1), bind(node.expression)), "this", "expression"
    ),
    "Concat": _special(_concat, "expressions", "safe", "coalesce"),
    "Extract": _special(lambda node, bind: part(node.this, node.expression, bind), "this", "expression"),
    "TimeToStr": _special(formatted, "this", "format"),
    "TimestampTrunc": _special(truncated_time, "this", "unit"),
    "DateTrunc": _special(truncated_time, "this", "unit"),
    "DateDiff": _special(date_diff, "this", "expression", "unit", "date_part_boundary", "whole_units"),
    "Anonymous": _special(_anonymous, "this", "expressions"),
}
