"""The gateway: the only place where plan, engine, mechanism and ledger meet.

    plan ──▶ reserve (durable) ──▶ run ──▶ noise ──▶ commit (durable) ──▶ answer

A question is paid for before the engine is touched, and never paid back: what it costs depends on its text and on
public facts, and whatever goes wrong afterwards has one outcome, the same for every table.
"""

from discreet.gateway.admissions import Admissions
from discreet.gateway.answer_builder import cost_of
from discreet.gateway.answers import Workload
from discreet.gateway.declaring import DeclaredTable, table
from discreet.gateway.opening import admissions_of, create_ledger, inspect, load, protect
from discreet.gateway.planning import declarations_digest
from discreet.gateway.protected import Protected
from discreet.gateway.size import Size
from discreet.gateway.versions import AdmissionReport

__all__ = [
    "AdmissionReport",
    "Admissions",
    "DeclaredTable",
    "Protected",
    "Size",
    "Workload",
    "admissions_of",
    "cost_of",
    "create_ledger",
    "declarations_digest",
    "inspect",
    "load",
    "protect",
    "table",
]
