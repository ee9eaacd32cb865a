"""What notebooks and web frameworks make of answers, plans, tables and errors: IPython's, pandas' and FastAPI's own."""

from __future__ import annotations

import copy
import json
import pickle
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from math import inf
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import LedgerUnavailable, QueryError
from discreet.notebook import MOST, framed, table
from discreet.results import Answer, with_ends

BAD = "<script>alert(1)</script>&\u202e\x1b"
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward"


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Protected]:
    """A ward whose name is a script, one with a comma, one that nobody is in; and an analyst with a share."""
    rows = [(who, [BAD, "b, c"][visit % 2], 10.0 * visit) for who in range(200) for visit in range(5)]
    with dp.protect(
        pa.table(dict(zip(("who", "ward", "cost"), map(list, zip(*rows, strict=True)), strict=True))),
        name="visits",
        unit=dp.Unit("who"),
        limits=dp.Limits(rows=5),
        columns={"ward": dp.Keys([BAD, "b, c", "empty"]), "cost": dp.Bounds(0, 20_000)},
        budget=dp.Budget(epsilon=1_000),
        analysts={"ann": dp.Budget(epsilon=100)},
        ledger=tmp_path_factory.mktemp("clinic") / "visits.ledger",
    ) as found:
        yield found


@pytest.fixture(scope="module")
def answer(clinic: dp.Protected) -> Answer:
    """Counts and averages by ward."""
    return clinic.ask(BY_WARD, epsilon=1, analyst="ann")


@pytest.fixture(scope="module")
def shell() -> Any:
    """IPython, as a kernel has it, without a history on disk."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    return InteractiveShell(config=Config(HistoryManager={"enabled": False}), colors="nocolor")


class Tags(HTMLParser):
    """The tags of some HTML, each of which must be closed, and what may hold a script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember it."""
        self.open.append(tag)
        self.seen |= {tag, *(name for name, _ in attrs)}

    def handle_endtag(self, tag: str) -> None:
        """It closes the last one."""
        assert self.open.pop() == tag


def test_everything_shows_itself_in_a_notebook(clinic: dp.Protected, answer: Answer, shell: Any) -> None:
    """As tables and notes in IPython's own eyes: whatever a key is called, it is text there; and short at a prompt."""
    plan = clinic.plan(BY_WARD, epsilon=1, analyst="ann")
    shown = [answer, plan, clinic.plan([BY_WARD], epsilon=1), clinic, clinic.dataset, clinic.dataset.budget]
    shown += [clinic.ask(f"EXPLAIN {BY_WARD}", epsilon=1, analyst="ann")]
    for one in shown:
        found, _ = shell.display_formatter.format(one)
        tags = Tags(found["text/html"])
        assert not {each for each in tags.seen if each.startswith("on")} | {"script", "a", "href", "src"} & tags.seen
        assert ("svg" in tags.seen) == (one is answer)
        assert not {"\x1b", "\u202e"} & set(found["text/html"])
        assert len(found["text/plain"]) < 1_500
        assert "Fraction" not in found["text/plain"]
    assert "&lt;script&gt;" in answer._repr_html_()
    assert "&quot;b, c&quot;, empty" in clinic._repr_html_()
    assert repr(clinic) == "<Protected visits: visits; budget ε = 1000>"
    assert repr(clinic.dataset).startswith("<Dataset visits: visits;")
    assert repr(answer.cost) == "Cost(ε = 1)"


def test_a_long_table_says_how_many_rows_are_left_out() -> None:
    """Forty are shown."""
    found = framed(table(["n"], [[str(n)] for n in range(1_040)], numbers=[0]))
    assert (found.count("<tr>"), "… and 1,000 more rows" in found) == (MOST + 1, True)


