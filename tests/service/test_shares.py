"""What each process of a service has of the machine."""

from __future__ import annotations

import pytest

from discreet.machine import usable_memory
from discreet.service import shares


@pytest.mark.parametrize(("cores", "slots"), [(1, 1), (1, 3), (2, 1), (2, 2), (2, 3), (4, 1), (4, 2), (8, 3), (9, 2)])
def test_each_slot_has_its_own_cores(cores: int, slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No two share one, nor with who plans, where there are more cores than slots; no slot has more than another."""
    monkeypatch.setattr(shares, "usable_cores", lambda: list(range(cores)))
    asking, planning = shares.shares(slots, 1.0)
    taken = [core for share in asking for core in share.cores]
    assert len(asking) == slots
    assert len({len(share.cores) for share in asking}) == 1
    assert set(taken) | set(planning.cores) <= set(range(cores))
    assert planning.cores
    if cores > slots:
        assert len(set(taken)) == len(taken)
        assert not set(taken) & set(planning.cores)
    assert len(taken) <= max(cores, slots)
    assert sum(share.memory for share in asking) <= usable_memory()
