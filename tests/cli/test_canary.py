"""No value of any row reaches a screen, whatever is asked and whatever goes wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

CANARY = "zq7canary"
NUMBER = "987654321987"
DELTA = "1e-15"
"""At which a group of one is released; of the hundreds that are asked for, none is by chance: false alarm 1e-12."""

CONFIG = """\
name = "birds"
ledger = "birds.ledger"
adjacency = "add_remove"

[budget]
epsilon = 100
delta = 1e-6

[tables.birds]
source = "birds.csv"
unit = "row"

[tables.birds.columns]
name = { kind = "text" }
song = { kind = "text" }
born = { kind = "date" }
weight = { kind = "real", bounds = [0, 100] }
number = { kind = "integer", bounds = [0, 100] }
"""

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM birds",
    "SELECT COUNT(*) AS n FROM birds WHERE CAST(name AS INTEGER) > 1",
    "SELECT COUNT(*) AS n FROM birds WHERE CAST(song AS DATE) > DATE '2020-01-01'",
    "SELECT SUM(number) AS s FROM birds WHERE weight / 0 > 1",
    "SELECT SUM(CAST(name AS DOUBLE)) AS s FROM birds",
    "SELECT name, COUNT(*) AS n FROM birds GROUP BY name",
    "SELECT name FROM birds",
    "SELECT * FROM birds",
    "SELECT MIN(name) FROM birds",
    "SELECT error(name) FROM birds",
]


@pytest.fixture
def cage(here: Path, run: Any) -> Path:
    """A table of which every value is marked."""
    rows = [f"{CANARY}{row},{CANARY} sings,2020-01-{row:02d},{NUMBER}.5,{NUMBER}" for row in range(1, 30)]
    (here / "birds.csv").write_text("\n".join(["name,song,born,weight,number", *rows, ""]), encoding="utf-8")
    (here / "discreet.toml").write_text(CONFIG, encoding="utf-8")
    assert run("ledger", "create").exit_code == 0
    return here


def silent(result: Any) -> bool:
    """Whether neither stream holds a marked value."""
    return not any(mark in result.stdout + result.stderr for mark in (CANARY, NUMBER, "2020-01-1"))


@pytest.mark.parametrize("sql", QUESTIONS)
@pytest.mark.parametrize("format_", ["table", "json"])
@pytest.mark.usefixtures("cage")
def test_no_question_makes_a_row_appear(run: Any, sql: str, format_: str) -> None:
    """Answers, refusals and failures are all silent about rows."""
    result = run("ask", sql, "--epsilon", "1", "--delta", DELTA, "--format", format_)
    assert silent(result), result.output
    assert result.exit_code in {0, 1, 5}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace(f"{NUMBER}.5", f"{CANARY}"),
        lambda text: text.replace("2020-01-15", f"{CANARY}"),
        lambda text: text + f"{CANARY},{CANARY}\n",
        lambda text: text + f'"{CANARY},unclosed\n',
        lambda text: text + f"{CANARY},{CANARY},{CANARY},{CANARY},{CANARY},{CANARY},{CANARY}\n",
        lambda text: text + "\x00\xff\n",
    ],
    ids=["a number that isn't", "a date that isn't", "short row", "open quote", "long row", "binary"],
)
def test_a_file_that_does_not_parse_says_nothing_of_its_rows(cage: Path, run: Any, spoil: Any) -> None:
    """DuckDB's own messages quote rows; ours don't."""
    path = cage / "birds.csv"
    path.write_text(spoil(path.read_text(encoding="utf-8")), encoding="utf-8")
    for command in (
        ["ask", "SELECT COUNT(*) AS n, SUM(weight) AS w FROM birds", "--epsilon", "1"],
        ["ask", "SELECT COUNT(*) AS n FROM birds WHERE born > DATE '2020-01-05'", "--epsilon", "1"],
        ["init", "birds.csv", "--strict", "--output", "other.toml", "--force"],
    ):
        result = run(*command)
        assert silent(result), result.output
        assert "Traceback" not in result.output
