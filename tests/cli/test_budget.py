"""`discreet budget`: what was granted, spent and is left."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

pytestmark = pytest.mark.usefixtures("town")
COUNT = "SELECT COUNT(*) AS n FROM census"


def test_budget_shows_allowed_spent_and_left(run: Any) -> None:
    """In words for people; as decimal and exact numbers for programs."""
    assert run("ask", COUNT, "--epsilon", "1/3").exit_code == 0
    table = run("budget").stdout
    assert "everyone" in table
    assert "ε = 3, δ = 1e-06" in table
    assert "ε = 0.333333" in table
    data = json.loads(run("budget", "--format", "json").stdout)
    assert data["budget"] == {"epsilon": 3.0, "rho": None, "delta": 1e-6}
    assert data["spent"]["exact"]["epsilon"] == "1/3"
    assert data["remaining"]["epsilon"] == pytest.approx(8 / 3, rel=1e-6)
    assert data["analysts"] == {}
    (row,) = csv.DictReader(io.StringIO(run("budget", "--format", "csv").stdout))
    assert (row["who"], float(row["budget_epsilon"])) == ("everyone", 3.0)
    stream = pa.ipc.open_stream(run("budget", "--format", "arrow").stdout_bytes).read_all()
    assert stream.column("spent_epsilon").to_pylist() == [pytest.approx(1 / 3)]


def test_the_page_has_all_that_was_spent_and_its_proof(town: Path, run: Any) -> None:
    """By analyst and by month, with the command, the ledger's head and the key; it fetches nothing."""
    config = (town / "discreet.toml").read_text(encoding="utf-8")
    shares = '\n[analysts]\nann = { epsilon = 1 }\n"<b>" = { epsilon = 1 }\n'
    (town / "discreet.toml").write_text(config + shares, encoding="utf-8")
    assert run("budget", "--html", "none.html").exit_code == 0
    assert "Nothing has been asked yet." in (town / "none.html").read_text(encoding="utf-8")
    for epsilon, who in (("1/3", "ann"), ("1/4", "<b>"), ("1/8", "ann")):
        asked = run("ask", COUNT + f" WHERE age > {epsilon[-1]}", "--epsilon", epsilon, "--analyst", who)
        assert asked.exit_code == 0, asked.output
    assert run("budget", "--html", "page.html").stdout.endswith("Written to page.html\n")
    text = (town / "page.html").read_text(encoding="utf-8")
    head = json.loads(run("verify", "--format", "json").stdout)["head"]
    row = '"row">{}</th><td>ε\xa0=\xa01</td><td>ε\xa0=\xa0{}</td><td class="n">{}</td><td class="n">{}</td></tr>'
    for each in (
        row.format("ann", "0.5417", 2, "0.458333"),
        row.format("&lt;b&gt;", "0.75", 1, "0.25"),
        '<td class="n">3</td><td class="n">0.708333</td><td class="n">0.708333</td>',
        "discreet budget --html page.html",
        f"discreet verify --kept {head}",
        run("key").stdout.strip(),
        "ε\xa0=\xa00.7083 of 3 is spent.",
    ):
        assert each in text
    assert not re.search(r"(src|href)=|<script|<b>|@import", text)
    refused = run("budget", "--html", "page.html")
    assert (refused.exit_code, "--force" in refused.stderr) == (1, True)


def test_the_page_says_that_a_ledger_does_not_hold(town: Path, run: Any) -> None:
    """It never says that a changed ledger holds."""
    run("ask", COUNT, "--epsilon", "0.25")
    with closing(sqlite3.connect(town / "census.ledger")) as ledger, ledger:
        for (trigger,) in ledger.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            ledger.execute(f'DROP TRIGGER "{trigger}"')
        (entry,) = (
            name for (name,) in ledger.execute("SELECT name FROM sqlite_master WHERE type = 'table'") if "entr" in name
        )
        ledger.execute(f"UPDATE {entry} SET at = at + 1 WHERE epsilon = '1/4'")
    result = run("budget", "--html", "page.html")
    page = town / "page.html"
    assert result.exit_code == 4 or "does not hold" in page.read_text(encoding="utf-8")
    assert not page.exists() or "and hold." not in page.read_text(encoding="utf-8")
