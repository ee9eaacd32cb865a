"""`discreet verify`: the head of a ledger that holds, and what doesn't."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("town")
COUNT = "SELECT COUNT(*) AS n FROM census"


def test_verify_prints_the_head(run: Any) -> None:
    """A whole ledger verifies; the head of before is still in the chain later, another isn't."""
    run("ask", COUNT, "--epsilon", "0.25")
    text = run("verify")
    assert text.exit_code == 0, text.output
    data = json.loads(run("verify", "--format", "json").stdout)
    assert data["whole"] is True
    assert data["problems"] == []
    assert f"head {data['head']}" in text.stdout
    run("ask", COUNT, "--epsilon", "0.5")
    assert run("verify", "--kept", data["head"]).exit_code == 0
    assert run("verify", "--kept", "0" * 64).exit_code == 4


def test_a_changed_ledger_does_not_verify(town: Path, run: Any) -> None:
    """A debit made smaller is found, named, and ends with exit code 4."""
    run("ask", COUNT, "--epsilon", "0.25")
    run("ask", COUNT, "--epsilon", "0.5")
    with closing(sqlite3.connect(town / "census.ledger")) as ledger, ledger:
        tables = [name for (name,) in ledger.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        entry = next(name for name in tables if "entr" in name)
        for (trigger,) in ledger.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            ledger.execute(f'DROP TRIGGER "{trigger}"')
        changed = ledger.execute(f"UPDATE {entry} SET epsilon = '1/8' WHERE epsilon = '1/4'")
        assert changed.rowcount == 1
    result = run("verify")
    assert result.exit_code == 4
    assert "entry" in result.stdout
    data = json.loads(run("verify", "--format", "json").stdout)
    assert data["whole"] is False
    assert data["problems"]


def test_a_changed_snapshot_does_not_verify(town: Path, run: Any) -> None:
    """Changed by a byte, cut off or gone: the table is named, with exit code 4, and the ledger holds all the same."""
    run("ask", COUNT, "--epsilon", "0.25")
    whole = run("verify")
    assert whole.exit_code == 0
    assert "the admitted tables hold\n" in whole.stdout
    (path,) = town.glob("census.snapshots/census/*/0.parquet")
    written = path.read_bytes()

    def damaged() -> str:
        """What is said of it."""
        text, data = run("verify"), run("verify", "--format", "json")
        assert (text.exit_code, data.exit_code) == (4, 4)
        said = json.loads(data.stdout)
        assert (said["whole"], said["problems"], len(said["damaged"])) == (False, [], 1)
        assert "the chain and every loss hold" in text.stdout
        assert said["damaged"][0] in " ".join(text.stdout.split())
        return str(said["damaged"][0])

    half = len(written) // 2
    for change in (written[:half] + bytes([written[half] ^ 1]) + written[half + 1 :], written[:half]):
        path.write_bytes(change)
        assert "'census'" in damaged()
    path.unlink()
    assert "is missing or was altered" in damaged()
    path.write_bytes(written)
    assert run("verify").exit_code == 0
    manifest = path.with_name("manifest.json")
    manifest.write_text(manifest.read_text("utf-8").replace('"digest": "', '"digest": "0'), "utf-8")
    assert "isn't what was admitted" in damaged()


def test_a_certificate_is_a_page_to_print(town: Path, run: Any) -> None:
    """With the answer, its intervals, how it was made and who signed it; what doesn't hold has none."""
    asked = run("ask", "SELECT sex, COUNT(*) AS n FROM census GROUP BY sex", "--epsilon", "0.5", "--format", "json")
    (town / "answer.json").write_text(asked.stdout, encoding="utf-8")
    key = run("key").stdout.strip()
    said = ("verify", "--certificate", "answer.json", "--key", key, "--html", "page.html")
    assert run(*said).exit_code == 0
    text = (town / "page.html").read_text(encoding="utf-8")
    answer = json.loads(asked.stdout)
    (low, high), signature = answer["intervals"]["n"][0], answer["signature"]["value"]
    for each in (f"{answer['rows'][0]['n']:,}", f"{low:,} to {high:,}", "ε\xa0=\xa00.5", "add-remove", key, signature):
        assert each in text
    refused = run(*said)
    assert (refused.exit_code, "--force" in refused.stderr) == (1, True)
    (town / "forged.json").write_text(asked.stdout.replace('"reused": false', '"reused": true'), encoding="utf-8")
    forged = run("verify", "--certificate", "forged.json", "--key", key, "--html", "forged.html")
    assert (forged.exit_code, (town / "forged.html").exists()) == (4, False)
    assert run("verify", "--html", "ledger.html").exit_code == 1
