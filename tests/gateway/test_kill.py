"""Kill −9 at each step: never an answer without its debit, and the ledger verifies."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

import discreet as dp
from support.forked import asking

CHILD = """
import os, signal, sys
import pyarrow as pa
import discreet as dp
from discreet.gateway import execute
from discreet.ledger import Account
from discreet.mechanisms import Laplace

ledger, step = sys.argv[1:]

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def after(function, times=1):
    def dying(*args, **kwargs):
        nonlocal times
        given, times = function(*args, **kwargs), times - 1
        return given if times else die()
    return dying

steps = {
    "before reserve": (Account, "reserve", die),
    "after reserve": (Account, "reserve", after(Account.reserve)),
    "in the engine": (execute, "release", die),
    "while preparing": (Laplace, "release", die),
    "in the noise": (Laplace, "release", after(Laplace.release, times=2)),  # the first is drawn before it is paid
    "before commit": (Account, "commit", die),
    "after commit": (Account, "commit", after(Account.commit)),
}
setattr(*steps[step])
table = pa.table({"x": [1, 2, 3]})
t = dp.protect(table, name="t", unit=dp.Unit.row(), budget=dp.Budget(epsilon=1), ledger=ledger)
print(t.ask("SELECT COUNT(*) AS n FROM t", epsilon="1/4")["n"])
"""


@pytest.mark.parametrize(
    ("step", "paid", "kept"),
    [
        ("while preparing", False, False),
        ("before reserve", False, False),
        ("after reserve", True, False),
        ("in the engine", True, False),
        ("in the noise", True, False),
        ("before commit", True, False),
        ("after commit", True, True),
    ],
)
def test_a_killed_question_is_paid_for_and_shows_nothing(step: str, paid: bool, kept: bool, tmp_path: Path) -> None:
    """Whatever was reserved stays spent; what was committed is answered again for nothing; nothing was printed."""
    import pyarrow as pa

    ledger = tmp_path / "t.ledger"
    child = asking().run(CHILD, ledger, step)
    assert child.returncode == -signal.SIGKILL, child.stderr
    assert child.stdout == ""
    table = pa.table({"x": [1, 2, 3]})
    budget = dp.Budget(epsilon=1)
    with dp.protect(table, name="t", unit=dp.Unit.row(), budget=budget, ledger=ledger) as t:
        assert t.spent.epsilon == (dp.PureDP("1/4").epsilon if paid else 0)
        assert t.verify().problems == ()
        assert t.ask("SELECT COUNT(*) AS n FROM t", epsilon="1/4").reused is kept
        assert t.verify().problems == ()
