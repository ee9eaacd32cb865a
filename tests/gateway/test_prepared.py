"""What has nothing to do with data fails before anything is charged, with its cause; what has, afterwards, without."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import discreet as dp
from discreet.engine.duckdb import part
from discreet.errors import EngineUnavailable, QuestionFailed

QUESTION = "SELECT sex, COUNT(*) AS n FROM census GROUP BY sex"
CAUSE = "there is no function named so"

Ask = Callable[[dp.Protected], object]


def alone(census: dp.Protected) -> object:
    """One question."""
    return census.ask(QUESTION, epsilon=1)


def together(census: dp.Protected) -> object:
    """Two, planned together."""
    return census.ask([QUESTION, "SELECT AVG(age) AS a FROM census"], epsilon=1)


def failing(monkeypatch: pytest.MonkeyPatch, *, prepared: int) -> None:
    """Have DuckDB fail in its own words at what an answer is made of, once that was prepared so many times."""
    make = part.make_contributions

    def failed(*given: Any, **named: Any) -> Any:
        """Fail over the entries of a question."""
        nonlocal prepared
        prepared -= 1
        if prepared < 0:
            raise duckdb.CatalogException(CAUSE)
        return make(*given, **named)

    monkeypatch.setattr(part, "make_contributions", failed)


@pytest.mark.parametrize("ask", [alone, together])
def test_what_fails_on_any_data_is_told_and_free(
    census: dp.Protected, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version of DuckDB that lacks something, say: found on tables without rows; mended, the question is answered."""
    with monkeypatch.context() as patch:
        failing(patch, prepared=0)
        with pytest.raises(EngineUnavailable, match=CAUSE) as failure:
            ask(census)
        assert isinstance(failure.value.__cause__, duckdb.CatalogException)
    assert census.spent.epsilon == 0
    assert ask(census)


def test_what_fails_on_the_data_is_not_told_and_is_paid(census: dp.Protected, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: the same failure, one time later, might depend on a row."""
    failing(monkeypatch, prepared=1)
    with pytest.raises(QuestionFailed) as failure:
        alone(census)
    assert failure.value.__cause__ is failure.value.__context__ is None
    assert CAUSE not in str(failure.value)
    assert census.spent.epsilon == 1


@pytest.mark.parametrize("ask", [alone, together])
@pytest.mark.parametrize("library", ["ibis", "cryptography.hazmat.primitives.ciphers"])
def test_a_library_that_is_missing_is_named_and_free(
    census: dp.Protected, ask: Ask, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that computes, and one that draws noise."""
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=library):
        ask(census)
    assert census.spent.epsilon == 0


def test_an_engine_that_cannot_be_started_says_why(
    people: pa.Table, census: dp.Protected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No temporary directory, or DuckDB's own reason; asked, or while tables are put behind an account."""

    def refused(*_: object, **__: object) -> None:
        """DuckDB's words."""
        raise duckdb.IOException(CAUSE)

    for name, value, cause in (
        ("tempfile.tempdir", str(tmp_path / "missing"), "No such file or directory"),
        ("duckdb.connect", refused, CAUSE),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(name, value)
            with pytest.raises(EngineUnavailable, match=cause):
                alone(census)
            with pytest.raises(EngineUnavailable, match=cause):
                dp.protect(people, name="again", unit=dp.Unit.row(), budget=dp.Budget(1), ledger=tmp_path / "again")
    assert census.spent.epsilon == 0


WITHOUT_IMPORTS = """
import os
import sys
from pathlib import Path
import pyarrow as pa
import discreet as dp
from discreet.ledger import Account

number = next((n for n in range(2, len(sys.argv), 2) if not os.fork()), None)
if number is None:  # each question has a process that has imported nothing else
    sys.exit(any(os.wait()[1] for _ in sys.argv[2::2]))
people = pa.table({"id": [1, 2, 3], "sex": ["F", "M", "F"], "age": [20, 40, 60], "city": ["Bern", "Chur", "Bern"]})
columns = {"age": dp.Bounds(0, 125), "sex": dp.Keys(["F", "M"])}
census = dp.protect(
    people, name="people", unit=dp.Unit("id"), columns=columns, limits=dp.Limits(groups=1, rows_per_group=1),
    budget=dp.Budget(epsilon=100, delta=1e-3), ledger=Path(sys.argv[1]) / f"{number}.ledger",
)
reserve, paid = Account.reserve, {}

def noted(*args, **kwargs):
    reservation = reserve(*args, **kwargs)
    paid["with"] = set(sys.modules)
    return reservation

Account.reserve = noted
census.ask(sys.argv[number], **eval(sys.argv[number + 1]))
late = sorted(name for name in set(sys.modules) - paid["with"] if not name.startswith("discreet."))
assert not late, late
"""


ASKED = {
    f"{QUESTION.replace('census', 'people')}": "{'epsilon': 1}",
    "SELECT SUM(age) AS s, VAR_POP(age) AS v FROM people WHERE sex = 'F'": "{'rho': 0.1}",
    "SELECT MEDIAN(age) AS m, MODE(sex) AS f FROM people": "{'epsilon': 1}",
    "SELECT city, COUNT(*) AS n FROM people GROUP BY city": "{'epsilon': 1, 'delta': 1e-6}",
}


def test_nothing_is_imported_once_it_is_paid(tmp_path: Path) -> None:
    """From other libraries, in a fresh process, whatever a question is answered with: what is missing shows before."""
    asked = [part for each in ASKED.items() for part in each]
    subprocess.run([sys.executable, "-c", WITHOUT_IMPORTS, tmp_path, *asked], check=True, timeout=600)
