"""What belongs under an answer: one list of notes, in the same words wherever the answer is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from math import inf
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.cli.show.answers import show_answer
from discreet.results import Answer, AnswerColumn, cell_texts

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost, STDDEV(cost) AS spread FROM visits GROUP BY ward"


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Protected]:
    """Some 400 people with five visits each, of whom one ward has nobody."""
    rows = [(who, "AB"[visit % 2], 10.0 * visit) for who in range(400) for visit in range(5)]
    table = pa.table(dict(zip(("who", "ward", "cost"), map(list, zip(*rows, strict=True)), strict=True)))
    with dp.protect(
        table,
        name="visits",
        unit=dp.Unit("who"),
        limits=dp.Limits(rows=5),
        columns={"ward": dp.Keys(["A", "B", "C"]), "cost": dp.Bounds(0, 20_000)},
        budget=dp.Budget(epsilon=1_000),
        ledger=tmp_path_factory.mktemp("clinic") / "visits.ledger",
    ) as found:
        yield found


def test_an_answer_names_the_limit_in_force_and_how_to_learn_its_cost(clinic: dp.Protected) -> None:
    """Its own, or the question's; what was measured takes the place of how to measure it."""
    notes = dict(clinic.ask(COUNT, epsilon=1).notes())
    assert notes["limits"] == "at most 5 rows of each who count; cut_off=True measures how much that leaves out"
    own = clinic.ask(COUNT, epsilon=1, limits=dp.Limits(rows=1))
    assert dict(own.notes("cli"))["limits"].startswith("at most 1 row of each who counts; --cut-off measures")
    measured = clinic.ask(COUNT, epsilon=1, cut_off=True)
    assert ("limits", str(measured.cut_off)) in measured.notes()
    assert dict(measured.notes())["±"] == "at 95 %; with what limits cut off"


@pytest.mark.parametrize("question", ["SELECT COUNT(DISTINCT who) AS n FROM visits", "SELECT COUNT(*) AS n FROM rows"])
def test_nothing_is_said_of_limits_that_cut_nothing_off(clinic: dp.Protected, tmp_path: Path, question: str) -> None:
    """Where units are counted once, and where each row is one."""
    if "DISTINCT" in question:
        answer = clinic.ask(question, epsilon=1)
    else:
        with dp.protect(
            pa.table({"x": [1, 2]}),
            name="rows",
            unit=dp.Unit.row(),
            budget=dp.Budget(epsilon=9),
            ledger=tmp_path / "l",
        ) as rows:
            answer = rows.ask(question, epsilon=1)
    assert "limits" not in dict(answer.notes())


def test_a_plan_says_the_same_of_its_limits(clinic: dp.Protected) -> None:
    """In the words of the answer, and without a sentence that stands on every plan."""
    words = clinic.plan(COUNT, epsilon=1).explain()
    assert clinic.ask(COUNT, epsilon=1).limits in words
    assert "count for less" not in words


def test_all_faces_say_the_same(clinic: dp.Protected, capsys: pytest.CaptureFixture[str]) -> None:
    """What a command, a notebook and a print show of an answer that follows from others: its notes, all of them."""
    clinic.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=5)
    answer = clinic.ask("SELECT COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B', 'C')", epsilon=1)
    notes = answer.notes()
    assert dict(notes)["cost"].startswith("free: follows from entry")
    lines = [f"{title} {words}" for title, words in notes]
    printed = [" ".join(line.split()) for line in str(answer).splitlines()]
    assert (
        printed[-len(notes) :] == lines == [" ".join(line.split()) for line in repr(answer).splitlines()][-len(notes) :]
    )
    page = re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", answer._repr_html_())
    assert [unescape(f"{title} {words}") for title, words in page] == lines
    again = Answer.from_json(json.loads(json.dumps(answer.to_json())))
    assert again.notes() == notes[:-1]  # what is left is true of a moment

    from discreet.cli.show.formats import Format

    show_answer(answer, clinic, Format.TABLE, 0.95)
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f"{title} {words}" in shown for title, words in answer.notes("cli"))


def test_what_nothing_is_known_of_is_told_as_such(clinic: dp.Protected) -> None:
    """A value is known if its interval leaves out 5 % of what is declared; counts below 0 are told by an end.

    With much noise most averages aren't known and half the counts of an empty ward are below 0, with little noise those
    of full wards are known for certain; which they are in this draw, the intervals say.
    """
    clear = clinic.ask(BY_WARD, epsilon=200)
    assert clear.informative("cost")[:2] == clear.informative("n")[:2] == [True, True]
    for vague in (clinic.ask(BY_WARD, epsilon=f"0.00{digit}") for digit in range(1, 6)):
        ends, most = vague.interval("cost"), 20_000
        known = [
            value is not None and each is not None and each[1] - each[0] < 0.95 * most
            for value, each in zip(vague["cost"], ends, strict=True)
        ]
        assert vague.informative("cost") == known
        shown, spread = str(vague), vague.informative("spread")
        unknown = sum(not told and value is not None for told, value in zip(known, vague["cost"], strict=True))
        assert shown.count("not known (0 to 20000)") == unknown
        assert shown.count("fewer than") == sum(value < 0 for value in vague["n"])
        data = json.loads(json.dumps(vague.to_json()))
        assert data["informative"] == {"n": [True] * 3, "cost": known, "spread": spread}
        assert data["declared"] == {"n": [0, None], "cost": [0, most], "spread": [0, pytest.approx(14142.1, rel=1e-4)]}
        again = Answer.from_json(data)
        assert (str(again), again["n"]) == (shown.rpartition("\nleft")[0], vague["n"])


def test_a_ratio_that_noise_may_have_carried_anywhere_is_not_known(clinic: dp.Protected) -> None:
    """It has no interval and no bounds, so its value alone would look like a finding."""
    for digit in range(1, 6):
        answer = clinic.ask("SELECT SUM(cost) / COUNT(DISTINCT who) AS r FROM visits", epsilon=f"0.000{digit}")
        (value,), (ends,) = answer["r"], answer.interval("r")
        assert answer.informative("r") == [value is not None and ends is not None]
        assert ("not known" in str(answer)) == (value is not None and ends is None)


def test_a_column_has_one_notation() -> None:
    """Where one interval is lopsided, all are told by their ends; rounded ends of whole numbers have no side."""
    column = AnswerColumn("x", "real", (5.62, 5.3, None), declared=(0, 60))
    assert cell_texts(column, [(4.63, 6.61), (4.9, 9.0), None]) == ["5.62 (4.63 to 6.61)", "5.3 (4.9 to 9.0)", "NULL"]
    assert cell_texts(replace(column, values=(5.62,)), [(4.63, 6.61)]) == ["5.62 ± 0.99"]
    assert cell_texts(AnswerColumn("n", "integer", (4,), declared=(0, inf)), [(-5, 14)]) == ["4 ± 10"]
    assert cell_texts(AnswerColumn("n", "integer", (-9, -3), declared=(0, inf)), [(-29, -2), (-6, 0)]) == [
        "fewer than 1",
        "fewer than 1",
    ]
    many = AnswerColumn("n", "integer", (14_230, -1_305), declared=(0, inf))  # keys may be years: no thousands marks
    assert cell_texts(many, [(14_201, 14_259), (-2_788, 1_178)]) == ["14230 ± 29", "fewer than 1179"]
    assert cell_texts(AnswerColumn("d", "integer", (-9,)), [(-12, -6)]) == ["-9 ± 3"]
