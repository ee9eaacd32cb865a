"""A server's replies other than answers: plans, the account, its entries and requests; each checked as it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from textwrap import shorten
from typing import Any, NoReturn, Self

from discreet.exact import rational
from discreet.exact.rounding import shown
from discreet.interfaces.client.connection import malformed
from discreet.notebook import framed, lines, table, titled
from discreet.results import Cost, left_in_words, prospect, state_in_words

_SHORT = 80
"""How many characters of a question a line shows."""

_FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""The errors that a reply of another form causes."""


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """The error to expect of one column of an answer.

    Args:
        column: of the answer.
        error: half width of the interval; None where it depends on the noisy answer itself.
        words: the same in words.
        rows: in a group of how many rows that is; None if it doesn't depend on the group.
        ranks: of a quantile, by how many rows its rank may be off.
        share: which part of the cost is for it.
    """

    column: str
    error: float | None
    words: str
    rows: int | None = None
    ranks: float | None = None
    share: float = 1.0

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, slots=True, repr=False)
class RemotePlan:
    """A server's plan for a question: what it would cost, and how accurate the answer would be.

    `ask` carries it out as it is, or not at all: where the declarations have changed meanwhile, it is refused.

    Args:
        question: that it is of, in SQL; or a list of them, which are answered together.
        terms: what is offered, as it is sent.
        digest: of everything that shapes the answer.
        cost: the most that the answer gives away about one unit, as is proved.
        expected: the error to expect of each column; of several questions, of all their columns in order.
        words: all of it, in words.
        seconds: after how many seconds an answer leaves, if nobody waits before it.
        warnings: what in the question may not mean what it was meant to.
        said: all that the server said.
    """

    question: str | list[str]
    terms: Mapping[str, Any]
    digest: str
    cost: Cost
    expected: tuple[ExpectedError, ...]
    words: str
    seconds: float
    warnings: tuple[str, ...]
    said: Mapping[str, Any] = field(repr=False, compare=False)

    @classmethod
    def read(cls, data: Mapping[str, Any], question: str | list[str], terms: Mapping[str, Any]) -> Self:
        """A plan that a server made.

        Raises:
            ReplyMalformed: it isn't one.
        """
        try:
            _ = None if data.get("remaining_after") is None else _left(data["remaining_after"])
            expected = (
                data["expected"] if isinstance(question, str) else [one for each in data["expected"] for one in each]
            )
            return cls(
                question=question,
                terms=terms,
                digest=_text(data["digest"]),
                cost=Cost.from_json(data["cost"]),
                expected=tuple(_expected(each) for each in expected),
                words=_text(data["words"]),
                seconds=_number(data["seconds"]),
                warnings=tuple(_text(each) for each in data.get("warnings", ())),
                said=dict(data),
            )
        except _FAULTS:
            malformed("a plan was expected")

    @property
    def choice(self) -> str | None:
        """The noise that was chosen, and why, where the offer left it open."""
        noise = self.said.get("noise")
        return noise if isinstance(noise, str) else None

    @property
    def is_free(self) -> bool:
        """Whether public facts alone answer it."""
        return self.cost.epsilon == self.cost.rho == self.cost.delta == 0

    @property
    def remaining_like_this(self) -> int | None:
        """How many such questions the budget still pays for; None if it costs nothing, or the server doesn't say."""
        found = self.said.get("remaining_like_this")
        return found if isinstance(found, int) else None

    @property
    def remaining_after(self) -> Left | None:
        """What the next question may cost once this one is paid for; None if it can't be, or the server doesn't say."""
        found = self.said.get("remaining_after")
        return None if found is None else _left(found)

    @property
    def answered_by(self) -> tuple[int, ...]:
        """The entries by which it is answered already, so that asking it is free; none if it isn't."""
        found = self.said.get("answered_by", ())
        return tuple(each for each in found if isinstance(each, int)) if isinstance(found, list) else ()

    def explain(self) -> str:
        """The plan in words; and whether it is answered already, or the budget pays for it."""
        budget = "" if self.answered_by else prospect(self.remaining_like_this, self.remaining_after or "")
        return self.words + (f"\nbudget    {budget}" if budget else "")

    def __repr__(self) -> str:
        """The questions and their cost; `explain` says all of it."""
        asked = self.question if isinstance(self.question, str) else ";\n".join(self.question)
        return f"<RemotePlan of {' '.join(asked.split())!r}: {self.cost}>"

    def _repr_html_(self) -> str:
        """All of it, for notebooks."""
        return framed(titled(self.explain()) if isinstance(self.question, str) else lines(self.explain()))

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON-ready data: what the server said of it."""
        return dict(self.said)


@dataclass(frozen=True, slots=True, repr=False)
class Left:
    """The most that a next question may cost, by each amount alone.

    Args:
        epsilon: of a question with Laplace noise on one number.
        rho: of a question with Gaussian noise.
        delta: of a selection of groups.
    """

    epsilon: float
    rho: float
    delta: float

    def to_dict(self) -> dict[str, float]:
        """The amounts, by their names."""
        return {"epsilon": self.epsilon, "rho": self.rho, "delta": self.delta}

    def __repr__(self) -> str:
        """The same, in short: the amounts are its attributes."""
        return f"Left({self})"

    def __str__(self) -> str:
        """The amounts in symbols.

        Examples:
            >>> str(Left(epsilon=0.5, rho=0.125, delta=0.0))
            'ε = 0.5 or ρ = 0.125'
        """
        amounts = [f"ε = {self.epsilon:.4g}"] + ([f"ρ = {self.rho:.4g}"] if self.rho else [])
        return " or ".join(amounts) + (f", with δ = {self.delta:.3g} for groups" if self.delta else "")


@dataclass(frozen=True, slots=True, repr=False)
class RemoteAccount:
    """The standing of an account.

    Args:
        budget: what all may spend together.
        words: the same in words.
        spent: what all have spent together.
        remaining: what a next question may cost.
        own_spent: what the token's holder has spent; None for who doesn't ask.
        own_remaining: what their next question may cost; None for who has no share.
        own_this_month: what they have spent in this calendar month, in UTC; None for who has no share.
        own_renews: when a share of theirs renews; None if none does.
    """

    budget: Cost
    words: str
    spent: Cost
    remaining: Left
    own_spent: Cost | None
    own_remaining: Left | None
    own_this_month: Cost | None = None
    own_renews: datetime | None = None

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """An account as a server writes it.

        Raises:
            ReplyMalformed: it isn't one.
        """
        try:
            own = data.get("own") or {}
            return cls(
                budget=_cost(data["allowed"]),
                words=_text(data["budget"]),
                spent=_cost(data["spent"]),
                remaining=_left(data["remaining"]),
                own_spent=_cost(own["spent"]) if "spent" in own else None,
                own_remaining=_left(own["remaining"]) if "remaining" in own else None,
                own_this_month=_cost(own["this_month"]) if "this_month" in own else None,
                own_renews=None if own.get("renews") is None else datetime.fromisoformat(own["renews"]),
            )
        except _FAULTS:
            malformed("an account was expected")

    def in_words(self, spent: Cost) -> str:
        """A cost in words, by the amounts that the budget counts."""
        budget = self.budget
        found = [f"ε = {shown(spent.epsilon)}"] if budget.epsilon is not None and spent.epsilon is not None else []
        found += [f"ρ = {shown(spent.rho)}"] if budget.delta and spent.rho is not None else []
        found += [f"δ = {shown(spent.delta)}"] if spent.delta else []
        return ", ".join(found) or "no finite ε"

    def rows(self) -> list[tuple[str, str, str]]:
        """Whose money it is, what was spent and what is left: of all and, of the token's holder, in words."""
        found = [("all", f"{self.in_words(self.spent)}, of {self.words}", str(self.remaining))]
        if self.own_spent is not None:
            left = "nothing: no share" if self.own_remaining is None else str(self.own_remaining)
            found.insert(0, ("you", self.in_words(self.own_spent), left))
        if self.own_this_month is not None and self.own_renews is not None:
            renews = f"renews on {self.own_renews:%Y-%m-%d}, in UTC"
            found.insert(1, ("you, this month", self.in_words(self.own_this_month), renews))
        return found

    def __repr__(self) -> str:
        """What is left, in short: the exact amounts are its attributes."""
        return f"<RemoteAccount, what is left: {left_in_words(self.remaining, self.words, self.own_remaining or '')}>"

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        return framed(table(("", "spent", "left"), self.rows()))


