"""One ledger object in many threads, and on both sides of a fork."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from discreet.errors import BudgetExhausted
from discreet.ledger import Account, Ledger
from discreet.privacy import Budget
from support.ledgers import admitted, ask, run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with data."""
    path = tmp_path / "census.ledger"
    with Ledger.open(path, create=True) as ledger:
        admitted(ledger.account("census", Budget(epsilon=1000)))
    return path


def test_forked_children_go_on(path: Path) -> None:
    """Parent's and children's questions are all in the ledger, each once, and children see what came before."""
    assert run("fork", path) == ["child True"] * 4 + ["parent 41/10"]
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1000))
        stored = account.stored("before the fork", 1)
        assert stored is not None
        assert stored.answer == {"n": -1}
        assert ledger.verify().problems == ()


def test_a_fork_in_the_middle_of_a_transaction(path: Path) -> None:
    """A child can use the ledger at once, though another thread of its parent was writing when it was born."""
    assert run("fork_in_the_middle", path) == ["failed 0", "verify True"]


def test_threads_spend_a_budget_exactly(path: Path) -> None:
    """Of 8 × 10 questions in threads at 1/37 of the budget, 37 are admitted."""
    with Ledger.open(path, create=False) as ledger, ThreadPoolExecutor(8) as threads:
        account = ledger.account("census", Budget(epsilon=1))

        def work(number: int) -> int:
            return sum(answered(account, f"{number}-{question}") for question in range(10))

        assert sum(threads.map(work, range(8))) == 37
        assert account.remaining().epsilon == 0
        assert ledger.verify().problems == ()


def answered(account: Account, question: str) -> bool:
    """Whether a question could be paid for."""
    try:
        account.commit(ask(account, question, "1/37"), certificate={}, answer={})
    except BudgetExhausted:
        return False
    return True


def test_nothing_is_left_open(path: Path) -> None:
    """A ledger that nobody closed leaves no connection behind; one that was closed may be closed again."""
    ledger = Ledger.open(path, create=False)
    ask(ledger.account("census", Budget(epsilon=1)), "question")
    opened = [link for link in Path("/proc/self/fd").glob("*") if link.exists() and link.resolve() == path]
    assert opened == []
    ledger.close()
    ledger.close()
    del ledger
    gc.collect()
    assert sorted(file.name for file in path.parent.iterdir()) == [path.name, f"{path.name}.marks"]
