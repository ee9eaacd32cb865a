"""What public facts alone answer: exactly, for nothing, the same whatever the data, and also when nothing is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import BudgetExhausted, DeltaRequired, InvalidArgument, QueryError, Unsupported
from discreet.results import Answer, contradictions, to_arrow_stream, with_ends

pytestmark = pytest.mark.usefixtures("kept_sessions")

Make: TypeAlias = Callable[..., dp.Protected]

ROWS = {
    "person": [1, 1, 2, 3, 4, 5, 6, 7],
    "color": ["red", "green", "red", "red", "green", "red", "pink", None],
    "age": [34, 34, 71, 52, 17, 44, 29, None],
    "city": ["Bern", "Basel", "Bern", "Chur", "Bern", "Thun", "Bern", "Bern"],
}
OTHERS = {name: [values[-1], *values[:3]] for name, values in ROWS.items()}


def protected(rows: dict[str, Any], folder: Path, budget: dp.Budget, **declared: Any) -> dp.Protected:
    """A table behind an account of its own."""
    return dp.protect(
        pa.table(rows),
        name="t",
        unit=dp.Unit("person"),
        columns={"color": dp.Keys(["red", "green"]), "age": dp.Bounds(0, 110)},
        limits=dp.Limits(rows=3),
        budget=budget,
        ledger=folder / "t.ledger",
        **declared,
    )


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Put a table behind an account of its own."""
    made: list[dp.Protected] = []

    def make_one(**declared: Any) -> dp.Protected:
        made.append(protected(ROWS, tmp_path, dp.Budget(epsilon=10, delta=1e-3), **declared))
        return made[-1]

    yield make_one
    for each in made:
        each.close()


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Protected]:
    """The table behind an account of which nothing is spent."""
    with protected(ROWS, tmp_path_factory.mktemp("census"), dp.Budget(epsilon=10, delta=1e-3)) as made:
        yield made


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Protected]:
    """A table of other people, behind an account of which all is spent."""
    with protected(OTHERS, tmp_path_factory.mktemp("others"), dp.Budget(epsilon=1, delta=1e-9)) as made:
        made.ask("SELECT COUNT(*) AS n FROM t", epsilon=1)
        with pytest.raises(BudgetExhausted):
            made.ask("SELECT COUNT(*) AS n FROM t WHERE age > 3", epsilon=1)
        yield made


