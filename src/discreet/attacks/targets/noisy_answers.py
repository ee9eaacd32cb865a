"""Answers through the gateway: with noise, and from a budget that ends."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Unpack

import numpy as np

from discreet.anonymity.columns import Coded, Codes
from discreet.anonymity.grouping import group
from discreet.anonymity.records import Records
from discreet.attacks.targets.answering import Answering, Histogram, Reply
from discreet.attacks.targets.sql_conditions import Conditions, question, where, which
from discreet.errors import BudgetError, InvalidArgument
from discreet.exact.rational import Rationalizable, positive
from discreet.gateway import Protected
from discreet.privacy import Limits
from discreet.query.planner import Terms
from discreet.results import Answer
from discreet.tables import Table


class Answers(Answering):
    """A protected table, asked as any analyst may ask it, with the same offer for each question.

    The attack's questions are charged like all others. A custodian who tries one uses a throw-away account, as the
    examples do.

    Args:
        protected: the tables behind their account.
        table: which of them the questions are about; needed if there are several. Where one of its columns says whose a
            row is, people are counted by it; rows are if units are a person's periods, or are found by links.
        terms: what is offered for each question, as for `Protected.ask`.

    Raises:
        InvalidArgument: no table is named, and there are several.

    Examples:
        >>> import pyarrow, tempfile
        >>> from discreet.gateway import protect
        >>> from discreet.privacy import Budget, Unit
        >>> staff = protect(
        ...     pyarrow.table({"pay": [70, 56, 48]}), name="staff", unit=Unit.row(), budget=Budget(epsilon=1),
        ...     ledger=f"{tempfile.mkdtemp()}/staff.ledger",
        ... )
        >>> answers = Answers(staff, epsilon="0.5")
        >>> replies = [answers.aggregate("COUNT(*)", rows) for rows in ("TRUE", "TRUE", "pay > 50", "pay > 60")]
        >>> answers.bill
        Bill(asked=4, fresh=2, reused=1, refused=1, epsilon=1.0)
    """

    def __init__(self, protected: Protected, *, table: str | None = None, **terms: Unpack[Terms]) -> None:
        names = [each.name for each in protected.dataset.private]
        if table is None and len(names) > 1:
            raise InvalidArgument("there are several tables here", hint=f"table={names[0]!r}, for example")
        asked = next(each for each in protected.dataset.private if each.name == (table or names[0]))
        super().__init__(asked.name, unit=_unit_column(protected, asked))
        self._groups = None if asked.limits is None else asked.limits.groups or asked.limits.rows
        self.protected = protected
        self.terms = terms

    @property
    def against(self) -> str:
        """The target in words, for results."""
        offered: list[tuple[str, Rationalizable | None]]
        offered = [("ε", self.terms.get("epsilon")), ("ρ", self.terms.get("rho"))]
        each = ", ".join(
            f"{sign} = {float(positive(amount, sign)):.6g}" for sign, amount in offered if amount is not None
        )
        return f"answers at {each or 'their own offer'} each from a budget of {self.protected.dataset.budget}"

    @property
    def overlaps(self) -> bool:
        """Whether the limits let a unit be in several groups of one answer."""
        return self.unit is not None and self._groups != 1

    def by_value(self, column: str, values: Sequence[object], conditions: Conditions) -> Histogram:
        """How many people that meet these conditions have each of these values, by the same row: one question.

        Args:
            column: its name.
            values: one or more, or lists of values; a count is called by its place.
            conditions: on other columns.
        """
        return self.histogram([which(column, values)], where(conditions))

    def histogram(self, groups: Sequence[str], condition: str = "TRUE") -> Histogram:
        """How many people there are in each group: one question.

        Args:
            groups: what tells groups apart, in SQL: one or more columns, or an expression with few values. If it is
                known in public which groups there can be, each is told of.
            condition: on rows, in SQL.

        Raises:
            QueryError: it isn't known which groups there can be, and the offer doesn't pay for finding out.
        """
        told = self._told(histogram(groups, self.table, condition, self.counting))
        self.replies.append(told)
        return told

    def _told(self, sql: str) -> Histogram:
        """Ask for groups; what can't be paid for is refused."""
        try:
            answer = self.protected.ask(sql, **self.terms)
        except BudgetError as error:
            return Histogram(deviation=None, epsilon=0.0, refusal=error.code)
        *keys, number = answer.names
        groups = zip(*(answer[name] for name in keys), strict=True)
        return Histogram(
            counts=dict(zip(groups, answer[number], strict=True)),
            deviation=_deviation(answer),
            epsilon=_cost(answer),
            reused=answer.reused,
        )

    def _reply(self, sql: str) -> Reply:
        """Ask; what can't be paid for is refused."""
        try:
            answer = self.protected.ask(sql, **self.terms)
        except BudgetError as error:
            return Reply.refused(error.code)
        if len(answer.names) != 1 or len(answer) != 1:
            raise InvalidArgument("a question here has one number as its answer")
        (value,) = answer[answer.names[0]]
        return Reply(value=value, deviation=_deviation(answer), epsilon=_cost(answer), reused=answer.reused)


