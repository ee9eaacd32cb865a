"""Attacks: what somebody learns of single people from rows that were published, or from answers.

Each attack runs against what is there, an exact answer as well as a private one, and its result says who was found,
how sure that is, and how much better than without what was released. For custodians, on their own tables.
"""

from discreet.attacks.answers import (
    answers_needed,
    averaging,
    differencing,
    guessing,
    made_up_tracing,
    most_advantage,
    most_often_right,
    query_log,
    reconstruction,
    sweep,
    tracing,
    tracking,
)
from discreet.attacks.attack_result import AttackResult, Comparison, Guess, surest
from discreet.attacks.attack_setup import AGAINST
from discreet.attacks.named_attacks import NAMED, attack, compare
from discreet.attacks.rows import (
    Log,
    Near,
    Same,
    Typos,
    background,
    fuzzy,
    homogeneity,
    intersection,
    linkage,
    presence,
    singling_out,
    skewness,
    small_groups,
    sparse,
)
from discreet.attacks.targets import Answers, Bare, Exact, Imputed, Restricted
from discreet.attacks.targets.rows import Rows

__all__ = [
    "AGAINST",
    "NAMED",
    "Answers",
    "AttackResult",
    "Bare",
    "Comparison",
    "Exact",
    "Guess",
    "Imputed",
    "Log",
    "Near",
    "Restricted",
    "Rows",
    "Same",
    "Typos",
    "answers_needed",
    "attack",
    "averaging",
    "background",
    "compare",
    "differencing",
    "fuzzy",
    "guessing",
    "homogeneity",
    "intersection",
    "linkage",
    "made_up_tracing",
    "most_advantage",
    "most_often_right",
    "presence",
    "query_log",
    "reconstruction",
    "singling_out",
    "skewness",
    "small_groups",
    "sparse",
    "surest",
    "sweep",
    "tracing",
    "tracking",
]