@dataclass(frozen=True, slots=True, repr=False)
class RemoteEntry:
    """One line of an account's history.

    Args:
        number: of the question; None for what isn't one.
        at: when it was paid for or declared.
        kind: "question", or what else it is.
        analyst: who asked.
        text: the question as it was asked, or what was declared, in words.
        cost: what was charged; None where nothing was.
        state: what became of the question; None of what isn't one.
    """

    number: int | None
    at: datetime
    kind: str
    analyst: str | None
    text: str
    cost: Cost | None
    state: str | None

    def __repr__(self) -> str:
        """The entry in short."""
        text, cost = shorten(self.text, _SHORT, placeholder="…"), "" if self.cost is None else str(self.cost)
        parts = ("" if self.number is None else str(self.number), f"{self.at:%Y-%m-%d %H:%M}", self.analyst or "")
        return f"<RemoteEntry {', '.join(filter(None, (*parts, self.became(self.at) or self.kind, text, cost)))}>"

    def became(self, _: datetime) -> str:
        """The question's outcome in a word or two; empty for other entries. A server doesn't say until when."""
        return "" if self.state is None else state_in_words(self.state)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """An entry as a server writes it.

        Raises:
            ReplyMalformed: it isn't one.
        """
        try:
            return cls(
                number=None if data["number"] is None else int(data["number"]),
                at=datetime.fromisoformat(data["at"]),
                kind=_text(data["kind"]),
                analyst=None if data["analyst"] is None else _text(data["analyst"]),
                text=_text(data["text"]),
                cost=None if data["cost"] is None else _cost(data["cost"]),
                state=None if data["state"] is None else _text(data["state"]),
            )
        except _FAULTS:
            malformed("an entry of an account was expected")


