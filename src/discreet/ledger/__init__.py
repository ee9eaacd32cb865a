"""The durable account: reserve, commit, verify."""

from discreet.ledger.account import Account, Reservation, Stored
from discreet.ledger.attempts import Attempt, Tried, key_digest
from discreet.ledger.history import Entry, State
from discreet.ledger.ledger import Ledger
from discreet.ledger.requests import ApprovalRequest, Approver, Requests, RequestState
from discreet.ledger.tokens import Grant, Tokens
from discreet.ledger.transaction import Admitted
from discreet.ledger.verification import Problem, Verification

__all__ = [
    "Account",
    "Admitted",
    "ApprovalRequest",
    "Approver",
    "Attempt",
    "Entry",
    "Grant",
    "Ledger",
    "Problem",
    "RequestState",
    "Requests",
    "Reservation",
    "State",
    "Stored",
    "Tokens",
    "Tried",
    "Verification",
    "key_digest",
]
