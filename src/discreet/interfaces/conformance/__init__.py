"""Conformance: tries on a server what has been done to servers of its kind. It knows HTTP, and nothing of what answers.

wire ──▶ target: who comes in, questions that it answers; every reply is looked through
            │
            ├─ answers    averaging, differencing, tracker, races, idempotency keys, plan swaps
            ├─ identity   tokens, roles, assumed names
            ├─ protocol   smuggling, paths, bodies, slow requests, cut connections
            ├─ browser    the API's replies, forged forms, scripts, frames, redirects
            └─ side channels  two servers that differ by one person: bytes and times; canaries, metrics, log, traces
"""

from discreet.interfaces.conformance.running import FAMILIES, conform
from discreet.interfaces.conformance.trial import Finding, Report, Verdict

__all__ = ["FAMILIES", "Finding", "Report", "Verdict", "conform"]
