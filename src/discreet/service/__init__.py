"""The service: who may do what with a protected dataset, and when an answer leaves. No protocol is known here.

    token ──▶ caller (one role) ──▶ plan: a planning process, under a limit of time
                                    ask: stored? at once : a slot, whose answer leaves at its plan's public time

An analyst who comes in here holds nothing but a token: neither the tables, nor the configuration, nor the ledger.
"""

from discreet.service.admission_runs import report_to_json
from discreet.service.api import (
    Ask,
    EncodedAnswer,
    Planned,
    PlannedColumn,
    PlannedError,
    Reply,
    request_of,
)
from discreet.service.auditing import entry_to_json
from discreet.service.event_log import Event, EventLog
from discreet.service.metrics import METRICS, Metrics
from discreet.service.openid import OpenID
from discreet.service.public_error import PublicError
from discreet.service.release_times import ReleaseTimes
from discreet.service.roles import ALLOWED, Action, Role, check_allowed, role_of
from discreet.service.service import Service
from discreet.service.sessions import Session, Sessions, fresh_name
from discreet.service.settings import AskingLimits, PlanningLimits, Settings
from discreet.service.sign_in import RETURN
from discreet.service.tickets import Ticket
from discreet.service.tokens import ALL, Caller, Issued, check_ceiling, digest_of, share_of
from discreet.service.witness import Witness

__all__ = [
    "ALL",
    "ALLOWED",
    "METRICS",
    "RETURN",
    "Action",
    "Ask",
    "AskingLimits",
    "Caller",
    "EncodedAnswer",
    "Event",
    "EventLog",
    "Issued",
    "Metrics",
    "OpenID",
    "Planned",
    "PlannedColumn",
    "PlannedError",
    "PlanningLimits",
    "PublicError",
    "ReleaseTimes",
    "Reply",
    "Role",
    "Service",
    "Session",
    "Sessions",
    "Settings",
    "Ticket",
    "Witness",
    "check_allowed",
    "check_ceiling",
    "digest_of",
    "entry_to_json",
    "fresh_name",
    "report_to_json",
    "request_of",
    "role_of",
    "share_of",
]
