"""Replaying access: whether tokens, shares, keys, requests and approvals were given and used rightly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from discreet.accounting import Charge
from discreet.errors import LedgerCorrupt
from discreet.ledger.charges import from_columns
from discreet.ledger.requests import same_person
from discreet.ledger.row import Kind, Row
from discreet.ledger.shares import in_utc, month_of, recorded_in_month, share_of
from discreet.ledger.signing import key_of
from discreet.ledger.tokens import Verifier
from discreet.privacy import Budget


@dataclass(slots=True)
class _Asked:
    """A request, and what was decided about it."""

    row: Row
    approval: Row | None = None
    denied: bool = False
    used: bool = False


@dataclass(slots=True)
class AccessReplay:
    """Replays one account's entries to tell who may come in, and what they may ask.

    Args:
        versions: how many data versions there are.
        budget: the place of the last declared budget.
    """

    versions: int = 0
    budget: int = 0
    _tokens: dict[str | None, Row] = field(default_factory=dict)
    _revoked: set[str | None] = field(default_factory=set)
    _verifiers: set[bytes] = field(default_factory=set)
    _keys: dict[str | None, tuple[str | None, Any, Any]] = field(default_factory=dict)
    _requests: dict[str | None, _Asked] = field(default_factory=dict)
    _debit: Row | None = None
    _end: int = 0

    def debited(self, row: Row) -> Iterator[str]:
        """A debit is made with an analyst's token that holds, or without any."""
        self._debit, self._end = row, row.seq
        token = row.content().get("token")
        if token is not None:
            yield from self._held(token, row.analyst, "analyst")

    def share(self, row: Row) -> Budget | None:
        """The share that a debit's token gives its holder, in all or for each month; None if it names none."""
        token = self._tokens.get(row.content().get("token"))
        return None if token is None else share_of(token)

    def check(self, kind: Kind, row: Row) -> Iterator[str]:
        """Go on by an entry of one of these kinds, and say what is wrong with it.

        Raises:
            LedgerCorrupt: it can't be read.
        """
        content = row.content()
        match kind:
            case Kind.TOKEN:
                yield from self._given(row, content)
            case Kind.REVOKE:
                yield from self._revocation(row)
            case Kind.ATTEMPT:
                yield from self._key(row, content)
            case Kind.REQUEST:
                if row.digest in self._requests:
                    yield "it has the id of another request"
                if content.get("token"):
                    yield from self._held(content["token"], row.analyst, "analyst")
                self._requests[row.digest] = _Asked(row)
            case Kind.USE:
                yield from self._use(row, content)
            case Kind.KEY:
                if sha256(key_of(row).raw).hexdigest() != row.digest:
                    yield "it names a key by another key's digest"
            case _:
                yield from self._decision(kind, row, content)

    def _given(self, row: Row, content: dict[str, Any]) -> Iterator[str]:
        """A token is given once. Its SCRAM verifier is one, and no other token's; tokens of before have none."""
        if row.digest in self._tokens:
            yield "it issues a token that was issued before"
        self._tokens[row.digest] = row
        text = content.get("scram")
        if text is None:
            return
        verifier = Verifier.read(text)
        if not self._verifiers.isdisjoint(parts := {verifier.salt, verifier.stored_key, verifier.server_key}):
            yield "it has the SCRAM verifier of another token"
        self._verifiers |= parts

    def _revocation(self, row: Row) -> Iterator[str]:
        """A token is revoked once, and is whose it says."""
        given = self._tokens.get(row.digest)
        if given is None or given.analyst != row.analyst:
            yield "it revokes a token that wasn't issued to this subject"
        if row.digest in self._revoked:
            yield "it revokes a token that was revoked before"
        self._revoked.add(row.digest)

    def _held(self, token: object, subject: object, role: str) -> Iterator[str]:
        """A token was given to this subject, for this role, and wasn't revoked."""
        given = self._tokens.get(token) if isinstance(token, str) else None
        if given is None or given.analyst != subject or given.digest in self._revoked:
            yield "its token wasn't issued to this subject, or was revoked"
        elif given.content().get("role") != role:
            yield f"its token is of another role than {role}"

    def _follows(self, row: Row) -> Iterator[str]:
        """An entry about a debit stands right behind it."""
        debit = self._debit
        same = debit is not None and all(
            getattr(debit, name) == getattr(row, name) for name in ("number", "analyst", "version")
        )
        if not same or row.seq != self._end + 1:
            yield "it doesn't follow its debit"
        self._end = row.seq

    def _key(self, row: Row, content: dict[str, Any]) -> Iterator[str]:
        """All debits under a key are of one attempt, for one plan."""
        yield from self._follows(row)
        found = (row.analyst, content.get("attempt"), content.get("plan"))
        if None in found or not isinstance(content.get("seconds"), int | float):
            raise LedgerCorrupt("its attempt can't be read")
        if self._keys.setdefault(row.digest, found) != found:
            yield "it is made under a key that was used for another attempt"

    def _decision(self, kind: Kind, row: Row, content: dict[str, Any]) -> Iterator[str]:
        """A request is approved once and denied once, by a custodian who didn't make it."""
        asked = self._requests.get(row.digest)
        if asked is None or asked.row.analyst != row.analyst:
            yield "it decides about a request that this subject didn't make"
            return
        if same_person(content.get("by"), row.analyst):
            yield "it decides about the custodian's own request"
        if content.get("token"):
            yield from self._held(content["token"], content.get("by"), "custodian")
        if asked.denied or asked.used or (kind is Kind.APPROVAL and asked.approval is not None):
            yield "it decides about a request that was decided already"
        if kind is Kind.DENIAL:
            asked.denied = True
            return
        if content.get("plan") != asked.row.content().get("plan"):
            yield "it approves another plan than was requested"
        if row.version not in {None, self.versions}:
            yield f"it approves data version {row.version}, which wasn't in force"
        if not _moment(row.at) < _moment(content.get("until")) <= self._end_of(asked, content.get("until")):
            yield "it is valid for longer than it may be"
        asked.approval = row

    def _end_of(self, asked: _Asked, otherwise: object) -> datetime:
        """The expiry of the token with which a request was made."""
        given = self._tokens.get(asked.row.content().get("token"))
        expires = None if given is None else given.content().get("expires")
        return _moment(otherwise if expires is None else expires)

    def _use(self, row: Row, content: dict[str, Any]) -> Iterator[str]:
        """An approval is used once, by who it is for, for what it is for, and in time."""
        yield from self._follows(row)
        asked = self._requests.get(row.digest)
        approval = None if asked is None else asked.approval
        if asked is None or approval is None or asked.denied or asked.used or asked.row.analyst != row.analyst:
            yield "it uses an approval that doesn't exist, was used or was taken back"
            return
        asked.used = True
        approved = approval.content()
        if any(content.get(name) != approved.get(name) for name in ("plan", "declarations")):
            yield "it uses an approval of another plan, or under other declarations"
        if self.budget > approval.seq or approval.version not in {None, self.versions}:
            yield "it uses an approval from before the budget or the tables changed"
        if _moment(approved.get("until")) <= _moment(row.at):
            yield "it uses an approval that had expired"
        if asked.row.content().get("token") in self._revoked:
            yield "it uses an approval for a token that was revoked"


