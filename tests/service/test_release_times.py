"""The custodian's table of seconds, and what would keep a slot for too long."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import discreet as dp
from discreet.errors import InvalidArgument, Unsupported
from discreet.service import ReleaseTimes, release_times


@pytest.mark.parametrize("rungs", [0, -1, 9])
def test_a_step_has_at_least_one_time_and_not_very_many(rungs: int) -> None:
    """The last of eight is 128 times the first."""
    with pytest.raises(InvalidArgument, match="1 to 8 times"):
        ReleaseTimes(rungs=rungs)


def test_what_keeps_a_slot_for_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question of many grouping sets, and a workload of many questions; before anything is paid."""
    monkeypatch.setattr(release_times, "MOST_READINGS", 3)
    frame, columns = pd.DataFrame({"a": ["x"], "b": ["y"]}), {"a": dp.Keys(["x"]), "b": dp.Keys(["y"])}
    budget, ledger = dp.Budget(epsilon=9), tmp_path / "l"
    with dp.protect(frame, name="t", unit=dp.Unit.row(), columns=columns, budget=budget, ledger=ledger) as table:
        times = ReleaseTimes(base=1, scan=2)
        rolled, cubed = (
            table.plan(f"SELECT a, b, COUNT(DISTINCT b) AS n FROM t GROUP BY {kind}(a, b)", epsilon=1)
            for kind in ("ROLLUP", "CUBE")
        )
        together = table.plan("SELECT a, b, COUNT(*) AS n FROM t GROUP BY CUBE(a, b)", rho="1/1000")
        assert times.step(together) == 3.01  # rows are read once for all of its levels
        assert times.step(rolled) == 7.01  # one row moves it by some microseconds
        several = [f"SELECT {each}, COUNT(*) AS n FROM t WHERE {each} <> 'z' GROUP BY {each}" for each in "ab"]
        for much in (
            cubed,
            table.plan([*several, *(f"SELECT COUNT(*) AS n FROM t WHERE a <> '{n}'" for n in range(4))], epsilon=1),
        ):
            with pytest.raises(Unsupported, match="may take as long as 3 "):
                times.step(much)
