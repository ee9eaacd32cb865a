"""Questions as an account has them: what was paid for, what was answered, what vouches for it, and the history.

For the custodian's eyes, and for those who hold an account to account.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from discreet.accounting import Charge, charge_of
from discreet.errors import DiscreetError, InvalidArgument, LedgerCorrupt
from discreet.hints import Hint
from discreet.ledger.declaration import Declaration
from discreet.ledger.row import Kind, Row, from_columns, group_of, number_of, to_body, version_of
from discreet.privacy import Event
from discreet.privacy.events import from_dict, to_dict

if TYPE_CHECKING:
    from discreet.ledger.chain import Chain
    from discreet.ledger.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A question that has been paid for. It is on the disk, and nothing takes it back.

    Args:
        entry: the question's number in its account: 1, 2, 3, …
        question: its digest.
        version: of the data it is asked of.
        analyst: who asked.
        cost: what was charged.
        receipt: the hash of the debit's entry; whoever brings the outcome shows it.
    """

    entry: int
    question: str
    version: int
    analyst: str | None
    cost: Charge
    receipt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """An answer that was released, as it was released.

    Args:
        entry: the number of the question that paid for it.
        question: its digest.
        version: of the data.
        certificate: what was done, as JSON-ready data.
        answer: the answer, as JSON-ready data.
    """

    entry: int
    question: str
    version: int
    certificate: dict[str, Any]
    answer: dict[str, Any]


class State(StrEnum):
    """What became of a question."""

    RESERVED = "reserved"
    """It was paid for; it is still running, or its process died."""

    COMMITTED = "committed"
    """It was answered."""

    FAILED = "failed"
    """It got no answer. What was paid stays paid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of an account's history.

    Args:
        number: of the question in its account; None for a budget or a data version.
        at: when it was paid for or declared, in UTC.
        kind: `"question"`, `"budget"` or `"data"`.
        analyst: who asked.
        text: the question as it was asked; or the budget, or the data version, in words.
        cost: what was charged; None for a budget or a data version.
        state: what became of the question; None for a budget or a data version.
    """

    number: int | None
    at: datetime
    kind: str
    analyst: str | None
    text: str
    cost: Charge | None
    state: State | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vouched:
    """A question that was paid for, with what vouches for its answer.

    Args:
        entry: its line of the history.
        debit: the hash of the entry of the chain that paid for it.
        outcome: the hash of the one that says what became of it; None while it is pending.
        certificate: what was done for its answer, as JSON-ready data; None if it has none.
        problems: what doesn't hold of it by itself, in words. That the entries are in the chain, `verify` says.
    """

    entry: Entry
    debit: str
    outcome: str | None
    certificate: Mapping[str, Any] | None
    problems: tuple[str, ...]


_OUTCOMES: dict[str, State] = {Kind.COMMIT: State.COMMITTED, Kind.FAIL: State.FAILED}


def history(store: Store, account: str) -> list[Entry]:
    """The entries of an account, oldest first; each question once, with its outcome.

    Raises:
        LedgerCorrupt: an entry isn't what was written.
    """
    lines: list[Row] = []
    outcomes: dict[int | None, State] = {}
    for row in _rows(store, account):
        outcome = _OUTCOMES.get(row.kind)
        if row.kind in {Kind.ATTEMPT, Kind.USE}:
            continue  # they belong to the debit before them
        if outcome is None:
            lines.append(row)
        else:
            outcomes[row.number] = outcome
    return [_entry(row, outcomes.get(row.number, State.RESERVED)) for row in lines]


def vouched(store: Store, account: str, number: int) -> Vouched | None:
    """What vouches for the question of this number; None if there is none.

    Raises:
        LedgerCorrupt: an entry isn't what was written.
    """

    def look(chain: Chain) -> tuple[Row | None, list[Row]]:
        found = [chain.first(kind, account=account, number=number) for kind in (Kind.COMMIT, Kind.FAIL)]
        return chain.first(Kind.RESERVE, account=account, number=number), [row for row in found if row is not None]

    debit, outcomes = store.read(look)
    if debit is None:
        return None
    last = outcomes[0] if outcomes else None
    proof = None if last is None else last.content().get("certificate")
    return Vouched(
        entry=_entry(debit, State.RESERVED if last is None else _OUTCOMES[last.kind]),
        debit=debit.hash,
        outcome=None if last is None else last.hash,
        certificate=proof,
        problems=tuple(_problems(debit, outcomes, proof)),
    )


