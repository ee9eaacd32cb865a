"""Unread text: parts of a question that left no trace in the parser's tree.

The parser isn't ours, and it is lenient: it ignores arguments, hints and parts of texts that it has no use for. So it
isn't trusted. Every token of a question is looked for in the tree:

- names, numbers and texts, by the place where they stand: a node was made of them, or they were put into other words by
  one of the few ways that are known here (the form of a date, the name of a unit);
- words and signs, by what they make: `WHERE` a condition, `NOT` a negation. There are no more of them than of nodes
  that they explain. A word without a rule explains nothing.

Parentheses, commas, points, `+`, `AS`, `ASC` and `OUTER` say nothing that their neighbours don't. A question of which
something is left is refused, at its place. That is a necessary condition, not a proof: it sees what is missing, not
what was misread.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING

from discreet.errors import QueryError, Unsupported

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token


SPAN = "span"
"""Where a type keeps the places of its first and last character."""

STANDS_AT = "stands_at"
"""Where a node keeps the place of the word that it was made of, if the parser doesn't."""

_SILENT = frozenset({"(", ")", ",", ".", "+", "AS", "ASC", "OUTER", ";"})

_COMMENT = re.compile(r"--[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)

_RUNS_COMMENTS = frozenset({"mysql", "singlestore", "doris", "starrocks"})
"""Dialects in which `/*! … */` is run."""

_OF_TYPES = frozenset({"WITH", "WITHOUT", "TIME", "ZONE", "VARYING", "PRECISION", "LARGE", "OBJECT", "LOCAL"})
"""Words that continue the name of a type."""

_EXPLAINED: Sequence[tuple[str, str]] = (
    ("SELECT", "Select"),
    ("FROM", "From Extract Trim Substring NullSafeEQ NullSafeNEQ"),
    ("WHERE", "Where"),
    ("GROUP_BY", "Group"),
    ("ORDER_BY", "Order"),
    ("HAVING", "Having"),
    ("LIMIT TOP FETCH", "Limit Fetch Limit.offset"),
    ("OFFSET", "Offset Bracket"),
    ("FIRST LAST", "Fetch Ordered"),
    ("NEXT", "Fetch"),
    ("ONLY", "Fetch"),
    ("ROW", "Fetch WindowSpec"),
    ("ROWS", "Fetch Offset WindowSpec"),
    ("RANGE", "WindowSpec"),
    ("UNBOUNDED CURRENT", "WindowSpec WindowSpec"),
    ("PRECEDING FOLLOWING", "WindowSpec WindowSpec"),
    ("QUALIFY", "Qualify"),
    ("WINDOW", "Window.alias Select.windows"),
    ("OVER", "Window"),
    ("PARTITION_BY", "Window.partition_by"),
    ("FILTER", "Filter"),
    ("WITHIN WITHIN_GROUP", "WithinGroup"),
    ("GROUP", "WithinGroup"),
    ("WITH", "With Group.rollup"),
    ("DISTINCT", "Distinct NullSafeEQ NullSafeNEQ Union.distinct"),
    ("ALL", "All Group.all Union Select"),
    ("ANY", "Any"),
    ("UNION", "Union"),
    ("EXISTS", "Exists"),
    ("IN", "In"),
    ("BETWEEN", "Between WindowSpec"),
    ("LIKE", "Like"),
    ("ILIKE", "ILike"),
    ("ESCAPE", "Escape"),
    ("AND &&", "And Between WindowSpec"),
    ("OR", "Or"),
    ("NOT !", "Not NullSafeEQ Like.negate ILike.negate Is.negate In.negate Between.negate"),
    ("IS", "Is NullSafeEQ NullSafeNEQ"),
    ("ISNULL NOTNULL", "Is"),
    ("NULL UNKNOWN", "Null"),
    ("NULLS", "Ordered IgnoreNulls RespectNulls"),
    ("IGNORE", "IgnoreNulls"),
    ("RESPECT", "RespectNulls"),
    ("TRUE", "Boolean"),
    ("FALSE", "Boolean"),
    ("CASE", "Case"),
    ("END", "Case"),
    ("WHEN", "If"),
    ("THEN", "If"),
    ("ELSE", "Case.default"),
    ("DESC", "Ordered.desc"),
    ("JOIN", "Join"),
    ("STRAIGHT_JOIN", ""),
    ("INNER", "Join.kind=INNER"),
    ("CROSS", "Join.kind=CROSS"),
    ("LEFT", "Join.side=LEFT"),
    ("RIGHT", "Join.side=RIGHT"),
    ("FULL", "Join.side=FULL"),
    ("SEMI", "Join.kind=SEMI"),
    ("ANTI", "Join.kind=ANTI"),
    ("NATURAL", "Join.method=NATURAL"),
    ("ON", "Join.on Distinct.on"),
    ("USING", "Join.using"),
    ("ROLLUP", "Rollup"),
    ("CUBE", "Cube"),
    ("GROUPING_SETS GROUPING SETS", "GroupingSets Grouping"),
    ("FOR", "Substring"),
    ("LEADING TRAILING BOTH", "Trim.position"),
    ("INTERVAL", "Interval DateAdd DateSub DatetimeAdd DatetimeSub TimestampAdd TimestampSub"),
    ("ARRAY", "Array"),
    ("[", "Array Bracket"),
    ("]", "Array Bracket"),
    ("UNNEST", "Unnest In.unnest"),
    ("SAFE_OFFSET ORDINAL SAFE_ORDINAL", "Bracket"),
    ("DATE TIMESTAMP DATETIME D TS", "Cast Date Timestamp DateStrToDate TimeStrToTime StrToTime"),
    ("{", "Cast Date Timestamp"),
    ("}", "Cast Date Timestamp"),
    (":: CAST TRY_CAST SAFE_CAST", "Cast TryCast"),
    ("= ==", "EQ PropertyEQ Alias"),
    ("<> !=", "NEQ"),
    ("<", "LT"),
    ("<=", "LTE"),
    (">", "GT"),
    (">=", "GTE"),
    ("<=>", "NullSafeEQ"),
    ("-", "Sub Neg Literal.below Identifier.dashes"),
    ("*", "Mul Star"),
    ("/", "Div"),
    ("// DIV", "IntDiv Div"),
    ("% MOD", "Mod"),
    ("** ^", "Pow"),
    ("||", "DPipe Or"),
    ("@", "Abs"),
)
"""Words and signs, and the nodes that they make: a class, or a part of one, or a part with its value."""

_GROUP_OF = {word: place for place, (words, _) in enumerate(_EXPLAINED) for word in words.split()}
_FEATURES = [features.split() for _, features in _EXPLAINED]

_PARTS = {
    "Join": ("side", "kind", "method", "on", "using"),
    "Case": ("default",),
    "Ordered": ("desc",),
    "Group": ("all", "rollup"),
    "Union": ("distinct",),
    "Distinct": ("on",),
    "Window": ("partition_by", "alias"),
    "Select": ("windows",),
    "Limit": ("offset",),
    "Trim": ("position",),
    "In": ("unnest", "negate"),
    **dict.fromkeys(("Like", "ILike", "Is", "Between"), ("negate",)),
}

_MOVING = frozenset(
    {
        *("Interval", "Neg", "DataTypeParam", "DateAdd", "DateSub", "DatetimeAdd", "DatetimeSub", "TimestampAdd"),
        "TimestampSub",
    }
)
"""Nodes under which the parser makes a number again."""

_UNIT_NAMES = {
    **dict.fromkeys(("Y", "YY", "YYYY", "YR", "YEAR", "YEARS"), "YEAR"),
    **dict.fromkeys(("Q", "QQ", "QTR", "QUARTER", "QUARTERS"), "QUARTER"),
    **dict.fromkeys(("M", "MM", "MON", "MONTH", "MONTHS"), "MONTH"),
    **dict.fromkeys(("W", "WK", "WW", "WEEK", "WEEKS"), "WEEK"),
    **dict.fromkeys(("D", "DD", "DAY", "DAYS"), "DAY"),
    **dict.fromkeys(("H", "HH", "HR", "HOUR", "HOURS"), "HOUR"),
    **dict.fromkeys(("MI", "MIN", "MINUTE", "MINUTES"), "MINUTE"),
    **dict.fromkeys(("S", "SS", "SEC", "SECOND", "SECONDS"), "SECOND"),
}


def unread(tokens: Sequence[Token], tree: exp.Expression, grammar: Dialect) -> QueryError | None:
    """The error for the first token that left no trace; None if all did.

    Args:
        tokens: all that the tree was made of.
        tree: as the parser made it, before anything is rewritten.
        grammar: of the dialect, which puts the forms of dates into other words.
    """
    traces = _Traces(tree)
    left = [token for token in tokens if not traces.shows(token, grammar)]
    counts = Counter(group for token in left if (group := _group(token)) is not None)
    for token in left:
        group = _group(token)
        if group is None or counts[group] > sum(traces.found[feature] for feature in _FEATURES[group]):
            return Unsupported(
                f"{token.text[:40]!r} isn't understood here, and can't be ignored",
                hint="leave it out, or write it in another way",
                at=token.start,
            )
    return None


def check_comments(text: str, tokens: Sequence[Token], dialect: str) -> None:
    """Refuse a comment that isn't one to every reader: its contents would be ignored.

    Args:
        text: the question.
        tokens: all of it; what is between them are blanks and comments.
        dialect: of the question.

    Raises:
        Unsupported: MySQL would run what is in it; or it holds the beginning of another, and dialects differ in which
            end ends it.
    """
    if "/*" not in text:
        return
    ends = [0, *(token.end + 1 for token in tokens)]
    starts = [*(token.start for token in tokens), len(text)]
    for gap in map(slice, ends, starts):
        for found in _COMMENT.finditer(text[gap]):
            is_run = dialect in _RUNS_COMMENTS and found[0].startswith("/*!")
            if is_run or (found[0].startswith("/*") and "/*" in found[0][2:]):
                raise Unsupported(
                    "other readers may take this comment for part of the question",
                    hint="leave it out",
                    at=gap.start + found.start(),
                )


def _group(token: Token) -> int | None:
    """Which rule explains a word or sign; None without one, and for names, numbers and texts."""
    if token.token_type.name in {"STRING", "NUMBER", "IDENTIFIER"}:
        return None
    return _GROUP_OF.get(token.text.upper().replace(" ", "_"))


class _Traces:
    """Traces that tokens left in the tree which was made of them."""

    def __init__(self, tree: exp.Expression) -> None:
        """Walk through it once."""
        self.found: Counter[str] = Counter()
        self._starts = set[int]()
        self._spans = dict[int, int]()
        self._units: Counter[str] = Counter()
        self._forms: Counter[str] = Counter()
        self._numbers: Counter[str] = Counter()
        self._names: Counter[str] = Counter()
        for node in tree.walk():
            self._note(node)

    def _note(self, node: exp.Expr) -> None:
        name, meta = type(node).__name__, node.meta
        self.found[name] += 1
        at = meta.get("start", meta.get(STANDS_AT))
        if at is not None:
            self._starts.add(at)
        elif name == "Var":
            self._units[node.name.upper()] += 1
        elif name == "Literal":
            self._note_made(node)
        if name == "Identifier":
            self._note_name(node, is_placed=at is not None)
        if STANDS_AT in meta:
            self._starts.add(meta[STANDS_AT])
        if SPAN in meta:
            start, end = meta[SPAN]
            self._starts.add(start)
            self._spans[start] = end
        for part in _PARTS.get(name, ()):
            value = node.args.get(part)
            if value:
                self.found[f"{name}.{part}"] += 1
                self.found[f"{name}.{part}={value}"] += isinstance(value, str)

    def _note_made(self, node: exp.Expr) -> None:
        """A text or number that the parser has made: the format of a date, or the length of an interval."""
        above = node.parent
        if above is None:
            return
        if node is above.args.get("format") or type(above).__name__ == "TimeStrToTime":
            self._forms[node.name] += 1
        elif node is above.args.get("unit"):
            self._units[node.name.upper()] += 1
        elif type(above).__name__ in _MOVING or node.name.startswith("0."):
            self._numbers[node.name.removeprefix("-").removeprefix("0.")] += 1
            self.found["Literal.below"] += node.name.startswith("-")

    def _note_name(self, node: exp.Expr, *, is_placed: bool) -> None:
        """A name of several words, `my-project.data`: BigQuery's, with or without quotes."""
        if not is_placed:
            self._names[node.name] += 1
        if not node.args.get("quoted") and "-" in node.name:
            self.found["Identifier.dashes"] += node.name.count("-")
            self._names.update(node.name.split("-")[1:])

    def shows(self, token: Token, grammar: Dialect) -> bool:
        """Whether a token stands in the tree as itself, or in one of the ways in which it may be put."""
        word = token.text.upper()
        kind = token.token_type.name
        if token.start in self._starts or (word in _SILENT and kind not in {"STRING", "IDENTIFIER"}):
            return True
        if kind == "STRING":
            return any(_take(self._forms, form) for form in _forms(token.text, grammar)) or self._is_unit(word)
        if kind == "NUMBER" and type(grammar).__name__ == "DuckDB" and self._is_in_type(token):
            return True  # there the length of a VARCHAR has no effect, and the parser leaves it out
        if kind == "NUMBER":
            return _take(self._numbers, token.text) or _take(self._forms, _day(token.text))
        if kind == "IDENTIFIER":
            return all(_take(self._names, part) for part in token.text.split("."))
        goes_on = word in _OF_TYPES and self._is_in_type(token)
        return goes_on or self._is_unit(word) or _take(self._names, token.text)

    def _is_in_type(self, token: Token) -> bool:
        """Whether a token stands in a type, behind its first word."""
        return any(start < token.start <= end for start, end in self._spans.items())

    def _is_unit(self, word: str) -> bool:
        """Whether a word is the name of a unit or of a part of a date that the tree has, perhaps in full."""
        return _take(self._units, word) or _take(self._units, _UNIT_NAMES.get(word, ""))


def _forms(text: str, grammar: Dialect) -> Iterator[str]:
    """The texts that the parser may have made of a date's format."""
    from sqlglot.dialects.dialect import Dialect

    yield text
    for each in (type(grammar), Dialect.get_or_raise("mysql")):
        found = each.format_time(f"'{text}'")
        if found is not None:
            yield found.name


def _day(number: str) -> str:
    """The date that a number stands for in T-SQL, which counts days from 1900; nothing if it stands for none."""
    return (date(1900, 1, 1) + timedelta(days=int(number))).isoformat() if len(number) < 6 and number.isdigit() else ""  # noqa: PLR2004 — up to 2173


def _take(counts: Counter[str], name: str) -> bool:
    """Whether one of this name is left; if so, take it."""
    if not counts[name]:
        return False
    counts[name] -= 1
    return True
