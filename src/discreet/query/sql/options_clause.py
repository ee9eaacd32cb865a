"""Options: a question's offer in its own text, in the clause that BigQuery added to SQL for it.

    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, max_groups_contributed = 2) …
    SELECT WITH ANONYMIZATION OPTIONS(epsilon = 1, kappa = 2) …

No parser of other dialects knows it, so it is taken out of the tokens before they are parsed. The names are those of
BigQuery, and of ZetaSQL before it. What a question says about units and groups must agree with the declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import QueryError, SqlSyntax, TypeMismatch, UnknownColumn, Unsupported
from discreet.privacy import Unit
from discreet.query import ir
from discreet.query.aggregates import AVG
from discreet.query.ir import numeral, public_values
from discreet.query.sql.scopes import Scope, is_unit
from discreet.suggestions import did_you_mean

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token

    Tokens: TypeAlias = Sequence[Token]
    from sqlglot import exp


_Test: TypeAlias = Callable[[Fraction], bool]

_CLAUSES = {"DIFFERENTIAL_PRIVACY", "ANONYMIZATION"}
_NAMES = (
    "epsilon",
    "delta",
    "rho",
    "max_groups_contributed",
    "max_rows_contributed",
    "group_selection_strategy",
    "privacy_unit_column",
)
_MOST = 10**9
"""The largest limit that can be asked for."""


class Strategy(StrEnum):
    """How to find groups."""

    PUBLIC_GROUPS = "PUBLIC_GROUPS"
    """All groups are known in public, and each is answered."""
    LAPLACE_THRESHOLD = "LAPLACE_THRESHOLD"
    """Groups that aren't known in public are selected by a noisy number of units, for a δ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The offer and demands that a question's own text makes; None where it says nothing.

    Args:
        epsilon: above 0.
        delta: from 0 to 1; 0 offers none.
        rho: above 0.
        max_groups_contributed: how many groups a unit may be in.
        max_rows_contributed: how many rows of a unit count, in all groups together.
        group_selection_strategy: how to find groups.
        privacy_unit_column: the column that is taken for the unit's id, with its table's name before it if it is given.
        at: the offset at which the clause begins; None without one.
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    max_groups_contributed: int | None = None
    max_rows_contributed: int | None = None
    group_selection_strategy: Strategy | None = None
    privacy_unit_column: tuple[str, ...] | None = None
    at: int | None = None


def take_options(tokens: Tokens) -> tuple[Options, list[Token]]:
    """The options of a question, and its tokens without the clause that says them.

    Raises:
        SqlSyntax: the clause isn't formed as it should be, or says something twice.
        TypeMismatch: an option has a value that it doesn't take.
        Unsupported: an option that isn't known, two that exclude each other, or a clause that isn't the question's own.
    """
    found = list(_clauses(tokens))
    if not found:
        return Options(), list(tokens)
    start, depth = found[0]
    if depth or len(found) > 1:
        raise Unsupported(
            "a question is protected as a whole, not in one of its subqueries",
            hint="write the clause once, after the question's own SELECT",
            at=tokens[found[-1][0]].start,
        )
    clause = _Clause(tokens, start)
    return clause.options(), [*tokens[: start + 1], *tokens[clause.end :]]


def _clauses(tokens: Tokens) -> Iterator[tuple[int, int]]:
    """Each SELECT that is followed by WITH: where, and how many parentheses deep."""
    depth = 0
    for at, token in enumerate(tokens):
        name = token.token_type.name
        depth += (name == "L_PAREN") - (name == "R_PAREN")
        if name == "SELECT" and at + 1 < len(tokens) and tokens[at + 1].token_type.name == "WITH":
            word = tokens[at + 2] if at + 2 < len(tokens) else tokens[at + 1]
            if word.text.upper() not in _CLAUSES or _is_quoted(word):
                raise SqlSyntax(
                    f"DIFFERENTIAL_PRIVACY was expected after SELECT WITH, not {word.text[:40]!r}",
                    at=word.start,
                )
            yield at, depth


