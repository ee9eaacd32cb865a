"""Completion: what may be meant by the word before the cursor, from declarations and the language alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from discreet.cli.shell.commands import COMMANDS
from discreet.cli.shell.modes import Mode
from discreet.cli.shell.statements import SIGNS, cut
from discreet.results import quoted

Word: TypeAlias = tuple[str, str]
"""A word, and what it is."""

KEYWORDS = (
    *("SELECT", "DISTINCT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "OFFSET", "WITH", "AS", "ASC"),
    *("DESC", "NULLS FIRST", "NULLS LAST", "JOIN", "LEFT JOIN", "INNER JOIN", "ON", "USING", "UNION ALL", "ROLLUP"),
    *("CUBE", "GROUPING SETS", "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "ILIKE", "ESCAPE", "IS NULL"),
    *("IS NOT NULL", "EXISTS", "CASE", "WHEN", "THEN", "ELSE", "END", "FILTER", "WITHIN GROUP", "OVER"),
    *("PARTITION BY", "INTERVAL", "TRUE", "FALSE", "NULL", "EXPLAIN", "SUMMARIZE"),
    "WITH DIFFERENTIAL_PRIVACY OPTIONS(",
)
"""The words of the language; a test knows that it takes them."""

FUNCTIONS = (
    *("ABS", "APPROX_COUNT_DISTINCT", "APPROX_QUANTILE", "APPROX_TOP_K", "AVG", "BOOL_AND", "BOOL_OR", "CAST", "CEIL"),
    *("COALESCE", "CONCAT", "CONTAINS", "CORR", "COUNT", "COUNT_IF", "COVAR_POP", "COVAR_SAMP", "DATE_ADD"),
    *("DATE_DIFF", "DATE_PART", "DATE_TRUNC", "DAY", "DAYOFWEEK", "DAYOFYEAR", "DP_INTERVAL_HIGH", "DP_INTERVAL_LOW"),
    *("DP_STDDEV", "ENDS_WITH", "EXTRACT", "FLOOR", "GREATEST", "HOUR", "IF", "ISODOW", "LEAST", "LEFT", "LENGTH"),
    *("LOWER", "LTRIM", "MAX", "MEDIAN", "MIN", "MINUTE", "MOD", "MODE", "MONTH", "NULLIF", "PERCENTILE_CONT"),
    *("PERCENTILE_DISC", "POWER", "QUANTILE_CONT", "QUANTILE_DISC", "QUARTER", "REGR_INTERCEPT", "REGR_R2"),
    *("REGR_SLOPE", "ROUND", "RTRIM", "SECOND", "SIGN", "SQRT", "STARTS_WITH", "STDDEV_POP", "STDDEV_SAMP", "STRFTIME"),
    *("SUBSTRING", "SUM", "TRIM", "TRUNC", "TRY_CAST", "UPPER", "VAR_POP", "VAR_SAMP", "WEEK", "YEAR"),
)
"""The functions of the language, as its page spells them; a test compares the two."""

OPTIONS = (
    *("epsilon", "delta", "rho", "max_groups_contributed", "max_rows_contributed"),
    *("group_selection_strategy", "privacy_unit_column"),
)
"""The names in a question's own OPTIONS."""

_WORD = re.compile(r"\w*\Z")
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
_OF_TABLE = re.compile(r"(?:(?P<bare>\w+)|\"(?P<quoted>[^\"]+)\")\.\w*\Z")
_IN_FROM = re.compile(r"\b(?:FROM|JOIN|SUMMARIZE)\s+\w*\Z", re.IGNORECASE)
_IN_OPTIONS = re.compile(r"\bOPTIONS\s*\((?:[^()'\"]|'[^']*')*\Z", re.IGNORECASE)
_IN_TEXT = re.compile(
    r"(?:(?P<bare>\w+)|\"(?P<quoted>[^\"]+)\")\s*(?:=|<>|!=|(?:NOT\s+)?IN\s*\((?:\s*'[^']*'\s*,)*)\s*'(?P<begun>[^']*)\Z",
    re.IGNORECASE,
)


