"""Unanswered probes: what tools look for and don't find here, counted by its form for the operator."""

from __future__ import annotations

import re
from threading import Lock

from discreet.interfaces.wire.statements import Statement, Token
from discreet.service import Event, EventLog, Metrics

_MOST_FORMS = 200
"""How many forms are told apart; beyond, all others are one."""

_MOST_TOKENS = 80

_OTHERS = "others"

_FUNCTION = re.compile(r"[a-z_][a-z0-9_]{0,39}", re.ASCII)

_KEYWORDS = {
    "ALL", "AND", "ANY", "ARRAY", "AS", "ASC", "BETWEEN", "BY", "CASE", "CAST", "COLLATE", "COMMIT", "CREATE",
    "CROSS", "CURRENT_USER", "DELETE", "DESC", "DISTINCT", "DROP", "ELSE", "END", "EXCEPT", "EXISTS", "EXPLAIN",
    "FROM", "FULL", "GLOBAL", "GRANT", "GROUP", "HAVING", "ILIKE", "IN", "INNER", "INSERT", "INTERSECT", "INTO",
    "IS", "JOIN", "LATERAL", "LEFT", "LIKE", "LIMIT", "LISTEN", "LOCAL", "LOCK", "NATURAL", "NOT", "NULL",
    "OFFSET", "ON", "OR", "ORDER", "OUTER", "OVER", "PARTITION", "RECURSIVE", "RESET", "RIGHT", "SELECT",
    "SESSION", "SET", "SHOW", "SIMILAR", "SOME", "TABLE", "TEMP", "TEMPORARY", "THEN", "TO", "UNION", "UPDATE",
    "USING", "VALUES", "VIEW", "WHEN", "WHERE", "WITH",
}  # fmt: skip

_CATALOGUE = ("pg_", "information_schema", "has_")


def form_of(statement: Statement) -> str:
    """A statement's form: its keywords, and the names of functions and of the catalogue; nothing else that it says.

    Examples:
        >>> from discreet.interfaces.wire.statements import statements
        >>> form_of(statements("SELECT pg_nothing(c.oid), 'it' FROM pg_class c WHERE secret IN (1, 2)")[0])
        'select pg_nothing ( x . x ) , ? from pg_class x where x in ( ? , … )'
    """
    tokens = statement.tokens[:_MOST_TOKENS]
    following = [*(each.text for each in tokens[1:]), ""]
    said = " ".join(_shown(token, after) for token, after in zip(tokens, following, strict=True))
    said = re.sub(r"([?x])(?: , [?x])+(?= \))", r"\1 , …", said)
    return said + " …" * (len(statement.tokens) > _MOST_TOKENS)


def _shown(token: Token, after: str) -> str:
    """A token, if it says nothing but what is asked for."""
    is_strange = token.kind == "sign" and not (token.text.isascii() and token.text.isprintable())
    if is_strange or token.kind in {"text", "number", "parameter"}:
        return "?"
    if token.kind == "sign" or token.word in _KEYWORDS:
        return token.text.lower()
    name = token.called.lower()
    is_known = _FUNCTION.fullmatch(name) and (after == "(" or name.startswith(_CATALOGUE))
    return name if is_known else "x"


class UnansweredProbes:
    """Counts them, over all connections.

    Guarantee: it keeps, and says, a bounded number of forms.

    Args:
        metrics: that have their number.
        log: that is told of each form at its first time, its tenth, its hundredth and so on.
    """

    def __init__(self, metrics: Metrics, log: EventLog) -> None:
        self._metrics, self._log = metrics, log
        self._counts: dict[str, int] = {}
        self._lock = Lock()

    def count(self, statement: Statement) -> None:
        """Count one more."""
        form = form_of(statement)
        with self._lock:
            if form not in self._counts and len(self._counts) >= _MOST_FORMS:
                form = _OTHERS
            times = self._counts[form] = self._counts.get(form, 0) + 1
        self._metrics.count("discreet_probes_unanswered")
        if set(str(times)) <= {"0", "1"} and str(times).count("1") == 1:
            self._log.write(Event.PROBE, form=form, times=times)
