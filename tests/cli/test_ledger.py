"""`discreet ledger create`, and ledgers that are missing or are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.errors import LedgerMissing
from discreet.ledger import Ledger

pytestmark = pytest.mark.usefixtures("town")
COUNT = "SELECT COUNT(*) AS n FROM census"


def test_a_missing_ledger_is_an_error_until_one_is_created(town: Path, run: Any) -> None:
    """Exit code 4, and no ledger appears by itself; the hint names the command that makes one, which then works."""
    assert run("ask", COUNT, "--epsilon", "1").exit_code == 0
    (town / "census.ledger").unlink()
    for command in (["budget"], ["ask", COUNT, "--epsilon", "1"], ["history"], ["verify"]):
        result = run(*command)
        assert result.exit_code == 4, result.output
        assert result.stderr.startswith("error[ledger_missing]: ")
    assert not (town / "census.ledger").exists()
    named = " ".join(result.stderr.split()).rpartition("hint: ")[2].split("`")[1]
    assert named == "discreet ledger create"
    made = run(*named.split()[1:])
    assert (made.exit_code, made.stdout) == (
        0,
        f"created {town / 'census.ledger'}, the account of census: budget ε = 3, δ = 1e-06, nothing spent\n",
    )
    assert json.loads(run("budget", "--format", "json").stdout)["spent"]["epsilon"] == 0.0


def test_a_ledger_is_not_created_where_one_is(town: Path, run: Any) -> None:
    """Not even an empty one over another: it remembers what was spent. Nor without a configuration that holds."""
    assert run("ask", COUNT, "--epsilon", "1").exit_code == 0
    written = (town / "census.ledger").read_bytes()
    refused = run("ledger", "create")
    assert refused.exit_code == 1
    assert "which remembers what was spent" in " ".join(refused.stderr.split())
    assert (town / "census.ledger").read_bytes() == written
    (town / "census.ledger").unlink()
    config = town / "discreet.toml"
    config.write_text(config.read_text("utf-8").replace("epsilon = 3", "epsilon = -3"), "utf-8")
    assert run("ledger", "create").exit_code == 1
    assert not (town / "census.ledger").exists()


def test_a_missing_ledger_names_the_argument_of_the_function_that_was_called(town: Path) -> None:
    """`load` and `Ledger.open` each have one, of a name of its own."""
    (town / "census.ledger").unlink()
    with pytest.raises(LedgerMissing, match="create_ledger=True"):
        dp.load(town / "discreet.toml")
    with pytest.raises(LedgerMissing, match=r" create=True"):
        Ledger.open(town / "census.ledger", create=False)


def test_a_file_that_is_no_ledger_is_refused(town: Path, run: Any) -> None:
    """Exit code 4 with a typed error, not a traceback."""
    (town / "census.ledger").write_bytes(b"not a database" * 100)
    for command in (["ledger", "create"], ["ask", COUNT, "--epsilon", "1"], ["verify"]):
        result = run(*command)
        assert result.exit_code == 4, result.output
        assert result.stderr.startswith("error[ledger")
