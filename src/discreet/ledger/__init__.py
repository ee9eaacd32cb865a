"""The durable account: reserve, commit, verify."""

from discreet.ledger.account import Account, Reservation, Stored
from discreet.ledger.history import Entry, State
from discreet.ledger.ledger import Ledger
from discreet.ledger.servers import Place, Servers, servers_of
from discreet.ledger.signing import Signing
from discreet.ledger.tokens import Grant, Tokens
from discreet.ledger.transaction import Admitted
from discreet.ledger.verification import Problem, Verification

__all__ = [
    "Account",
    "Admitted",
    "Entry",
    "Grant",
    "Ledger",
    "Place",
    "Problem",
    "Reservation",
    "Servers",
    "Signing",
    "State",
    "Stored",
    "Tokens",
    "Verification",
    "servers_of",
]