def _unit_column(protected: Protected, table: Table) -> str | None:
    """The column of a table that says whose a row is; None where rows are units, or no one column says it."""
    owner = protected.dataset.owner(table)
    return None if owner is None or owner.hops or owner.unit.per is not None else owner.unit.column


def _deviation(answer: Answer) -> float | None:
    """The standard deviation of the noise in an answer's last column, where that combines counts and sums."""
    return answer.columns[-1].deviation


def _cost(answer: Answer) -> float:
    epsilon = answer.cost.epsilon
    return 0.0 if answer.reused else inf if epsilon is None else float(epsilon)


def histogram(groups: Sequence[str], table: str, condition: str = "TRUE", counting: str = "COUNT(*)") -> str:
    """How many rows that meet a condition are in each group; the number is the last column of the answer.

    Args:
        groups: what tells groups apart: one or more expressions in SQL.
        table: its name.
        condition: in SQL.
        counting: what is counted, in SQL, if it isn't rows.

    Examples:
        >>> print(histogram(['"sex"'], "census", "age >= 40"))
        SELECT "sex" AS group_1, COUNT(*) AS value FROM "census" WHERE age >= 40 GROUP BY 1
    """
    listed = ", ".join(f"{group} AS group_{place}" for place, group in enumerate(groups, 1))
    places = ", ".join(str(place) for place in range(1, len(groups) + 1))
    return f"{question(f'{listed}, {counting}', condition, table)} GROUP BY {places}"


def limits_of(records: Records, groupings: Sequence[Sequence[Coded]]) -> Limits | None:
    """Limits within which all units of a table are; None if each row is a unit.

    They are read off the table, as only a custodian may who tries an attack on rows that they have: limits that protect
    a table for real must come from what is known in public.

    Args:
        records: the table.
        groupings: the columns by which each of the questions that group rows does; none if no question does.

    Examples:
        >>> from discreet.anonymity import read
        >>> visits = read({"id": [1, 1, 1, 2], "ill": ["flu", "flu", "cold", "gout"]}, unit="id")
        >>> print(limits_of(visits, []), limits_of(visits, [[visits.column("ill")]]), sep="; ")
        3 rows in 1 groups; 3 rows in 2 groups
    """
    whose = records.units
    if whose is None:
        return None
    groups = [1]
    for columns in groupings:
        own = group([whose.codes, *(each.codes for each in columns)], [whose.number, *(each.size for each in columns)])
        groups.append(_most(own.tuples()[:, 0]))
    return Limits(rows=_most(whose.codes), groups=max(groups))


def _most(owners: Codes) -> int:
    """How often the commonest occurs; 1 of nobody."""
    return int(np.bincount(owners).max(initial=1))
