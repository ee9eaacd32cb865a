"""Parsing: from text to one SELECT, or a typed refusal; whatever the text, in time proportional to its length.

sqlglot does the parsing. EXPLAIN comes off first, then syntax that no dialect's parser knows (`options_clause`,
`named_arguments`); afterwards `dialects` puts what dialects mean differently into common words. It takes hostile text
here, so its time is metered (some joins and types make it try 2ⁿ ways), its depth is limited before it begins, and any
failure of its own is a syntax error of the question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidArgument, NotOneSelect, QueryError, SqlSyntax, Unsupported
from discreet.query.sql.dialects import plain
from discreet.query.sql.named_arguments import with_named_arguments
from discreet.query.sql.options_clause import Options, take_options
from discreet.query.sql.parser_faults import FAULTS
from discreet.query.sql.places import in_text, offset_of
from discreet.query.sql.refusals import DROPPED, SAID
from discreet.query.sql.time_syntax import ALONE
from discreet.query.sql.unread_text import SPAN, STANDS_AT, check_comments, unread
from discreet.suggestions import nearest

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token


MOST_CHARACTERS = 100_000
MOST_TOKENS = 10_000
MOST_DEPTH = 40
"""How deep parentheses, CASEs and operators before a value may be nested."""

_STEPS_PER_TOKEN, _STEPS_TO_START = 8, 1_000
"""Ordinary questions take fewer than three steps for each token."""

_CLAUSE_WORDS = ("FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "JOIN", "BETWEEN")

_OPEN = {"L_PAREN", "L_BRACKET", "L_BRACE", "CASE"}
_CLOSE = {"R_PAREN", "R_BRACKET", "R_BRACE", "END"}
_PREFIX = {"NOT", "DASH", "PLUS", "TILDE", "BANG", "PARAMETER", "DAMP"}
_WORDS = {"VAR", "IDENTIFIER", "NUMBER", "STRING"}

_READ_AS = {"athena": "trino"}
"""Dialects whose parser hands questions on to that of another, past the meter."""

_MOST_PARTS = 100
"""Parts of a function's node that are looked through: what the parser makes of arguments stands near the top."""

_AROUND = {"Window", "Filter", "WithinGroup", "IgnoreNulls", "RespectNulls"}
"""Nodes that the parser puts around a function for the words behind it."""


class _TooManySteps(Exception):
    """The parser tries too many ways."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A question as it stands: its SELECT, and what it offers and demands in its own words."""

    select: exp.Select
    options: Options
    unread: QueryError | None
    """Why the question is refused unless there is a more telling reason: a token left no trace in the tree."""


def parse(text: str, dialect: str) -> Statement:
    """The one SELECT that the text is.

    Args:
        text: the question.
        dialect: as sqlglot names it.

    Raises:
        SqlSyntax: it isn't SQL.
        NotOneSelect: it is more than one statement, or one that isn't a SELECT.
        Unsupported: it is too long or too deeply nested, or a SELECT of a kind that discreet doesn't take.
        TypeMismatch: an option has a value that it doesn't take.
        InvalidArgument: there is no such dialect.
    """
    grammar = _grammar(dialect)
    with in_text(text):
        tokens = _tokens(text, grammar)
        check_comments(text, tokens, dialect)
        options, tokens = take_options(_one_statement(tokens))
        tokens = with_named_arguments(tokens)
        _check_nesting(tokens)
        tree = _tree(text, tokens, grammar)
        left = unread(tokens, tree, grammar)
        return Statement(_select(plain(tree, dialect)), options, left)


def tokens_of(text: str, dialect: str) -> list[Token]:
    """The words and signs of a text.

    Raises:
        SqlSyntax: it isn't SQL.
        Unsupported: it is too long.
        InvalidArgument: there is no such dialect.
    """
    return _tokens(text, _grammar(dialect))


def options(text: str, dialect: str) -> Options:
    """Read what a question offers and demands in its own words; the rest of it may still be wrong.

    Raises:
        QueryError: as `parse`, as far as it is read.
        InvalidArgument: there is no such dialect.
    """
    grammar = _grammar(dialect)
    with in_text(text):
        return take_options(_one_statement(_tokens(text, grammar)))[0]


@lru_cache(maxsize=32)
def _grammar(name: str) -> Dialect:
    from sqlglot.dialects.dialect import Dialect

    try:
        if re.fullmatch(r"[a-z0-9]{1,30}", name):
            return Dialect.get_or_raise(_READ_AS.get(name, name))
    except ValueError:
        pass
    raise InvalidArgument(f"unknown dialect {name[:40]!r}", hint="duckdb, postgres, bigquery, spark, snowflake, …")


