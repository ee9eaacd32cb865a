"""The ledger against a model of it: a few lists and sums in memory."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from discreet.accounting import Charge, charge_of, filter_for
from discreet.errors import AdmissionConflict, BudgetExhausted, InvalidArgument, LossNotAccepted
from discreet.ledger import Ledger, Reservation, State
from discreet.privacy import Budget, ComposedEvent, Event, GaussianEvent, LaplaceEvent, SelectionEvent
from support.examples import examples

CONTENTS = ("x", "y", "z")
ANALYSTS = (None, "ada", "bob")

MEMORY = next(filter(Path.is_dir, [Path("/dev", "shm")]), None)
"""Where writing is quick, if there is such a place: this is about decisions, not about disks."""

amounts = st.fractions(min_value=Fraction(1, 50), max_value=2, max_denominator=50)
laplaces = st.builds(LaplaceEvent, scale=amounts.map(lambda epsilon: 1 / epsilon), l1=st.integers(1, 3))
gaussians = st.builds(GaussianEvent, sigma=st.fractions(2, 20), l2_squared=st.fractions(1, 4))
selections = st.builds(SelectionEvent, delta=st.fractions(Fraction(1, 10**9), Fraction(1, 10**7)))
composed = st.lists(st.one_of(laplaces, gaussians, selections), min_size=1, max_size=3).map(
    lambda events: ComposedEvent(tuple(events))
)
events: st.SearchStrategy[Event] = st.one_of(laplaces, laplaces, gaussians, composed)
budgets = st.one_of(
    st.builds(Budget, epsilon=amounts),
    st.builds(Budget, epsilon=amounts, delta=st.just(Fraction(1, 10**6))),
    st.builds(lambda rho: Budget(rho=rho, delta=Fraction(1, 10**6)), amounts),
)
shares = st.dictionaries(st.sampled_from(["ada", "bob"]), budgets)


@dataclass
class Question:
    """A question as the model remembers it."""

    reservation: Reservation
    cost: Charge
    analyst: str | None
    state: State = State.RESERVED


@dataclass
class Model:
    """The account as plain lists."""

    budget: Budget
    shares: dict[str, Budget]
    questions: list[Question] = field(default_factory=list)
    admissions: list[str] = field(default_factory=list)
    answers: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)

    def spent(self, analyst: str | None = None) -> Charge:
        """The sum of all costs, or of one analyst's."""
        costs = [one.cost for one in self.questions if analyst is None or one.analyst == analyst]
        return sum(costs, start=Charge.zero())

    def verdict(self, cost: Charge, analyst: str | None) -> type[Exception] | None:
        """What must come of a question."""
        limits = [(self.budget, self.spent())]
        if self.shares:
            if analyst not in self.shares:
                return BudgetExhausted
            limits.append((self.shares[analyst], self.spent(analyst)))
        for budget, spent in limits:
            if not filter_for(budget).accepts(cost):
                return LossNotAccepted
            if not filter_for(budget).admits(spent + cost):
                return BudgetExhausted
        return None


