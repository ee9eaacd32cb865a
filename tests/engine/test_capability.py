"""What an engine can't carry out is refused by the plan alone, in public words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.engine.interface import check_capability
from discreet.errors import InvalidArgument
from discreet.query.ir import Sum
from support.questions import column, exact, table_of, total


@pytest.mark.parametrize(
    "measure",
    [
        total("s", column("x"), lo=0, hi=2**63),
        total("s", column("x"), lo=-(2**63), hi=0),
        total("s", column("x"), lo=2, hi=1),
        total("s", column("x"), grid=63, lo=0, hi=1),
        total("s", column("y"), grid=-1023, lo=0, hi=1),
    ],
)
def test_what_64_bits_cannot_hold_is_refused(measure: Sum) -> None:
    """Bounds beyond 63 bits, and steps out of reach, by a public error."""
    with pytest.raises(InvalidArgument):
        check_capability(exact(table_of(), [measure]))


def test_a_plan_for_another_hash_is_refused() -> None:
    """Its certificate would say what isn't so."""
    plan = exact(table_of(), [total("s", column("x"), lo=0, hi=1)])
    check_capability(plan)
    for chosen, chooses in (("oracle hash 2", plan.chosen_by), (plan.chosen_by, "oracle hash 2")):
        with pytest.raises(InvalidArgument, match="chooses by 'oracle hash 2'"):
            check_capability(replace(plan, chosen_by=chosen), chooses)
