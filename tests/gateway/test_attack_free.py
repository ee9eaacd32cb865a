"""Attacks on what costs nothing: asking again, in other words, for parts and their sums, or for what comes before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dp
from discreet.accounting import Charge, charge_of
from discreet.engine.duckdb import DuckDB
from discreet.mechanisms import Gaussian, Laplace, Mode, Quantile, Threshold

pytestmark = pytest.mark.usefixtures("kept_sessions")

PEOPLE = pa.table({"id": range(60), "region": ["n", "s", "e"] * 20, "age": [n % 50 for n in range(60)]})
VISITS = pa.table(
    {"person": [n % 60 for n in range(300)], "x": [float(n % 9) for n in range(300)], "city": ["a", "b"] * 150}
)


def _opened(ledger: Path) -> dp.Protected:
    """People and their visits behind an account."""
    return dp.protect(
        [
            dp.table(
                PEOPLE,
                name="people",
                unit=dp.Unit("id"),
                limits=dp.Limits(rows=1),
                columns={"region": dp.Keys(["n", "s", "e"]), "age": dp.Bounds(0, 99)},
            ),
            dp.table(
                VISITS,
                name="visits",
                links={"person": "people.id"},
                limits=dp.Limits(rows=6),
                columns={"x": dp.Bounds(0, 9)},
            ),
        ],
        name="known",
        budget=dp.Budget(epsilon=1000, delta=0.5),
        ledger=ledger,
    )


@contextmanager
def _watched() -> Iterator[list[Any]]:
    """Within it, every mechanism that is used notes itself, once, and every threshold that is looked at."""
    used: list[Any] = []

    def noting(function: Any) -> Any:
        def noted(self: Any, value: Any) -> Any:
            if not any(each is self for each in used):
                used.append(self)
            return function(self, value)

        return noted

    with pytest.MonkeyPatch.context() as patch:
        for owner, name in ((Laplace, "release"), (Gaussian, "release"), (Quantile, "choose"), (Mode, "choose")):
            patch.setattr(owner, name, noting(getattr(owner, name)))
        patch.setattr(Threshold, "passes", noting(Threshold.passes))
        yield used


def _done(used: list[Any]) -> Charge:
    """What was really done costs."""
    return sum((charge_of(each.event) for each in used), start=Charge.zero())


ASKED = [
    "SELECT COUNT(*) AS n FROM people",
    "SELECT region, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY region",
    "SELECT region, age > 20 AS old, COUNT(*) AS n FROM people GROUP BY ROLLUP (region, old)",
    "SELECT city, COUNT(*) AS n, SUM(x) AS s FROM visits GROUP BY city",
    "SELECT MEDIAN(x) AS m, MAX(x) AS b, MODE(region) AS r FROM visits JOIN people ON person = id",
    "SELECT COUNT(DISTINCT city) AS c, CORR(x, x + age) AS r FROM visits JOIN people ON person = id",
]
TERMS: list[dict[str, Any]] = [
    {"epsilon": 1, "delta": "1e-6"},
    {"rho": "1/2", "delta": "1e-6"},
    {"epsilon": 1, "delta": "1e-6", "limits": "auto"},
    {"epsilon": 1, "delta": "1e-6", "bounds": {"x": "auto"}},
    {"epsilon": 2, "delta": "1e-6", "bounds": {"x": "auto"}, "limits": "auto"},
    {"epsilon": 1, "delta": "1e-6", "cut_off": True},
    {"epsilon": 1, "delta": "1e-6", "consistent": True},
    {"epsilon": 5, "within": {"*": 50}, "delta": "1e-6"},
]


ROUNDED = Fraction(1, 10**36)
"""Sums of amounts are rounded up far beyond any digit that counts, in whichever order they are made."""


@pytest.mark.parametrize("number", range(len(TERMS)))
def test_what_was_charged_is_what_was_done(number: int, tmp_path: Path) -> None:
    """Each mechanism that touched the data is in some debit, as it was used; and nothing costs more than offered.

    On each of the terms every other question is asked, and each question on half of the terms.
    """
    check_charges(TERMS[number], ASKED[number % 2 :: 2], tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("terms", TERMS, ids=str)
def test_what_was_charged_is_what_was_done_on_any_terms(terms: dict[str, Any], tmp_path: Path) -> None:
    """The same of all questions, on all terms."""
    check_charges(terms, ASKED, tmp_path)


def check_charges(terms: dict[str, Any], asked: list[str], tmp_path: Path) -> None:
    """Compare what is charged for questions with what is done for them."""
    with _opened(tmp_path / "l") as opened:
        for text in asked:
            before = opened.spent
            with _watched() as used:
                try:
                    opened.ask(text, **terms)
                except dp.errors.QueryError:
                    assert not used
                    assert opened.spent == before
                    continue
            after, done = opened.spent, _done(used)
            for amount in ("epsilon", "rho", "delta"):
                was, now, cost = (getattr(each, amount) for each in (before, after, done))
                assert None in {was, now} or cost <= now - was + ROUNDED, (text, amount)
                assert None in {was, now} or amount not in terms or now - was <= Fraction(terms[amount]), (text, amount)


def test_a_workload_is_charged_for_all_that_is_done(tmp_path: Path) -> None:
    """Parts that several questions share are measured once, and paid for once; all that is measured is paid for."""
    with _opened(tmp_path / "l") as opened, _watched() as used:
        opened.ask(ASKED[:3], epsilon=3, delta="1e-6")
        done = _done(used)
        assert done.epsilon is not None
        assert opened.spent.epsilon is not None
        assert done.epsilon <= opened.spent.epsilon <= 3


SPELLINGS = [
    "SELECT COUNT(*) AS n FROM visits WHERE x > 3",
    "select count(*) n from visits where 3 < x",
    "SELECT COUNT(*) AS m FROM visits AS v WHERE v.x > 3 AND TRUE",
    "SELECT COUNT(1) AS n FROM (SELECT * FROM visits WHERE x > 3)",
    "SELECT SUM(1) AS n FROM visits WHERE NOT (x <= 3)",
    "SELECT COUNT(*) FILTER (WHERE x > 3) AS n FROM visits",
    "SELECT SUM(CASE WHEN x > 3 THEN 1 ELSE 0 END) AS n FROM visits",
    "SELECT COUNT(*) + 0 AS n FROM visits WHERE x > 3 AND x > 3",
    "WITH w AS (SELECT x FROM visits) SELECT COUNT(*) AS n FROM w WHERE x > 3",
    "SELECT COUNT(person) AS n FROM visits WHERE x > 3.0",
    "SELECT COUNT(*) AS n FROM visits WHERE x BETWEEN 3.0000001 AND 9",
    "SELECT x > 3 AS big, COUNT(*) AS n FROM visits GROUP BY x > 3",
    "SELECT COUNT(*) AS n FROM visits WHERE x > 3 AND 1 = 1",
    "SELECT COUNT(*) AS n FROM visits SEMI JOIN people ON person = id WHERE x > 3",
]


def test_no_spelling_gets_fresh_noise_for_nothing(tmp_path: Path) -> None:
    """Averaging over spellings: each either costs what it says, or has an answer that was there before."""
    with _opened(tmp_path / "l") as opened:
        fresh = 0
        for text in SPELLINGS * 2:
            before = opened.spent.epsilon
            with _watched() as used:
                answer = opened.ask(text, epsilon="1/10")
            after = opened.spent.epsilon
            assert before is not None
            assert after is not None
            assert answer.reused is (after == before), text
            assert bool(used) is (after > before), text
            fresh += bool(used)
        assert fresh <= len(SPELLINGS)


DERIVED = [
    "SELECT COUNT(*) AS n FROM people",
    "SELECT region, COUNT(*) AS n FROM people WHERE region <> 'n' GROUP BY region",
    "SELECT region, COUNT(*) AS n FROM people GROUP BY region HAVING COUNT(*) > 3 ORDER BY n LIMIT 2",
    "SELECT SUM(age) / COUNT(*) AS a FROM people",
    "SELECT region = 'n' AS north, COUNT(*) AS n, SUM(age) AS s FROM people GROUP BY region = 'n'",
]


def test_what_follows_from_answers_touches_no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Coarser groups, fewer groups, ratios: worked out from what was released, with the engine taken away."""
    with _opened(tmp_path / "l") as opened:
        opened.ask("SELECT region, COUNT(*) AS n, SUM(age) AS s FROM people GROUP BY region", epsilon=9)
        spent = opened.spent

        def run(*_: object) -> object:
            raise AssertionError

        monkeypatch.setattr(DuckDB, "run", run)
        derived = 0
        for text in DERIVED:
            with _watched() as used:
                try:
                    answer = opened.ask(text, epsilon="1/100")
                except dp.errors.QuestionFailed:  # it would have been asked afresh, and was paid for
                    spent = opened.spent
                    continue
            assert not used
            assert answer.reused
            assert opened.spent == spent
            derived += 1
        assert derived >= 2