def test_an_error_costs_a_notebook_a_few_lines(
    clinic: dp.Protected, shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong, a caret below it, what to do, and the caller's line; no frame of ours."""
    shell.user_ns["clinic"] = clinic
    line = r"return clinic.ask(f'SELECT\n  AVG({of}) AS a FROM visits', epsilon=1)"
    shell.run_cell(f"def mean(of):\n    {line}\nmean('cst')")
    said = capsys.readouterr().out.splitlines()
    assert said[:4] == [
        "error[unknown_column]: 'visits' has no column 'cst'",
        "  2 │   AVG(cst) AS a FROM visits",
        "    │       ^",
        "hint: did you mean cost?",
    ]
    assert said[4:] == [f"at line 2: {line}"]
    shell.run_cell("clinic.ask('EXPLAIN SELECT AVG(cst) AS a FROM visits', epsilon=1)")
    source, caret = capsys.readouterr().out.splitlines()[1:3]
    assert source[caret.index("^") :].startswith("cst")
    shell.run_cell("clinic.ask(clinic.table.ward.max(), epsilon=1)")
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("error[")
    assert "^" not in "".join(said)
    with pytest.raises(QueryError) as refused:
        clinic.plan("SELECT COUNT(*) AS n FROM vsits", epsilon=1)
    again = pickle.loads(pickle.dumps(refused.value))  # noqa: S301 — its own bytes
    assert again._render_traceback_() == refused.value._render_traceback_()[:-1]  # frames aren't pickled
    assert "text" not in refused.value.to_dict()


def test_what_is_left_is_said_of_whoever_asked(
    clinic: dp.Protected, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By share and by budget, after each answer; an answer isn't lost where the ledger can't be read any more."""
    assert dict(answer.notes())["left"] == "you: ε = 99; all: ε = 999; the budget is ε = 1000"
    plan = clinic.plan(BY_WARD, epsilon=2, analyst="ann")
    assert clinic.ask(plan).left.startswith("you: ε = 97; ")
    several = clinic.ask([BY_WARD], epsilon=1, analyst="ann")
    assert several[0].left == clinic.left("ann")
    summary = clinic.summary(epsilon=1, analyst="ann")
    assert summary.notes()[-1] == ("left", clinic.left("ann"))
    assert clinic.ask(f"EXPLAIN {BY_WARD}", epsilon=1, analyst="ann").left == ""

    def gone(_: dp.Protected) -> None:
        raise LedgerUnavailable("the disk is gone")

    monkeypatch.setattr(dp.Protected, "remaining", property(gone))
    assert clinic.ask(plan).left == ""
    assert "<table" in clinic._repr_html_()


def test_frames_have_the_ends_of_intervals_and_what_they_cost(answer: Answer, tmp_path: Path) -> None:
    """By the names of CSV; beside them the cost, the entry and the notes, which a Parquet file keeps."""
    names, rows = with_ends(answer)
    assert names == ["ward", "n", "n_low", "n_high", "cost", "cost_low", "cost_high"]
    found = answer.to_arrow(intervals=True)
    assert [tuple(row.values()) for row in found.to_pylist()] == rows
    assert [str(one) for one in found.schema.types[1:4]] == ["int64"] * 3
    assert answer.to_polars(intervals=True).rows() == rows
    frame = answer.to_pandas(intervals=True)
    assert list(frame.columns) == names
    assert list(answer.to_pandas().columns) == list(answer.names)
    attrs = frame.attrs
    assert (attrs["entry"], attrs["reused"], attrs["cost"]["epsilon"]) == (1, False, 1.0)
    assert attrs["notes"] == [list(note) for note in answer.notes()]
    assert json.loads(found.schema.metadata[b"discreet"]) == attrs
    frame.to_parquet(tmp_path / "answer.parquet")
    assert pd.read_parquet(tmp_path / "answer.parquet").attrs == attrs


def test_ends_that_lie_nowhere_are_infinite_in_frames(answer: Answer) -> None:
    """And whole ones beside them are floats then; a name that is taken gets an underscore more."""
    columns = (answer.column("n"), answer.column("cost"))
    columns = tuple(replace(one, name=name) for one, name in zip(columns, ("n", "n_low"), strict=True))
    odd = answer.__replace__(columns=columns, intervals=lambda *_: [(-inf, 5), (1, 2), None])
    found = odd.to_pandas(intervals=True)
    assert list(found.columns) == ["n", "n_low_", "n_high", "n_low", "n_low_low", "n_low_high"]
    assert found["n_low_"].tolist()[:2] == [-inf, 1.0]
    assert found["n_high"].tolist()[:2] == [5, 2]


def test_an_answer_goes_where_python_puts_it(answer: Answer) -> None:
    """Pickles, copies and JSON say the same, signed; none of them has the key."""
    kept = pickle.loads(pickle.dumps(answer))  # noqa: S301 — its own bytes
    read = Answer.from_json(json.loads(json.dumps(answer.to_json())))
    assert (kept, str(kept), kept.interval("n", 0.5)) == (answer, str(answer), answer.interval("n", 0.5))
    assert copy.deepcopy(answer) is answer
    assert copy.copy(answer) == answer
    unsigned = {**answer.to_json(), "signature": None}
    for again in (kept, copy.copy(answer), read, pickle.loads(pickle.dumps(read))):  # noqa: S301 — its own bytes
        data = again.to_json()
        assert data.pop("signature").keys() >= {"key", "value"}
        assert {**data, "signature": None} == unsigned
    assert dict(kept) == kept.to_json()
    assert ("n" in answer, "m" in answer) == (True, False)


def test_a_handler_may_return_an_answer(clinic: dp.Protected, answer: Answer) -> None:
    """With or without saying so, alone or among others; FastAPI makes of it what `to_json` is, and can describe it."""
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

    app, kept = FastAPI(), pickle.loads(pickle.dumps(answer))  # noqa: S301 — its own bytes, signed once
    explained = clinic.ask(f"EXPLAIN {BY_WARD}", epsilon=1, analyst="ann")

    app.get("/plain")(lambda: kept)

    @app.get("/any")
    def any_() -> Any:
        return kept

    @app.get("/said")
    def said() -> Answer:
        return kept

    @app.get("/within")
    async def within() -> dict[str, Any]:
        return {"answers": [kept, explained]}

    @app.get("/several")
    async def several() -> list[Answer]:
        return [kept, explained]

    with TestClient(app) as client:
        wanted = json.loads(json.dumps(kept.to_json()))
        assert client.get("/plain").json() == client.get("/said").json() == client.get("/any").json() == wanted
        assert client.get("/several").json() == client.get("/within").json()["answers"]
        assert client.get("/several").json()[0] == wanted
        described = client.get("/openapi.json").json()["paths"]["/said"]["get"]["responses"]["200"]
        assert described["content"]["application/json"]["schema"]["type"] == "object"
    assert Answer.from_json(wanted) == Answer.from_json(kept.to_json())
    assert not re.search("Fraction|Decimal", json.dumps(wanted))
