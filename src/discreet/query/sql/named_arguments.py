"""Named arguments: `SUM(x, contribution_bounds_per_row => (0, 100))`, which BigQuery has.

The parser would count them as arguments too many, so they become a function of the first argument before it sees them:
`SUM(contribution_bounds_per_row(x, 0, 100))`, under a name that no question can spell. It clamps what each row adds;
bounds per group aren't supported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet.errors import SqlSyntax, TypeMismatch, Unsupported
from discreet.query import ir
from discreet.query.ir import call, literal
from discreet.query.sql.aggregate_syntax import is_aggregate
from discreet.query.sql.bind import Bind
from discreet.suggestions import did_you_mean

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.tokenizer_core import Token


MARK = "\x00"
"""A character that no question may contain."""

PER_ROW, PER_GROUP = "contribution_bounds_per_row", "contribution_bounds_per_group"
PRIVATE = {name + MARK: name for name in (PER_ROW, PER_GROUP)}
"""The functions that the arguments become, and the names that questions know them by."""

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
    """A list of arguments: where the first begins, and the comma after it, among the tokens that are done."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.comma: int | None = None
        self.wrapped = False


def _taken(tokens: Sequence[Token], at: int, done: list[Token], calls: list[_Call]) -> int:
    """Make a function of the named argument that begins here; returns where the tokens go on after it."""
    token = tokens[at]
    name = token.text.casefold()
    if name not in PRIVATE.values() or token.token_type.name in {"STRING", "IDENTIFIER"}:
        hint = f"{did_you_mean(name, [PER_ROW])}; to compare, write >="
        raise Unsupported(f"there is no argument called {token.text[:40]!r}", hint=hint, at=token.start)
    if not calls or calls[-1].comma is None or done[-1].token_type.name != "COMMA":
        raise SqlSyntax(f"{name} comes after what is aggregated", hint=f"SUM(x, {name} => (0, 100))", at=token.start)
    call = calls[-1]
    if call.wrapped:
        raise SqlSyntax("contribution bounds are given twice", hint="give them once", at=token.start)
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
        _named(token, name + MARK),
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
