"""Certificates: what was done to which data for an answer, for whoever must vouch for it later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from discreet.version import __version__

if TYPE_CHECKING:
    from discreet.results.answer import Answer


def certificate(  # noqa: PLR0913 — what is vouched for, each by name
    *,
    text: str,
    analyst: str | None,
    version: int,
    entry: int | None,
    questions: Sequence[str],
    plans: Sequence[Mapping[str, object]],
    cost: Mapping[str, object],
    follows_from: Sequence[Mapping[str, object]] = (),
) -> dict[str, object]:
    """What was done for an answer, or for all answers of a workload, as JSON-ready data: all of it public.

    Args:
        text: of the questions.
        analyst: who asked, if they said so.
        version: the number of the last admission of a table that was read; it says nothing of what they hold.
        entry: the number of the debit in the ledger; None where there was none, for an answer that follows from others
            or from public facts.
        questions: what was asked, in canonical form.
        plans: how what was measured was made: unit, adjacency, bounds, limits, mechanisms with exact parameters.
        cost: in every way of counting.
        follows_from: the certificates of the answers that it follows from.
    """
    return {
        "discreet": __version__,
        "text": text.strip(),
        "analyst": analyst,
        "data_version": version,
        "entry": entry,
        "questions": list(questions),
        "plans": list(plans),
        "cost": dict(cost),
        "follows_from": deepcopy(list(follows_from)),
    }


def contradictions(answer: Answer) -> list[str]:
    """What in an answer its own certificate contradicts, in words; nothing, if they agree.

    It takes no ledger: it finds a certificate that belongs to another answer, not one that was forged with it. Whether
    the debit is in the ledger, and worth what it says, is what `discreet verify` is for. Certificates of before, with
    one `plan` or a `workload`, are read as well.
    """
    return list(_contradictions(answer.certificate, answer))


def _contradictions(found: Mapping[str, Any], answer: Answer) -> Iterator[str]:
    """Each of them."""
    if not isinstance(found.get("text"), str) or not isinstance(found.get("data_version"), int):
        yield "it has no certificate"
        return
    origins = found.get("follows_from") or []
    entries = [each.get("entry") for each in origins]
    if answer.origin:
        if entries != list(answer.origin):
            yield f"it follows from entries {list(answer.origin)}, and its certificate names {entries}"
        if any(each.get("data_version") != found["data_version"] for each in origins):
            yield "it follows from answers of other versions of the data"
    elif (found.get("entry") or 0) != answer.entry:
        yield f"it was paid for in entry {answer.entry}, and its certificate names {found.get('entry')}"