def test_differencing_gains_nothing_that_is_not_paid(tmp_path: Path) -> None:
    """Totals and parts of ROLLUP are measured out of one offer; asking for both again is no news."""
    text = "SELECT region, COUNT(*) AS n FROM people GROUP BY ROLLUP (region)"
    with _opened(tmp_path / "l") as opened:
        with _watched() as used:
            first = opened.ask(text, epsilon=1)
        done = _done(used)
        assert done.epsilon is not None
        assert done.epsilon <= 1
        spent = opened.spent
        for again in (text, text.replace("ROLLUP (region)", "GROUPING SETS ((region), ())"), text + " ORDER BY n"):
            with _watched() as used:
                answer = opened.ask(again, epsilon=1)
            assert not used
            assert sorted(map(str, answer.rows())) == sorted(map(str, first.rows()))
        assert opened.spent == spent


def test_limits_are_chosen_once_for_one_offer(tmp_path: Path) -> None:
    """limits="auto" and bounds="auto", asked again and again, are one profile, one choice, and one answer."""
    with _opened(tmp_path / "l") as opened:
        answers, spent = [], set[Any]()
        for _ in range(3):
            answers.append(opened.ask(ASKED[3], epsilon=1, delta="1e-6", limits="auto", bounds={"x": "auto"}))
            spent.add(opened.spent.epsilon)
        assert len({str(each.rows()) + str(each.cut_off) + str(each.bounds) for each in answers}) == 1
        assert len(spent) == 1
        assert max(spent) <= 1


def test_refusals_touch_no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused takes as long with any data: nothing is run, nothing drawn, nothing charged."""
    refused = [
        "SELECT COUNT(*) FROM visits a JOIN visits b ON a.city = b.city",
        "SELECT AVG(n) FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city)",
        "SELECT city FROM visits",
        "SELECT person, COUNT(*) FROM visits GROUP BY person",
        "SELECT SUM(x) FROM visits WHERE nothing > 3",
    ]
    with _opened(tmp_path / "l") as opened:
        with _watched() as used, monkeypatch.context() as patch:
            patch.setattr(opened, "_admissions", None)
            for text in refused:
                with pytest.raises(dp.errors.QueryError):
                    opened.ask(text, epsilon=1, delta="1e-6")
        assert not used
        assert opened.spent.epsilon == 0
