"""Private groups are released a few at a time, and it makes no difference how many."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.gateway import execute

FREQUENT = [f"word {number:02}" for number in range(20)]
ROWS = [word for word in FREQUENT for _ in range(30)] + [f"once {number}" for number in range(20)]
TABLE = pa.table({"person": list(range(len(ROWS))), "word": ROWS, "age": [40] * len(ROWS)})


@pytest.mark.parametrize("at_a_time", [1, 7, 40, 2**16])
def test_the_same_groups_are_released(at_a_time: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """All that are frequent, and none that is there once, which noise moves by 1 with less than e^-20 each."""
    monkeypatch.setattr(execute, "_AT_A_TIME", at_a_time)
    words = dp.protect(
        TABLE,
        name="words",
        unit="person",
        budget=dp.Budget(200, delta=1e-6),
        columns={"age": (0, 100)},
        limits=dp.Limits(groups=1, rows_per_group=1),
        ledger=tmp_path / "words.ledger",
    )
    answer = words.ask(
        "SELECT word, COUNT(*) AS n, MEDIAN(age) AS age FROM words GROUP BY word", epsilon=150, delta=1e-7
    )
    assert answer.to_arrow().to_pylist() == [{"word": word, "n": 30, "age": 40} for word in FREQUENT]
