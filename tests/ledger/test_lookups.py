"""A decision takes as long in a long ledger as in a short one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from discreet.ledger import Ledger
from discreet.privacy import Budget
from support.ledgers import admitted, ask, sql


@contextmanager
def statements() -> Iterator[list[tuple[str, Any]]]:
    """What is asked of the database meanwhile."""
    seen: list[tuple[str, Any]] = []

    def note(_: object, __: object, statement: str, values: Any, *___: object) -> None:
        seen.append((statement, values))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def one_question(path: Path, question: str) -> list[tuple[str, Any]]:
    """The statements of one question from its data version to its answer, and of the account's figures."""
    shares = {"ada": Budget(epsilon=500)}
    with Ledger.open(path, create=True) as ledger:
        account = ledger.account("census", Budget(epsilon=1000), shares)
        admitted(account)
        with statements() as seen:
            account.stored(question, admitted(account))
            account.commit(ask(account, question, analyst="ada"), certificate={}, answer={})
            account.spent("ada")
            account.remaining("ada")
        return seen


def test_the_number_of_statements_does_not_grow(tmp_path: Path) -> None:
    """The last of two dozen questions asks the same of the database as the second."""
    path = tmp_path / "census.ledger"
    one_question(path, "first")
    second = one_question(path, "second")
    for number in range(20):
        one_question(path, f"{number}")
    assert [text for text, _ in one_question(path, "last")] == [text for text, _ in second]


def test_every_look_up_uses_an_index(tmp_path: Path) -> None:
    """No statement reads the entries one after the other, or sorts them."""
    path = tmp_path / "census.ledger"
    looked_up = [(text, values) for text, values in one_question(path, "question") if "FROM discreet_entry" in text]
    assert len(looked_up) > 10
    for text, values in looked_up:
        plan = [row[3] for row in sql(path, f"EXPLAIN QUERY PLAN {text}", *values)]
        assert [step for step in plan if not step.startswith("SEARCH discreet_entry USING")] == [], text


def test_a_full_scan_is_noticed(tmp_path: Path) -> None:
    """The check above sees a statement that has no index to go by."""
    path = tmp_path / "census.ledger"
    one_question(path, "question")
    plan = [row[3] for row in sql(path, "EXPLAIN QUERY PLAN SELECT * FROM discreet_entry WHERE at > 'x'")]
    assert not any(step.startswith("SEARCH discreet_entry USING") for step in plan)


def test_every_write_is_synced(tmp_path: Path) -> None:
    """SQLite is told to wait for the disk, and the folder, at each commit; the ledger leaves no other file behind."""
    path = tmp_path / "census.ledger"
    settings: list[tuple[int, str]] = []
    with Ledger.open(path, create=True) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        admitted(account)

        def note(connection: Any) -> None:
            levels = connection.exec_driver_sql("PRAGMA synchronous").scalar()
            settings.append((levels, connection.exec_driver_sql("PRAGMA journal_mode").scalar()))

        event.listen(Engine, "commit", note)
        try:
            account.commit(ask(account, "question"), certificate={}, answer={})
        finally:
            event.remove(Engine, "commit", note)
    extra = 3
    assert settings == [(extra, "delete")] * 2
    assert sorted(file.name for file in tmp_path.iterdir()) == ["census.ledger", "census.ledger.marks"]


def test_a_question_takes_little_time(tmp_path: Path) -> None:
    """Opening sends 9 statements to the database, and a debit and its outcome 25: at most half as many again."""
    path = tmp_path / "census.ledger"
    one_question(path, "first")
    with statements() as sent, Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1000), {"ada": Budget(epsilon=500)})
        opened = len(sent)
        for number in range(20):
            account.commit(ask(account, f"{number}", analyst="ada"), certificate={}, answer={})
        asked = len(sent) - opened
    assert opened <= 13
    assert asked <= 20 * 37


def test_importing_the_ledger_loads_no_database() -> None:
    """SQLAlchemy is loaded by the first ledger that is opened, and not before."""
    program = "import sys, discreet.ledger; print('sqlalchemy' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert printed == "False\n"