class LedgerMachine(RuleBasedStateMachine):
    """Any sequence of declarations, admissions, debits, outcomes and restarts."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY))
        self.ledger = Ledger.open(self.folder / "census.ledger", create=True)

    def teardown(self) -> None:
        """Check the whole once more, and clean up."""
        found = self.ledger.verify()
        self.ledger.close()
        shutil.rmtree(self.folder)
        assert found.problems == ()

    @initialize(budget=budgets, shares=shares)
    def declare_first(self, budget: Budget, shares: dict[str, Budget]) -> None:
        """Declare a first budget."""
        self.model = Model(budget, shares)
        self.account = self.ledger.account("census", budget, shares)
        self.admit("x")

    @rule(budget=budgets, shares=shares)
    def declare(self, budget: Budget, shares: dict[str, Budget]) -> None:
        """Declare another budget, which may be greater: that is named."""
        self.model.budget, self.model.shares = budget, shares
        self.account = self.ledger.account("census", budget, shares, weaken=["budget"])

    @rule()
    def restart(self) -> None:
        """Open the ledger anew, as another process would."""
        self.ledger.close()
        self.ledger = Ledger.open(self.folder / "census.ledger", create=False)
        self.account = self.ledger.account("census", self.model.budget, self.model.shares)

    @rule(contents=st.sampled_from(CONTENTS))
    def admit(self, contents: str) -> None:
        """Admit tables, changed or unchanged."""
        after = len(self.model.admissions)
        admission = self.account.admit(contents, snapshot=f"folder {after}", after=after)
        self.model.admissions.append(contents)
        assert admission == self.account.admitted()

    @rule(contents=st.sampled_from(CONTENTS), behind=st.sampled_from([-1, 1, 2]))
    def admit_too_late(self, contents: str, behind: int) -> None:
        """Admit after another version than the newest; it must be refused."""
        with pytest.raises(AdmissionConflict):
            self.account.admit(contents, after=len(self.model.admissions) - behind)

    @rule(question=st.sampled_from("abc"), event=events, analyst=st.sampled_from(ANALYSTS), data=st.data())
    def reserve(self, question: str, event: Event, analyst: str | None, data: st.DataObject) -> None:
        """Ask of any version; the ledger must decide as the model does."""
        cost = charge_of(event)
        expected = self.model.verdict(cost, analyst)
        version = data.draw(st.integers(1, len(self.model.admissions)))
        arguments = {"question": question, "text": f"SELECT {question}", "version": version, "analyst": analyst}
        if expected is not None:
            with pytest.raises(expected):
                self.account.reserve(event=event, **arguments)  # type: ignore[arg-type]  # each has its type
            return
        paid = self.account.reserve(event=event, **arguments)  # type: ignore[arg-type]  # each has its type
        assert paid.entry == len(self.model.questions) + 1
        self.model.questions.append(Question(paid, cost, analyst))

    @precondition(lambda self: self.model.questions)
    @rule(data=st.data(), state=st.sampled_from([State.COMMITTED, State.FAILED]))
    def settle(self, data: st.DataObject, state: State) -> None:
        """Bring an outcome; a second one must be refused."""
        number = data.draw(st.integers(0, len(self.model.questions) - 1))
        question = self.model.questions[number]
        paid = question.reservation
        commit = partial(self.account.commit, paid, certificate={}, answer={"n": number})
        settle = partial(self.account.fail, paid) if state is State.FAILED else commit
        if question.state is not State.RESERVED:
            with pytest.raises(InvalidArgument):
                settle()
            return
        settle()
        question.state = state
        if state is State.COMMITTED:
            self.model.answers.setdefault((paid.question, paid.version), (paid.entry, number))

    @invariant()
    def totals_agree(self) -> None:
        """What was spent, by everyone and by each, is what the model adds up."""
        if not hasattr(self, "model"):
            return
        for analyst in ANALYSTS:
            assert self.account.spent(analyst) == self.model.spent(analyst)
        expected = filter_for(self.model.budget).remaining(self.model.spent())
        assert self.account.remaining() == expected

    @invariant()
    def versions_agree(self) -> None:
        """The version in force is the last one admitted, and holds what that was."""
        if not hasattr(self, "model"):
            return
        found = self.account.admitted()
        newest = len(self.model.admissions)
        assert found is not None
        assert (found.version, found.snapshot) == (newest, f"folder {newest - 1}")
        assert self.account.versions() == newest
        holding = [contents for contents in CONTENTS if self.account.holds(found, contents)]
        assert holding == [self.model.admissions[-1]]

    @rule()
    def answers_agree(self) -> None:
        """Each question has the answer that was committed first, or none."""
        for question in "abc":
            for version in range(1, len(self.model.admissions) + 1):
                stored = self.account.stored(question, version)
                found = None if stored is None else (stored.entry, stored.answer["n"])
                assert found == self.model.answers.get((question, version))

    @rule()
    def history_agrees(self) -> None:
        """The history has every question with its outcome."""
        found = [(entry.cost, entry.analyst, entry.state) for entry in self.account.entries() if entry.number]
        assert found == [(one.cost, one.analyst, one.state) for one in self.model.questions]

    @rule()
    def verification_holds(self) -> None:
        """At any time, the whole ledger verifies."""
        assert self.ledger.verify().problems == ()


LedgerMachine.TestCase.settings = examples(25, at_least=12, stateful_step_count=25)
TestLedgerMachine = LedgerMachine.TestCase
