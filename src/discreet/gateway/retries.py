"""Retries: the answer that an attempt of before got, found by its own debits, whatever was asked or admitted since."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from json import dumps
from typing import TYPE_CHECKING

from discreet.gateway.answer_builder import answer_of, answers_of
from discreet.gateway.answers import Workload
from discreet.gateway.outcome import Outcome
from discreet.gateway.tuning import tuned
from discreet.query.planner import Plan, Request
from discreet.tables import public_schema

if TYPE_CHECKING:
    from discreet.ledger import Signing, Stored
    from discreet.results import Answer
    from discreet.tables import Dataset


class _Missing(Exception):
    """A step of the attempt has no answer."""


def answered(
    plans: Sequence[Plan | Workload],
    stored: Sequence[Stored],
    find: Callable[[Plan], Outcome | None],
    again: Callable[[Plan, Request], Plan],
    signing: Signing,
) -> Answer | list[Answer] | None:
    """The answer that an attempt got; None if it has none, or not yet.

    Nothing is paid for: each step has the answer that its own debit got or, where it had one for nothing, that one.

    Args:
        plans: that the attempt may have carried out; one of them.
        stored: the answers that its debits got.
        find: a stored outcome of the data that it was asked of.
        again: plans the same question for another request.
        signing: signs it, as it was signed then.
    """
    own = {each.question: each for each in stored}
    for plan in plans:
        if isinstance(plan, Workload):
            if plan.digest in own:
                return answers_of(plan, replace(Outcome.stored(plan.bundles, own[plan.digest]), reused=False), signing)
            continue
        met: set[str] = set()
        try:
            found = tuned(plan, lambda step, met=met: _step(step, own, met, find), again)  # type: ignore[misc]  # mypy infers no lambda with a default
        except _Missing:
            continue
        if met == own.keys():
            return answer_of(found, signing)
    return None


def _step(step: Plan, own: Mapping[str, Stored], met: set[str], find: Callable[[Plan], Outcome | None]) -> Outcome:
    """What one step got.

    Raises:
        _Missing: nothing.
    """
    if step.digest in own:
        met.add(step.digest)
        return replace(Outcome.stored((step,), own[step.digest]), reused=False)
    found = find(step)
    if found is None:
        raise _Missing
    return found


def declarations_digest(dataset: Dataset) -> str:
    """What is declared of the tables, hashed: another bound, key, limit or budget gives another digest."""
    shares = {name: str(share) for name, share in dataset.analysts.items()}
    declared = {**public_schema(dataset), "budget": str(dataset.budget), "analysts": shares}
    rest = [[table.name, str(table.row_ceiling), table.refresh, list(table.unique)] for table in dataset.tables]
    return sha256(dumps([declared, rest], sort_keys=True, default=str).encode()).hexdigest()