def _problems(debit: Row, outcomes: Sequence[Row], proof: Mapping[str, Any] | None) -> Iterator[str]:
    """What doesn't hold of a question: its debit, its outcome and its certificate should say the same."""
    cost = from_columns(debit)
    if not least_cost(debit).within(cost):
        yield "it was charged less than its noise costs"
    if len(outcomes) > 1 or any((each.digest, each.version) != (debit.digest, debit.version) for each in outcomes):
        yield "its outcome is of another question, or it has two"
    if proof is None:
        return
    said = {"entry": debit.number, "analyst": debit.analyst, "data_version": debit.version}
    yield from (f"its certificate names another {name}" for name, value in said.items() if proof.get(name) != value)
    if str(proof.get("text")).strip() != str(debit.content().get("text")).strip():
        yield "its certificate is of another question"
    exact = {name: None if one is None else str(one) for name, one in asdict(cost).items()}
    if proof.get("cost", {}).get("exact") != exact:
        yield "its certificate names another cost than was charged"


def _rows(store: Store, account: str) -> Iterator[Row]:
    """The account's rows, page by page, so that no writer waits for a long history."""
    after = 0
    while page := store.read(methodcaller("page", after, account)):
        for row in page:
            if not row.is_sealed:
                raise LedgerCorrupt(
                    f"entry {row.seq} isn't what was written",
                    hint=Hint("verify() says more", cli="`discreet verify` says more"),
                )
            yield row
        after = page[-1].seq


def _entry(row: Row, state: State) -> Entry:
    """A row as a line of the history."""
    asked = row.kind == Kind.RESERVE
    return Entry(
        number=row.number,
        at=datetime.fromisoformat(row.at),
        kind="question" if asked else row.kind,
        analyst=row.analyst,
        text=_text(row),
        cost=from_columns(row) if asked else None,
        state=state if asked else None,
    )


def _text(row: Row) -> str:
    """What the row says, in words."""
    if row.kind == Kind.BUDGET:
        return str(Declaration.from_content(row.content()))
    if row.kind == Kind.DATA:
        group = group_of(row)
        return f"data version {row.version}{f', of {group}' if group else ''}"
    if row.kind in {Kind.TOKEN, Kind.REVOKE}:
        return f"token {(row.digest or '')[:12]}{' revoked' if row.kind == Kind.REVOKE else ''}"
    if row.kind in {Kind.REQUEST, Kind.APPROVAL, Kind.DENIAL}:
        return f"{row.kind} {(row.digest or '')[:12]}"
    if row.kind == Kind.KEY:
        return "signing key"
    return str(row.content().get("text", ""))


def debit_content(text: str, event: Event, token: str = "") -> dict[str, Any]:
    """Text, event and token of a debit, if they can be read back: what can't be verified isn't accepted."""
    try:
        written = to_dict(event)
        if from_dict(written) == event:
            content = {"text": text, "event": written, **({"token": token} if token else {})}
            to_body(content)
            return content
    except (ValueError, LedgerCorrupt):
        pass
    raise InvalidArgument("the noise's parameters are too long for a ledger", hint="ask with a rounder cost")


def least_cost(row: Row) -> Charge:
    """What the event of a debit costs.

    What was recorded may be more, never less: charges are rounded up, and a later version may know a tighter charge.
    """
    return charge_of(_event(row))


def _event(row: Row) -> Event:
    """The event of a debit."""
    content = row.content()
    try:
        return from_dict(content.get("event"))
    except DiscreetError:
        raise LedgerCorrupt("its event can't be read") from None


def outcome_body(content: Mapping[str, object]) -> str:
    """The body of an outcome; what is wrong with it isn't said, because that would quote it."""
    try:
        return to_body(content)
    except (TypeError, ValueError, RecursionError):
        pass
    raise InvalidArgument("a certificate and an answer must be JSON-ready, without NaN or infinities")


def stored_in(row: Row) -> Stored:
    """The answer in a commit."""
    match row.content():
        case {"certificate": dict(certificate), "answer": dict(answer)}:
            return Stored(
                entry=number_of(row),
                question=row.digest or "",
                version=version_of(row),
                certificate=certificate,
                answer=answer,
            )
    raise LedgerCorrupt(f"the answer in entry {row.seq} can't be read")