BY_COLOR = [{"color": "red"}, {"color": "green"}]
NONE = {"n": 0}
FREE: dict[str, list[dict[str, Any]]] = {
    "SELECT color FROM t GROUP BY color": BY_COLOR,
    "SELECT DISTINCT color FROM t": BY_COLOR,
    "SELECT DISTINCT color, 1 AS one FROM t": [{**row, "one": 1} for row in BY_COLOR],
    "SELECT DISTINCT color, age > 50 AS old FROM t WHERE age IS NOT NULL ORDER BY old DESC, color LIMIT 2": [
        {"color": "green", "old": True},
        {"color": "red", "old": True},
    ],
    "SELECT UPPER(color) AS c FROM t GROUP BY c ORDER BY c": [{"c": "GREEN"}, {"c": "RED"}],
    "SELECT color FROM t WHERE color <> 'red' AND age > 30 GROUP BY color": [{"color": "green"}],
    "SELECT color FROM t GROUP BY ROLLUP (color)": [*BY_COLOR, {"color": None}],
    "SELECT COUNT(*) AS n FROM t WHERE color = 'purple'": [NONE],
    "SELECT COUNT(*) AS n FROM t WHERE color IN ('purple', 'pink')": [NONE],
    "SELECT COUNT(*) AS n FROM t WHERE age > 200": [NONE],
    "SELECT COUNT(*) AS n FROM t WHERE age > 5 AND age < 3": [NONE],
    "SELECT COUNT(*) AS n FROM t WHERE age BETWEEN 10 AND 5": [NONE],
    "SELECT COUNT(*) AS n FROM t WHERE FALSE": [NONE],
    "SELECT COUNT(*) AS n FROM t WHERE NULL": [NONE],
    "SELECT COUNT(*) AS n FROM t WHERE 1 = 0": [NONE],
    "SELECT COUNT(*) AS n FROM t WHERE person IS NULL": [NONE],
    "SELECT COUNT(*) AS n FROM t WHERE city = 'Bern' AND city = 'Basel'": [NONE],
    "SELECT COUNT(*) AS n FROM (SELECT age FROM t WHERE age > 60) WHERE age < 50": [NONE],
    "SELECT COUNT(DISTINCT person) AS n, COUNT(DISTINCT city) AS c, COUNT(age) AS a FROM t WHERE age < 0": [
        {"n": 0, "c": 0, "a": 0}
    ],
    "SELECT SUM(age) AS s, AVG(age) AS a, MAX(age) AS m, STDDEV(age) AS d, MODE(color) AS c FROM t WHERE age < 0": [
        {"s": None, "a": None, "m": None, "d": None, "c": None}
    ],
    "SELECT COUNT(*) + 2 AS n, SUM(age) / COUNT(*) AS a FROM t WHERE age < 0": [{"n": 2, "a": None}],
    "SELECT color, COUNT(*) AS n FROM t WHERE age > 200 GROUP BY color": [{**row, "n": 0} for row in BY_COLOR],
    "SELECT color, COUNT(*) AS n FROM t WHERE age > 200 GROUP BY color HAVING COUNT(*) > 3": [],
    "SELECT city, COUNT(*) AS n FROM t WHERE age > 200 GROUP BY city": [],
    "SELECT COUNT(*) FILTER (WHERE age > 200) AS n FROM t": [NONE],
    "SELECT COUNT(*) FILTER (WHERE FALSE) AS n FROM t": [NONE],
    "SELECT COUNT(*) FILTER (WHERE 1 = 0) AS n, COUNT_IF(FALSE) AS c, COUNT(NULL) AS k FROM t": [
        {"n": 0, "c": 0, "k": 0}
    ],
    "SELECT COUNT(CASE WHEN FALSE THEN 1 END) AS n, SUM(CASE WHEN FALSE THEN 1 END) AS s FROM t": [{"n": 0, "s": None}],
    "SELECT SUM(CASE WHEN color = 'purple' THEN age ELSE 0 END) AS n FROM t": [NONE],
    "SELECT SUM(CASE WHEN FALSE THEN 1 ELSE 0 END) AS n, SUM(age * 0) AS z FROM t": [{"n": 0, "z": 0}],
    "SELECT AVG(NULL) AS a, MEDIAN(age) FILTER (WHERE FALSE) AS m, CORR(age, NULL) AS r FROM t": [
        {"a": None, "m": None, "r": None}
    ],
    "SELECT COUNT(DISTINCT CASE WHEN FALSE THEN city END) AS n FROM t": [NONE],
    "SELECT COUNT(*) FILTER (WHERE age IN (300, 400)) AS n FROM t": [NONE],
    "SELECT COUNT(*) AS n FROM t WHERE color IN ()": [NONE],
    "SELECT COUNT(NULLIF(city, city)) AS n, AVG(NULLIF(age / 2, age / 2)) AS a FROM t": [{"n": 0, "a": None}],
    "SELECT COUNT(*) AS n FROM t WHERE age / 2 <> age / 2": [NONE],
    "SELECT DISTINCT color FROM t WHERE 1 = 0": BY_COLOR,
    "SELECT color, COUNT(*) AS n FROM t GROUP BY color HAVING COUNT(*) > 3 AND FALSE": [],
    "SELECT COUNT(*) AS n FROM t LIMIT 0": [],
    "SELECT COUNT(*) AS n FROM t OFFSET 1": [],
    "SELECT color, COUNT(*) AS n FROM t GROUP BY color ORDER BY n DESC LIMIT 5 OFFSET 2": [],
    "SELECT city, COUNT(*) AS n FROM t GROUP BY city LIMIT 0": [],
    "SELECT color, COUNT(*) AS n FROM t GROUP BY color HAVING FALSE": [],
}


@pytest.mark.parametrize("question", FREE)
def test_public_facts_answer_for_nothing(census: dp.Protected, question: str) -> None:
    """The rows, at no cost, without a debit, with a certificate that fits, and a warning that says so."""
    plan = census.plan(question, epsilon=1)
    answer = census.ask(plan)
    assert answer.rows() == FREE[question]
    assert (str(plan.cost), str(answer.cost), answer.entry, answer.reused) == ("ε = 0", "nothing", 0, False)
    assert (census.spent.epsilon, census.spent.rho, census.spent.delta) == (0, 0, 0)
    assert not [entry for entry in census.history() if entry.kind == "question"]
    assert answer.warnings == plan.warnings != ()
    assert all(warning in plan.explain() for warning in plan.warnings)
    assert contradictions(answer) == []
    assert (answer.certificate["entry"], answer.certificate["data_version"]) == (None, 1)
    read = Answer.from_json(answer.to_json())
    assert (read.rows(), read.warnings, contradictions(read)) == (answer.rows(), answer.warnings, [])


