"""Attacks on answers: what numbers about many people tell about one.

Each is run against exact answers, anonymised rows, answers with fresh noise each time, or the gateway, and says what it
found and what that cost.
"""

from discreet.attacks.answers.averaging import AveragingResult, averaging
from discreet.attacks.answers.differencing import DifferencingResult, TrackingResult, differencing, tracking
from discreet.attacks.answers.exact_recovery import answers_needed, chance
from discreet.attacks.answers.guessing import GuessingResult, guessing, guessing_each, most_advantage, most_often_right
from discreet.attacks.answers.linear_systems import Determined, combination, determined
from discreet.attacks.answers.membership import TracingResult
from discreet.attacks.answers.query_log import QueryLogResult, query_log
from discreet.attacks.answers.reconstruction import ReconstructionResult, reconstruction
from discreet.attacks.answers.sweep import SweepResult, sweep
from discreet.attacks.answers.tracing import made_up_tracing, tracing

__all__ = [
    "AveragingResult",
    "Determined",
    "DifferencingResult",
    "GuessingResult",
    "QueryLogResult",
    "ReconstructionResult",
    "SweepResult",
    "TracingResult",
    "TrackingResult",
    "answers_needed",
    "averaging",
    "chance",
    "combination",
    "determined",
    "differencing",
    "guessing",
    "guessing_each",
    "made_up_tracing",
    "most_advantage",
    "most_often_right",
    "query_log",
    "reconstruction",
    "sweep",
    "tracing",
    "tracking",
]