@dataclass(frozen=True, slots=True, repr=False)
class RemoteRequest:
    """A question that the custodian is asked to approve.

    Args:
        id: what `ask(…, approval=…)` names it by.
        question: that may be asked then.
        purpose: what it is for.
        digest: of its plan: what is approved is that plan, and nothing else.
        cost: that it has.
        state: open, approved, denied, used or expired.
        until: when it expires; None as long as nobody has decided.
        reason: why it was denied; may be empty.
        subject: who made it.
        readers: who else may read the answer, in words.
    """

    id: str
    question: str
    purpose: str
    digest: str
    cost: Cost
    state: str
    until: datetime | None
    reason: str
    subject: str
    readers: str

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """A request as a server writes it.

        Raises:
            ReplyMalformed: it isn't one.
        """
        try:
            return cls(
                id=_text(data["id"]),
                question=_text(data["question"]),
                purpose=_text(data["purpose"]),
                digest=_text(data["digest"]),
                cost=Cost.from_json(data["cost"]),
                state=_text(data["state"]),
                until=None if data.get("until") is None else datetime.fromisoformat(data["until"]),
                reason=str(data.get("reason") or ""),
                subject=_text(data["subject"]),
                readers=_text(data["readers"]),
            )
        except _FAULTS:
            malformed("a request was expected")

    def __repr__(self) -> str:
        """The request in short."""
        return (
            f"<RemoteRequest {self.id}, {self.state}, {shorten(self.question, _SHORT, placeholder='…')}, {self.cost}>"
        )


def _expected(data: Mapping[str, Any]) -> ExpectedError:
    """The error to expect of a column."""
    error, rows, ranks = data["error"], data.get("rows"), data.get("ranks")
    return ExpectedError(
        column=_text(data["column"]),
        error=None if error is None else _number(error),
        words=_text(data["words"]),
        rows=None if rows is None else int(rows),
        ranks=None if ranks is None else _number(ranks),
        share=_number(data.get("share", 1.0)),
    )


def _cost(data: Mapping[str, Any]) -> Cost:
    """Amounts, exact, as texts; null is infinite."""
    epsilon, rho = (None if data[name] is None else rational(data[name], name) for name in ("epsilon", "rho"))
    return Cost(epsilon=epsilon, rho=rho, delta=rational(data["delta"], "delta"))


def _left(data: Mapping[str, Any]) -> Left:
    """Amounts that are left."""
    return Left(*(_number(data[name]) for name in ("epsilon", "rho", "delta")))


def _text(value: object) -> str:
    """A text."""
    return value if isinstance(value, str) else _refuse()


def _number(value: object) -> float:
    """A number."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else _refuse()


def _refuse() -> NoReturn:
    """Say that it is of another form; the reader adds what it read."""
    raise TypeError("of another form")
