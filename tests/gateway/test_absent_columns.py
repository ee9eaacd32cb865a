"""Columns that a table seems to have, and that can't be declared: the error says why, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import discreet as dp
from discreet.errors import SchemaMismatch

FRAME = pd.DataFrame(
    {
        "pid": [1, 2, 3],
        "month": pd.period_range("2024-01", periods=3, freq="M"),
        "stay": pd.to_timedelta([1, 2, 3], unit="D"),
    }
)
CLOCK = pl.DataFrame({"pid": [1], "at": pl.Series([0], dtype=pl.Time)})


@pytest.mark.parametrize(
    ("data", "how", "said", "hint"),
    [
        (FRAME.set_index("pid"), {"unit": "pid"}, "'pid' is the table's index", "reset_index()"),
        (FRAME, {"unit": "pid", "columns": {"month": dp.Keys(["2024-01"])}}, "'month' holds", "convert it to texts"),
        (FRAME, {"unit": "pid", "columns": {"stay": (0, 10)}}, "'stay' holds duration", "convert it to texts"),
        (CLOCK, {"unit": "pid", "columns": {"at": dp.Keys(["1"])}}, "'at' holds time", "convert it to texts"),
    ],
)
def test_why_a_column_can_not_be_declared(tmp_path: Path, data: Any, how: dict[str, Any], said: str, hint: str) -> None:
    """An index, and types of which no column is."""
    with pytest.raises(SchemaMismatch, match=said) as caught:
        dp.protect(data, name="t", limits=dp.Limits(rows=1), budget=1, ledger=tmp_path / "t.ledger", **how)
    assert hint in caught.value.hint