class _Clause:
    """One clause being read: `end` is where the tokens go on after it."""

    def __init__(self, tokens: Tokens, start: int) -> None:
        self._tokens = tokens
        self._old = tokens[start + 2].text.upper() == "ANONYMIZATION"
        self._start = tokens[start + 1].start
        self.end = start + 3

    def options(self) -> Options:
        """Read the clause.

        Raises:
            QueryError: as `take_options`.
        """
        values: dict[str, object] = {}
        if self._at("OPTIONS"):
            self._next("OPTIONS")
            self._next("(")
            while not self._at(")"):
                if values:
                    self._next(",")
                at = self._here()
                name = self._name()
                if name in values:
                    raise SqlSyntax(f"option {name} is given twice", hint="give it once", at=at)
                self._next("=")
                values[name] = self._value(name)
            self._next(")")
        if "max_groups_contributed" in values and "max_rows_contributed" in values:
            raise Unsupported(
                "at most one of max_groups_contributed and max_rows_contributed may be given",
                hint="the first bounds the groups of a unit, the second its rows over all groups",
                at=self._start,
            )
        return Options(**values, at=self._start)  # type: ignore[arg-type]  # `_value` read each as its name says

    def _name(self) -> str:
        at, word = self._here(), self._word()
        name = word.text.casefold()
        known = ("epsilon", "delta", "kappa") if self._old else _NAMES
        if _is_quoted(word) or name not in known:
            raise Unsupported(f"unknown option {word.text[:40]!r}", hint=did_you_mean(name, known), at=at)
        return "max_groups_contributed" if name == "kappa" else name

    def _value(self, name: str) -> object:
        match name:
            case "epsilon" | "rho":
                return self._number(name, "a number above 0", lambda value: value > 0)
            case "delta":
                return self._number(name, "a number from 0 to 1", lambda value: 0 <= value < 1)
            case "max_groups_contributed" | "max_rows_contributed":
                expected = "a whole number from 1 on"
                return int(
                    self._number(name, expected, lambda value: value.denominator == 1 and 1 <= value.numerator <= _MOST)
                )
            case "group_selection_strategy":
                return self._strategy()
            case "privacy_unit_column":
                return self._path()
            case _:
                raise AssertionError(f"no option is called {name}")

    def _number(self, name: str, expected: str, is_right: _Test) -> Fraction:
        """A number, exactly as it is written."""
        at, sign = self._here(), 1
        if self._at("-"):
            self._next("-")
            sign = -1
        point, token = None, self._word()
        if token.text == "." and self.end < len(self._tokens) and self._tokens[self.end].start == token.end + 1:
            point, token = token, self._word()  # .01, which the parser reads as a point and a number
        if token.token_type.name != "NUMBER" or (point is not None and not token.text[:1].isdigit()):
            raise self._wrong(name, expected, token, at)
        written = token.text if point is None else f"0.{token.text}"
        try:
            value = sign * Fraction(str(numeral(written).value))
        except QueryError as error:
            error.at = at
            raise
        if not is_right(value):
            raise self._wrong(name, expected, token, at, sign="-" if sign < 0 else "")
        return value

    def _strategy(self) -> Strategy:
        """The way to find groups."""
        at, token = self._here(), self._word()
        if token.text.upper() not in Strategy.__members__ or token.token_type.name == "STRING":
            raise self._wrong("group_selection_strategy", " or ".join(Strategy), token, at)
        return Strategy[token.text.upper()]

    def _path(self) -> tuple[str, ...]:
        """The name of a column, perhaps with its table's."""
        at, path = self._here(), list[str]()
        while not path or self._at("."):
            if path:
                self._next(".")
            token = self._word()
            if token.token_type.name in {"STRING", "NUMBER"}:
                raise self._wrong("privacy_unit_column", "the name of a column", token, at)
            path.append(token.text)
        return tuple(path)

    def _wrong(self, name: str, expected: str, token: Token, at: int | None, *, sign: str = "") -> TypeMismatch:
        """The error for a value that an option doesn't take."""
        is_text = token.token_type.name == "STRING"
        got = f"the text {token.text[:40]!r}" if is_text else f"{sign}{token.text[:40]}"
        return TypeMismatch(f"option {name} takes {expected}, not {got}", at=at)

    def _here(self) -> int | None:
        """Where the next token stands."""
        return self._tokens[self.end].start if self.end < len(self._tokens) else None

    def _at(self, text: str) -> bool:
        """Whether the next token is this word or sign."""
        token = self._tokens[self.end] if self.end < len(self._tokens) else None
        return token is not None and token.text.upper() == text and not _is_quoted(token)

    def _next(self, text: str) -> None:
        """Go past this word or sign."""
        if not self._at(text):
            got = self._tokens[self.end].text[:40] if self.end < len(self._tokens) else "the end"
            raise SqlSyntax(
                f"{text} was expected here, not {got!r}",
                hint="OPTIONS(epsilon = 1, delta = 1e-6)",
                at=self._here() or self._start,
            )
        self.end += 1

    def _word(self) -> Token:
        """Go past whatever is next, which can't be a sign."""
        token = self._tokens[self.end] if self.end < len(self._tokens) else None
        is_word = token is not None and (_is_quoted(token) or token.text[:1].isalnum() or token.text[:1] in {"_", "."})
        if token is None or not is_word:
            got = "the end" if token is None else repr(token.text[:40])
            raise SqlSyntax(f"a name or a value was expected here, not {got}", at=self._here() or self._start)
        self.end += 1
        return token


