"""Tables of which nobody can say how many rows a unit has: each question says it, or has it chosen; none is guessed."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.errors import LimitsRequired

pytestmark = pytest.mark.usefixtures("kept_sessions")

CONFIG = """
name = "clinic"
ledger = "clinic.ledger"
adjacency = "add_remove"
budget = { epsilon = 50 }

[tables.visits]
source = "visits.parquet"
links = { pid = "people.pid" }
columns = { pid = { kind = "integer" }, ward = { kind = "text", keys = ["A", "B"] } }

[tables.people]
source = "people.parquet"
unit = "pid"
limits = { rows = 1 }
columns = { pid = { kind = "integer" }, age = { kind = "integer", bounds = [0, 125] } }
"""
WAYS = pytest.mark.parametrize(
    "question",
    [
        "SELECT COUNT(*) AS n FROM visits",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
        "SELECT ward, COUNT(DISTINCT pid) AS n FROM visits GROUP BY ward",
        "SELECT AVG(p.age) AS a FROM visits v JOIN people p ON v.pid = p.pid",
        "SELECT COUNT(*) AS n FROM (SELECT pid FROM people UNION ALL SELECT pid FROM visits) x",
    ],
)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Protected]:
    """Some 900 people who come 1 to 30 times."""
    folder = tmp_path_factory.mktemp("clinic")
    who = [pid for pid in range(900) for _ in range(pid % 30 + 1)]
    people = pa.table({"pid": range(900), "age": [pid % 90 for pid in range(900)]})
    pq.write_table(people, folder / "people.parquet")
    pq.write_table(pa.table({"pid": who, "ward": ["AB"[n % 2] for n in range(len(who))]}), folder / "visits.parquet")
    (folder / "discreet.toml").write_text(CONFIG, encoding="utf-8")
    with dp.load(folder / "discreet.toml", create_ledger=True) as found:
        yield found


@WAYS
def test_a_question_without_a_limit_is_refused_with_the_ways_out(clinic: dp.Protected, question: str) -> None:
    """The table is named, both doors' words are said, and nothing is charged."""
    spent = clinic.spent
    with pytest.raises(LimitsRequired, match="a unit may have many rows in table 'visits'") as refused:
        clinic.ask(question, epsilon=1)
    assert "--limits auto" in refused.value.hint_at("cli")
    assert 'limits="auto"' in refused.value.hint
    assert "limits = { rows = 20 }" in refused.value.hint
    assert clinic.spent == spent


@WAYS
def test_a_limit_of_its_own_or_a_chosen_one_is_enough(clinic: dp.Protected, question: str) -> None:
    """The plan of either is made, and of the second it says that limits are yet to be chosen."""
    assert clinic.plan(question, epsilon=1, limits=dp.Limits(rows=30)).profiles == ()
    plan = clinic.plan(question, epsilon=1, limits="auto")
    assert plan.profiles
    assert "chosen by what is asked first" in plan.explain()


def test_the_rows_that_are_counted_are_those_of_the_chosen_limit(clinic: dp.Protected) -> None:
    """Where few units have more rows than the limit that is chosen, the count is right but for what it cuts off."""
    answer = clinic.ask("SELECT COUNT(*) AS n FROM visits", epsilon=20, limits="auto")
    truth = sum(pid % 30 + 1 for pid in range(900))
    assert answer.cut_off is not None
    assert abs(answer["n"][0] - truth) < 0.1 * truth


def test_units_are_counted_once_whatever_they_have(clinic: dp.Protected) -> None:
    """A count of different units of all rows takes no limit."""
    (low, high), *_ = clinic.ask("SELECT COUNT(DISTINCT pid) AS n FROM visits", epsilon=20).interval("n", 1 - 1e-9)
    assert low <= 900 <= high


def test_a_server_is_warmed_up_without(clinic: dp.Protected) -> None:
    """The first table that a server opens may be one of these."""
    assert clinic.dataset.private[0].limits is None
    clinic.warm_up()
