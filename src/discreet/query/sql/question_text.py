"""Ways of writing a question that no parser of SQL knows: Ibis expressions, EXPLAIN, and arguments by name.

*Ibis expressions* become SQL, so they mean what the same question in SQL means; whatever isn't offered in SQL isn't
offered here. Ibis writes nested SELECTs in DuckDB's dialect. No backend is connected to and no data is touched: the
tables are names and types.

*EXPLAIN* is taken off: it says what is to be done with a question.

*Named arguments*, `SUM(x, contribution_bounds_per_row => (0, 100))`, are BigQuery's. The parser would count them as
arguments too many, so they become a function of the first argument before it sees them:
`SUM(contribution_bounds_per_row(x, 0, 100))`, under a name that no question can spell. It clamps what each row adds;
bounds per group aren't offered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidArgument, SqlSyntax, TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.ir import call, literal
from discreet.query.sql.aggregate_syntax import is_aggregate
from discreet.query.sql.conversions import Bind
from discreet.query.sql.did_you_mean import meant
from discreet.query.sql.places import in_text
from discreet.tables import Kind, Table

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.tokenizer_core import Token


FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a parser can fail with on text nobody thought of, besides its own errors."""

DIALECT = "duckdb"
"""In which expressions are written."""

_TYPES = {
    Kind.INTEGER: "int64",
    Kind.REAL: "float64",
    Kind.TEXT: "string",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
}


def is_frame(value: object) -> bool:
    """Whether a value is an Ibis expression; without importing Ibis, which takes a while.

    Examples:
        >>> is_frame("SELECT COUNT(*) FROM people")
        False
    """
    return any(each.__module__.startswith("ibis.expr.types") for each in type(value).__mro__)


def frame_of(table: Table) -> Any:  # noqa: ANN401 — Ibis hands out no types of its own
    """A table as Ibis knows it: its name and the kinds of its columns, and no data.

    Examples:
        >>> from discreet.tables import Column, Source
        >>> from discreet.privacy import Unit
        >>> source = Source(kind="csv", location="census.csv")
        >>> age = Column(name="age", kind=Kind.INTEGER)
        >>> census = Table(name="census", source=source, columns=(age,), unit=Unit.row())
        >>> sql_of(frame_of(census).age.mean().name("age"))
        'SELECT AVG("t0"."age") AS "age" FROM "census" AS "t0"'
    """
    import ibis

    return ibis.table({column.name: _TYPES[column.kind] for column in table.columns}, name=table.name)


def sql_of(frame: Any) -> str:  # noqa: ANN401 — as above
    """The SQL that an expression stands for.

    Raises:
        InvalidArgument: it isn't an Ibis expression.
        Unsupported: Ibis has no SQL for it.
    """
    if not is_frame(frame):
        raise InvalidArgument(
            f"a question is SQL, an Ibis expression or a plan, not {type(frame).__name__}",
            hint="protected.table.count(), for example",
        )
    import ibis
    from ibis.common.exceptions import IbisError

    try:
        text = str(ibis.to_sql(frame, dialect=DIALECT, pretty=False))
    except (IbisError, NotImplementedError, *FAULTS) as error:
        said = re.sub(r"<[^>]*>\s*|\s+", " ", str(error)).strip()[:200]
        raise Unsupported(
            "Ibis can't write this expression as SQL" + (f": {said}" if said else ""),
            hint="tables with data of their own, and functions in Python, have no part in a question",
        ) from None
    return text


def written(question: Any, dialect: str) -> tuple[str, str]:  # noqa: ANN401 — a text or an expression
    """A question as SQL, and the dialect it is in.

    Raises:
        InvalidArgument: it is neither a text nor an Ibis expression.
        Unsupported: Ibis has no SQL for it.
    """
    return (question, dialect) if isinstance(question, str) else (sql_of(question), DIALECT)


# ── EXPLAIN ───────────────────────────────────────────────────────────────────────────────────────────────────────────


_BLANK = r"(?:\s|--[^\n]*(?:\n|\Z)|/\*(?:[^*]|\*(?!/))*\*/)"

_EXPLAIN = re.compile(rf"{_BLANK}*+(EXPLAIN)\b", re.IGNORECASE)

_DP = re.compile(rf"{_BLANK}*+\({_BLANK}*+DP{_BLANK}*+\)", re.IGNORECASE)

