"""Conformance: tries on a server what has been done to servers of its kind.

It knows HTTP and PostgreSQL's protocol, and nothing of what answers.

trial ─▶ target: who comes in, questions that it answers; every reply is looked through
            │
            ├─ answers      averaging, differencing, tracker, races, idempotency keys, plan swaps
            ├─ disclosures  what is told besides: by bytes and times, in metrics, log and traces
            ├─ approvals    the only way past a ceiling
            ├─ noise        how far answers about one fact lie apart
            ├─ resources    bombs, size
            ├─ identity     tokens, roles, assumed names
            ├─ protocol     smuggling, paths, bodies, slow requests, cut connections
            ├─ browser      the API's replies, forged forms, sessions, formulas, scripts, frames, redirects
            └─ postgres     the same over PostgreSQL's protocol: tokens, answers, ceilings, probes, messages, cuts
"""

from discreet.interfaces.conformance.running import FAMILIES, conform
from discreet.interfaces.conformance.trial import Finding, Report, Verdict

__all__ = ["FAMILIES", "Finding", "Report", "Verdict", "conform"]