class Words:
    """The words that may be meant.

    Args:
        schema: the declarations of everything that the caller may ask about.

    Examples:
        >>> column = {"name": "sex", "kind": "text", "keys": ["Female", "Male"]}
        >>> words = Words({"tables": [{"name": "census", "columns": [column]}]})
        >>> words.for_("SELECT COUNT(*) FROM c")
        ('c', [('census', 'table')])
        >>> words.for_("SELECT COUNT(*) FROM census WHERE sex = 'F")
        ('F', [("Female'", 'key')])
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._tables: Sequence[Mapping[str, Any]] = schema["tables"]

    def for_(self, text: str) -> tuple[str, list[Word]]:
        """What is begun before the cursor, and the words that it may be the beginning of.

        Args:
            text: all that is typed before the cursor.
        """
        text = cut(text)[1] or text
        if text.startswith(SIGNS) and not re.match(r"[\\.]cost\s", text):
            return _begun(text, self._of_command(text))
        if (found := _IN_TEXT.search(text)) is not None:
            keys = self._keys((found["bare"] or found["quoted"]).casefold())
            return found["begun"], [(key, kind) for key, kind in keys if key.startswith(found["begun"])]
        begun, words = _begun(text, self._of_question(text))
        if begun.islower():  # who writes in small letters goes on so
            words = [(word.lower() if kind in {"keyword", "function"} else word, kind) for word, kind in words]
        return begun, words

    def _of_command(self, text: str) -> Iterator[Word]:
        """The words of a command."""
        name, blank, _ = text[1:].partition(" ")
        if not blank:
            yield from ((each, "command") for each in COMMANDS)
        elif name in {"set", "reset"}:
            from discreet.query.planner import OFFERED

            yield from ((each, "setting") for each in OFFERED)
        elif name == "mode":
            yield from ((each, "mode") for each in Mode)
        elif name == "d":
            yield from self._named_tables()
        elif name == "h":
            yield from ((each, "command") for each in COMMANDS)

    def _of_question(self, text: str) -> Iterator[Word]:
        """The words of a question, likely ones first."""
        if _IN_OPTIONS.search(text):
            yield from ((each, "option") for each in OPTIONS)
            return
        if (found := _OF_TABLE.search(text)) is not None:
            yield from self._columns([found["bare"] or found["quoted"]])
            return
        if _IN_FROM.search(text):
            yield from self._named_tables()
            return
        said = {word.casefold() for word in re.findall(r"\w+", text)}
        yield from self._columns([each["name"] for each in self._tables if each["name"].casefold() in said])
        yield from ((f"{each}(", "function") for each in FUNCTIONS)
        yield from ((each, "keyword") for each in KEYWORDS)
        yield from self._named_tables()

    def _named_tables(self) -> Iterator[Word]:
        """The tables."""
        return ((_spelled(each["name"]), "table") for each in self._tables)

    def _columns(self, names: Iterable[str]) -> list[Word]:
        """The columns of the tables of these names; of all tables where there is none of them."""
        folded = {name.casefold() for name in names}
        tables = [each for each in self._tables if each["name"].casefold() in folded] or self._tables
        found = {_spelled(column["name"]): column["kind"] for table in tables for column in table["columns"]}
        return list(found.items())

    def _keys(self, name: str) -> Iterator[Word]:
        """The keys of columns of a name, to the end of their quotation."""
        columns = (column for table in self._tables for column in table["columns"])
        keys = (column["keys"] or () for column in columns if column["name"].casefold() == name)
        texts = (key for each in keys for key in each if isinstance(key, str))
        return (("".join((key.replace("'", "''"), "'")), "key") for key in dict.fromkeys(texts))


def _begun(text: str, words: Iterable[Word]) -> tuple[str, list[Word]]:
    """The word that is begun, and those of these that begin like it."""
    found = _WORD.search(text)
    begun = "" if found is None else found[0]
    like = begun.casefold()
    return begun, [(word, kind) for word, kind in words if word.lstrip('"').casefold().startswith(like)]


def _spelled(name: str) -> str:
    """A name as SQL takes it."""
    return name if _PLAIN.fullmatch(name) else quoted(name)
