"""Tables that several test files ask."""

from __future__ import annotations

from pathlib import Path

import discreet as dp
from discreet.census import synthetic
from discreet.census.people import EDUCATION


def synthetic_census(folder: Path) -> dp.Protected:
    """A thousand people of the synthetic census, declared as the documentation says; the ledger lies in `folder`."""
    return dp.protect(
        synthetic(1_000),
        name="census",
        unit=dp.Unit.row(),
        columns={
            "sex": dp.Keys(["Female", "Male"]),
            "education": dp.Keys(EDUCATION),
            "age": dp.Bounds(0, 125),
            "income": dp.Bounds(0, 500_000),
            "hours": dp.Bounds(0, 168),
        },
        budget=dp.Budget(epsilon=10, delta=1e-6),
        ledger=folder / "docs.ledger",
    )
