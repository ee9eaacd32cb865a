"""What a plan expects: it says so where the answer would tell nothing that isn't declared."""

from __future__ import annotations

import pytest

from discreet.privacy import Bounds, Budget, Unit
from discreet.query.planner import Plan, Request, make_plan
from discreet.query.sql import question
from discreet.tables import Column, Dataset, Kind, Source, Table

STAYS = Table(
    name="stays",
    source=Source(kind="memory", location="stays"),
    columns=(Column(name="cost", kind=Kind.REAL, bounds=Bounds(0, 20_000)),),
    unit=Unit.row(),
)
DATASET = Dataset(name="stays", tables=(STAYS,), budget=Budget(epsilon=3), ledger="stays.ledger")


def planned(text: str, epsilon: str) -> Plan:
    """A plan at an offer."""
    return make_plan(question(text, DATASET.tables), Request.read({"epsilon": epsilon}), DATASET)


@pytest.mark.parametrize(("epsilon", "tells"), [("0.002", False), ("1", True)])
@pytest.mark.parametrize("column", ["AVG(cost)", "VAR_POP(cost)"])
def test_an_answer_as_wide_as_what_is_declared_tells_nothing(column: str, epsilon: str, tells: bool) -> None:
    """In words and for programs; the ± is that of the plan."""
    plan = planned(f"SELECT {column} AS x FROM stays", epsilon)
    (expected,) = plan.expected
    assert expected.error is not None
    assert expected.declared is not None
    assert expected.is_informative is tells is (2 * expected.error < expected.declared[1] - expected.declared[0])
    assert ("this tells you nothing" in plan.explain()) is not tells


@pytest.mark.parametrize("column", ["COUNT(*)", "SUM(cost)"])
def test_nothing_is_said_of_what_nothing_bounds(column: str) -> None:
    """How many rows there are, and so how large a sum is, isn't declared."""
    plan = planned(f"SELECT {column} AS x FROM stays", "0.001")
    assert plan.expected[0].is_informative
    assert "tells you nothing" not in plan.explain()
