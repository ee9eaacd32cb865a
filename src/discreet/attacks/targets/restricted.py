"""Restricted answers: exact ones, except about few people or nearly all. The classical defence, and it doesn't hold."""

from __future__ import annotations

from discreet.attacks.targets.exact import Exact
from discreet.attacks.targets.reply import Reply
from discreet.attacks.targets.wording import question
from discreet.errors import InvalidArgument


class Restricted(Exact):
    """Exact aggregates that have rows of `smallest` people or more, and leave rows of as many out.

    Guarantee: none; see `discreet.attacks.answers.tracker`.

    Args:
        table: as for `Exact`.
        name: what questions call it.
        smallest: the fewest people of whom an answer may have rows, or leave rows out; 1 or more.
        unit: as for `Exact`; without it people are rows.

    Raises:
        SourceError: the table can't be read.
        SchemaMismatch: it lacks the unit's column.
        InvalidArgument: `smallest` is below 1, or a row doesn't say whose it is.

    Examples:
        >>> staff = Restricted({"pay": [70, 56, 48, 61]}, name="staff", smallest=2)
        >>> staff.aggregate("SUM(pay)", "pay > 60").value, staff.aggregate("SUM(pay)", "pay > 69").refusal
        (131, 'too_few_rows')
    """

    def __init__(self, table: object, *, name: str = "people", smallest: int, unit: str | None = None) -> None:
        """Read the table."""
        if smallest < 1:
            raise InvalidArgument("an answer is about 1 row or more")
        super().__init__(table, name=name, unit=unit)
        self.smallest = smallest

    @property
    def against(self) -> str:
        """What it is."""
        people = "rows" if self.unit is None else "units"
        return f"exact answers about {self.smallest:,} {people} or more, and all but {self.smallest:,} or fewer"

    def ask(self, sql: str) -> Reply:  # noqa: ARG002 — it is refused, whatever it says
        """Refuse questions in SQL of their own: their rows couldn't be counted.

        Raises:
            InvalidArgument: always.
        """
        raise InvalidArgument("restricted answers are aggregates under a condition", hint="aggregate(…)")

    def aggregate(self, measure: str, condition: str = "TRUE") -> Reply:
        """An aggregate, unless it is about too few people, or leaves rows of too few out."""
        inside = self.rows(condition)
        if min(self.people(inside), self.people(~inside)) >= self.smallest:
            reply = self._reply(question(measure, condition, self.table))
        else:
            reply = Reply.refused("too_few_rows")
        self.replies.append(reply)
        return reply
