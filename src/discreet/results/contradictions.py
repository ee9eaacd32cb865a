"""Contradictions: what an answer says, and its own certificate says otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from discreet.results.answer import Answer


def contradictions(answer: Answer) -> list[str]:
    """The contradictions between an answer and its own certificate, in words; none, if they agree.

    It takes no ledger: it finds a certificate that belongs to another answer, not one that was forged with it. Whether
    the debit is in the ledger, and worth what it says, is what `discreet verify` is for. Certificates of before, with
    one `plan` or a `workload`, are read as well.
    """
    return list(_contradictions(answer.certificate, answer))


def _contradictions(found: Mapping[str, Any], answer: Answer) -> Iterator[str]:
    """Each of them."""
    is_others = "text" not in found and isinstance(found.get("hash"), str)  # who asked, and how, isn't said then
    if not (is_others or isinstance(found.get("text"), str)) or not isinstance(found.get("data_version"), int):
        yield "it has no certificate"
        return
    origins = found.get("follows_from") or []
    entries = [each.get("entry") for each in origins]
    if answer.origin:
        if entries != list(answer.origin):
            yield f"it follows from entries {list(answer.origin)}, but its certificate names {entries}"
        if any(each.get("data_version") != found["data_version"] for each in origins):
            yield "it follows from answers of other versions of the data"
    elif (found.get("entry") or 0) != answer.entry:
        yield f"it was paid for in entry {answer.entry}, but its certificate names {found.get('entry')}"
