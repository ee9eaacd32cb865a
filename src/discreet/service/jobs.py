"""Jobs: orders to a worker about the tables that it holds, and their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, assert_never

from discreet.errors import DiscreetError, EngineUnavailable, InvalidArgument, PlanChanged, QuestionFailed, Unsupported
from discreet.service.allowances import check_values, in_bytes
from discreet.service.api import EncodedAnswer, Planned, PlannedColumn, PlannedError, Reply, request_of
from discreet.service.release_times import ReleaseTimes, check_memory, longest

if TYPE_CHECKING:
    from discreet.gateway import Protected, Size
    from discreet.ledger import Attempt
    from discreet.query.planner import Plan, Request
    from discreet.results import Answer


_MOST_TOGETHER = 100
"""How many questions a workload may have: each answer repeats the certificate, which quotes all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A task for a worker.

    Args:
        kind: plan it; answer it from what is stored; ask it; or say what it was answered with under its key.
        question: SQL; a list of them is a workload.
        terms: what is offered for it, as it was sent.
        subject: in whose name it is asked, whatever the terms say.
        digest: of the plan that was made for it, if it will be asked.
        attempt: in which it is asked.
        values: how many numbers are read, of what is stored: that takes its time, and was paid for.
        most_values: how many an answer may release that isn't stored; None for any number.
        version: of the tables, whose stored answer is wanted; None for the one in force.
    """

    kind: Literal["plan", "stored", "ask", "retry"]
    question: str | list[str]
    terms: Mapping[str, Any]
    subject: str
    digest: str = ""
    attempt: Attempt | None = None
    values: int = 0
    most_values: int | None = None
    version: int | None = None


Done: TypeAlias = Planned | Reply | None
"""The outcome of a job: a plan; an answer, or an error; or None, where nothing is stored."""

SECONDS_TO_READ, PATIENCE_TO_READ = 0.0004, 0.002
"""Seconds of processor time, and seconds in all, for each number of a stored answer: five times what it takes to read,
sign and write one, so that whatever was paid for can be read, however large. They count towards the planning time of
the analyst who asks.
"""

BYTES_TO_READ = 8192
"""Bytes of memory, likewise."""


def do(
    tables: Protected, job: Job, times: ReleaseTimes, memory: int, planned: Callable[[], None] = lambda: None
) -> Done:
    """Do a job, and return its outcome; of an error that isn't ours, only that there was one.

    What was sent is read here and nowhere else: the service, which others wait for too, only passes it on.

    Args:
        tables: that are asked about.
        job: the work to do.
        times: when answers leave.
        memory: bytes that a slot has.
        planned: is called before a question is asked, once its plan is made.
    """
    try:
        request = request_of(job.subject, job.terms)
        match job.kind:
            case "plan":
                return _planned(tables, job, request, times, memory)
            case "stored":
                return _stored(tables, job, request)
            case "retry":
                return _retried(tables, job, request)
            case "ask":
                _check_plan(tables, job, request)
                planned()
                return _asked(tables, job, request)
            case kind:
                assert_never(kind)
    except DiscreetError as error:
        return Reply.of(error)
    except Exception as error:  # noqa: BLE001 — it may be anything
        return Reply.of(_unplanned(error))


def _unplanned(error: Exception) -> DiscreetError:
    """Why a question can't be planned, where nobody foresaw it; no row had a part in it."""
    if isinstance(error, MemoryError):
        return Unsupported("this question takes too much memory to plan", hint="ask a simpler question")
    return EngineUnavailable("this question can't be planned here", hint="ask otherwise")


def _planned(tables: Protected, job: Job, request: Request, times: ReleaseTimes, memory: int) -> Planned:
    """A plan as an analyst may see it, if its answer isn't too large, or was given before.

    Raises:
        TooManyValues: it is, and wasn't.
    """
    plan = tables.plan_request(job.question, request)
    found = described(plan, times, memory)
    if job.most_values is not None and not tables.was_answered(plan):
        check_values(found.values, job.most_values)
    return replace(found, text=plan.text) if request.parameters else found


