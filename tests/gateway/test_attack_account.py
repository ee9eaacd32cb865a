"""Attacks on what is charged, and on what is taken for the same question of the same data."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import NotAdmitted
from discreet.mechanisms import Laplace
from discreet.privacy import Sensitivity
from discreet.query.estimates import Noise
from discreet.query.planner import Level
from discreet.tables import Column, Dataset, Source, Table, save_config

pytestmark = pytest.mark.usefixtures("kept_sessions")


def test_a_plan_with_other_noise_is_not_carried_out(tmp_path: Path) -> None:
    """A plan is checked against the rules, not taken at its word: this one states a sensitivity of 1 instead of 100."""
    with dp.protect(
        pa.table({"x": [100] * 5}),
        name="t",
        unit=dp.Unit.row(),
        columns={"x": dp.Bounds(0, 100)},
        budget=dp.Budget(epsilon=1),
        ledger=tmp_path / "t.ledger",
    ) as protected:
        plan = protected.plan("SELECT SUM(x) AS s FROM t", epsilon="1/2")
        weak = Noise(
            measure=plan.levels[0].draft.noises[0].measure, mechanism=Laplace(Fraction(2), Sensitivity.scalar(1))
        )
        with pytest.raises(dp.DiscreetError):
            protected.ask(replace(plan, levels=(Level(replace(plan.levels[0].draft, noises=(weak,))),)))
        assert protected.spent.epsilon == 0


def test_an_answer_is_not_reused_for_data_that_are_read_otherwise(tmp_path: Path) -> None:
    """Which texts of a CSV file mean NULL shapes the answer, so the table must be admitted again."""
    path = tmp_path / "t.csv"
    path.write_text("s\n" + "?\n" * 50 + "a\n" * 50, encoding="utf-8")
    reused = []
    for missing in ((), ("?",)):
        column = Column(name="s", kind=dp.Kind.TEXT)
        table = Table(name="t", source=Source.of(path, missing=missing), columns=(column,), unit=dp.Unit.row())
        dataset = Dataset(name="t", tables=(table,), budget=dp.Budget(epsilon=100), ledger=str(tmp_path / "t.ledger"))
        save_config(dataset, tmp_path / "t.toml")
        with dp.load(tmp_path / "t.toml", create_ledger=True)["t"] as protected:
            if missing:
                with pytest.raises(NotAdmitted):
                    protected.ask("SELECT COUNT(s) AS n FROM t", epsilon=10)
                protected.refresh()
            reused.append(protected.ask("SELECT COUNT(s) AS n FROM t", epsilon=10).reused)
    assert reused == [False, False]


def test_two_ids_of_a_csv_file_are_not_read_as_one(tmp_path: Path) -> None:
    """`1` and `1.4` are two people; read as one, either can move the sum by twice what was derived for a unit."""
    sums = []
    for name, rows in (("without", ""), ("with", "1.4,1\n" * 5)):
        path = tmp_path / f"{name}.csv"
        path.write_text(f"id,x\n1,-1\n{rows}", encoding="utf-8")
        with dp.protect(
            path,
            name="t",
            unit=dp.Unit("id"),
            limits=dp.Limits(rows=1),
            columns={"id": Column(name="id", kind=dp.Kind.INTEGER), "x": dp.Bounds(-1, 1)},
            budget=dp.Budget(epsilon=1),
            ledger=tmp_path / f"{name}.ledger",
            most_left_out=1,
        ) as protected:
            plan = protected.plan("SELECT SUM(x) AS s FROM t", epsilon=1)
            (exact,) = (level.exact for level in plan.levels)
            (measure,) = protected.admissions.current().engine.run(exact).measures.values()
            sums.append(measure[0])
    assert abs(sums[0] - sums[1]) <= plan.levels[0].draft.noises[0].sensitivity.l1
