"""`discreet budget`: what was granted, spent and is left."""

from __future__ import annotations

import csv
import io
import json
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