@pytest.mark.parametrize("question", FREE)
def test_they_are_the_same_whatever_the_data(census: dp.Protected, others: dp.Protected, question: str) -> None:
    """And whatever else happens: with all of the budget spent, and of a table of other people."""
    answer = others.ask(question, epsilon=1)
    assert answer.rows() == FREE[question]
    assert answer.certificate == census.ask(question, epsilon=1).certificate


COLUMNS = {
    "person": pa.int64(),
    "color": pa.string(),
    "age": pa.int64(),
    "city": pa.string(),
}
EMPTY = {
    "SELECT * FROM t LIMIT 0": COLUMNS,
    "SELECT * FROM t WHERE 1 = 0": COLUMNS,
    "SELECT * FROM (SELECT * FROM t) AS q WHERE FALSE LIMIT 1000": COLUMNS,
    "WITH q AS (SELECT * FROM t) SELECT q.* FROM q ORDER BY age LIMIT 0": COLUMNS,
    "SELECT * FROM t WHERE age > 5 AND age < 3": COLUMNS,
    "SELECT a.age, b.* FROM t AS a JOIN t AS b ON a.person = b.person LIMIT 0": {
        "age": pa.int64(),
        "person": pa.int64(),
        "color": pa.string(),
        "age_1": pa.int64(),
        "city": pa.string(),
    },
    "SELECT DISTINCT * FROM t WHERE age > 200": COLUMNS,
    "SELECT DISTINCT age / 2 AS half, 1 AS one, color FROM t WHERE 1 = 0": {
        "half": pa.float64(),
        "one": pa.int64(),
        "color": pa.string(),
    },
    "SELECT DISTINCT person FROM t LIMIT 0": {"person": pa.int64()},
    "SELECT age / 2 AS half, UPPER(city) AS c, age > 3 AS old, 1 AS one FROM t WHERE 1 = 0": {
        "half": pa.float64(),
        "c": pa.string(),
        "old": pa.bool_(),
        "one": pa.int64(),
    },
    "SELECT color, COUNT(*) AS n, AVG(age) AS a FROM t GROUP BY color HAVING FALSE": {
        "color": pa.string(),
        "n": pa.int64(),
        "a": pa.float64(),
    },
}


@pytest.mark.parametrize("question", EMPTY)
def test_tools_see_the_columns_of_no_rows(census: dp.Protected, others: dp.Protected, question: str) -> None:
    """Names and types, as an Arrow table, as a stream and as JSON; for nothing, the same whatever the data."""
    found = [each.ask(question, epsilon=1) for each in (census, others)]
    assert found[0].certificate == found[1].certificate
    answer = found[0]
    assert (answer.rows(), str(answer.cost), answer.entry) == ([], "nothing", 0)
    assert contradictions(answer) == []
    assert dict(zip(answer.names, answer.to_arrow().schema.types, strict=True)) == EMPTY[question]
    read = Answer.from_json(answer.to_json())
    assert read.to_arrow().schema == answer.to_arrow().schema
    names, rows = with_ends(read)
    stream = to_arrow_stream(names, rows, {column.name: column.kind for column in read.columns})
    assert pa.ipc.open_stream(stream).read_all().schema == answer.to_arrow().schema


@pytest.mark.parametrize(
    "question",
    [
        "SELECT * FROM t",
        "SELECT * FROM t LIMIT 1",
        "SELECT age FROM t WHERE age > 3",
        "SELECT nobody.* FROM t LIMIT 0",
        "SELECT * EXCLUDE (age) FROM t LIMIT 0",
        "SELECT no_such FROM t WHERE 1 = 0",
        "SELECT DISTINCT age / 2 AS half FROM t",
        "SELECT DISTINCT ON (person) age FROM t WHERE 1 = 0",
    ],
)
def test_rows_that_there_may_be_are_not_shown(census: dp.Protected, question: str) -> None:
    """Nor what isn't understood."""
    with pytest.raises(QueryError):
        census.plan(question, epsilon=1)


