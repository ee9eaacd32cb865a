"""Plans say what is answered already: by which entries, so that nobody keeps from asking what is free."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.gateway.already_answered import entries_answering
from discreet.gateway.tuning import tuning

pytestmark = pytest.mark.usefixtures("kept_sessions")

BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
TOTAL = "SELECT COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B')"
AVERAGE = "SELECT AVG(cost) AS cost FROM visits"

Open = Callable[[], dp.Protected]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens the same small account again and again."""
    table = pa.table({"who": list(range(100)) * 2, "ward": ["A", "B"] * 100, "cost": [3.0] * 200})
    found: list[dp.Protected] = []

    def protect() -> dp.Protected:
        found.append(
            dp.protect(
                table,
                name="visits",
                unit=dp.Unit("who"),
                limits=dp.Limits(rows=2),
                columns={"ward": dp.Keys(["A", "B"]), "cost": dp.Bounds(0, 9)},
                budget=dp.Budget(epsilon=30, delta="1e-6"),
                ledger=tmp_path / "visits.ledger",
            )
        )
        return found[-1]

    yield protect
    for each in found:
        each.close()


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        (BY_WARD, {"epsilon": 1}),
        (BY_WARD, {"epsilon": 1, "delta": "1e-9"}),
        (AVERAGE, {"epsilon": 5, "limits": "auto", "bounds": {"cost": "auto"}}),
        ([BY_WARD, AVERAGE], {"epsilon": 1}),
    ],
)
def test_what_was_asked_is_answered_by_its_entry(
    opened: Open, question: str | list[str], terms: dict[str, object]
) -> None:
    """Whatever was asked first for it, of one question and of several; not before, and not for another offer.

    What the plan says holds: asking it costs nothing.
    """
    account = opened()
    before = account.plan(question, **terms)
    assert before.answered_by == ()
    answered = account.ask(question, **terms)
    last = answered[0] if isinstance(answered, list) else answered
    spent = account.spent
    for other in (account, opened()):
        plan = other.plan(question, **terms)
        assert plan.answered_by == (last.entry,)
        assert plan.digest == before.digest
        again = other.ask(plan)
        assert all(each.reused for each in (again if isinstance(again, list) else [again]))
    assert account.plan(question, **{**terms, "epsilon": 6}).answered_by == ()
    assert account.spent == spent


def test_what_follows_from_others_is_answered_by_these(opened: Open) -> None:
    """A total over groups that were released, in the words of the plan and of EXPLAIN; not of data admitted since."""
    account = opened()
    entry = account.ask(BY_WARD, epsilon=5).entry
    plan = account.plan(TOTAL, epsilon=1)
    assert plan.answered_by == (entry,)
    words = f"answer    answered already by entry {entry}: free"
    assert words in plan.explain()
    assert words in "\n".join(account.ask(f"EXPLAIN {TOTAL}", epsilon=1)["plan"])
    assert account.ask(plan).origin == (entry,)
    account.refresh()
    assert account.plan(TOTAL, epsilon=1).answered_by == ()


def test_a_profile_alone_answers_nothing(opened: Open) -> None:
    """What was asked first is stored, and the question itself isn't: it would be paid for."""
    account = opened()
    plan = account.plan("SELECT COUNT(*) AS n FROM visits", epsilon=5, limits="auto")
    (profile,) = plan.profiles
    account.ask(plan)
    found = account._index.find(profile, 1, None)
    assert found is not None
    asked = tuning(plan, account._planning.again)
    assert entries_answering(asked, lambda step: found if step.digest == profile.digest else None) == ()
    assert account.plan("SELECT COUNT(*) AS n FROM visits", epsilon=5, limits="auto").answered_by != ()


def test_planning_admits_nothing_and_works_after_closing(opened: Open) -> None:
    """It looks at the ledger alone, and does without where that can't be read; certificates have nothing of it."""
    account = opened()
    assert account.plan(BY_WARD, epsilon=1).answered_by == ()
    assert [entry.kind for entry in account.history() if entry.kind == "admit"] == []
    answer = account.ask(BY_WARD, epsilon=1)
    assert "answered_by" not in str(answer.certificate)
    account.close()
    assert account.plan(BY_WARD, epsilon=1).answered_by == ()
