"""Placeholders: the `?` of a question, in whose places the values of parameters are written.

A value is written as a literal of the dialect, and the text is then read again: it must be, token by token, the one
that was given, with a literal of that value for each placeholder. What isn't so is refused, so no value can be anything
but a value, whatever is in it. The text that results says all that is asked: the ledger keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import InvalidArgument, QueryError, SqlSyntax, Unsupported
from discreet.parameters import Value
from discreet.query.sql.parsing import MOST_CHARACTERS, parse, tokens_of
from discreet.query.sql.places import in_text, place_at

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

_APART = "(),=<>"
"""Signs that a literal may touch; the empty text is an end."""

_Seen: TypeAlias = tuple[str, str]
"""A token as it is compared: its kind and its text."""


@dataclass(frozen=True, slots=True)
class FilledIn:
    """A question in whose placeholders values were written.

    Args:
        text: with the values.
        given: the text with the placeholders.
        gaps: where each placeholder stands in it.
        widths: how many characters each value takes in its place.
    """

    text: str
    given: str
    gaps: Sequence[int]
    widths: Sequence[int]

    def replaced(self, error: QueryError) -> None:
        """Move an error's place from this text to that which was given."""
        error.text = self.given
        if error.place is None or not self.gaps:
            return
        line, column = error.place
        lines = self.text.split("\n")
        at = sum(len(each) + 1 for each in lines[: line - 1]) + column - 1
        for gap, width in zip(self.gaps, self.widths, strict=True):
            if at > gap:
                at = max(gap, at - width + 1)
        error.place = place_at(self.given, at)


def filled_in(text: str, dialect: str, values: Sequence[Value]) -> FilledIn:
    """The question with a value for each of its placeholders, in order.

    Args:
        text: one question, with `?` for each value.
        dialect: as sqlglot names it.
        values: as `parameters` reads them.

    Raises:
        InvalidArgument: there are more values than placeholders, or fewer.
        SqlSyntax: a placeholder stands for a name.
        Unsupported: a value can't be written in that dialect.
        QueryError: the question can't be parsed.

    Examples:
        >>> filled_in("SELECT COUNT(*) FROM t WHERE name = ? AND n > ?", "duckdb", ["O'Neil", -1]).text
        "SELECT COUNT(*) FROM t WHERE name = 'O''Neil' AND n > (-1)"
    """
    if not values:
        return FilledIn(text, text, (), ())
    if sum(len(value) for value in values if isinstance(value, str)) > MOST_CHARACTERS:
        raise Unsupported(f"a question has at most {MOST_CHARACTERS:,} characters with its parameters")
    with in_text(text):
        tokens = tokens_of(text, dialect)
        places = [place for place, token in enumerate(tokens) if token.token_type.name == "PLACEHOLDER"]
        if len(places) != len(values):
            raise InvalidArgument(
                f"the question has {len(places)} placeholders, and there are {len(values)} parameters",
                hint="one value for each ? that doesn't stand in a text or in quotes",
            )
    gaps = [tokens[place].start for place in places]
    literals = [
        _spaced(_literal(value).sql(dialect=dialect), text, gap) for value, gap in zip(values, gaps, strict=True)
    ]
    ends = [0, *(gap + 1 for gap in gaps)]
    pieces = [text[end:gap] for end, gap in zip(ends, [*gaps, len(text)], strict=True)]
    filled = "".join([pieces[0], *(part for pair in zip(literals, pieces[1:], strict=True) for part in pair)])
    expected = [_seen(token) for token in tokens]
    for place, literal, value in reversed(list(zip(places, literals, values, strict=True))):
        expected[place : place + 1] = _checked(tokens_of(literal, dialect), value)
    if [_seen(token) for token in tokens_of(filled, dialect)] != expected:
        raise _unwritable()
    found = FilledIn(filled, text, gaps, [len(literal) for literal in literals])
    try:
        _check_names(found, dialect)
    except QueryError as error:
        found.replaced(error)
        raise
    return found


def _check_names(filled: FilledIn, dialect: str) -> None:
    """Refuse a value that the parser takes for a name: some dialects have names in single quotes.

    Raises:
        SqlSyntax: there is one; or as `parse`.
    """
    shifts = accumulate((width - 1 for width in filled.widths), initial=0)
    places = (gap + shift for gap, shift in zip(filled.gaps, shifts, strict=False))
    starts = {start for place in places for start in (place, place + 1)}  # there, or behind a blank
    for node in parse(filled.text, dialect).select.walk():
        if type(node).__name__ == "Identifier" and node.meta.get("start") in starts:
            with in_text(filled.text):
                raise SqlSyntax("a placeholder stands for a value, not for a name", at=node.meta["start"])


def _spaced(literal: str, text: str, gap: int) -> str:
    """A literal that touches neither neighbour of the placeholder in a text."""
    blanks = ["" if each.isspace() or each in _APART else " " for each in (text[:gap][-1:], text[gap + 1 :][:1])]
    return literal.join(blanks)


def _literal(value: Value) -> exp.Expression:
    """A value as a node of the parser's."""
    from sqlglot import exp

    match value:
        case None:
            return exp.Null()
        case bool():
            return exp.Boolean(this=value)
        case str():
            return exp.Literal.string(value)
        case datetime():
            return exp.cast(exp.Literal.string(value.isoformat(sep=" ")), "timestamp")
        case date():
            return exp.cast(exp.Literal.string(value.isoformat()), "date")
        case int() | float() | Decimal():
            number = exp.Literal.number(_size(value))
            return exp.Paren(this=exp.Neg(this=number)) if value < 0 else number


def _size(value: float | Decimal) -> str:
    """A number without its sign, digit by digit: `abs` would round a Decimal."""
    return format(value.copy_abs(), "f") if isinstance(value, Decimal) else repr(abs(value))


def _checked(tokens: Sequence[Token], value: Value) -> list[_Seen]:
    """The tokens of a literal, if the one text or number in it is this value.

    Raises:
        Unsupported: the dialect has no such literal.
    """
    held = [token for token in tokens if token.token_type.name in {"STRING", "NUMBER"}]
    if isinstance(value, str) and [_seen(token) for token in tokens] != [("STRING", value)]:
        raise _unwritable()
    if not isinstance(value, bool | None) and len(held) != 1:
        raise _unwritable()
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool) and held[0].text != _size(value):
        raise _unwritable()
    return [_seen(token) for token in tokens]


def _seen(token: Token) -> _Seen:
    """A token as it is compared."""
    return token.token_type.name, token.text


def _unwritable() -> Unsupported:
    """The refusal of what can't be told from the text around it."""
    return Unsupported("a parameter can't be written in this dialect", hint="write the value into the question")
