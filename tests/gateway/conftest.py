"""What gateway tests share: a small table of people, and mechanisms without noise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.mechanisms import Gaussian, Laplace

PEOPLE = {
    "person_id": [1, 1, 1, 2, 2, 3, 4, 5, 6, 7, None],
    "sex": ["Female", "Female", "Female", "Male", "Male", "Male", "Female", "other", None, "Female", "Male"],
    "age": [34, 35, 36, 71, 72, 52, 17, 44, 29, None, 60],
    "income": [12.5, 13.25, 14.0, 99.0, 250.0, -7.0, 0.0, 31.5, 48.25, 10.0, 5.0],
    "city": ["Bern", "Basel", "Bern", "Bern", "Chur", "Bern", "Basel", "Bern", "Bern", "Thun", "Bern"],
}


@pytest.fixture
def people() -> pa.Table:
    """Eleven rows of seven people, and one of nobody."""
    return pa.table(PEOPLE)


@pytest.fixture
def census(people: pa.Table, tmp_path: Path) -> Iterator[dp.Protected]:
    """The people, each row a unit, under a pure budget of 100."""
    with dp.protect(
        people,
        name="census",
        unit=dp.Unit.row(),
        columns={"age": dp.Bounds(0, 110), "sex": dp.Keys(["Female", "Male"]), "income": dp.Bounds(0, 100)},
        budget=dp.Budget(epsilon=100, delta=1e-3),
        ledger=tmp_path / "census.ledger",
    ) as protected:
        yield protected


@pytest.fixture
def noiseless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn the noise off: answers must then equal the bounded SQL."""
    for mechanism in (Laplace, Gaussian):
        monkeypatch.setattr(mechanism, "release", lambda _, values: [int(value) for value in values])