def _stored(tables: Protected, job: Job, request: Request) -> Reply | None:
    """The answer that is stored, or follows from what is; nothing if there is none for the version in force.

    Raises:
        InvalidArgument: there is none for the version that was named.
    """
    if job.version is not None:
        return _reply(tables.ask_request(job.question, request, version=job.version))
    version = tables.admissions.current().version
    try:
        return _reply(tables.ask_request(job.question, request, version=version))
    except InvalidArgument:  # it was planned before, so this says that nothing is stored
        return None


def _check_plan(tables: Protected, job: Job, request: Request) -> None:
    """Plan a question before its time runs, as it was planned before: that plan is carried out, or nothing.

    Another one, with other noise, might cost more than its caller may spend on one question. Asking plans once more,
    which is free where nothing changed: the last plan is remembered.

    Raises:
        PlanChanged: it isn't: the configuration was changed, and this process read it later.
    """
    if tables.plan_request(job.question, request).digest != job.digest:
        raise PlanChanged("this question's plan isn't the one that was named", hint="plan it again")


def _asked(tables: Protected, job: Job, request: Request) -> Reply:
    """Ask a question, which may read rows now; of an error that isn't ours, only that it failed is said."""
    under = tables if job.attempt is None else tables.during(job.attempt)
    try:
        return _reply(under.ask_request(job.question, request, digest=job.digest))
    except DiscreetError:
        raise
    except Exception:  # noqa: BLE001 — it may be anything, and depend on a person
        raise QuestionFailed from None


def _retried(tables: Protected, job: Job, request: Request) -> Reply | None:
    """The answer that a question got under its key; nothing if there is none, or not yet."""
    tried = None if job.attempt is None else tables.tried(job.attempt.key)
    found = None if tried is None else tables.retried(tables.plan_request(job.question, request), tried)
    return None if found is None else _reply(found)


def _reply(answers: Answer | list[Answer]) -> Reply:
    return Reply(answer=EncodedAnswer.of(answers))


def described(plan: Plan, times: ReleaseTimes, memory: int) -> Planned:
    """A plan as an analyst may see it.

    Args:
        plan: of one question, or of several.
        times: when answers leave.
        memory: bytes that a slot has.

    Raises:
        Unsupported: one unit could move what it takes too far.
    """
    from discreet.gateway import Size, cost_of
    from discreet.gateway.answer_builder import columns_of

    step, steps = times.step(plan), len(plan.steps)
    check_memory(plan, memory)
    if len(plan.plans) > _MOST_TOGETHER:
        raise Unsupported(
            f"{len(plan.plans)} questions were asked together; the most is {_MOST_TOGETHER}",
            hint="ask fewer at once",
        )
    size, seconds = Size.of(plan), longest(step, steps, times.rungs)
    return Planned(
        digest=plan.digest,
        cost=cost_of(plan.bundles),
        together=plan.together,
        expected=[_expected(each) for each in plan.plans],
        columns=[[PlannedColumn(*each) for each in columns_of(one.question)] for one in plan.plans],
        words=f"{plan.explain(step)}\n{_resources(seconds, size)}",
        warnings=plan.warnings,
        noise=None if plan.choice is None else str(plan.choice),
        answered_by=plan.answered_by,
        step=step,
        steps=steps,
        rungs=times.rungs,
        seconds=seconds,
        work=plan.work.seconds,
        memory=plan.work.size,
        values=size.values,
        ledger_bytes=size.stored,
        affordable={},
    )


def _resources(seconds: float, size: Size) -> str:
    """The time, space and values that a question takes, in words."""
    values = "as many values as there are groups that pass" if size.values is None else f"{size.values:,} values"
    return f"takes     {seconds:,.6g} s of a slot, {in_bytes(size.stored)} of the ledger; {values}"


def _expected(plan: Plan) -> list[PlannedError]:
    return [
        PlannedError(
            column=each.column,
            error=each.error,
            rows=each.rows,
            ranks=each.ranks,
            share=each.share,
            informative=each.is_informative,
            words=str(each),
        )
        for each in plan.expected
    ]
