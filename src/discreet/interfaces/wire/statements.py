"""Statements: a text of SQL, cut into statements and tokens by PostgreSQL's rules for quotes and comments.

What a question means is left to the planner, in a process that can be killed. Here is only what the protocol needs to
know of a text: where statements end, what its comments offer, where its parameters are, which relations it names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Self, TypeAlias

from discreet.errors import SqlSyntax, Unsupported

MOST_CHARACTERS = 131_072
"""How many characters are read at once; a question may have half of them."""

MOST_STATEMENTS = 100
"""How many statements may be sent in one text."""

Kind: TypeAlias = Literal["word", "name", "text", "number", "parameter", "sign"]

_TOKEN = re.compile(
    r"""(?P<blank>\s++)
    |(?P<line>--[^\n]*+)
    |(?P<block>/\*)
    |(?P<text>[eE]'(?:[^'\\]|''|\\.)*+'|[nNbBxX]?'(?:[^']|'')*+')
    |(?P<name>"(?:[^"]|"")++")
    |(?P<dollar>\$(?:[^\W\d]\w*+)?\$)
    |(?P<parameter>\$[1-9]\d{0,4}(?!\w))
    |(?P<number>(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?)
    |(?P<word>[^\W\d][\w$]*+)
    |(?P<sign><>|!=|>=|<=|::|:=|=>|\|\||!?~~?\*?|[^\s])""",
    re.VERBOSE | re.DOTALL,
)
_OPEN = ("'", '"', "e'", "E'")
_BLOCK = re.compile(r"/\*|\*/")
_HINT = re.compile(r"\bdiscreet\.(\w{1,40})\s*+=\s*+(?:'([^']{0,200})'|([^\s,;'*]{1,200}))", re.IGNORECASE)


_MOST_PLAIN, _LONGEST_PLAIN = 200, 4000
"""Of how many tokens and characters a statement may be that is known by its text."""


class Token(NamedTuple):
    """A token.

    Args:
        kind: what it is.
        text: as it was written.
        start: the offset of its first character.
    """

    kind: Kind
    text: str
    start: int

    @property
    def word(self) -> str:
        """The word in upper case; empty if it isn't one, or is quoted."""
        return self.text.upper() if self.kind == "word" else ""

    @property
    def called(self) -> str:
        """The name that it stands for; empty if it can't be one."""
        if self.kind == "name":
            return self.text[1:-1].replace('""', '"')
        return self.text.lower() if self.kind == "word" else ""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a text.

    Args:
        text: the whole text that it stands in, whose offsets its tokens have.
        tokens: without blanks and comments.
        hints: what its comments offer, by name, such as `epsilon`.
    """

    text: str
    tokens: Sequence[Token]
    hints: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        """Its first words, in upper case, up to what is none."""
        found: list[str] = []
        for token in self.tokens[:8]:
            if not token.word:
                break
            found.append(token.word)
        return tuple(found)

    @property
    def parameters(self) -> int:
        """How many parameters it takes."""
        return max((int(each.text[1:]) for each in self.tokens if each.kind == "parameter"), default=0)

    @property
    def plain(self) -> str:
        """The statement in lower case with one space between tokens, by which what tools always send is known.

        It is empty if there are too many tokens for that.
        """
        if len(self.tokens) > _MOST_PLAIN or sum(len(each.text) for each in self.tokens) > _LONGEST_PLAIN:
            return ""
        return " ".join(each.text if each.kind == "text" else each.text.lower() for each in self.tokens)

    def after(self, count: int) -> Statement:
        """The rest, without its first tokens."""
        return Statement(self.text, self.tokens[count:], self.hints)

    def relations(self) -> Iterator[tuple[str, ...]]:
        """The names that follow FROM, JOIN and, in a list of relations, a comma, each with its schema if it has one."""
        in_list = [False]  # for each parenthesis that is open
        for at, token in enumerate(self.tokens):
            if token.text == "(":
                in_list.append(False)
            elif token.text == ")" and len(in_list) > 1:
                in_list.pop()
            if token.word in {"FROM", "JOIN", "TABLE"}:
                in_list[-1] = True
            elif token.word in _ENDS:
                in_list[-1] = False
            elif token.text != "," or not in_list[-1]:
                continue
            if (name := self._name_at(at + 1)) and token.word not in _ENDS:
                yield name

    def is_named(self, at: int) -> bool:
        """Whether a token names what stands in parentheses, as WITH does; or is the alias of a function."""
        return [each.text.upper() for each in self.tokens[at + 1 : at + 3]] == ["AS", "("]

    def _name_at(self, at: int) -> tuple[str, ...]:
        """The name with dots that begins here; empty if none does."""
        while at < len(self.tokens) and self.tokens[at].word in {"ONLY", "LATERAL"}:
            at += 1
        parts: list[str] = []
        for token in self.tokens[at : at + 6]:
            if len(parts) % 2 == 1 and token.text == ".":
                parts.append(".")
            elif len(parts) % 2 == 0 and token.called:
                parts.append(token.called)
            else:
                break
        is_function = [each.text for each in self.tokens[at + len(parts) :][:1]] == ["("]
        return () if is_function and parts[-1:] in (["unnest"], ["generate_series"]) else tuple(parts[::2])

    def written(self, replaced: Callable[[Token], str | None]) -> Written:
        """The statement as it is asked: with other texts in the place of some tokens, and blanks for comments.

        Args:
            replaced: the text in the place of a token; None for its own.

        Raises:
            Unsupported: it is too long; values may stand in a text as often as it likes.
        """
        parts: list[str] = []
        marks: list[tuple[int, int]] = []
        size, end = 0, self.tokens[0].start if self.tokens else 0
        for token in self.tokens:
            gap = self.text[end : token.start]
            blank = gap if not gap.strip() else re.sub(r"[^\n]", " ", gap)
            other = replaced(token)
            said = token.text if other is None else other
            parts += (blank, said)
            size += len(blank)
            marks.append((size, token.start))
            size += len(said)
            if size > MOST_CHARACTERS:
                raise Unsupported(f"a statement with its values may have {MOST_CHARACTERS:,} characters")
            end = token.start + len(token.text)
        quoted = {each.called for each in self.tokens if each.kind == "name"}
        words = {each.text for each in self.tokens if each.kind == "word" and not each.text.islower()}
        return Written("".join(parts), marks, self.text, frozenset(words - quoted))


_ENDS = {"WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "WINDOW", "SELECT"}
"""The words after which a comma parts no relations."""


@dataclass(frozen=True, slots=True)
class Written:
    """A statement as it is asked, and where its tokens come from.

    Args:
        text: of the question.
        marks: for each token its offset in that text, and in the one that was sent.
        sent: that one.
        unquoted: its words with capitals that stand nowhere in quotes: PostgreSQL has such names in small letters.
    """

    text: str
    marks: Sequence[tuple[int, int]]
    sent: str
    unquoted: frozenset[str] = frozenset()

    def position(self, place: tuple[int, int] | None) -> int:
        """Which character of what was sent a place is, from 1; 0 for none."""
        if place is None:
            return 0
        line, column = place
        starts = [0, *(each.end() for each in re.finditer("\n", self.text))]
        at = starts[min(line, len(starts)) - 1] + column - 1
        before = [each for each in self.marks if each[0] <= at]
        if not before:
            return 1
        asked, sent = before[-1]
        return min(sent + at - asked, len(self.sent)) + 1


def statements(text: str) -> list[Statement]:
    """The statements of a text; those that are empty are left out.

    Raises:
        SqlSyntax: a quote or a comment has no end.
        Unsupported: there are too many, or it is too long.

    Examples:
        >>> [each.plain for each in statements("BEGIN; SELECT ';' -- ;")]
        ['begin', "select ';'"]
        >>> statements("/* discreet.epsilon = 0.5 */ SELECT 1")[0].hints
        {'epsilon': '0.5'}
    """
    if len(text) > MOST_CHARACTERS:
        raise Unsupported(f"a text may have {MOST_CHARACTERS:,} characters, not {len(text):,}")
    found: list[Statement] = []
    tokens, hints = list[Token](), dict[str, str]()
    for kind, said, start in _tokens(text):
        if kind == "comment":
            hints.update((name.lower(), quoted or bare) for name, quoted, bare in _HINT.findall(said))
        elif said != ";":
            tokens.append(Token(kind, said, start))
        elif tokens:
            found.append(Statement(text, tokens, hints))
            tokens, hints = [], {}
    if tokens:
        found.append(Statement(text, tokens, hints))
    elif hints and found:  # behind the last semicolon
        found[-1] = Statement(text, found[-1].tokens, {**found[-1].hints, **hints})
    if len(found) > MOST_STATEMENTS:
        raise Unsupported(f"at most {MOST_STATEMENTS} statements can be sent at once")
    return found


_Piece: TypeAlias = tuple[Kind, str, int] | tuple[Literal["comment"], str, int]


def _tokens(text: str) -> Iterator[_Piece]:
    """Tokens and comments, in order."""
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        assert found is not None  # noqa: S101 — `sign` takes whatever is left
        kind, end = found.lastgroup, found.end()
        match kind:
            case "blank":
                pass
            case "line":
                yield "comment", found[0], at
            case "block":
                end = _comment_end(text, at)
                yield "comment", text[at:end], at
            case "dollar":
                end = text.find(found[0], found.end())
                if end < 0:
                    raise _endless(text, at)
                end += len(found[0])
                yield "text", text[at:end], at
            case "text" | "name" | "parameter" | "number" | "word" | "sign":
                if kind == "sign" and found[0] in {"'", '"'}:
                    raise _endless(text, at)
                yield kind, found[0], at
        at = end


def _comment_end(text: str, start: int) -> int:
    """Where a comment ends, which may hold others."""
    depth = 0
    for mark in _BLOCK.finditer(text, start):
        depth += 1 if mark[0] == "/*" else -1
        if not depth:
            return mark.end()
    raise _endless(text, start)


def _endless(text: str, at: int) -> SqlSyntax:
    """The refusal of a quotation or comment without an end."""
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return SqlSyntax("a quotation or a comment begins here and doesn't end", place=(line, column))


class Relations(NamedTuple):
    """The kinds of relations that a statement names, which say who answers it.

    Args:
        declared: whether it names a declared table.
        catalogue: whether it names one of PostgreSQL's catalogue.
        other: whether it names any other, which nobody knows.
        empty: whether no row of a declared table can be in its answer, as tools write it that look for columns.
        first: whether the answer would be the first row, of which other tools read the columns.
    """

    declared: bool
    catalogue: bool
    other: bool
    empty: bool
    first: bool

    @classmethod
    def of(cls, statement: Statement, tables: frozenset[str]) -> Self:
        """Read the names of relations.

        Args:
            statement: that names them.
            tables: the declared ones, in lower case.
        """
        declared = catalogue = other = False
        within = {each.called for at, each in enumerate(statement.tokens) if each.called and statement.is_named(at)}
        for name in statement.relations():
            schema, last = (name[-2].lower() if len(name) > 1 else ""), name[-1].lower()
            if schema in _CATALOGUE or (not schema and last.startswith("pg_")):
                catalogue = True
            elif last in tables:
                declared = True
            else:
                other |= bool(schema) or last not in within
        of_rows = statement.plain if _is_of_rows(statement) else ""
        words = [each.word for each in statement.tokens]
        is_first = of_rows.endswith(" limit 1") and words.count("SELECT") == 1 and words[1:2] != ["DISTINCT"]
        return cls(declared, catalogue, other, _EMPTY.search(of_rows) is not None, is_first)

    @property
    def are_of_the_catalogue(self) -> bool:
        """Whether the catalogue answers."""
        return not self.declared and (self.catalogue or not self.other)

    @property
    def ask_for_columns(self) -> bool:
        """Whether declarations alone say the columns, and there are no rows."""
        return self.empty and self._are_declared

    @property
    def ask_for_a_row(self) -> bool:
        """Whether one row is asked for, as it is."""
        return self.first and self._are_declared

    @property
    def _are_declared(self) -> bool:
        """Whether it names declared tables alone."""
        return self.declared and not self.catalogue and not self.other


_CATALOGUE = {"pg_catalog", "information_schema"}

_EMPTY = re.compile(r" limit 0$| where (?:1 = 0|0 = 1|1 <> 1|1 != 1|false|\( (?:1 = 0|0 = 1|false) \))(?: limit \d+)?$")
"""The ends of texts that have no rows, whatever comes before: a text of one SELECT, whose columns call no functions."""

_BEYOND = {"UNION", "EXCEPT", "INTERSECT", "GROUP", "HAVING", "INTO"}


def _is_of_rows(statement: Statement) -> bool:
    """Whether a statement takes rows as they are: one SELECT of columns, which nothing is computed of."""
    depth, words = 0, list[str]()
    for token in statement.tokens:
        depth += (token.text == "(") - (token.text == ")")
        if not depth and token.word:
            words.append(token.word)
        if token.text == "(" and "FROM" not in words:  # a function: COUNT(*) has a row where nothing else has one
            return False
    return words[:1] == ["SELECT"] and words.count("FROM") == 1 and not _BEYOND & set(words)
