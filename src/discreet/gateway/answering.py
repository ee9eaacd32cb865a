"""Answering: one question carried out, from a stored answer or from reserve to commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from discreet.engine import Engine
from discreet.errors import AccuracyUnreachable, BudgetExhausted, DiscreetError, QuestionFailed
from discreet.gateway.answer import Answer
from discreet.gateway.answers import Group
from discreet.gateway.certificate import certificate
from discreet.gateway.current import Current
from discreet.gateway.release import rehearse, release
from discreet.gateway.reuse import Shelf, recorded, topic_of
from discreet.query.planner import Plan, make_plan

if TYPE_CHECKING:
    from discreet.ledger import Account, Reservation


@dataclass(frozen=True, slots=True)
class Answering:
    """What it takes to answer one question.

    Args:
        account: that pays.
        current: the versions of the tables in force.
        shelf: of stored answers.
        analyst: who asks.
    """

    account: Account
    current: Current
    shelf: Shelf
    analyst: str | None

    def is_stored(self, plan: Plan) -> bool:
        """Whether a question was answered already, of the version in force."""
        return self.account.stored(plan.digest, self.current.version_for(plan)) is not None

    def ask(self, plan: Plan) -> Answer:
        """Look for a stored answer, or pay for a new one."""
        self.current.check()
        version = self.current.version_for(plan)
        known = self.shelf.answer(plan, version)
        return self._answer(plan, version) if known is None else known  # an answer without groups is false

    def _answer(self, plan: Plan, version: int) -> Answer:
        """Prepare, reserve, run, release, commit."""
        from discreet import __version__

        prepare(plan, self.current.engine)
        try:
            reservation = self.account.reserve(
                question=plan.digest, text=plan.question.text, version=version, event=plan.event, analyst=self.analyst
            )
        except BudgetExhausted as refusal:
            raise self._too_accurate(plan) or refusal from None
        groups = run(plan, self.current.engine)
        proof = certificate(plan, version=version, entry=reservation.entry, analyst=self.analyst, release=__version__)
        if groups is None or not self._keep(reservation, plan, proof, groups):
            self._give_up(reservation)
            raise QuestionFailed
        return Answer(plan=plan, groups=groups, certificate=proof, entry=reservation.entry, reused=False)

    def _too_accurate(self, plan: Plan) -> AccuracyUnreachable | None:
        """That what is left doesn't reach the accuracy asked for, with the best that it does; None if none was."""
        left = self.account.remaining(self.analyst)
        request = plan.request
        if not request.within or request.epsilon is not None or request.rho is not None or not left.epsilon:
            return None
        best = make_plan(plan.question, replace(request, epsilon=left.epsilon), plan.dataset).expected
        reached = "; ".join(f"{one.column}: {one}" for one in best)
        return AccuracyUnreachable(
            f"the accuracy asked for takes {plan.cost}; left is {left}",
            hint=f"the best that it reaches is {reached}",
        )

    def _keep(self, reservation: Reservation, plan: Plan, proof: Mapping[str, object], groups: Sequence[Group]) -> bool:
        """Store the answer with its debit. An answer that can't be stored isn't given: it couldn't be given again."""
        answer = recorded(plan, groups)
        try:
            self.account.commit(
                reservation, certificate=proof, answer=answer, topics=[(topic_of(plan), reservation.version)]
            )
        except DiscreetError:
            return False
        return True

    def _give_up(self, reservation: Reservation) -> None:
        """Note that there was no answer; the debit stands, noted or not."""
        with suppress(DiscreetError):
            self.account.fail(reservation)


def prepare(plan: Plan, engine: Engine) -> None:
    """Do what a plan takes without any data, before anything is paid: what would fail on any data costs nothing.

    Raises:
        SchemaMismatch: a public table isn't unique as it is declared, within the bounds that the question offers.
        EngineUnavailable: the engine can't be started, or can't do what the question takes.
        ImportError: a library that is needed isn't there.
    """
    for level in plan.levels:
        for table in level.exact.tables:
            engine.check(table)
        engine.prepare(level.exact)
        rehearse(level)


def run(plan: Plan, engine: Engine) -> list[Group] | None:
    """The released groups; None if anything went wrong.

    Whatever it was may depend on a person, so nothing of it leaves this function: no message, cause or traceback.
    """
    try:
        results = [engine.run(level.exact) for level in plan.levels]
        pairs = enumerate(zip(plan.levels, results, strict=True))
        return [group for number, (level, result) in pairs for group in release(level, result, number)]
    except Exception:  # noqa: BLE001 — it may be anything, and depend on a person
        return None
