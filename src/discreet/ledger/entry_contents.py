"""Contents of entries: what is written of debits and outcomes, and read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.accounting import Charge, charge_of
from discreet.errors import (
    DiscreetError,
    InvalidArgument,
    LedgerCorrupt,
)
from discreet.ledger.large_answers import Large, parted
from discreet.ledger.row import Row, to_body
from discreet.privacy import Event
from discreet.privacy.events import from_dict, to_dict

if TYPE_CHECKING:
    from discreet.ledger.attempts import Attempt


def debit_content(text: str, event: Event, attempt: Attempt | None = None) -> dict[str, Any]:
    """Text, event and attempt of a debit, if they can be read back: what can't be verified isn't accepted."""
    made = {} if attempt is None else {"attempt": attempt.id, "seconds": attempt.seconds, "token": attempt.token}
    try:
        written = to_dict(event)
        if from_dict(written) == event:
            content = {"text": text, "event": written, **{name: said for name, said in made.items() if said}}
            to_body(content)
            return content
    except (ValueError, LedgerCorrupt):
        pass
    raise InvalidArgument(
        "the parameters of the noise have too many digits for a ledger", hint="offer a rounder amount"
    )


def least_cost(row: Row) -> Charge:
    """The least cost that the event of a debit has.

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


def outcome_body(certificate: Mapping[str, object], answer: Mapping[str, object]) -> tuple[str, Sequence[Large]]:
    """The body of an outcome, and what lies outside of it; what is wrong isn't said, because that would quote it."""
    try:
        inside, outside = parted(answer)
        named = {"outside": {name: each.to_json() for name, each in outside.items()}} if outside else {}
        return to_body({"certificate": certificate, "answer": inside, **named}), list(outside.values())
    except (TypeError, ValueError, RecursionError):
        pass
    raise InvalidArgument("a certificate and an answer must be JSON-ready, without NaN or infinities")