def _is_quoted(token: Token) -> bool:
    """Whether a token is a text or a name in quotes, and so no keyword or sign."""
    return token.token_type.name in {"STRING", "IDENTIFIER"}


def check_unit_column(options: Options, scope: Scope, unit: Unit) -> None:
    """Refuse a privacy_unit_column that isn't the unit's id: the custodian declares whose presence is hidden.

    Raises:
        UnknownColumn: there is no such column.
        Unsupported: it isn't the unit's id, or the unit is something else.
    """
    path = options.privacy_unit_column
    if path is None:
        return
    try:
        if len(path) > 2:  # noqa: PLR2004 — a table and a column
            raise UnknownColumn("a column is named alone, or after its table")
        if unit.column is None or unit.per is not None or not _is_declared(path, scope, unit):
            declared = "each row" if unit.is_row else str(unit)
            raise Unsupported(
                f"the unit of privacy is {declared}, not {'.'.join(path)!r}: the custodian declares it",
                hint="leave privacy_unit_column out",
            )
    except QueryError as error:
        error.at = options.at
        raise


def check_strategy(options: Options, question: ir.Question) -> None:
    """Refuse PUBLIC_GROUPS where the groups aren't.

    Raises:
        Unsupported: naming the key.
    """
    if options.group_selection_strategy is not Strategy.PUBLIC_GROUPS:
        return
    for name, key in question.keys:
        if public_values(key) is None:
            raise Unsupported(
                f"PUBLIC_GROUPS are asked for, and the values of {name!r} aren't public",
                hint=f"declare them as keys, say which in WHERE {name} IN (…), or take LAPLACE_THRESHOLD with a delta",
                at=options.at,
            )


def check_averages(options: Options, question: ir.Question) -> None:
    """Refuse AVG where the clause would make it something else: there it is the average of each unit's own average.

    Source: BigQuery's page "Differentially private aggregate functions", AVG.

    Raises:
        Unsupported: a unit may have several rows in a group.
    """
    owner = ir.owner_of(question.source)
    averages = any(one.function is AVG for one in question.aggregates)
    if not averages or owner is None or owner.unit.is_row or _has_one_row_per_group(question, owner.unit):
        return
    raise Unsupported(
        "under this clause AVG is the average of each unit's own average, and here it is over rows",
        hint="average each unit's rows in a subquery, grouped by the unit's id and the same keys, then average these; "
        "or leave the clause out, and offer epsilon beside the question",
        at=options.at,
    )


def _has_one_row_per_group(question: ir.Question, unit: Unit) -> bool:
    """Whether a unit has at most one row in each group: of all rows, or of those that a subquery makes of its keys."""
    relation = question.source
    if ir.has_one_row(relation):
        return True
    while isinstance(relation, ir.Where):
        relation = relation.source
    if not isinstance(relation, ir.PerUnit):
        return False
    grouped = {key.name for _, key in question.keys if isinstance(key, ir.Column) and key.table == relation.alias}
    return all(
        name in grouped or (isinstance(expr, ir.Column) and expr.name.casefold() == str(unit.column).casefold())
        for name, expr in relation.keys
    )


def _is_declared(path: tuple[str, ...], scope: Scope, unit: Unit) -> bool:
    """Whether a name means the unit's id; a table that has none is linked to it, and then its name will do."""
    if len(path) == 1 and path[0].casefold() == str(unit.column).casefold():
        return True
    return is_unit(scope.column(_as_column(path)), scope.facts, unit)


def _as_column(path: tuple[str, ...]) -> exp.Column:
    from sqlglot import exp

    table, name = (path[0], path[1]) if len(path) > 1 else (None, path[0])
    return exp.Column(this=exp.to_identifier(name), table=None if table is None else exp.to_identifier(table))
