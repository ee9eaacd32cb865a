"""Topics: what answers are about is found again, however long the ledger, and nothing rests on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import LedgerCorrupt
from discreet.ledger import Account, Ledger
from discreet.privacy import Budget
from support.ledgers import ask, sql


def answered(account: Account, question: str, *topics: tuple[str, int]) -> None:
    """A question with its answer, about some topics."""
    account.commit(ask(account, question), certificate={}, answer={"of": question}, topics=topics)


def about(account: Account, topic: str, version: int = 1, most: int = 9) -> list[str]:
    """The questions of the answers about a topic."""
    return [stored.question for stored in account.about(topic, version, most)]


def test_answers_about_a_topic_are_found(tmp_path: Path) -> None:
    """By account, version and topic; an answer may have several topics, or none."""
    with Ledger.open(tmp_path / "l", create=True) as ledger:
        first, other = (ledger.account(name, Budget(epsilon=9)) for name in ("first", "other"))
        answered(first, "a", ("visits", 1))
        answered(first, "b", ("people", 1), ("visits", 1))
        answered(first, "c", ("visits", 2))
        answered(first, "d")
        answered(other, "e", ("visits", 1))
        assert about(first, "visits") == ["b", "a"]
        assert about(first, "visits", most=1) == ["b"]
        assert about(first, "people") == ["b"]
        assert about(first, "visits", version=2) == ["c"]
        assert about(other, "visits") == ["e"]
        assert about(other, "people") == []
        assert [stored.answer for stored in first.about("people", 1, 9)] == [{"of": "b"}]
        assert ledger.verify().problems == ()


def test_the_dearest_come_first_and_then_the_newest(tmp_path: Path) -> None:
    """So many of each, and none of them twice."""
    with Ledger.open(tmp_path / "l", create=True) as ledger:
        account = ledger.account("t", Budget(epsilon=9))
        for question, cost in {"a": "3/10", "b": "1/10", "c": "2/10", "d": "1/10", "e": "1/10"}.items():
            account.commit(ask(account, question, cost), certificate={}, answer={}, topics=[("visits", 1)])
        assert about(account, "visits", most=1) == ["a", "e"]
        assert about(account, "visits", most=2) == ["a", "c", "e", "d"]
        assert about(account, "visits", most=3) == ["a", "c", "e", "d"]
        assert about(account, "visits", most=4) == ["a", "c", "e", "d", "b"]


def test_topics_are_found_by_an_index(tmp_path: Path) -> None:
    """No look-up reads all topics, or sorts them."""
    path = tmp_path / "l"
    with Ledger.open(path, create=True) as ledger:
        answered(ledger.account("t", Budget(epsilon=9)), "a", ("visits", 1))
    text = "SELECT seq FROM discreet_topic WHERE account = 't' AND version = 1 AND topic = 'visits' ORDER BY"
    for order in ("seq DESC", "cost DESC, seq DESC"):
        plan = [row[3] for row in sql(path, f"EXPLAIN QUERY PLAN {text} {order} LIMIT 9")]
        assert len(plan) == 1
        assert plan[0].startswith("SEARCH discreet_topic USING")
    every = [row[3] for row in sql(path, "EXPLAIN QUERY PLAN SELECT seq FROM discreet_topic WHERE seq > 1")]
    assert not any(step.startswith("SEARCH") for step in every)


def test_a_ledger_without_topics_gets_them_with_its_next_answer(tmp_path: Path) -> None:
    """One that was made before there were topics, or lost them, goes on."""
    path = tmp_path / "l"
    with Ledger.open(path, create=True) as ledger:
        account = ledger.account("t", Budget(epsilon=9))
        answered(account, "a")
        assert about(account, "visits") == []
        assert sql(path, "SELECT name FROM sqlite_master WHERE name = 'discreet_topic'") == []
        answered(account, "b", ("visits", 1))
        assert about(account, "visits") == ["b"]
        sql(path, "DROP TABLE discreet_topic")
        assert about(account, "visits") == []
        assert ledger.verify().problems == ()


def test_what_topics_lead_to_is_checked(tmp_path: Path) -> None:
    """A changed answer is damage; a debit, or another account's answer, isn't an answer about anything."""
    path = tmp_path / "l"
    with Ledger.open(path, create=True) as ledger:
        account, other = (ledger.account(name, Budget(epsilon=9)) for name in ("t", "other"))
        answered(other, "a", ("visits", 1))
        answered(account, "b", ("visits", 1))
        for (seq,) in sql(path, "SELECT seq FROM discreet_entry"):
            sql(path, "INSERT OR IGNORE INTO discreet_topic VALUES ('t', 1, 'all', ?, 1)", seq)
        assert about(account, "all") == ["b"]
        sql(path, "UPDATE discreet_entry SET body = '{}' WHERE kind = 'commit'")
        with pytest.raises(LedgerCorrupt):
            account.about("visits", 1, 9)


def test_an_answer_that_is_not_kept_has_no_topics(tmp_path: Path) -> None:
    """Both are written in one transaction."""
    path = tmp_path / "l"
    with Ledger.open(path, create=True) as ledger:
        account = ledger.account("t", Budget(epsilon=9))
        paid = ask(account, "a")
        account.fail(paid)
        with pytest.raises(ValueError, match="has its outcome"):
            account.commit(paid, certificate={}, answer={}, topics=[("visits", 1)])
        answered(account, "b", ("people", 1))
        assert about(account, "visits") == []
