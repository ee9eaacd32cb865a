"""What others' public reports say leaked doesn't leak here: each report is asked, refused or shown by a test."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import DiscreetError
from support.foreign_reports import Report, reports
from support.project import ROOT

pytestmark = pytest.mark.usefixtures("kept_sessions")

EPSILON = 10**6
"""So much that noise can't be seen: what is left of an answer is its exact part."""
GROUPS = [f"g{number}" for number in range(10)]
NEAR = 0.05


def people() -> pa.Table:
    """100 rows, with what reports are about: NaN, infinities, a text that is no number, a time beyond the calendar."""
    return pa.table(
        {
            "id": [0] * 10 + [1] * 10 + list(range(2, 82)),
            "g": GROUPS * 10,
            "x": [1.0] * 98 + [math.nan, math.inf],
            "t": ["7"] * 99 + ["seven"],
            "k": [10] * 100,
            "unbounded": [3] * 100,
            "at": pa.array([0] * 99 + [2**62], pa.timestamp("us")),
        }
    )


@pytest.fixture(scope="module")
def accounts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, dp.Protected]]:
    """The table as rows of their own, as rows of people, and of people who may be exchanged."""
    folder: Path = tmp_path_factory.mktemp("reports")
    columns = {"g": dp.Keys(GROUPS), "x": dp.Bounds(0, 50), "k": dp.Bounds(-10, 10)}

    def account(name: str, unit: dp.Unit, limits: dp.Limits | None, adjacency: dp.Adjacency) -> dp.Protected:
        return dp.protect(
            people(), name="t", unit=unit, limits=limits, adjacency=adjacency, columns=columns,
            budget=dp.Budget(epsilon=1_000 * EPSILON), ledger=folder / f"{name}.ledger",
        )  # fmt: skip

    with (
        account("rows", dp.Unit.row(), None, dp.ADD_REMOVE) as rows,
        account("users", dp.Unit("id"), dp.Limits(groups=5, rows_per_group=1), dp.ADD_REMOVE) as users,
        account("swapped", dp.Unit("id"), dp.Limits(groups=5, rows_per_group=3), dp.SUBSTITUTION) as swapped,
    ):
        yield {"rows": rows, "users": users, "swapped": swapped}


@pytest.mark.parametrize("report", reports(), ids=lambda report: report.name)
def test_it_does_not_leak_here(report: Report, accounts: Mapping[str, dp.Protected]) -> None:
    """Refused with nothing charged, or answered as is claimed; and the test that shows it is there."""
    assert report.question or report.test, "a report must be shown"
    if report.test:
        path, _, function = report.test.partition("::")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert function in {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    if not report.question:
        return
    account = accounts[report.account]
    before = account.spent
    if report.refused:
        with pytest.raises(DiscreetError) as error:
            account.ask(report.question, epsilon=EPSILON)
        assert (error.value.code, account.spent) == (report.refused, before)
        return
    assert report.answer or report.sensitivity or report.charged or report.again, "something must be compared"
    answer = account.ask(report.question, epsilon=EPSILON)
    if report.answer is not None:
        (row,) = answer.rows()
        assert {name: row[name] for name in report.answer} == pytest.approx(report.answer, abs=NEAR)
    if report.sensitivity:
        assert reckoned(answer.certificate) == Fraction(report.sensitivity)
    if report.charged:
        cost = Fraction(answer.certificate["cost"]["exact"]["epsilon"])
        assert account.spent.epsilon == (before.epsilon or 0) + cost
        assert cost <= EPSILON
    if report.again:
        once, spent = answer.rows(), account.spent
        assert (account.ask(report.question, epsilon=EPSILON).rows(), account.spent) == (once, spent)


def reckoned(certificate: Mapping[str, Any]) -> Fraction:
    """How far one unit moves the one number that was measured, by the noise that was drawn for it."""
    ((measure,),) = [level["measures"] for plan in certificate["plans"] for level in plan["levels"]]
    paid = Fraction(certificate["cost"]["exact"]["epsilon"])
    return Fraction(measure["step"]) * Fraction(measure["mechanism"]["scale"]) * paid


def test_reports_are_told_whole() -> None:
    """Each has a link of its own, a date, and sentences."""
    links = [each.link for each in reports()]
    assert len(set(links)) == len(links) >= 40
    for each in reports():
        assert each.link.startswith("https://")
        assert re.fullmatch(r"\d{4}-\d{2}(-\d{2})?", each.date)
        assert datetime.fromisoformat(each.date if len(each.date) > 7 else f"{each.date}-01")
        assert each.leaked.endswith((".", ")."))
        assert each.here.endswith(".")


def test_a_sensitivity_that_is_too_small_is_seen(accounts: Mapping[str, dp.Protected]) -> None:
    """The wrong twin: half of the noise isn't what a report claims."""
    certificate = accounts["rows"].ask("SELECT SUM(k) AS n FROM t WHERE g = 'g1'", epsilon=EPSILON).certificate
    assert reckoned(certificate) == 10
    measure = certificate["plans"][0]["levels"][0]["measures"][0]
    measure["mechanism"]["scale"] = str(Fraction(measure["mechanism"]["scale"]) / 2)
    assert reckoned(certificate) == 5
