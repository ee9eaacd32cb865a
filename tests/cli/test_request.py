"""`discreet request`: the custodian sees what was requested, approves it and denies it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.gateway import cost_of
from support.served import CONFIG, COUNT

ID = "1" * 32


@pytest.fixture
def requested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A request of ann's, in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,k\n" + "\n".join(f"{n},a" for n in range(100)), encoding="utf-8")
    Path("discreet.toml").write_text(CONFIG, encoding="utf-8")
    with dp.load(create_ledger=True) as tables:
        tables.refresh()
        plan = tables.plan(COUNT, epsilon="2", analyst="ann")
        content = {
            "question": COUNT,
            "terms": {"epsilon": "2"},
            "plan": plan.digest,
            "purpose": "why",
            "cost": cost_of([plan]).to_json(),
        }
        tables.requests.open(ID, "ann", "", content)
    return ID


def test_a_request_is_listed_approved_and_taken_back(requested: str, run: Any) -> None:
    """Never by who made it."""
    (row,) = json.loads(run("request", "list", "--format", "json").stdout)
    assert (row["name"], row["epsilon"], row["purpose"], row["state"]) == ("ann", "2", "why", "open")
    assert run("request", "approve", requested, "--by", "Ann").exit_code != 0
    approved = run("request", "approve", requested, "--days", "2", "--any-version")
    assert approved.stdout.startswith("approved until")
    assert run("request", "approve", requested).exit_code != 0
    assert run("request", "deny", requested, "--reason", "no").exit_code == 0
    (row,) = json.loads(run("request", "list", "--format", "json").stdout)
    assert row["state"] == "denied"
    assert run("request", "deny", "0" * 32).exit_code != 0
    assert run("verify").exit_code == 0


def test_a_token_has_ceilings_and_a_share(requested: str, run: Any) -> None:  # noqa: ARG001 — its folder
    """In ε and in ρ."""
    said = ("--most-epsilon", "1", "--most-rho", "1/8", "--share", "3", "--share-delta", "1e-6", "--dataset", "people")
    assert run("token", "create", "ann", *said).exit_code == 0
    (row,) = json.loads(run("token", "list", "--format", "json").stdout)
    assert (row["most_epsilon"], row["most_rho"], row["share"]) == ("1", "1/8", "ε = 3, δ = 1e-06")
    assert "a share has an ε" in run("token", "create", "ann", "--share-delta", "1e-6").stderr