def test_what_is_known_exactly_has_an_interval_without_width(make: Make) -> None:
    """Of counts, and of what is computed of them; NULL has none."""
    answer = make().ask("SELECT COUNT(*) AS n, 3 - COUNT(*) AS m, SUM(age) AS s, 1 AS k FROM t WHERE FALSE", epsilon=1)
    assert [answer.interval(name) for name in answer.names] == [[(0, 0)], [(3, 3)], [None], [None]]


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u200b", "\x1b", " ", "\n", "\t", "\u00e9"])
def test_a_question_that_looks_like_another_is_warned_of(make: Make, sign: str) -> None:
    """Signs that turn what follows, or aren't seen, are the questions of others, as a link or a colleague brings them.

    Spaces and letters are none of them.
    """
    plan = make().plan(f"SELECT COUNT(*) AS n FROM t /* {sign}02 = ega */", epsilon=1)
    assert any("looks like" in each for each in plan.warnings) is (sign in "\u202e\u2066\u200b\x1b")


def test_only_what_is_measured_is_paid_for(make: Make) -> None:
    """A FILTER that holds for nobody takes no share; of grouping sets, those of public keys without numbers don't."""
    census = make()
    plain = census.plan("SELECT COUNT(*) AS n FROM t", epsilon=1)
    beside = census.plan("SELECT COUNT(*) AS n, SUM(age) FILTER (WHERE color = 'purple') AS s FROM t", epsilon=1)
    assert (beside.event, str(beside.cost)) == (plain.event, "ε = 1")
    assert beside.expected == plain.expected
    assert "color is never 'purple'" in "; ".join(beside.warnings)
    answer = census.ask(beside)
    assert (answer["s"], answer.interval("s"), answer.entry) == ([None], [None], 1)
    mixed = census.plan("SELECT color, city FROM t GROUP BY GROUPING SETS ((color), (city))", epsilon=2, delta=1e-6)
    assert [bool(level.events) for level in mixed.levels] == [False, True]
    shown = census.ask(mixed)
    assert [row for row in shown.rows() if row["color"]] == [{**row, "city": None} for row in BY_COLOR]
    assert census.spent.epsilon == 2  # half of the offer was for the groups that nothing is measured of


OFFERS = [
    {"rho": 1},
    {"within": 5},
    {"epsilon": 1, "weights": {"n": 2}},
    {"epsilon": 1, "limits": "auto"},
    {"epsilon": 1, "cut_off": True},
    {"epsilon": 1, "bounds": {"age": "auto"}},
]


@pytest.mark.parametrize("terms", OFFERS)
def test_whatever_is_offered(make: Make, terms: dict[str, Any]) -> None:
    """Nothing is tuned either: no profile is asked first."""
    census = make()
    answer = census.ask("SELECT COUNT(*) AS n, SUM(age) AS s FROM t WHERE age > 200", **terms)
    assert answer.rows() == [{"n": 0, "s": None}]
    assert census.spent.rho == 0


def test_in_a_workload(make: Make) -> None:
    """What public facts answer takes no part of the offer; all of it may be such."""
    census = make()
    empty, free = "SELECT COUNT(*) AS n FROM t WHERE age > 200", "SELECT color FROM t GROUP BY color"
    whole = census.plan(["SELECT COUNT(*) AS n FROM t", empty, free], epsilon=1)
    assert whole.event == census.plan(["SELECT COUNT(*) AS n FROM t"], epsilon=1).event
    answers = census.ask(whole)
    assert [one.rows() for one in answers[1:]] == [[NONE], BY_COLOR]
    assert whole.warnings == answers[1].warnings + answers[2].warnings
    assert all(f"warning: {warning}" in str(whole) for warning in whole.warnings)
    assert census.spent.epsilon == 1
    alone = census.ask([empty, free], epsilon=1)
    assert [(one.rows(), one.entry) for one in alone] == [([NONE], 0), (BY_COLOR, 0)]
    assert census.spent.epsilon == 1
    assert all(contradictions(one) == [] for one in (*answers, *alone))


def test_strangers_and_versions_that_never_were_are_refused(make: Make) -> None:
    """Free isn't for everybody, and an answer is of a version."""
    named = make(analysts={"ann": dp.Budget(epsilon=1, delta=1e-9)})
    with pytest.raises(BudgetExhausted):
        named.ask("SELECT color FROM t GROUP BY color", epsilon=1, analyst="eve")
    assert named.ask("SELECT color FROM t GROUP BY color", epsilon=1, analyst="ann").rows() == BY_COLOR
    with pytest.raises(InvalidArgument, match="version 0"):
        named.ask("SELECT color FROM t GROUP BY color", epsilon=1, analyst="ann", version=0)
    assert named.ask("SELECT color FROM t GROUP BY color", epsilon=1, analyst="ann", version=1).rows() == BY_COLOR


