"""Plans that are answered already: by which entries, and what an earlier attempt got. Nothing here is paid for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from discreet.gateway.outcome import Outcome
from discreet.gateway.procedures import Procedure
from discreet.gateway.tuning import Tuned
from discreet.query.planner import Plan

if TYPE_CHECKING:
    from discreet.ledger import Stored


class _Missing(Exception):
    """A step has no stored outcome."""


def entries_answering(procedure: Procedure[Tuned], find: Callable[[Plan], Outcome | None]) -> tuple[int, ...]:
    """The entries by which a plan is answered, with all that is asked first; none if some of it isn't stored.

    Args:
        procedure: what would be asked.
        find: a stored outcome.
    """
    try:
        last = procedure.follow(partial(_found, find)).outcome
    except _Missing:
        return ()
    return last.origin or ((last.entry,) if last.entry else ())


def attempted(
    procedures: Iterable[Procedure[Tuned]], stored: Iterable[Stored], find: Callable[[Plan], Outcome | None]
) -> Tuned | None:
    """The outcome of an attempt; None if it has none, or not yet.

    Each step has the outcome that its own debit got or, where it had one for nothing, that one.

    Args:
        procedures: the ones that the attempt may have followed.
        stored: the answers that its debits got.
        find: a stored outcome of the data that it was asked of.
    """
    own = {each.question: each for each in stored}
    for procedure in procedures:
        met: set[str] = set()
        try:
            reached = procedure.follow(partial(_got, own, met, find))
        except _Missing:
            continue
        if met == own.keys():
            return reached
    return None


def _got(own: Mapping[str, Stored], met: set[str], find: Callable[[Plan], Outcome | None], step: Plan) -> Outcome:
    """The outcome of one step. If its own debit has one, its digest is added to `met`."""
    if step.digest not in own:
        return _found(find, step)
    met.add(step.digest)
    return replace(Outcome.stored(step, own[step.digest], step.request.analyst), reused=False)


def _found(find: Callable[[Plan], Outcome | None], step: Plan) -> Outcome:
    """A stored outcome.

    Raises:
        _Missing: there is none.
    """
    outcome = find(step)
    if outcome is None:
        raise _Missing
    return outcome
