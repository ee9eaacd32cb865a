"""The service: who may do what with a protected dataset, and when an answer leaves. No protocol is known here.

    token ──▶ caller (one role) ──▶ plan: a planning process, under a limit of time
                                    ask: stored? at once : a slot, whose answer leaves at its plan's public time

An analyst who comes in here holds nothing but a token: neither the tables, nor the configuration, nor the ledger.
"""

from discreet.service.release_times import ReleaseTimes
from discreet.service.roles import ALLOWED, Action, Role, check_allowed, role_of
from discreet.service.service import Service, Settings
from discreet.service.sessions import Session, Sessions, fresh_name
from discreet.service.tickets import Ticket
from discreet.service.tokens import Caller, Issued

__all__ = [
    "ALLOWED",
    "Action",
    "Caller",
    "Issued",
    "ReleaseTimes",
    "Role",
    "Service",
    "Session",
    "Sessions",
    "Settings",
    "Ticket",
    "check_allowed",
    "fresh_name",
    "role_of",
]
