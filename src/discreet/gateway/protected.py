"""Protected tables: what an analyst is given; questions are planned and asked through it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from discreet.dataset import Dataset
from discreet.engine import Engine, open_engine
from discreet.errors import BudgetExhausted, DiscreetError, InvalidArgument, QuestionFailed
from discreet.exact import Rationalizable
from discreet.gateway.answer import Answer, groups_from_json, groups_to_json
from discreet.gateway.certificate import certificate
from discreet.gateway.release import release
from discreet.query import ir
from discreet.query.plan import Plan, make_plan
from discreet.query.released import Group
from discreet.query.request import Request

if TYPE_CHECKING:
    from discreet.accounting import Charge, Remaining
    from discreet.ledger import Account, Entry, Ledger, Reservation, Verification


class Protected:
    """Private tables behind their account: what an analyst is given.

    Made by `protect` and `load`. Planning reads public facts only; asking reserves the cost, runs, and releases.

    Args:
        dataset: what is public about the tables.
        ledger: the ledger that holds the account.
        account: where their budget is kept.
        data: tables held in memory, by the label of their source.
    """

    def __init__(self, dataset: Dataset, ledger: Ledger, account: Account, data: Mapping[str, object]) -> None:
        """Keep the parts; nothing is read yet."""
        self.dataset = dataset
        self._ledger = ledger
        self._account = account
        self._data = dict(data)
        self._engines: dict[str, Engine] = {}

    def plan(  # noqa: PLR0913 — what an analyst may offer, each by name
        self,
        question: str,
        *,
        epsilon: Rationalizable | None = None,
        delta: Rationalizable | None = None,
        rho: Rationalizable | None = None,
        within: Rationalizable | Mapping[str, Rationalizable] | None = None,
        dialect: str = "duckdb",
    ) -> Plan:
        """Plan a question: what it would cost, and how accurate the answer would be. Spends nothing.

        Args:
            question: one SELECT.
            epsilon: offer for Laplace noise; one of `epsilon`, `rho` and `within`.
            delta: offer for the private selection of groups; needed only where their keys aren't public.
            rho: offer for Gaussian noise.
            within: half width wanted of the 95 % intervals, for all columns or by name; the plan says what it costs.
            dialect: of the question, as sqlglot names it.

        Raises:
            QueryError: the question is refused; the message says why, where, and what would do.
            InvalidArgument: a number out of range.
        """
        request = Request.of(epsilon=epsilon, delta=delta, rho=rho, within=within)
        return make_plan(self._parse(question, dialect), request, self.dataset)

    def ask(  # noqa: PLR0913 — what an analyst may offer, each by name
        self,
        question: str | Plan,
        *,
        epsilon: Rationalizable | None = None,
        delta: Rationalizable | None = None,
        rho: Rationalizable | None = None,
        within: Rationalizable | Mapping[str, Rationalizable] | None = None,
        dialect: str = "duckdb",
        analyst: str | None = None,
    ) -> Answer:
        """Ask a question, or carry out a plan.

        The same question, at the same cost, of the same data gives the same answer and costs nothing again.

        Args:
            question: one SELECT, or what `plan` made of it.
            epsilon: see `plan`; so for `delta`, `rho`, `within` and `dialect`.
            delta: as above.
            rho: as above.
            within: as above.
            dialect: as above.
            analyst: who asks, where analysts have budgets of their own.

        Raises:
            QueryError: the question is refused; nothing is charged.
            BudgetError: it can't be paid for; nothing is charged.
            LedgerError: the account can't be used; no data was touched.
            SourceError: the table can't be opened, or its columns aren't as declared; nothing is charged.
            QuestionFailed: something went wrong afterwards; the cost stays spent.
        """
        plan = (
            self._made_again(question)
            if isinstance(question, Plan)
            else self.plan(question, epsilon=epsilon, delta=delta, rho=rho, within=within, dialect=dialect)
        )
        self._admit(analyst)
        engine = self._engine(plan.exact)
        fingerprint = engine.fingerprint()
        version = self._account.version(fingerprint)
        stored = self._account.stored(plan.digest, version)
        if stored is not None:
            return Answer(
                plan=plan,
                groups=groups_from_json(stored.answer["groups"]),
                certificate=stored.certificate,
                entry=stored.entry,
                reused=True,
            )
        return self._answer(plan, engine, fingerprint, version, analyst)

    def _parse(self, question: str, dialect: str) -> ir.Question:
        """The question, bound to the tables."""
        from discreet.query.sql import question as parse

        return parse(question, self.dataset.tables, dialect)

    def _made_again(self, plan: Plan) -> Plan:
        """The plan as the rules make it here: nothing that a plan says of itself is taken at its word."""
        made = make_plan(self._parse(plan.question.text, plan.question.dialect), plan.draft.request, self.dataset)
        if made.dataset != plan.dataset or made.digest != plan.digest:
            raise InvalidArgument(
                "the plan was made for other tables, or for other declarations of these",
                hint="plan the question again, here",
            )
        return made

    def close(self) -> None:
        """Let go of the ledger."""
        self._ledger.close()

    def __enter__(self) -> Self:
        """Use it in a `with` statement, to close it at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _admit(self, analyst: str | None) -> None:
        """Refuse strangers where analysts are named, whether or not an old answer would do."""
        if self.dataset.analysts and analyst not in self.dataset.analysts:
            who = "a question without an analyst" if analyst is None else f"analyst {analyst!r}"
            raise BudgetExhausted(f"{who} has no share of this budget", hint="the custodian lists who may ask")

    @property
    def spent(self) -> Charge:
        """What all questions together have cost."""
        return self._account.spent()

    @property
    def remaining(self) -> Remaining:
        """What may still be spent."""
        return self._account.remaining()

    def spent_by(self, analyst: str) -> Charge:
        """What one analyst's questions have cost."""
        return self._account.spent(analyst)

    def remaining_for(self, analyst: str) -> Remaining:
        """What one analyst may still spend: the lesser of what their share and the budget have left."""
        return self._account.remaining(analyst)

    def history(self) -> Sequence[Entry]:
        """The entries of the account, oldest first."""
        return self._account.entries()

    def verify(self, *, kept: str | None = None) -> Verification:
        """Recompute the ledger's hash chain and every loss in it.

        Args:
            kept: the head that an earlier verification gave, if it was kept elsewhere: it must be in the chain still.
        """
        return self._ledger.verify(kept=kept)

    def _answer(self, plan: Plan, engine: Engine, fingerprint: str, version: int, analyst: str | None) -> Answer:
        """Reserve, run, release, commit."""
        from discreet import __version__

        reservation = self._account.reserve(
            question=plan.digest, text=plan.question.text, version=version, event=plan.event, analyst=analyst
        )
        groups = _run(plan, engine, fingerprint)
        proof = certificate(plan, version=version, entry=reservation.entry, analyst=analyst, release=__version__)
        if groups is None or not self._keep(reservation, proof, groups):
            self._give_up(reservation)
            raise QuestionFailed
        return Answer(plan=plan, groups=groups, certificate=proof, entry=reservation.entry, reused=False)

    def _keep(self, reservation: Reservation, proof: Mapping[str, object], groups: Sequence[Group]) -> bool:
        """Store the answer with its debit. An answer that can't be stored isn't given: it couldn't be given again."""
        try:
            self._account.commit(reservation, certificate=proof, answer={"groups": groups_to_json(groups)})
        except DiscreetError:
            return False
        return True

    def _give_up(self, reservation: Reservation) -> None:
        """Note that there was no answer; the debit stands, noted or not."""
        with suppress(DiscreetError):
            self._account.fail(reservation)

    def _engine(self, exact: ir.Exact) -> Engine:
        """The engine over the question's table; its columns are checked before anything is charged."""
        table = exact.table
        if table.name not in self._engines:
            self._engines[table.name] = open_engine(table.source, self._data.get(table.source.location))
        engine = self._engines[table.name]
        engine.check(table)
        return engine


def _run(plan: Plan, engine: Engine, fingerprint: str) -> list[Group] | None:
    """The released groups; None if anything went wrong, or if the data changed since they were given a version.

    Whatever it was may depend on a person, so nothing of it leaves this function: no message, cause or traceback.
    """
    try:
        result = engine.run(plan.exact)
        return release(plan, result) if result.fingerprint == fingerprint else None
    except Exception:  # noqa: BLE001 — it may be anything, and depend on a person
        return None
