"""The history of an account: questions with what was paid, answered and vouched for.

For the custodian's eyes, and for those who hold an account to account.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any

from discreet.accounting import Charge
from discreet.ledger.charges import from_columns
from discreet.ledger.declaration import Declaration
from discreet.ledger.entry_contents import least_cost
from discreet.ledger.look_through import head_and_page
from discreet.ledger.row import BEGINNING, GENESIS, Kind, Row, group_of, text_of
from discreet.results import said_in_full, state_in_words

if TYPE_CHECKING:
    from discreet.ledger.chain import Chain
    from discreet.ledger.store import Store


class State(StrEnum):
    """The state of a question."""

    RESERVED = "reserved"
    """It was paid for, and is still running or its process died."""

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
        kind: `"question"`, `"budget"`, `"data"` and others; `"damage"` for what isn't as it was written, or is missing.
        analyst: who asked.
        text: the question as it was asked; or the budget, or the data version, in words.
        cost: what was charged; None for a budget or a data version.
        state: what became of the question; None for a budget or a data version.
        due: by when its server would have answered it; None if that isn't known, as of what no server asked.
    """

    number: int | None
    at: datetime
    kind: str
    analyst: str | None
    text: str
    cost: Charge | None
    state: State | None
    due: datetime | None = None

    def became(self, now: datetime) -> str:
        """The question's outcome in a word or two; empty for a budget or a data version."""
        is_due = None if self.due is None else self.due + _GRACE < now
        return "" if self.state is None else state_in_words(self.state, is_due=is_due)

    def __repr__(self) -> str:
        parts = ("" if self.number is None else str(self.number), f"{self.at:%Y-%m-%d %H:%M}", self.analyst or "")
        said = (str(self.state or self.kind), " ".join(self.text.split()), "" if self.cost is None else str(self.cost))
        return f"<Entry {', '.join(filter(None, (*parts, *said)))}>"


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


DAMAGE = "damage"
"""The kind of a line that stands for a damaged entry."""

_GRACE = timedelta(minutes=1)
"""How long after its time a question isn't called lost yet: clocks differ."""

_OUTCOMES: dict[str, State] = {Kind.COMMIT: State.COMMITTED, Kind.FAIL: State.FAILED}


def history(store: Store, account: str) -> list[Entry]:
    """The entries of an account, oldest first; each question once, with its outcome.

    Where an entry of the ledger isn't what was written, or is missing, a line of kind `"damage"` stands, whosever it
    was: what is damaged may say so no more. All others are shown.
    """
    lines: list[Row | Entry] = []
    outcomes: dict[int | None, State] = {}
    dues: dict[int | None, datetime | None] = {}
    for row in _rows(store):
        if isinstance(row, Entry):
            lines.append(row)
        elif row.account != account or row.kind == Kind.USE:
            continue  # of another one; or what belongs to the debit before it
        elif row.kind == Kind.ATTEMPT:
            dues[row.number] = _due(row)
        elif (outcome := _OUTCOMES.get(row.kind)) is None:
            lines.append(row)
        else:
            outcomes[row.number] = outcome
    return [
        row if isinstance(row, Entry) else _entry(row, outcomes.get(row.number, State.RESERVED), dues.get(row.number))
        for row in lines
    ]


def own_history(store: Store, account: str, analyst: str) -> tuple[list[Entry], bool]:
    """An analyst's questions, oldest first, and whether all that was read for them is what was written.

    It reads no others' entries, so it doesn't notice what is damaged elsewhere: not that an entry was one of theirs.
    """
    found, is_whole, after = list[Entry](), True, BEGINNING
    while True:
        debits, outcomes = store.read(partial(_own_page, account, analyst, after))
        if not debits:
            return found, is_whole
        whole = [row for row in (*debits, *outcomes) if row.is_sealed]
        is_whole = is_whole and len(whole) == len(debits) + len(outcomes)
        states = {row.number: _OUTCOMES[row.kind] for row in whole if row.kind in _OUTCOMES}
        found += [_entry(row, states.get(row.number, State.RESERVED)) for row in whole if row.kind == Kind.RESERVE]
        after = debits[-1].seq


