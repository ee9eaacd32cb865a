"""Audits: the least that a mechanism gives away, by what comes out of it.

    outputs for two neighbours ──▶ an event ──▶ fresh outputs ──▶ ε ≥ …, at a confidence

An audit rejects, it never proves. The gallery holds mechanisms that are broken on purpose: every audit worth its name
rejects them.
"""

from discreet.audit.audit_result import Audit
from discreet.audit.auditing import audit
from discreet.audit.question import audit_question

__all__ = ["Audit", "audit", "audit_question"]
