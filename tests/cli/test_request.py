"""`discreet request`: the custodian sees what was requested, approves it and denies it."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from fractions import Fraction
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
    table = run("request", "list").stdout
    assert "NULL" not in table  # nothing where nobody has decided
    assert "/" in row["rho"]
    assert row["rho"] not in table
    assert f"{float(Fraction(row['rho'])):.6g}" in table
    assert run("request", "approve", requested, "--by", "Ann").exit_code != 0
    approved = run("request", "approve", requested, "--days", "2", "--any-version")
    assert approved.stdout.startswith("approved until")
    assert run("request", "approve", requested).exit_code != 0
    assert run("request", "deny", requested, "--reason", "no").exit_code == 0
    (row,) = json.loads(run("request", "list", "--format", "json").stdout)
    assert row["state"] == "denied"
    assert run("request", "deny", "0" * 32).exit_code != 0
    assert run("verify").exit_code == 0


def test_a_declared_share_that_renews_is_in_the_budget(requested: str, run: Any) -> None:  # noqa: ARG001 — its folder
    """What is left of this month, and when the next begins."""
    config = Path("discreet.toml")
    shares = '[analysts.ann]\nepsilon = "1/2"\nrenews = "monthly"\n[analysts.bob]\nepsilon = 1\n'
    config.write_text(config.read_text().replace("[tables.people]", f"{shares}\n[tables.people]", 1))
    assert run("ask", COUNT, "--epsilon", "1/5", "--analyst", "ann").exit_code == 0
    found = json.loads(run("budget", "--format", "json").stdout)["analysts"]
    assert found["ann"]["this_month"]["exact"]["epsilon"] == "1/5"
    assert found["ann"]["remaining"]["epsilon"] == 0.3
    assert "renews" not in found["bob"]
    renews = datetime.fromisoformat(found["ann"]["renews"])
    assert (renews.day, renews.hour, renews.tzinfo) == (1, 0, UTC)
    assert timedelta(0) < renews - datetime.now(UTC) <= timedelta(days=31)
    shown = run("budget").stdout
    assert f"this month ε = 0.2; it renews on {renews:%Y-%m-%d}, in UTC" in shown
    assert "ε = 0.5 a month" in shown
    refused = run("ask", f"{COUNT} WHERE id < 7", "--epsilon", "2/5", "--analyst", "ann")
    assert f"it renews on {renews:%Y-%m-%d}" in " ".join(refused.stderr.split())
    rows = list(csv.DictReader(io.StringIO(run("budget", "--format", "csv").stdout)))
    assert [row["renews"] for row in rows] == ["", found["ann"]["renews"], ""]


def test_a_token_has_ceilings_and_a_share(requested: str, run: Any) -> None:  # noqa: ARG001 — its folder
    """In ε and in ρ."""
    said = ("--most-epsilon", "1", "--most-rho", "1/8", "--share", "3", "--share-delta", "1e-6", "--dataset", "people")
    assert run("token", "create", "ann", *said).exit_code == 0
    (row,) = json.loads(run("token", "list", "--format", "json").stdout)
    assert (row["most_epsilon"], row["most_rho"], row["share"]) == ("1", "1/8", "ε = 3, δ = 1e-06")
    assert run("token", "create", "ann", "--share", "1/2", "--renews", "monthly").exit_code == 0
    *_, row = json.loads(run("token", "list", "--format", "json").stdout)
    assert row["share"] == "ε = 0.5 a month"
    assert run("token", "create", "ann", "--share", "1/2", "--renews", "weekly").exit_code != 0
    assert "without a share there is nothing to renew" in run("token", "create", "ann", "--renews", "monthly").stderr
    assert "a share with a δ needs an ε" in run("token", "create", "ann", "--share-delta", "1e-6").stderr