def vouched(store: Store, account: str, number: int) -> Vouched | None:
    """The certificate and signatures of the question with this number; None if there is none.

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
    kept = None if last is None else last.content().get("certificate")
    proof = None if kept is None else said_in_full(kept, text_of(debit))
    return Vouched(
        entry=_entry(debit, State.RESERVED if last is None else _OUTCOMES[last.kind]),
        debit=debit.hash,
        outcome=None if last is None else last.hash,
        certificate=proof,
        problems=tuple(_problems(debit, outcomes, proof)),
    )


def _problems(debit: Row, outcomes: Sequence[Row], proof: Mapping[str, Any] | None) -> Iterator[str]:
    """Contradictions between a question's debit, outcome and certificate."""
    cost = from_columns(debit)
    if not least_cost(debit).within(cost):
        yield "it was charged less than its noise costs"
    if len(outcomes) > 1 or any((each.digest, each.version) != (debit.digest, debit.version) for each in outcomes):
        yield "its outcome is of another question, or it has two"
    if proof is None:
        return
    said = {"entry": debit.number, "analyst": debit.analyst, "data_version": debit.version}
    yield from (f"its certificate names another {name}" for name, value in said.items() if proof.get(name) != value)
    if str(proof.get("text")).strip() != text_of(debit).strip():
        yield "its certificate is of another question"
    exact = {name: None if one is None else str(one) for name, one in asdict(cost).items()}
    if proof.get("cost", {}).get("exact") != exact:
        yield "its certificate names a cost that wasn't charged"


def _rows(store: Store) -> Iterator[Row | Entry]:
    """All rows of a ledger, page by page, so that no writer waits for a long history; a line for what is damaged."""
    last: Row | None = None
    at, is_whole = datetime.fromtimestamp(0, UTC), True
    while True:
        after = BEGINNING if last is None else last.seq
        head, page = store.read(partial(head_and_page, after))
        for row in page:
            seq, before = (0, GENESIS) if last is None else (last.seq, last.hash)
            if row.seq != seq + 1 or (is_whole and row.previous != before):
                yield _damage(at, f"the entry before entry {row.seq} of the ledger is missing")
            is_whole, last = row.is_sealed, row
            if is_whole:
                at = datetime.fromisoformat(row.at)
                yield row
            else:
                yield _damage(at, f"entry {row.seq} of the ledger was altered")
        if not page:
            if last is None or (is_whole and (last.seq, last.hash) != (head.seq, head.hash)):
                yield _damage(at, f"entry {head.seq} should be the ledger's last one, and isn't")
            return


def _own_page(account: str, analyst: str, after: int, chain: Chain) -> tuple[list[Row], list[Row]]:
    """An analyst's next debits, with their outcomes."""
    return chain.asked_by(account, analyst, after)


def _damage(at: datetime, what: str) -> Entry:
    """A line for what is damaged, dated as the last entry before it that isn't."""
    text = f"{what}: restore it from a copy (discreet ledger restore); until then, no question can be asked"
    return Entry(number=None, at=at, kind=DAMAGE, analyst=None, text=text, cost=None, state=None)


def _entry(row: Row, state: State, due: datetime | None = None) -> Entry:
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
        due=due or _due(row) if asked else None,
    )


def _due(row: Row) -> datetime | None:
    """The time by which the server that made an attempt would have answered; None if no server says."""
    seconds = row.content().get("seconds")
    return None if seconds is None else datetime.fromisoformat(row.at) + timedelta(seconds=float(seconds))


def _text(row: Row) -> str:
    """A row in words."""
    content, short = row.content(), (row.digest or "")[:12]
    match row.kind:
        case Kind.BUDGET:
            words = str(Declaration.from_content(content))
        case Kind.DECLARED:
            words = "; ".join(map(str, content.get("changes", ())))
        case Kind.DATA:
            group = group_of(row)
            words = f"data version {row.version}{f', of {group}' if group else ''}"
        case Kind.TOKEN | Kind.REVOKE:
            words = f"token {short}{' revoked' if row.kind == Kind.REVOKE else ''}"
        case Kind.REQUEST | Kind.APPROVAL | Kind.DENIAL:
            words = f"{row.kind} {short}"
        case Kind.KEY:
            words = "signing key"
        case Kind.LOOK:
            words = f"the custodian looked into failed questions: {', '.join(map(str, content.get('failed', ())))}"
        case _:
            words = text_of(row)
    return words