_OTHER = re.compile(
    rf"{_BLANK}*+(ANALY[ZS]E|VERBOSE|EXTENDED|FORMATTED|CODEGEN|COST|LOGICAL|QUERY|USING|FORMAT|PLAN|\(\s*(?!SELECT|WITH)\w)",
    re.IGNORECASE,
)

_ANALYSE = re.compile(rf"{_BLANK}*+\(?\s*ANALY[ZS]E", re.IGNORECASE)


def explained(text: str) -> str | None:
    """The question that an EXPLAIN is about, with blanks in its place, so that all places stay right; None without one.

    Raises:
        Unsupported: EXPLAIN ANALYZE, or another kind of it.

    Examples:
        >>> explained("EXPLAIN (DP) SELECT 1")
        '             SELECT 1'
        >>> explained("SELECT 1") is None
        True
    """
    found = _EXPLAIN.match(text)
    if found is None:
        return None
    end = found.end()
    dp = _DP.match(text, end)
    end = dp.end() if dp else end
    with in_text(text):
        _check_kind(text, end)
    return re.sub(r"[^\n]", " ", text[:end]) + text[end:]


def _check_kind(text: str, end: int) -> None:
    """Refuse kinds of EXPLAIN that other databases have; `end` is where the text goes on after the word."""
    other = _OTHER.match(text, end)
    if other is None:
        return
    if _ANALYSE.match(text, end):
        raise Unsupported(
            "EXPLAIN ANALYZE would run the question, and tell what only the data can tell",
            hint="EXPLAIN says what the answer would cost and how accurate it would be",
            at=other.start(1),
        )
    raise Unsupported("EXPLAIN takes (DP) or nothing", hint="EXPLAIN SELECT …", at=other.start(1))


# ── Named arguments ───────────────────────────────────────────────────────────────────────────────────────────────────


_MARK = "\x00"
"""A character that no question may contain."""

PER_ROW, PER_GROUP = "contribution_bounds_per_row", "contribution_bounds_per_group"
PRIVATE = {name + _MARK: name for name in (PER_ROW, PER_GROUP)}
"""What the arguments become functions of, with what they are called."""

_OPEN, _CLOSE = {"L_PAREN", "L_BRACKET", "L_BRACE"}, {"R_PAREN", "R_BRACKET", "R_BRACE"}