def test_unlisted_groups_are_selected_for_delta(make: Make) -> None:
    """They say who is there: DISTINCT costs what GROUP BY does, and without a δ neither is answered."""
    census = make()
    plans = [
        census.plan(f"SELECT {what}", epsilon=1, delta=1e-6)
        for what in ("city FROM t GROUP BY city", "DISTINCT city FROM t")
    ]
    assert plans[0].event == plans[1].event
    assert (plans[0].cost.epsilon, plans[0].cost.delta) == (1, Fraction(1, 10**6))
    assert plans[0].warnings == ()
    for question in (
        "SELECT DISTINCT city FROM t",
        "SELECT city FROM t GROUP BY city",
        "SELECT DISTINCT color, city FROM t",
    ):
        with pytest.raises(DeltaRequired):
            census.plan(question, epsilon=1)


def test_ibis_asks_for_distinct_rows_too(census: dp.Protected) -> None:
    """It writes SELECT DISTINCT * over a subquery; of a whole table, * is all of its columns."""
    assert census.ask(census.table.select("color").distinct(), epsilon=1).rows() == BY_COLOR
    with pytest.raises(Unsupported, match="person"):
        census.plan("SELECT DISTINCT * FROM t", epsilon=1, delta=1e-6)


def test_distinct_never_brings_groups_together(make: Make) -> None:
    """What it would show as one row are several noisy numbers."""
    census = make()
    kept = census.plan("SELECT DISTINCT color, COUNT(*) AS n FROM t GROUP BY color", epsilon=1)
    assert str(kept.cost) == "ε = 1"
    for question in (
        "SELECT DISTINCT COUNT(*) AS n FROM t GROUP BY color",
        "SELECT DISTINCT UPPER(color) AS c FROM t GROUP BY color",
        "SELECT DISTINCT ON (color) color FROM t",
        "SELECT DISTINCT 1 AS one FROM t",
    ):
        with pytest.raises(Unsupported):
            census.plan(question, epsilon=1)


WARNED = {
    "color = 'Red' OR age > 3": "color is never 'Red': color is one of 'red', 'green'; did you mean 'red'?",
    "color <> 'purple'": "color is never 'purple': color is one of 'red', 'green'",
    "color IN ('red', 'blue')": "color is never 'blue': color is one of 'red', 'green'",
    "age = 111 OR city = 'Bern'": "age is never 111: age lies in [0, 110] once values beyond are moved there",
    "age > 200 OR city = 'Bern'": "age > 200 holds for no row: age lies in [0, 110] once values beyond are moved there",
    "age BETWEEN 9 AND 5 OR city = 'Bern'": "age >= 9 AND age <= 5 holds for no row",
    "age > 200": "No row can have age > 200: the answer follows from what is declared, exactly and free of charge",
    "age > 5 AND age < 3": "No row can have all of age > 5 AND age < 3: the answer follows from what is declared, "
    "exactly and free of charge",
}


@pytest.mark.parametrize("condition", WARNED)
def test_conditions_that_cannot_be_meant_are_told(make: Make, condition: str) -> None:
    """In the plan, in its explanation, in the answer, in its text and in the certificate's plan."""
    census = make()
    question = f"SELECT COUNT(*) AS n FROM t WHERE {condition}"
    plan, answer = census.plan(question, epsilon=1), census.ask(question, epsilon=1)
    assert WARNED[condition] in plan.warnings == answer.warnings
    assert f"warning  {WARNED[condition]}" in str(answer)
    assert answer.certificate["plans"][0]["warnings"] == list(plan.warnings) == answer.to_json()["warnings"]
    assert WARNED[condition] in "\n".join(census.ask(f"EXPLAIN {question}", epsilon=1)["plan"])


def test_what_a_question_demands_itself_is_no_slip(census: dp.Protected) -> None:
    """A pivot over all keys of rows that WHERE narrows: the column that is sure to be empty is free, without a word."""
    plan = census.plan(
        "SELECT COUNT(*) FILTER (WHERE color = 'red') AS red, COUNT_IF(color = 'green') AS green FROM t "
        "WHERE color = 'red'",
        epsilon=1,
    )
    assert plan.warnings == ()
    assert [one.column for one in plan.expected] == ["red"]


@pytest.mark.parametrize("condition", ["color = 'red'", "age >= 110", "age <> 3", "city = 'Rome'", "color IS NULL"])
def test_others_are_not(census: dp.Protected, condition: str) -> None:
    """What may be meant says nothing, and is measured."""
    plan = census.plan(f"SELECT COUNT(*) AS n FROM t WHERE {condition}", epsilon=1)
    assert (plan.warnings, str(plan.cost), plan.to_dict().get("warnings")) == ((), "ε = 1", None)
