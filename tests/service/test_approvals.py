"""Requests and approvals at a service: what is run is what was approved, by who it was approved for, or nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import AboveCeiling, Forbidden, InvalidArgument, NotApproved
from discreet.gateway import declarations_digest
from discreet.results import Cost
from discreet.service import Ask, Caller, Role
from discreet.service.tokens import check_ceiling
from support.served import COUNT, Served, outcome, served_in_threads

TERMS = {"epsilon": "2"}
"""More than bob may spend on one question."""


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One service for all."""
    with served_in_threads(tmp_path_factory.mktemp("service")) as found:
        yield found


def requested(running: Served) -> Any:
    """A request of bob's."""
    return running.service.request(running.callers["bob"], COUNT, TERMS, "the yearly report")


def test_an_approved_question_is_asked_once(running: Served) -> None:
    """By who requested it; and the same key has its answer again."""
    service, bob, head = running.service, running.callers["bob"], running.callers["custodian"]
    request = requested(running)
    assert (request["subject"], request["state"], request["purpose"]) == ("bob", "open", "the yearly report")
    assert "own ceiling" in request["readers"]
    with pytest.raises(NotApproved, match="open"):
        service.ask(bob, Ask(COUNT, TERMS, approval=request["id"]))
    approved = service.approve(head, request["id"], days=2)
    assert (approved["state"], approved["by"]) == ("approved", "custodian")
    for question, terms in ((COUNT, {"epsilon": "3"}), (f"{COUNT} WHERE k = 'a'", TERMS)):
        with pytest.raises(NotApproved):
            service.ask(bob, Ask(question, terms, approval=request["id"]))
    with pytest.raises(NotApproved):
        service.ask(running.callers["analyst"], Ask(COUNT, TERMS, approval=request["id"]))
    ticket = service.ask(bob, Ask(COUNT, TERMS, approval=request["id"], digest=request["digest"], key="once"))
    assert "answer" in outcome(ticket)
    assert service.requests(bob)[0]["state"] == "used"
    with pytest.raises(NotApproved, match="used up"):
        service.ask(bob, Ask(COUNT, TERMS, approval=request["id"]))
    assert service.ask(bob, Ask(COUNT, TERMS, approval=request["id"], key="once")) is ticket
    with pytest.raises(AboveCeiling):
        service.ask(bob, Ask(COUNT, TERMS, key="once"))
    assert service.verify(head).problems == ()


def test_who_decides_reads_the_values_of_parameters(running: Served) -> None:
    """In the question, and not beside it; asked either way, it is the one that was approved."""
    service, bob = running.service, running.callers["bob"]
    question, terms = f"{COUNT} WHERE k = ? OR id = ?", {**TERMS, "parameters": ['a"', 7]}
    request = service.request(bob, question, terms, "the yearly report")
    assert request["question"] == f"{COUNT} WHERE k = 'a\"' OR id = 7"
    assert request["terms"] == TERMS
    assert service.plan(bob, question, terms).digest == service.plan(bob, request["question"], TERMS).digest
    assert request["digest"] == service.plan(bob, question, terms).digest


def test_requests_are_seen_by_who_made_them_and_by_who_decides(running: Served) -> None:
    """And by nobody else."""
    request = requested(running)
    seen = {
        name: [each["id"] for each in running.service.requests(caller)]
        for name, caller in running.callers.items()
        if name != "operator"
    }
    assert {name for name, ids in seen.items() if request["id"] in ids} == {"bob", "custodian", "auditor"}


def test_nobody_approves_their_own(running: Served) -> None:
    """Also with a second token, of another role."""
    service, head = running.service, running.callers["custodian"]
    request = requested(running)
    second = service.caller(service.issue(head, "bob", Role.CUSTODIAN, days=1).text)
    with pytest.raises(Forbidden):
        service.approve(second, request["id"])
    with pytest.raises(Forbidden):
        service.deny(second, request["id"], "")
    denied = service.deny(head, request["id"], "ask by region")
    assert (denied["state"], denied["reason"]) == ("denied", "ask by region")
    with pytest.raises(InvalidArgument, match="denied"):
        service.approve(head, request["id"])
    assert service.approve(head, "0" * 32) is None
    assert service.deny(head, "0" * 32, "") is None


def test_other_declarations_have_another_digest(tmp_path: Any) -> None:
    """Bounds, keys, limits, the budget and the shares of analysts."""
    whole = {"name": "people", "unit": "id", "limits": dp.Limits(rows=1), "budget": 1}
    keys = {"id": dp.Bounds(0, 9), "k": dp.Keys(["a"])}
    changes: list[dict[str, Any]] = [
        {},
        {"budget": 2},
        {"limits": dp.Limits(rows=2)},
        {"columns": {**keys, "k": dp.Keys(["a", "b"])}},
        {"columns": {**keys, "id": dp.Bounds(0, 8)}},
        {"row_ceiling": 5},
        {"analysts": {"ann": 1}},
    ]
    table = pa.table({"id": [1], "k": ["a"]})
    found = []
    for number, change in enumerate(changes):
        with dp.protect(table, **{"columns": keys, **whole, **change}, ledger=tmp_path / f"{number}.ledger") as made:
            found.append(declarations_digest(made.dataset))
    assert len(set(found)) == len(changes)


@pytest.mark.parametrize(
    ("epsilon", "rho", "costs", "refused"),
    [
        (None, None, (None, "9"), False),
        ("1", None, ("1", "1/2"), False),
        ("1", None, ("2", "1/2"), True),
        ("1", None, (None, "1/100"), True),
        ("1", "1/10", (None, "1/10"), False),
        ("1", "1/10", (None, "1/5"), True),
        ("1", "1/10", ("1", "1/5"), True),
        (None, "1/10", ("1", "1/20"), False),
        (None, "1/10", ("1", None), True),
    ],
)
def test_ceilings(epsilon: str | None, rho: str | None, costs: tuple[str | None, str | None], refused: bool) -> None:
    """In ε, in ρ, and both; what has no finite ε is let in by one in ρ alone."""
    ceilings = [None if most is None else Fraction(most) for most in (epsilon, rho)]
    caller = Caller(token="", subject="", role=Role.ANALYST, most_epsilon=ceilings[0], expires=datetime.now(UTC))
    cost = Cost(
        **dict(zip(("epsilon", "rho"), (None if each is None else Fraction(each) for each in costs), strict=True))
    )
    caller = replace(caller, most_rho=ceilings[1])
    if refused:
        with pytest.raises(AboveCeiling) as above:
            check_ceiling(replace(caller, subject="ann b"), cost)
        assert re.search(r"`discreet token create 'ann b' --most-(epsilon|rho) (NUMBER|[\d.E-]+)`$", above.value.hint)
    else:
        check_ceiling(caller, cost)


def test_the_command_that_raises_a_ceiling_raises_it_far_enough() -> None:
    """It is rounded up, so that the question is within it."""
    caller = Caller(token="", subject="ann", role=Role.ANALYST, most_epsilon=Fraction(1, 9), expires=datetime.now(UTC))
    cost = Cost(epsilon=Fraction(1, 3))
    with pytest.raises(AboveCeiling, match=r"discreet token create ann --most-epsilon 0\.3334") as above:
        check_ceiling(caller, cost)
    assert "request approval" in above.value.hint
    check_ceiling(replace(caller, most_epsilon=Fraction("0.3334")), cost)