def with_named_arguments(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with each named argument made a function of the first argument beside it; all keep their places.

    Raises:
        Unsupported: an argument of another name.
        SqlSyntax: it doesn't stand where such an argument stands, has no two bounds, or is there twice.
    """
    done: list[Token] = []
    calls: list[_Call] = []
    at = 0
    while at < len(tokens):
        token, name = tokens[at], tokens[at].token_type.name
        following = tokens[at + 1].token_type.name if at + 1 < len(tokens) else ""
        if following == "FARROW":
            at = _taken(tokens, at, done, calls)
            continue
        if name in _CLOSE and calls:
            calls.pop()
        elif name == "COMMA" and calls and calls[-1].comma is None:
            calls[-1].comma = len(done)
        done.append(token)
        if name in _OPEN:
            calls.append(_Call(len(done)))
        at += 1
    return done


class _Call:
    """A list of arguments: where the first begins, and the comma behind it, among the tokens that are done."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.comma: int | None = None
        self.wrapped = False


def _taken(tokens: Sequence[Token], at: int, done: list[Token], calls: list[_Call]) -> int:
    """Make the named argument that begins here a function; where the tokens go on after it."""
    token = tokens[at]
    name = token.text.casefold()
    if name not in PRIVATE.values() or token.token_type.name in {"STRING", "IDENTIFIER"}:
        hint = f"{meant(name, [PER_ROW])}; to compare, write >="
        raise Unsupported(f"there is no argument called {token.text[:40]!r}", hint=hint, at=token.start)
    if not calls or calls[-1].comma is None or done[-1].token_type.name != "COMMA":
        raise SqlSyntax(f"{name} comes after what is aggregated", hint=f"SUM(x, {name} => (0, 100))", at=token.start)
    call = calls[-1]
    if call.wrapped:
        raise SqlSyntax("contribution bounds are given twice", hint="say them once", at=token.start)
    end, bounds = _bounds(tokens, at + 2)
    if bounds is None:
        raise SqlSyntax(f"{name} takes two bounds", hint=f"{name} => (0, 100)", at=token.start)
    comma = done.pop()
    behind = done[call.comma :]
    del done[call.comma :]
    before = done[call.first :]
    del done[call.first :]
    opening, closing = tokens[at + 2], tokens[end - 1]
    done += [
        _named(token, name + _MARK),
        _moved(opening, token),
        *before,
        comma,
        *bounds,
        _moved(closing, token),
        *behind,
    ]
    call.comma = len(done) - len(behind)
    call.wrapped = True
    return end


def _bounds(tokens: Sequence[Token], at: int) -> tuple[int, list[Token] | None]:
    """The tokens between the parentheses that begin here, if they are two arguments; and where the tokens go on."""
    depth, commas = 0, 0
    for end in range(at, len(tokens)):
        name = tokens[end].token_type.name
        depth += (name in _OPEN) - (name in _CLOSE)
        commas += name == "COMMA" and depth == 1
        if depth <= 0:
            inside = list(tokens[at + 1 : end])
            return end + 1, inside if commas == 1 and name == "R_PAREN" else None
    return len(tokens), None


def _named(token: Token, text: str) -> Token:
    """A word at the place of a token."""
    from sqlglot.tokenizer_core import Token, TokenType

    return Token(TokenType.VAR, text, token.line, token.col, token.start, token.end)


def _moved(token: Token, to: Token) -> Token:
    """A sign, at the place of a word."""
    from sqlglot.tokenizer_core import Token

    return Token(token.token_type, token.text, to.line, to.col, to.start, to.end)


def bounded(node: exp.Expression, bind: Bind) -> ir.Expr:
    """The first argument of an aggregate within its bounds; NULL stays NULL.

    Raises:
        TypeMismatch: not two numbers in order, or nothing that is aggregated.
        Unsupported: bounds per group, with the form that bounds a unit's total.
    """
    name = PRIVATE[node.name.casefold()]
    if len(node.expressions) != 3:  # noqa: PLR2004 — a value and two bounds
        raise TypeMismatch(f"{name} takes two bounds", hint=f"{name} => (0, 100)")
    value, low, high = node.expressions
    if name == PER_GROUP:
        raise Unsupported(
            f"{PER_GROUP} bounds what a unit adds to a group in all, and rows are bounded here one by one",
            hint=f"bound the rows, {PER_ROW} => (0, 100); or add up each unit's rows in a subquery, grouped by the "
            "unit's id and the same keys, and clamp these sums: SUM(GREATEST(LEAST(total, 100), 0))",
        )
    above: Any = node.parent
    if above is None or not is_aggregate(above):
        raise TypeMismatch(f"{name} bounds what is aggregated", hint=f"SUM(x, {name} => (0, 100))")
    lo, hi, of = bind(low), bind(high), bind(value)
    if not _is_number(lo) or not _is_number(hi):
        raise TypeMismatch(f"{name} takes two numbers, written out", hint=f"{name} => (0, 100)")
    if (lo.type.lo or 0) > (hi.type.lo or 0):
        raise TypeMismatch(f"{name} takes the lower bound first", hint=f"{name} => (0, 100)")
    if not of.type.kind.is_number:
        raise TypeMismatch(f"{name} bounds numbers, not {of.type.kind}")
    clamped = call("greatest", call("least", of, hi), lo)
    return call("if", call("is_null", of), literal(None), clamped) if of.type.nullable else clamped


def _is_number(bound: ir.Expr) -> bool:
    """Whether a bound is a number that is known."""
    return isinstance(bound, ir.Literal) and bound.type.kind.is_number and bound.value is not None


# ── Spelling ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def spelled(node: exp.Expression) -> str:
    """The node as DuckDB would write it, without schemas; nothing if it has no spelling, so that it will be refused.

    Named arguments have the names that were written.
    """
    from sqlglot import exp
    from sqlglot.errors import ErrorLevel, SqlglotError

    if any(column.args.get("db") for column in node.find_all(exp.Column)):
        node = node.copy()
        for column in node.find_all(exp.Column):
            column.set("db", None)
            column.set("catalog", None)
    try:
        text = node.sql(
            dialect="duckdb", normalize_functions="lower", comments=False, unsupported_level=ErrorLevel.IGNORE
        )
    except (SqlglotError, *FAULTS):
        return ""
    return text.replace(_MARK, "")
