"""The planner: from a question and a request to a plan, from public facts alone.

A plan is made by rules, each a pure function that fills in its part of a draft: which groups are answered, how much a
unit may contribute, what is measured, how far one unit moves it, and with what noise. `allocation` shares an offer
out, `accuracy` finds the least one that is enough, and the profiles are questions asked first where limits or bounds
are to be chosen privately. The planner refuses with a `QueryError` what it can't prove.
"""

from discreet.query.planner.accuracy import worst_error
from discreet.query.planner.bounds_profile import ENDS, OUTSIDE, bounds_of, known, named, rebound
from discreet.query.planner.cells import Cells
from discreet.query.planner.clamping import CLASSES, bounded_columns, moved, moved_by_chosen
from discreet.query.planner.contribution_profile import (
    SHARE,
    Profile,
    chosen_for_groups,
    cut_off_by_groups,
    cut_off_by_rows,
)
from discreet.query.planner.contribution_tail import FIRSTS, STEPS
from discreet.query.planner.contributions import YET_TO_CHOOSE, lacks_limits
from discreet.query.planner.draft import Draft, laws_of
from discreet.query.planner.expression_sensitivity import sensitivity
from discreet.query.planner.levels import UNIT, Reconstruction, keys_of, quantum_of
from discreet.query.planner.margins import subsets
from discreet.query.planner.measures import counts_rows_for_units
from discreet.query.planner.noise_choice import NoiseChoice, choose_noise
from discreet.query.planner.plan import Level, Plan, cost_to_dict, make_plan, plan_together, profile_of_rows
from discreet.query.planner.plan_text import limits_in_words
from discreet.query.planner.request import CONFIDENCE, Request, taking_terms
from discreet.query.planner.session_settings import SessionSettings
from discreet.query.planner.terms import FORMS, OFFERED, Auto, Number, Terms
from discreet.query.planner.typed_terms import typed_bounds, typed_by_column, typed_limits, typed_parameters
from discreet.query.planner.within import Accuracy
from discreet.query.planner.work import Work, rows_of_unit

__all__ = [
    "CLASSES",
    "CONFIDENCE",
    "ENDS",
    "FIRSTS",
    "FORMS",
    "OFFERED",
    "OUTSIDE",
    "SHARE",
    "STEPS",
    "UNIT",
    "YET_TO_CHOOSE",
    "Accuracy",
    "Auto",
    "Cells",
    "Draft",
    "Level",
    "NoiseChoice",
    "Number",
    "Plan",
    "Profile",
    "Reconstruction",
    "Request",
    "SessionSettings",
    "Terms",
    "Work",
    "bounded_columns",
    "bounds_of",
    "choose_noise",
    "chosen_for_groups",
    "cost_to_dict",
    "counts_rows_for_units",
    "cut_off_by_groups",
    "cut_off_by_rows",
    "keys_of",
    "known",
    "lacks_limits",
    "laws_of",
    "limits_in_words",
    "make_plan",
    "moved",
    "moved_by_chosen",
    "named",
    "plan_together",
    "profile_of_rows",
    "quantum_of",
    "rebound",
    "rows_of_unit",
    "sensitivity",
    "subsets",
    "taking_terms",
    "typed_bounds",
    "typed_by_column",
    "typed_limits",
    "typed_parameters",
    "worst_error",
]
