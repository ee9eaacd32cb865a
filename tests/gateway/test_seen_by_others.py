"""What other analysts see of a question that was asked before: what it was, and neither by whom nor in which words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dp
from discreet.results import Answer, verify_certificate
from discreet.results.contradictions import contradictions
from support.ledgers import rows

pytestmark = pytest.mark.usefixtures("kept_sessions")

NOTE = "-- case 4711, a private note"
ANN = "ann of ward 3"
QUESTION = "SELECT sex, COUNT(*) AS n FROM t GROUP BY sex"
DERIVED = "SELECT COUNT(*) AS n FROM t WHERE sex = 'f'"
TOGETHER = ["SELECT COUNT(*) AS n FROM t", "SELECT sex, COUNT(*) AS m FROM t GROUP BY sex"]


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[dp.Protected]:
    """A table of which ann has asked one question, and a workload, each with a note."""
    with dp.protect(
        pa.table({"sex": ["f", "m"] * 20}),
        name="t",
        unit=dp.Unit.row(),
        columns={"sex": dp.Keys(["f", "m"])},
        budget=1000,
        ledger=tmp_path / "t.ledger",
    ) as tables:
        tables.ask(f"{NOTE}\n{QUESTION}", epsilon=10, analyst=ANN)
        tables.ask([f"{NOTE}\n{each}" for each in TOGETHER], epsilon=1, analyst=ANN)
        yield tables


def told(answer: Answer) -> tuple[dict[str, Any], str]:
    """An answer as JSON, and as the text that somebody is given."""
    data = answer.to_json()
    return data, json.dumps(data, ensure_ascii=False)


def test_another_analyst_sees_neither_who_asked_nor_in_which_words(asked: dp.Protected, tmp_path: Path) -> None:
    """Of the same question, of what follows from it, and of a workload; the signature holds for what they see."""
    key = asked.signing.public
    assert key is not None
    hashes = {row.number: row.hash for row in rows(tmp_path / "t.ledger") if row.kind == "commit"}
    same = asked.ask(QUESTION, epsilon=10, analyst="bob")
    derived = asked.ask(DERIVED, epsilon=1, analyst="bob")
    together = asked.ask(list(TOGETHER), epsilon=1, analyst="bob")
    assert (same.reused, derived.origin, [each.reused for each in together]) == (True, (1,), [True, True])
    for answer, proofs in (
        (same, [same.certificate]),
        (derived, derived.certificate["follows_from"]),
        *((each, [each.certificate]) for each in together),
    ):
        data, text = told(answer)
        assert NOTE not in text
        assert ANN not in text
        assert verify_certificate(data, key).problems == ()
        for proof in proofs:
            assert {"text", "analyst"}.isdisjoint(proof)
            assert proof["hash"] == hashes[proof["entry"]]
            assert proof["questions"]
            assert proof["plans"]


@pytest.mark.parametrize("analyst", [ANN, None])
def test_who_asked_and_who_sits_at_the_machine_see_all_of_it(asked: dp.Protected, analyst: str | None) -> None:
    """The wrong twin: there the note is in the answer, so that the test above could find it."""
    for answer in (asked.ask(QUESTION, epsilon=10, analyst=analyst), asked.ask(DERIVED, epsilon=1, analyst=analyst)):
        _, text = told(answer)
        assert NOTE in text
        assert ANN in text


def test_of_an_earlier_version_no_more_is_seen(asked: dp.Protected) -> None:
    """Nor once the tables were admitted again."""
    asked.refresh()
    answer = asked.ask(QUESTION, epsilon=10, analyst="bob", version=1)
    assert answer.reused
    assert NOTE not in told(answer)[1]


def test_a_certificate_without_words_and_hash_vouches_for_nothing(asked: dp.Protected) -> None:
    """Whoever leaves the words out says by which entry the answer was released."""
    data, _ = told(asked.ask(QUESTION, epsilon=10, analyst="bob"))
    assert contradictions(Answer.from_json(data)) == []
    del data["certificate"]["hash"]
    assert contradictions(Answer.from_json(data)) == ["it has no certificate"]


def test_auditors_see_all_of_it(asked: dp.Protected) -> None:
    """Of each entry, by its number."""
    found = asked.vouched(1)
    assert found is not None
    assert found.certificate is not None
    assert (found.certificate["analyst"], NOTE in found.certificate["text"]) == (ANN, True)
