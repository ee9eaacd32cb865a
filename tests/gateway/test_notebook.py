"""In a notebook: a real kernel, with ipywidgets, by which DuckDB shows its progress there, and without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jupyter_client.manager import start_new_kernel

Run = Callable[[str], list[dict[str, Any]]]

PROTECT = """
import tempfile
import pyarrow as pa
import discreet as dp

census = dp.protect(
    pa.table({"sex": ["Female", "Male"] * 500, "age": [34, 71] * 500}),
    name="census",
    unit=dp.Unit.row(),
    columns={"age": dp.Bounds(0, 110), "sex": dp.Keys(["Female", "Male"])},
    budget=dp.Budget(epsilon=100),
    ledger=tempfile.mkdtemp() + "/census.ledger",
)
question = "SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM census GROUP BY sex"
"""


@pytest.fixture(params=["with ipywidgets", "without"], scope="module")
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Run a cell in a kernel, and see what it displays, each thing by its type. A cell that raises fails the test."""
    folder = str(tmp_path_factory.mktemp("jupyter"))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
            patch.setenv(name, folder)
        manager, client = start_new_kernel(startup_timeout=120)

    def cell(code: str) -> list[dict[str, Any]]:
        shown: list[dict[str, Any]] = []
        reply = client.execute_interactive(
            code, timeout=300, output_hook=lambda message: shown.append(message["content"].get("data", {}))
        )
        assert reply["content"]["status"] == "ok", "\n".join(reply["content"].get("traceback", []))
        return [data for data in shown if data]

    try:
        cell("import sys")
        cell("import ipywidgets" if request.param == "with ipywidgets" else "sys.modules['ipywidgets'] = None")
        cell(PROTECT)
        yield cell
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_questions_are_planned_and_answered(run: Run) -> None:
    """One, several together, one that DuckDB reads from a file; what they show is what they are."""
    (plan,) = run("plan = census.plan(question, epsilon=1); plan.explain()")
    assert "Laplace" in plan["text/plain"]
    (answer,) = run("census.ask(plan)")
    assert "Female" in answer["text/plain"]
    assert "<table" in answer["text/html"]
    (frame,) = run("census.ask(question, epsilon=1).to_pandas()")
    assert "<table" in frame["text/html"]
    run("first, second = census.ask([question, 'SELECT COUNT(*) AS n FROM census'], epsilon=1)")
    run("assert len(first) == 2 and 'Female' in str(first), str(first)")
    run("assert census.spent.epsilon == 2, census.spent")


def test_no_progress_is_shown(run: Run) -> None:
    """How long a question takes, and how far it is, can depend on a person: DuckDB's bar stays off."""
    (bar,) = run(
        "from discreet.duckdb.session import Session\n"
        "with Session() as session: shown = session.execute(\"SELECT current_setting('enable_progress_bar')\")\n"
        "shown"
    )
    assert bar["text/plain"] == "[(False,)]"


def test_errors_say_what_they_say_elsewhere(run: Run) -> None:
    """Typed, with cause and fix, nothing charged."""
    run(PROTECT)  # no session waits yet, so the next question has to start one
    run(
        "from discreet.errors import EngineUnavailable, UnknownColumn\n"
        "before = census.spent\n"
        "try: census.ask('SELECT SUM(height) AS h FROM census', epsilon=1)\n"
        "except UnknownColumn: pass\n"
        "tempfile.tempdir = '/nowhere'\n"
        "try: census.ask('SELECT COUNT(*) + 1 AS n FROM census', epsilon=1)\n"
        "except EngineUnavailable as error: assert 'TMPDIR' in str(error)\n"
        "else: assert False\n"
        "finally: tempfile.tempdir = None\n"
        "assert census.spent == before"
    )


@pytest.mark.parametrize("run", ["without"], indirect=True)
def test_figures_are_shown(run: Run) -> None:
    """As pictures, which no widget has a part in."""
    (picture,) = run("%matplotlib inline\nfrom discreet import plot\nplot.accuracy([0.1, 1], {'count': [30, 3]})")
    assert picture["image/png"]
