"""Protected tables: what an analyst is given, to plan questions, to ask them, and to see what they have cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, Unpack, cast, overload

from discreet.arguments import taking_known
from discreet.errors import BudgetExhausted, InvalidArgument, LedgerError
from discreet.gateway.accounted import Accounted
from discreet.gateway.admissions import Admissions
from discreet.gateway.after_close import AFTER_CLOSE
from discreet.gateway.already_answered import attempted, entries_answering
from discreet.gateway.answer_builder import answers_of, as_asked, cost_of, explanation_of
from discreet.gateway.answers import Workload
from discreet.gateway.current import groups_read
from discreet.gateway.execute import prepare, run
from discreet.gateway.planning import Frame, Planning, declarations_digest
from discreet.gateway.procedures import Procedure, carry_out
from discreet.gateway.resolve import Way, resolve, way_of
from discreet.gateway.reuse import ReuseIndex
from discreet.gateway.standing import PlanStanding
from discreet.gateway.tuning import Tuned, tuning
from discreet.gateway.turns import Turns
from discreet.gateway.versions import AdmissionReport
from discreet.notebook import framed, notes, schema
from discreet.privacy import Limits
from discreet.query.planner import Plan, Request, Terms, taking_terms
from discreet.results import Answer, Summary, left_in_words, summarize, with_left
from discreet.tables import Dataset, public_schema

if TYPE_CHECKING:
    from discreet.ledger import (
        Account,
        Attempt,
        Ledger,
        Tried,
    )


@taking_known
class Protected(Accounted):
    """Private tables behind their account: what an analyst is given.

    Made by `protect` and `load`. Planning reads public facts only, public tables among them; asking reserves the cost,
    runs, and releases. Use it in a `with` statement, or close it.

    Args:
        dataset: what is public about the tables.
        ledger: the ledger that holds the account.
        account: where their budget is kept.
        data: tables held in memory, by the label of their source.
        key: the file that holds the account's signing key; None where there is none.

    Attributes:
        signing: by what answers are signed, and signed heads of the ledger; for the custodian.
    """

    def __init__(
        self, dataset: Dataset, ledger: Ledger, account: Account, data: Mapping[str, object], key: Path | None
    ) -> None:
        """Keep the parts; nothing is read yet."""
        self.dataset = dataset
        self.signing = account.signing(key)
        self._ledger = ledger
        self._account = account
        self._admissions = Admissions(dataset, account, data)
        self._planning = Planning(dataset, self._admissions)
        self._index = ReuseIndex(account, self._planning.remade)
        self._turns = Turns()
        self._until: Callable[[], None] | None = None

    @property
    def tables(self) -> Mapping[str, Frame]:
        """The tables as Ibis expressions, by name: names and kinds of columns, without data.

        What is made of them is planned and asked like SQL: `protected.ask(protected.tables["orders"].count(), …)`.
        """
        from discreet.query.sql import frame_of

        return MappingProxyType({table.name: frame_of(table) for table in self.dataset.tables})

    @property
    def table(self) -> Frame:
        """The only table, as an Ibis expression.

        Raises:
            InvalidArgument: there are several.
        """
        names = [table.name for table in self.dataset.tables]
        if len(names) > 1:
            raise InvalidArgument("there are several tables here", hint=f"tables[{names[0]!r}], for example")
        return self.tables[names[0]]

    @property
    def schema(self) -> Mapping[str, Any]:
        """The declarations of everything that may be asked about, as JSON-ready data: `Remote.schema` has the same."""
        return public_schema(self.dataset)

    def __repr__(self) -> str:
        """What is declared, in short; nothing is read for it."""
        return repr(self.dataset).replace("<Dataset", f"<{type(self).__name__}", 1)

    def _repr_html_(self) -> str:
        """What is declared, for notebooks, and what may still be spent where the ledger can be read."""
        try:
            left = notes([("left", self.left())])
        except LedgerError:
            left = ""
        return framed(schema(self.schema), left)

    __iter__ = None  # it is no list of tables, though `[]` takes their names

    def __getitem__(self, name: str) -> Self:
        """These tables, if one of the private ones has this name: they share one account.

        Raises:
            InvalidArgument: none has.
        """
        names = [table.name for table in self.dataset.private]
        if name not in names:
            raise InvalidArgument(
                f"there is no private table {str(name)[:70]!r} here", hint=f"there are {', '.join(names)}"
            )
        return self

    @overload
    def plan(self, question: list[str | Frame], **terms: Unpack[Terms]) -> Workload: ...

    @overload
    def plan(self, question: str | Frame, **terms: Unpack[Terms]) -> Plan: ...

    @taking_terms
    def plan(self, question: str | Frame | list[str | Frame], **terms: Unpack[Terms]) -> Plan:
        """Plan a question: what it would cost, and how accurate the answer would be. Spends nothing.

        What public tables hold is known to the plan: groups of their columns are public. So they are looked at in the
        version in force; the first one is admitted, where there is none yet.

        `answered_by` has the entries by which it is answered already, so that asking is free.

        A list of questions is planned together, as a `Workload`: what they share is measured once, and what is offered
        is for all of them. So is `SUMMARIZE census`, which stands for several; see `summary`.

        With `epsilon` and `delta`, all of it is (ε, δ)-DP, with Laplace or Gaussian noise, whichever errs less:
        `choice` says which and why. Gaussian noise is charged in ρ, without a finite ε.

        What a question offers in its own words, by `SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, …)`, is added
        to the terms, and may not contradict them.

        Args:
            question: one SELECT, or an Ibis expression made of `tables`; or a list of them.
            terms: what is offered for it, each by its name, as `Terms` says.

        Raises:
            QueryError: the question is refused; the message says why, where, and what would do.
            InvalidArgument: a number out of range, or an unknown term.
            SnapshotError: the question can read a public table, and the tables aren't there as they were admitted.
            SourceError: the same, and nothing was admitted yet, and a source can't be read.
        """
        return self.plan_request(question, Request.read(terms))

    def plan_request(self, question: str | Frame | list[str | Frame], request: Request) -> Plan:
        """Plan a question whose terms were read before; else as `plan`. For servers."""
        plan = self._planning.plan(question, request)
        return replace(plan, answered_by=found) if (found := self.answered_by(plan)) else plan

    @overload
    def ask(  # type: ignore[overload-overlap]  # a Workload is the one plan that is answered in a list
        self,
        question: Workload | list[str | Frame],
        *,
        version: int | None = None,
        digest: str | None = None,
        **terms: Unpack[Terms],
    ) -> list[Answer]: ...

    @overload
    def ask(
        self,
        question: str | Frame | Plan,
        *,
        version: int | None = None,
        digest: str | None = None,
        **terms: Unpack[Terms],
    ) -> Answer: ...

    @taking_terms
    def ask(
        self,
        question: str | Frame | Plan | list[str | Frame],
        *,
        version: int | None = None,
        digest: str | None = None,
        **terms: Unpack[Terms],
    ) -> Answer | list[Answer]:
        """Ask a question, or carry out a plan.

        The same question, at the same cost, of the same data gives the same answer and costs nothing again; so does a
        question whose answer follows from stored ones, if it errs no more than what the offer would buy. A question
        that begins with EXPLAIN gives an `Explanation`: an answer that holds the plan in words, and costs nothing.

        Where ε and δ are offered, and the account can pay for Laplace noise only, that is taken, unless a plan or a
        digest says otherwise. What such an offer was answered with before is given again, whichever noise it has.

        Of a workload all questions are answered, or none; one debit pays for all. What is asked first, where limits or
        bounds are "auto" or `cut_off` is asked for, is paid for by itself, and stays paid if the question is
        refused then: another analyst may have spent the rest meanwhile.

        Args:
            question: one SELECT, an Ibis expression made of `tables`, a list of these, or what `plan` made of them.
            version: of the account: an earlier one, whose stored answers can still be read, for nothing.
            digest: the digest that the plan must have, as `plan` said it, or nothing is asked.
            terms: what is offered for it, as for `plan`. A plan has its own, so with one only `analyst` may be said.

        Raises:
            QueryError: the question is refused; nothing is charged.
            PlanChanged: the question's plan isn't the one that was named; nothing is charged.
            BudgetError: it can't be paid for; nothing is charged.
            LedgerError: the account can't be used; no data was touched.
            SnapshotError: the tables aren't there as they were admitted; nothing is charged.
            SourceError: nothing was admitted yet, and a source can't be read; nothing is charged.
            EngineUnavailable: the engine can't be started, or can't do what the question takes; nothing is charged.
            InvalidArgument: no answer is stored for that version; or as for `plan`.
            QuestionFailed: something went wrong afterwards; the cost stays spent.
        """
        request = Request.read(terms)
        answers = self.ask_request(question, request, version=version, digest=digest)
        analyst = _analyst_of(question, request) if isinstance(question, Plan) else request.analyst
        try:
            return with_left(answers, self.left(analyst))
        except LedgerError:  # an answer that was paid for isn't lost for that
            return answers

    def left(self, analyst: str | None = None) -> str:
        """What may still be spent, by all and by one analyst who has a share, in words.

        Raises:
            LedgerError: the ledger can't be read.
        """
        own = self.remaining_by(analyst) if analyst in self.dataset.analysts else ""
        return left_in_words(self.remaining, self.dataset.budget, own)

    def ask_request(
        self,
        question: str | Frame | Plan | list[str | Frame],
        request: Request,
        *,
        version: int | None = None,
        digest: str | None = None,
    ) -> Answer | list[Answer]:
        """Ask a question whose terms were read before; else as `ask`. For servers."""
        plan, analyst, explains = self._planned(question, request)
        is_plan = isinstance(question, Plan)
        way = way_of(plan, explains=explains, is_plan=is_plan, digest=digest, version=version)
        if way is Way.EXPLAINED:
            plan = replace(plan, answered_by=self.answered_by(plan))
            return explanation_of(plan, self.prospect(cost_of([plan]), analyst))
        self._admit(analyst)
        signing = self.signing  # closing takes it away, and what runs by then is answered
        signing.load()
        found = self._carried_out(plan, way, analyst) if version is None else self._looked_up(plan, version, analyst)
        answers = as_asked(plan, answers_of(found, signing))
        asked = question if isinstance(question, Workload) else plan
        if isinstance(answers, list) and isinstance(asked, Workload) and asked.summarizes:
            return Summary(answers, self._declared(asked.summarizes))
        return answers

    def summary(
        self, table: str | None = None, *, columns: Sequence[str] | None = None, **terms: Unpack[Terms]
    ) -> Summary:
        """Summarize a table: its rows and units, and of each column what is missing, usual and frequent, in one table.

        A summary is a workload that is written for you, from what is declared alone: `ask("SUMMARIZE census", …)` is
        the same, `plan("SUMMARIZE census", …)` says what it would cost, and its answers are those of any workload. One
        debit pays for all. Asked again it is free, and so is a question that follows from it with no greater error.

        Numbers with bounds have mean, standard deviation and quartiles; columns with keys have counts by key. Of texts
        without keys the most frequent ones are found where a `delta` is offered. Least and greatest values aren't
        measured: bounds say between which they lie.

        Args:
            table: which one; it may be left out where there is one private table.
            columns: those to summarize; all of them if they are left out. The fewer, the more accurate.
            terms: what is offered for all of it, as for `plan`.

        Raises:
            InvalidArgument: there are several tables, or none of that name; or as for `ask`.
            QueryError, BudgetError, LedgerError, SnapshotError, SourceError, EngineUnavailable, QuestionFailed: as for
                `ask`.
        """
        names = [each.name for each in self.dataset.private]
        return cast("Summary", self.ask(summarize(names, table, columns), **terms))

    def _declared(self, name: str) -> Mapping[str, Any]:
        """What is public of one table, as JSON-ready data."""
        found: Mapping[str, Any] = next(each for each in self.schema["tables"] if each["name"] == name)
        return found

    def answered_by(self, plan: Plan) -> tuple[int, ...]:
        """The entries by which a plan is answered already, so that asking it is free; none if it isn't.

        Stored answers are public. No table is looked at, and none is admitted for it. If the account can't be read, or
        is closed, the answer is none.

        Args:
            plan: as it is planned now.
        """
        try:
            return self._answered_by(plan)
        except LedgerError:
            return ()

    def _answered_by(self, plan: Plan) -> tuple[int, ...]:
        """The same, where the ledger can be read."""
        admitted = self._account.in_force(self.dataset.groups)
        if plan.is_free or None in admitted.values():
            return ()

        def version(step: Plan) -> int:
            return max(each.version for group in groups_read(step) if (each := admitted[group]) is not None)

        standing = self._standing(version, None)
        resolved = resolve(plan, Way.AS_NAMED, standing, self._planning.with_laplace)
        return entries_answering(self._procedure(resolved), standing.find)

    def hold(self, until: Callable[[], None]) -> None:
        """Store no outcome from now on until this returns; it is called each time one was made. For servers.

        A caller who waits for an answer, or asks whether one is stored, then can't tell how long it took.

        Args:
            until: called in the thread that asked, once what it asked for was paid and measured, or has failed.
        """
        self._until = until

    def during(self, attempt: Attempt) -> Self:
        """These tables, whose questions are asked in an attempt: under its key, by its approval. For servers."""
        found = copy(self)
        found._account = self._account.during(  # noqa: SLF001 — its own kind
            replace(attempt, declarations=declarations_digest(self.dataset))
        )
        return found

    def was_answered(self, plan: Plan) -> bool:
        """Whether this was asked and answered before, of any version of the tables. For servers."""
        return self._account.answered(plan.digest)

    def retried(self, plan: Plan, tried: Tried) -> Answer | list[Answer] | None:
        """The answer that an attempt of before got; None if there is none, or not yet. It costs nothing. For servers.

        Args:
            plan: as it was planned for the attempt, which may have carried out the same with Laplace noise.
            tried: what became of it.
        """
        plans = (plan, self._planning.with_laplace(plan))
        self.signing.load()
        standing = self._standing(partial(self._admissions.version_at, tried.version), plan.request.analyst)
        found = attempted(map(self._procedure, plans), tried.stored, standing.find)
        return None if found is None else as_asked(plan, answers_of(found, self.signing))

    def warm_up(self, *, reading: bool = False) -> None:
        """Load all that a question takes, and open the version in force, so that the first one isn't slower. Free.

        Args:
            reading: count the rows of each private table, too, as a question would; what comes of it is dropped.

        Raises:
            SnapshotError, SourceError, EngineUnavailable: as for `ask`.
        """
        engine = self._admissions.current().engine
        for table in self.dataset.private:
            name, limits = table.name.replace('"', '""'), Limits(rows=1) if table.limits is None else None
            plan = self.plan(f'SELECT COUNT(*) AS n FROM "{name}"', epsilon=1, limits=limits)  # noqa: S608 — no query of a database
            prepare(plan, engine)
            if reading:
                with suppress(Exception):  # which depends on rows, and so goes nowhere, like what comes of it
                    run(plan, engine)

    def refresh(self, group: str | None = None) -> AdmissionReport:
        """Admit the tables again, as the next version, whether or not anything changed. For the custodian.

        What was spent stays spent: a version never renews a budget. Answers to earlier versions stay stored, see `ask`.

        Args:
            group: admit only the tables that declare this refresh group; "" means those that declare none.

        Returns:
            What was read and what was left out. It is read off the tables and not private.

        Raises:
            SourceError: a source can't be read. The version in force stays; so for these.
            SnapshotError: the snapshot can't be written, or another process admitted one meanwhile.
            LedgerError: the ledger can't be written.
            InvalidArgument: no table declares that group.
        """
        return self._admissions.admit(group=group)

    @property
    def admissions(self) -> Admissions:
        """The versions of the tables, for the custodian: to admit them with conditions, on a schedule, or on trial."""
        return self._admissions

    def _planned(
        self, question: str | Frame | Plan | list[str | Frame], request: Request
    ) -> tuple[Plan, str | None, bool]:
        """The plan of what was asked, who asks, and whether it is only to be explained."""
        from discreet.query.sql import explained

        if isinstance(question, Plan):
            analyst = _analyst_of(question, request)
            return self._planning.made_again(question), analyst, False
        inner = explained(question) if isinstance(question, str) else None
        plan = self._planning.plan(question if inner is None else inner, request)
        return plan, plan.request.analyst, inner is not None

    def _standing(self, version: Callable[[Plan], int], analyst: str | None) -> PlanStanding:
        return PlanStanding(account=self._account, index=self._index, version=version, analyst=analyst)

    def _procedure(self, plan: Plan) -> Procedure[Tuned]:
        """The steps of carrying out a plan."""
        return tuning(plan, self._planning.again)

    def _carried_out(self, plan: Plan, way: Way, analyst: str | None) -> Tuned:
        """Ask a plan, or the same with other noise, of the versions in force."""
        with self._turns.of(plan.digest):
            current = self._admissions.current()
            standing = self._standing(current.version_for, analyst)
            resolved = resolve(plan, way, standing, self._planning.with_laplace)
            return carry_out(self._procedure(resolved), standing, current, self._until)

    def _looked_up(self, plan: Plan, version: int, analyst: str | None) -> Tuned:
        """Find what was stored for an earlier version of the tables, or follows from that."""
        standing = self._standing(partial(self._admissions.version_at, version), analyst)
        plan = resolve(plan, Way.LOOKED_UP, standing, self._planning.with_laplace)
        found = standing.find(plan)
        if found is not None:
            return Tuned(outcome=found)
        drafts = (draft for each in plan.plans for draft in each.drafts)
        public = sorted({scan.table.name for draft in drafts for scan in draft.scans if scan.table.public})
        if public and version < self._admissions.current().version:
            raise InvalidArgument(
                f"no answer to this question, as it is planned now, is stored for version {version}: it reads the "
                f"public table {public[0]!r}, and if that table has changed since, the question was about other "
                "groups then",
                hint="only the version in force can be asked anew",
            )
        raise InvalidArgument(
            f"no answer to this question, at this cost, is stored for version {version}",
            hint="only the version in force can be asked anew",
        )

    def close(self) -> None:
        """Let go of the tables, of the engine's sessions and of the ledger's connection.

        Questions that other threads still wait for are answered. After that, `plan` and `tables` work, which need
        nothing but what is public, and everything else is an `AccountClosed`. Closing twice is no error.
        """
        if self._ledger is AFTER_CLOSE:
            return
        self._planning.close()
        self._admissions.close()
        self._ledger.close()
        self._ledger = self._account = self._index = self._admissions = self.signing = AFTER_CLOSE

    def __enter__(self) -> Self:
        """Use it in a `with` statement, to close it at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _admit(self, analyst: str | None) -> None:
        """Refuse strangers where analysts are named, whether or not an old answer would do."""
        if self.dataset.analysts and analyst not in self.dataset.analysts:
            who = "a question that names no analyst" if analyst is None else f"analyst {analyst!r}"
            raise BudgetExhausted(f"{who} has no share of this budget", hint="ask the custodian for a share")


def _analyst_of(plan: Plan, said: Request) -> str | None:
    """The analyst who carries out a plan: the one named now or, if none is, when it was made.

    Raises:
        InvalidArgument: other terms are given; they would change nothing.
    """
    if others := said.to_json().keys() - {"analyst"}:
        raise InvalidArgument(
            f"a plan has its own terms, so {', '.join(sorted(others))} would change nothing",
            hint="plan the question again with these terms",
        )
    return plan.request.analyst if said.analyst is None else said.analyst