class MonthReplay:
    """Each analyst's spending in the month of their last debit, rebuilt from debits one by one.

    Months go on and never back: a debit that is dated before the last counts towards the same month as that. Only where
    versions of discreet wrote that knew of no months, a month may begin again, since no share renewed then.
    """

    def __init__(self) -> None:
        self._months: dict[str, tuple[str, Charge, bool]] = {}
        self._latest = ""

    def debited(self, analyst: str, row: Row) -> tuple[Charge, list[str]]:
        """Go on by a debit: what was spent in its month by then, and what is wrong with it.

        Raises:
            LedgerCorrupt: it can't be read.
        """
        cost, recorded, month = from_columns(row), recorded_in_month(row), month_of(row.at)
        before, spent, is_kept = self._months.get(analyst, ("", Charge.zero(), False))
        if month > before or (month < before and not is_kept):
            before, spent = month, Charge.zero()
        found, problems = exact_sum(spent, cost), []
        if recorded is not None:
            if not found.within(recorded):
                problems.append("the analyst's total of the month is less than the sum of their debits in it")
            else:
                found = recorded
            moment = in_utc(row.at)
            if moment < self._latest:
                problems.append("it is dated before the debit before it")
            self._latest = max(moment, self._latest)
        self._months[analyst] = (before, found, is_kept or recorded is not None)
        return found, problems


def exact_sum(one: Charge, other: Charge) -> Charge:
    """The sum without any rounding: what a recorded total must not fall below."""
    return Charge(
        epsilon=None if one.epsilon is None or other.epsilon is None else one.epsilon + other.epsilon,
        rho=None if one.rho is None or other.rho is None else one.rho + other.rho,
        delta=one.delta + other.delta,
    )


def _moment(text: object) -> datetime:
    """A time as an entry has it.

    Raises:
        LedgerCorrupt: it isn't one.
    """
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise LedgerCorrupt("a time in it can't be read")
    return found
