"""The durable account: reserve, commit, verify."""

from discreet.ledger.attempts import Attempt, Tried, key_digest
from discreet.ledger.changes import Change
from discreet.ledger.declaration import amounts_of, budget_of, checked_name
from discreet.ledger.failures import Failures
from discreet.ledger.history import DAMAGE, Entry, State, Vouched
from discreet.ledger.large_answers import MOST_INSIDE
from discreet.ledger.ledger import Account, Ledger
from discreet.ledger.named_questions import NamedQuestion, NamedQuestions
from discreet.ledger.requests import ApprovalRequest, Approver, Requests, RequestState
from discreet.ledger.row import Stored
from discreet.ledger.servers import Allowance, Place, Servers, servers_of
from discreet.ledger.shares import Affordable, Standing
from discreet.ledger.signing import Signing
from discreet.ledger.tokens import Grant, Tokens, Verifier
from discreet.ledger.transaction import Admitted, Reservation
from discreet.ledger.verification import Problem, Verification

__all__ = [
    "DAMAGE",
    "MOST_INSIDE",
    "Account",
    "Admitted",
    "Affordable",
    "Allowance",
    "ApprovalRequest",
    "Approver",
    "Attempt",
    "Change",
    "Entry",
    "Failures",
    "Grant",
    "Ledger",
    "NamedQuestion",
    "NamedQuestions",
    "Place",
    "Problem",
    "RequestState",
    "Requests",
    "Reservation",
    "Servers",
    "Signing",
    "Standing",
    "State",
    "Stored",
    "Tokens",
    "Tried",
    "Verification",
    "Verifier",
    "Vouched",
    "amounts_of",
    "budget_of",
    "checked_name",
    "key_digest",
    "servers_of",
]
