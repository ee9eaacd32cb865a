"""What a plan expects: it says so where the answer would tell nothing that isn't declared."""

from __future__ import annotations

import pytest

from discreet.errors import InvalidArgument
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


EVERY = "SELECT COUNT(*) AS n, AVG(cost) AS a, SUM(cost) AS s, VAR_POP(cost) AS v, MEDIAN(cost) AS m FROM stays"


@pytest.mark.parametrize("rows", [100, 23_000, 10**9])
@pytest.mark.parametrize("offer", ["epsilon", "rho"])
def test_errors_are_told_for_as_many_rows_as_are_expected(offer: str, rows: int) -> None:
    """Those that depend on the group fall as it grows; the split, and so the plan and its answer, stay as they are."""
    plans = [
        make_plan(question(EVERY, DATASET.tables), Request.read({offer: "0.1", "expecting": said}), DATASET)
        for said in (None, rows)
    ]
    assert plans[0].digest == plans[1].digest
    for before, now in zip(*(plan.expected for plan in plans), strict=True):
        assert (now.column, now.share) == (before.column, before.share)
        assert now.rows == (None if before.rows is None else rows)
        if before.rows is not None:
            assert before.error is not None
            assert now.error == pytest.approx(
                before.error * before.rows / rows, rel=1e-2
            )  # slopes of variances are differences


def test_a_width_is_meant_in_a_group_of_the_size_that_is_expected() -> None:
    """A larger group takes less: ± 100 on an average of 20,000 rows a twentieth of what it takes of 1,000."""
    text = "SELECT AVG(cost) AS a FROM stays"
    costs = []
    for rows in (None, 20_000):
        request = Request.read({"within": 100, "expecting": rows})
        (noise,) = make_plan(question(text, DATASET.tables), request, DATASET).levels[0].draft.noises
        costs.append(float(noise.mechanism.loss.epsilon))
    assert costs[0] / costs[1] == pytest.approx(20, rel=0.05)  # discrete noise and offers in four digits


@pytest.mark.parametrize("said", [0, -1, 1.5, True, "many", 10**13, "1" * 400])
def test_only_a_number_of_rows_is_expected(said: object) -> None:
    """Named with an example; texts of digits are read, as a page sends them."""
    with pytest.raises(InvalidArgument, match="expecting must be a whole number of rows"):
        Request.read({"epsilon": 1, "expecting": said})
    assert Request.read({"epsilon": 1, "expecting": "20000"}).expecting == 20_000


@pytest.mark.parametrize("column", ["COUNT(*)", "SUM(cost)"])
def test_nothing_is_said_of_what_nothing_bounds(column: str) -> None:
    """How many rows there are, and so how large a sum is, isn't declared."""
    plan = planned(f"SELECT {column} AS x FROM stays", "0.001")
    assert plan.expected[0].is_informative
    assert "tells you nothing" not in plan.explain()
