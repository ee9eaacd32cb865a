"""`discreet failures`: questions that failed after they were paid for, until they were looked at."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.ledger import Ledger
from discreet.privacy import LaplaceEvent

pytestmark = pytest.mark.usefixtures("town")
COUNT = "SELECT COUNT(*) AS n FROM census"


def test_failures_are_shown_and_looked_at(town: Path, run: Any) -> None:
    """Which failed, and how many may; after the look they are counted anew, and the history says so."""
    with Ledger.open(town / "census.ledger", create=False) as ledger:
        account = ledger.account("census", dp.Budget(epsilon=3, delta=1e-6))
        version = account.admitted() or account.admit("x", after=0)
        event = LaplaceEvent(scale=Fraction(10), l1=1)
        paid = account.reserve(question="q", text=COUNT, version=version.version, event=event, analyst="ann")
        account.fail(paid)
    assert "failures   1 of 10 questions failed" in run("budget").stdout
    assert json.loads(run("budget", "--format", "json").stdout)["failures"] == {
        "allowed": 10,
        "failed": 1,
        "pending": 0,
    }
    shown = run("failures").stdout
    assert "SELECT COUNT(*)" in shown
    assert "1 of 10 questions failed; nobody has looked into them yet" in shown
    (row,) = json.loads(run("failures", "--format", "json").stdout)
    assert (row["entry"], row["analyst"], row["state"]) == (1, "ann", "failed")
    assert "looked into, as an entry of the ledger now says" in run("failures", "--acknowledge").stdout
    assert "0 of 10 questions failed" in run("failures").stdout
    assert "the custodian looked into failed questions: 1" in run("history").stdout
    assert run("verify").exit_code == 0
    assert run("failures", "--acknowledge").exit_code != 0