@lru_cache(maxsize=32)
def _metered(grammar_class: type[Dialect]) -> type[Any]:  # noqa: C901 — one class, of a base known at run time only
    """The dialect's parser, with a limit on its steps."""
    base: Any = grammar_class.parser_class

    class Metered(base):  # type: ignore[misc]  # its class is known at run time only
        """Counts how often it moves over the tokens, forwards or back."""

        steps_left = 0

        def _advance(self, times: int = 1) -> None:
            self.steps_left -= 1
            if self.steps_left < 0:
                raise _TooManySteps
            super()._advance(times)

        def _parse_function(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 — its nodes
            """Note what the question calls a function that a dialect reads in its own way."""
            return _noted(self._curr, super()._parse_function(*args, **options))

        def _parse_function_call(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 — its nodes
            """Note what the question calls a function, because the parser has names of its own."""
            return _noted(self._curr, super()._parse_function_call(*args, **options))

        def validate_expression(self, expression: Any, args: Any = None) -> Any:  # noqa: ANN401 — its nodes
            """Note arguments that the parser ignores, as it does for some functions of some dialects."""
            found = super().validate_expression(expression, args)
            if args and _passes_over(found, args):
                found.meta[DROPPED] = True
            return found

        def _parse_interval_span(self, this: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401 — its nodes
            """Note the whole text of an interval: the parser takes only what it knows."""
            before = self._index
            found = super()._parse_interval_span(this, *args, **options)
            if this is not None and this.is_string and self._index == before:
                found.meta[ALONE] = this.name
                found.meta[STANDS_AT] = this.meta.get("start")
            return found

        def _parse_types(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 — its nodes
            """Note how the question writes a type."""
            first = self._curr
            found = super()._parse_types(*args, **options)
            if type(found).__name__ == "DataType" and first is not None and self._prev is not None:
                found.meta.setdefault(SAID, self._find_sql(first, self._prev))
                found.meta.setdefault(SPAN, (first.start, self._prev.end))
            return found

        def _parse_distinct_arg_function(self, func: Any, distinct_index: int = 0) -> Any:  # noqa: ANN401 — its classes
            """Refuse too many arguments, which the parser would ignore here and nowhere else."""

            def checked(args: list[Any]) -> Any:  # noqa: ANN401 — its nodes
                return self.validate_expression(func.from_arg_list(args), args)

            wrapped = type(func.__name__, (), {"from_arg_list": staticmethod(checked)})
            return super()._parse_distinct_arg_function(wrapped, distinct_index)

    return Metered


def _passes_over(node: Any, args: list[Any]) -> bool:  # noqa: ANN401 — its nodes
    """Whether a function's node holds fewer arguments than there are, and one of them nowhere."""
    values = [value for value in node.args.values() if value is not None and not isinstance(value, bool)]
    if sum(len(value) if isinstance(value, list) else 1 for value in values) >= len(args):
        return False
    near = list(islice(node.walk(), _MOST_PARTS))
    return any(
        arg.parent is None and not arg.args.get("is_string") and arg not in near for arg in args if hasattr(arg, "walk")
    )


def _noted(first: Token | None, found: Any) -> Any:  # noqa: ANN401 — a node, or none
    """The node of a function, with the word that the question calls it, and its place."""
    called = found
    while type(called).__name__ in _AROUND:
        called = called.this
    if hasattr(called, "meta") and first is not None:
        called.meta.setdefault(SAID, first.text)
        called.meta.setdefault(STANDS_AT, first.start)
    return found


def _tokens(text: str, grammar: Dialect) -> list[Token]:
    if len(text) > MOST_CHARACTERS:
        raise Unsupported(f"a question has at most {MOST_CHARACTERS:,} characters, not {len(text):,}")
    odd = re.search(r"[\x00\ud800-\udfff]", text)
    if odd:
        raise SqlSyntax("this character can't be part of a text", at=odd.start())
    from sqlglot.errors import SqlglotError

    try:
        tokens: list[Token] = grammar.tokenize(text)
    except (SqlglotError, *FAULTS) as error:
        raise _token_error(str(error.__cause__ or error)) from None
    if len(tokens) > MOST_TOKENS:
        raise Unsupported(f"a question has at most {MOST_TOKENS:,} words and signs, not {len(tokens):,}")
    return tokens


def _token_error(message: str) -> SqlSyntax:
    """The tokenizer's error, about a quotation or comment without an end, in our words."""
    found = re.search(r"Missing (\S+) from \d+:(\d+)", message)
    if found is None:
        return SqlSyntax("this isn't SQL")
    return SqlSyntax(f"this has no end: {found[1]} is missing", at=int(found[2]))


def _one_statement(tokens: list[Token]) -> list[Token]:
    """The tokens of the only statement, without its semicolon."""
    ends = [n for n, token in enumerate(tokens) if token.token_type.name == "SEMICOLON"]
    bounds = zip([-1, *ends], [*ends, len(tokens)], strict=True)
    statements = [part for start, end in bounds if (part := tokens[start + 1 : end])]
    if not statements:
        raise SqlSyntax("the question is empty", hint="SELECT COUNT(*) FROM …")
    if len(statements) > 1:
        second = statements[1][0].start
        raise NotOneSelect("one question is one statement; a second one begins here", at=second)
    _check_beginning(statements[0][0])
    _check_numbers(statements[0])
    return statements[0]


def _check_beginning(first: Token) -> None:
    """Refuse what doesn't begin like a SELECT, before the parser meets it."""
    if first.token_type.name in {"SELECT", "WITH", "L_PAREN", "FROM"}:
        return
    word, at = first.text.upper(), first.start
    if word == "EXPLAIN" and first.token_type.name != "IDENTIFIER":
        raise NotOneSelect(
            "EXPLAIN isn't a question itself", hint="ask it, which costs nothing, or plan what follows", at=at
        )
    hint = "a question begins with SELECT"
    if first.token_type.name in _WORDS and word not in {"EXPORT", "IMPORT", "VACUUM", "CHECKPOINT", "RESET", "CALL"}:
        raise SqlSyntax(f"SELECT was expected, not {first.text[:40]!r}", hint=hint, at=at)
    raise NotOneSelect(f"{word[:40]} isn't a question; tables here can only be read", hint=hint, at=at)


def _check_numbers(tokens: list[Token]) -> None:
    """Refuse `0x1F` and `12abc`, which the parser would read as a number with an alias."""
    for token, following in pairwise(tokens):
        if (
            token.token_type.name == "NUMBER"
            and following.start == token.end + 1
            and following.token_type.name == "VAR"
        ):
            raise SqlSyntax("a number runs into a word here", hint="put a space between", at=token.start)


def _check_nesting(tokens: list[Token]) -> None:
    """Refuse what is nested too deeply to be worked through safely."""
    depth = prefixes = 0
    for token in tokens:
        name = token.token_type.name
        depth += (name in _OPEN) - (name in _CLOSE)
        prefixes = prefixes + 1 if name in _PREFIX else 0
        if depth > MOST_DEPTH or prefixes > MOST_DEPTH:
            raise Unsupported(f"this is nested more than {MOST_DEPTH} deep", at=token.start)


def _tree(text: str, tokens: list[Token], grammar: Dialect) -> exp.Expression:
    from sqlglot.errors import ErrorLevel, ParseError, SqlglotError

    parser = _metered(type(grammar))(dialect=grammar, error_level=ErrorLevel.IMMEDIATE)
    parser.steps_left = _STEPS_PER_TOKEN * len(tokens) + _STEPS_TO_START
    try:
        (tree,) = parser.parse(tokens, text)
    except ParseError as error:
        raise _parse_error(text, error.errors) from None
    except _TooManySteps:
        raise Unsupported("reading this takes too many attempts", hint="fewer joins and nested types help") from None
    except RecursionError:
        raise Unsupported("this is nested too deeply") from None
    except (SqlglotError, *FAULTS):
        raise SqlSyntax("this isn't SQL") from None
    if tree is None:
        raise SqlSyntax("this isn't SQL")
    result: exp.Expression = tree
    return result


def _parse_error(text: str, errors: list[dict[str, Any]]) -> SqlSyntax:
    """The parser's error, in our words and with its place."""
    found = errors[0] if errors else {}
    word = str(found.get("highlight") or "")
    line, end = found.get("line"), found.get("col")
    place = None if not isinstance(line, int) or not isinstance(end, int) else (line, max(end - len(word) + 1, 1))
    if not word or place is None:
        return SqlSyntax("the question breaks off", at=max(len(text.rstrip()) - 1, 0))
    wanted = str(found.get("description") or "").removeprefix("Expecting ").strip()
    if len(wanted) == 1:
        return SqlSyntax(f"{wanted} is missing at {word[:40]!r}", place=place)
    hint = _slip(str(found.get("start_context") or ""), word)
    return SqlSyntax(f"something is missing or wrong at {word[:40]!r}", hint=hint, place=place)


def _slip(before: str, word: str) -> str:
    """A guess at what was meant: a mistyped keyword, or a name that is a keyword; empty if neither.

    Args:
        before: what stands before the word at which the parser stopped.
        word: that word.
    """
    from sqlglot.tokens import Tokenizer

    last = re.split(r"\W+", before.rstrip()[-40:])[-1].upper()
    if last in {"GROUP", "ORDER"}:
        return f"{last} BY"
    for each in (last, word[:40].upper()):
        near = nearest(each, _CLAUSE_WORDS, cutoff=0.7)
        if near is not None and each not in Tokenizer.KEYWORDS:
            return f"did you mean {near}?"
    return "if that is a name, put it in quotes" if word.upper() in Tokenizer.KEYWORDS and word.isalpha() else ""


def _select(tree: exp.Expression) -> exp.Select:
    """The tree, if it is a plain SELECT."""
    from sqlglot import exp

    if isinstance(tree, exp.Select):
        return tree
    at = offset_of(tree)
    if isinstance(tree, exp.SetOperation):
        raise Unsupported("UNION, INTERSECT and EXCEPT aren't supported", hint="ask one question for each part", at=at)
    if isinstance(tree, exp.Subquery):
        raise Unsupported("a question in parentheses isn't supported", hint="leave the parentheses out", at=at)
    if isinstance(tree, exp.Query):
        raise Unsupported("a question is one SELECT", hint="SELECT … FROM a table", at=at)
    raise NotOneSelect("this isn't a question; tables here can only be read", hint="begin with SELECT", at=at)
