"""Summaries: a workload that is written from what is declared alone, and its answers as one table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from datetime import date, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from statistics import stdev
from typing import Any

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import BudgetExhausted, UnknownColumn, UnknownTable, Unsupported

pytestmark = pytest.mark.usefixtures("kept_sessions")

ROWS = 1_200
GREAT = 100_000
"""An ε at which nothing has noise that is seen."""

COLUMNS: Mapping[str, Any] = {
    "age": dp.Bounds(0, 110),
    "income": dp.Bounds(0, 100_000),
    "sex": dp.Keys(["Female", "Male"]),
    "grade": dp.Keys([1, 2, None]),
    "town": dp.Keys([f"t{number}" for number in range(30)]),
    "day": dp.Bounds(date(2020, 1, 1), date(2022, 12, 31)),
    "moment": dp.Bounds(datetime(2021, 1, 1), datetime(2021, 1, 2)),
    "score": dp.Column(kind=dp.Kind.INTEGER, bounds=dp.Bounds(0, 9), nullable=False),
    "open": dp.Column(kind=dp.Kind.REAL, nullable=False),
}
"""Beside an undeclared truth, a text and a number; a column that nothing is asked of."""


def table(rows: int = ROWS) -> pa.Table:
    """Two rows for each person; of some columns some values are NULL, or aren't declared."""
    every = range(rows)
    return pa.table(
        {
            "id": [row // 2 for row in every],
            "age": [None if row % 6 == 0 else 18 + row * 37 % 60 for row in every],
            "income": [500.0 * (row * 37 % 60) for row in every],
            "sex": [["Female", "Male", None, "Other", "Male", "Male"][row % 6] for row in every],
            "grade": [[1, 2, None, 2][row % 4] for row in every],
            "town": [f"t{row * 7 % 31 % 30}" for row in every],
            "day": [date(2021, 1, 1) + timedelta(days=row * 13 % 700) for row in every],
            "moment": [datetime(2021, 1, 1) + timedelta(seconds=row * 7907 % 86_400) for row in every],
            "score": [row % 10 for row in every],
            "open": [float(row) for row in every],
            "ok": [[True, False, True, None][row % 4] for row in every],
            "word": [["often", "seldom", "often", None][row % 4] for row in every],
            "wide": [None if row % 3 == 0 else row for row in every],
        }
    )


class Desk:
    """Opens accounts over the table."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack, self._opened = folder, stack, 0

    def __call__(self, unit: dp.Unit | None = None, **declared: Any) -> dp.Protected:
        """A fresh account."""
        self._opened += 1
        declared = {"budget": dp.Budget(epsilon=10**8, delta="0.1"), "columns": COLUMNS} | declared
        made = dp.protect(
            declared.pop("data", table()),
            name="people",
            unit=unit or dp.Unit.row(),
            ledger=self._folder / f"{self._opened}.ledger",
            **declared,
        )
        return self._stack.enter_context(made)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Accounts that are closed in the end."""
    with ExitStack() as stack:
        yield Desk(tmp_path_factory.mktemp("summary"), stack)


@pytest.fixture(scope="module")
def whole(desk: Desk) -> dp.Summary:
    """Everything, next to without noise."""
    return desk().summary(epsilon=GREAT, delta="0.001")


def row_of(summary: dp.Summary, column: str) -> Mapping[str, Any]:
    """What is said of a column."""
    return next(row for row in summary.rows() if row["column"] == column)


def test_each_kind_of_column_has_what_is_declared_for_it(whole: dp.Summary) -> None:
    """In their order; a column of which nothing is declared, and that is never NULL, has no row."""
    assert [row["column"] for row in whole.rows()] == [name for name in table().column_names if name != "open"]
    told = {row["column"]: {part for part, value in row.items() if value is not None} for row in whole.rows()}
    quartiles = {"q25", "median", "q75"}
    number = {"mean", "std", *quartiles}
    assert told["age"] - {"column", "kind"} == {"missing", *number}
    assert told["score"] - {"column", "kind"} == number
    assert told["day"] - {"column", "kind"} == told["moment"] - {"column", "kind"} == {"missing", *quartiles}
    assert {"missing"} == told["sex"] - {"column", "kind"} == told["ok"] - {"column", "kind"}
    assert {"missing"} == told["wide"] - {"column", "kind"} == told["grade"] - {"column", "kind"}


def test_without_noise_it_is_right(whole: dp.Summary) -> None:
    """Within what the grids leave: each number is of plain Python."""
    data = table().to_pydict()
    ages = sorted(age for age in data["age"] if age is not None)
    age = row_of(whole, "age")
    assert whole[0].rows() == [{"rows": ROWS}]
    assert age["missing"] == ROWS - len(ages)
    assert age["mean"] == pytest.approx(sum(ages) / len(ages), abs=0.1)
    assert age["std"] == pytest.approx(stdev(ages), abs=0.1)
    assert age["q25"] in ages[len(ages) // 4 - 3 : len(ages) // 4 + 3]
    assert row_of(whole, "wide")["missing"] == ROWS / 3
    counted = {name: {one.key: one.rows for one in counts} for name, counts in whole.counts().items()}
    assert counted["sex"] == {"Male": ROWS // 2, "Female": ROWS // 6, "(missing)": ROWS // 3}
    assert counted["grade"] == {"1": ROWS // 4, "2": ROWS // 2, "NULL": ROWS // 4}
    assert counted["ok"] == {"True": ROWS // 2, "False": ROWS // 4, "NULL": ROWS // 4}
    assert counted["word"] == {"often": ROWS // 2, "seldom": ROWS // 4, "NULL": ROWS // 4}
    assert len(counted["town"]) == 10
    assert row_of(whole, "sex")["missing"] == ROWS // 3


def test_texts_are_looked_through_only_for_a_delta(desk: Desk) -> None:
    """Without one, a text has no keys: it is told how many are missing."""
    found = desk().summary(columns=["word"], epsilon=GREAT)
    assert found.rows() == [
        {"column": "word", "kind": "text", "missing": ROWS // 4}
        | dict.fromkeys(("mean", "std", "q25", "median", "q75"))
    ]
    assert found.counts() == {}


def test_units_are_counted_once(desk: Desk) -> None:
    """Where a unit may have many rows, under declared limits; its id has no row of its own."""
    account = desk(dp.Unit("id"), limits=dp.Limits(rows=2))
    found = account.summary(columns=["age", "sex"], epsilon=GREAT)
    assert found[0].rows() == [{"rows": ROWS, "units": ROWS // 2}]
    assert "id" not in {row["column"] for row in account.summary(epsilon=GREAT).rows()}
    assert re.fullmatch(rf"people: {ROWS} ± [0-9] rows, {ROWS // 2} ± [0-9] units", found.headline)
    assert dict(found.notes())["limits"].endswith("no ± shows what that leaves out")  # and how to measure it isn't said
    fewer = account.summary(columns=["age"], epsilon=GREAT, limits=dp.Limits(rows=1))
    assert fewer[0].rows() == [{"rows": ROWS // 2, "units": ROWS // 2}]


def test_units_are_counted_where_the_table_names_them(tmp_path: Path) -> None:
    """By its own id, or by a link that ends at one; not where they are farther away. Ids and links have no row."""
    rows = range(300)
    people = pa.table({"id": list(range(100)), "age": [20 + row % 50 for row in range(100)]})
    orders = pa.table({"number": list(rows), "who": [row % 100 for row in rows], "paid": [row % 7 for row in rows]})
    items = pa.table({"order": list(rows), "size": [row % 5 for row in rows]})
    limits, ends = dp.Limits(rows=3), dp.Bounds(0, 100)
    tables = [
        dp.table(people, name="people", unit=dp.Unit("id"), columns={"age": ends}, limits=limits),
        dp.table(orders, name="orders", links={"who": "people.id"}, columns={"paid": ends}, limits=limits),
        dp.table(items, name="items", links={"order": "orders.number"}, columns={"size": ends}, limits=limits),
        dp.table(pa.table({"k": ["a"]}), name="kinds", public=True),
    ]
    budget = dp.Budget(epsilon=10**8)
    with dp.protect(tables, name="shop", budget=budget, ledger=tmp_path / "shop.ledger") as shop:
        found = {name: shop.summary(name, epsilon=GREAT) for name in ("people", "orders", "items")}
        assert [each[0].rows()[0] for each in found.values()] == [
            {"rows": 100, "units": 100},
            {"rows": 300, "units": 100},
            {"rows": 300},
        ]
        assert [[row["column"] for row in each.rows()] for each in found.values()] == [["age"], ["paid"], ["size"]]
        with pytest.raises(dp.errors.InvalidArgument, match="there are several tables here"):
            shop.summary(epsilon=1)
        with pytest.raises(Unsupported, match="is public"):
            shop.ask("SUMMARIZE kinds", epsilon=1)


def test_a_table_of_ids_has_rows_and_units(desk: Desk) -> None:
    """There is nothing else to ask."""
    bare = pa.table({"id": [row // 2 for row in range(100)]})
    found = desk(dp.Unit("id"), data=bare, columns={}, limits=dp.Limits(rows=2)).summary(epsilon=GREAT)
    assert [answer.rows() for answer in found] == [[{"rows": 100, "units": 50}]]
    assert found.rows() == []
    assert re.match(r"people: 100 ± [0-9] rows, 50 ± [0-9] units\n\n±", str(found))
    assert "left out id" in str(found)


def test_what_is_asked_follows_from_what_is_declared(desk: Desk) -> None:
    """The hostile custodian of other rows: the plan, and so what it costs, is the same whatever the rows hold."""
    some = "SUMMARIZE SELECT age, sex, word, town, ok FROM people"
    plans = [desk(data=data).plan(some, epsilon=1, delta="1e-6") for data in (table(), table(12))]
    first, second = ([each.text for each in plan.questions] for plan in plans)
    assert first == second
    assert plans[0].digest == plans[1].digest


def test_it_is_one_debit_and_free_again(desk: Desk) -> None:
    """So are questions that follow from it, and the summary as a statement."""
    account = desk()
    first = account.summary(columns=["age", "sex"], epsilon=1)
    assert account.spent.epsilon == 1
    assert first.price == "ε = 1, entry 1"
    assert first.cost.epsilon == Fraction(1)
    plan = account.plan('SUMMARIZE SELECT "age", "sex" FROM people', epsilon=1)
    assert plan.answered_by == (1,)
    again = account.ask(plan)
    assert isinstance(again, dp.Summary)
    assert again.price == "free: the same answer again, paid for in entry 1"
    assert again.rows() == first.rows()
    for follows in (
        "AVG(age) AS a FROM people",
        "sex, COUNT(*) AS n FROM people GROUP BY sex",
        "COUNT(*) AS n FROM people",
    ):
        assert account.ask(f"SELECT {follows}", epsilon="0.001").origin == (1,)
    assert account.spent.epsilon == 1
    assert account.verify().problems == ()


def test_a_spent_budget_refuses_all_of_it(desk: Desk) -> None:
    """All or nothing, and nothing is charged."""
    account = desk(budget=dp.Budget(epsilon=1))
    account.ask("SELECT COUNT(*) AS n FROM people", epsilon="0.5")
    with pytest.raises(BudgetExhausted):
        account.summary(columns=["age", "sex"], epsilon="0.6")
    assert account.spent.epsilon == Fraction(1, 2)
    assert len(account.summary(columns=["age", "sex"], epsilon="0.5")) == 3


def test_the_whole_offer_is_spent_and_no_more(desk: Desk) -> None:
    """In ε, in ρ, and with a δ for the texts."""
    account = desk()
    some = "SUMMARIZE SELECT age, day, sex FROM people"
    assert account.plan(some, epsilon=1).cost.epsilon == 1
    rho = account.plan(some, rho="0.1").cost.rho
    assert rho is not None
    assert Fraction(999, 10_000) < rho <= Fraction(1, 10)
    with_texts = account.summary(columns=["word", "age"], epsilon=1, delta="1e-6").cost
    assert with_texts.epsilon is None or with_texts.epsilon <= 1
    assert 0 < with_texts.delta <= Fraction(1, 10**6)


def test_it_prints_as_one_table(desk: Desk) -> None:
    """A row for each column, a count for each key, what was left out, and the cost."""
    found = desk().summary(columns=["age", "sex", "ok"], epsilon=GREAT)
    lines = str(found).splitlines()
    assert re.fullmatch(rf"people: {ROWS} ± [0-9] rows", lines[0])
    assert lines[2].split() == ["column", "declared", "missing", "mean", "std", "25", "%", "median", "75", "%"]
    assert re.match(r"age     integer, 0 to 110  200 ± [0-9]  ", lines[4])
    assert re.fullmatch(r"sex     text, 2 keys       400 ± [0-9]", lines[5])
    bars = {line.split()[0]: line.count("█") for line in lines if "█" in line}
    assert bars == {"Male": 20, "(missing)": 13, "Female": 6, "True": 20, "False": 10, "NULL": 10}
    assert re.fullmatch(r"cost     ε = [\d.]+, entry 1", lines[-2])
    assert lines[-1].startswith("left     ")
    assert any(line.startswith("left out id, income") for line in lines)
    assert repr(found) == str(found)
    html = found._repr_html_()
    assert '<th class="number">median</th>' in html
    assert "<td>Male</td>" in html


def test_it_is_a_frame_and_json(whole: dp.Summary) -> None:
    """With the answers as they are, each signed; JSON is read back."""
    frame = whole.to_pandas()
    assert list(frame.columns) == ["kind", "missing", "mean", "std", "q25", "median", "q75"]
    assert frame.loc["age", "missing"] == 200
    data = whole.to_json()
    assert data["table"] == "people"
    assert data["summary"][1]["column"] == "age"
    answers = [dp.Answer.from_json(each) for each in data["answers"]]
    assert [answer.rows() for answer in answers] == [answer.rows() for answer in whole]
    read = dp.Summary.of(answers, [{"name": "peopl", "columns": []}, whole.table])
    assert read is not None
    assert read.sheet() == whole.sheet()
    assert dp.Summary.of(answers, []) is None
    assert whole.column("age")["age mean"] == [row_of(whole, "age")["mean"]]
    with pytest.raises(dp.errors.InvalidArgument, match="nothing of a column 'open'"):
        whole.column("open")


def test_names_may_be_any(desk: Desk) -> None:
    """Quotes, blanks, keywords, and names that look like parts of a summary."""
    names = ['a "b"', "select", "rows", "mean", "x mean", "x"]
    odd = pa.table({name: [1, 2, 3, None] * 10 for name in names} | {"key rows": ["a", "b", "(missing)", None] * 10})
    declared = {name: dp.Bounds(0, 9) for name in names} | {"key rows": dp.Keys(["a", "(missing)"])}
    found = desk(data=odd, columns=declared).summary(epsilon=GREAT)
    assert [row["column"] for row in found.rows()] == [*names, "key rows"]
    assert [row["missing"] for row in found.rows()] == [10] * 6 + [20]
    assert [row["mean"] for row in found.rows()][:-1] == pytest.approx([2] * 6, abs=0.1)
    assert {one.key: one.rows for one in found.counts()["key rows"]} == {"a": 10, "(missing)": 10, "((missing))": 20}


def test_keys_may_be_named_like_what_is_counted(desk: Desk) -> None:
    """What counts more has noise: a column that rows are counted by isn't taken for it, in a list of them either."""
    names = ["rows", "units", "x", "x rows", "y mean"]
    odd = pa.table({name: ["a", "b"] * 20 for name in names} | {"y": [1.0] * 40, "id": range(40)})
    declared: dict[str, Any] = dict.fromkeys(names, dp.Keys(["a", "b"])) | {"y": dp.Bounds(0, 9)}
    account = desk(dp.Unit("id"), data=odd, columns=declared, limits=dp.Limits(rows=1))
    found = account.summary(epsilon=GREAT)
    assert {name: [one.rows for one in counts] for name, counts in found.counts().items()} == {
        name: [20, 20, 0] for name in names
    }
    assert found.column("y")["y mean"] == pytest.approx([1], abs=0.5)
    assert len(account.ask(["SUMMARIZE people", "SUMMARIZE people"], epsilon=GREAT)) == 2 * len(found)


def test_an_accuracy_takes_the_place_of_weights(desk: Desk) -> None:
    """A summary weighs its columns only where an offer is shared out among them; what can't be promised says so."""
    account = desk()
    found = account.summary(columns=["sex"], within={"*": 5})
    assert found.column("sex").cost.epsilon
    with pytest.raises(Unsupported, match=r"how wide '2\.age std' is depends on its noisy answer"):
        account.summary(columns=["age"], within={"*": 5})


@pytest.mark.parametrize(
    ("columns", "statements", "most"), [(250, 1, "at most 64 columns"), (60, 100, "200 are asked")]
)
def test_more_columns_than_can_be_asked_about_are_refused_before_any_is(
    desk: Desk, columns: int, statements: int, most: str
) -> None:
    """However many are named by few words; with a way out."""
    wide = pa.table({f"c{number}": [1] for number in range(columns)})
    account = desk(data=wide, columns={name: dp.Bounds(0, 9) for name in wide.column_names})
    with pytest.raises(dp.DiscreetError, match=most) as caught:
        account.ask(["SUMMARIZE people"] * statements, epsilon=1)
    assert "SUMMARIZE SELECT age, sex FROM census" in caught.value.hint


def test_columns_that_are_withheld_say_so(desk: Desk) -> None:
    """A custodian's rule holds for a summary as for any question."""
    account = desk(least_units=300, columns=COLUMNS)
    found = account.summary(columns=["sex"], epsilon=GREAT)
    assert [one.words for one in found.counts()["sex"]] == [f"{ROWS // 2} ± 0", "withheld", "400 ± 0"]


@pytest.mark.parametrize(
    ("asked", "refusal", "said"),
    [
        ("SUMMARIZE", dp.errors.SqlSyntax, "names a table"),
        ("SUMMARIZE peple", UnknownTable, "did you mean people"),
        ("SUMMARIZE SELECT aeg FROM people", UnknownColumn, "did you mean age"),
        ("SUMMARIZE SELECT age + 1 FROM people", Unsupported, "columns as they are"),
        ("SUMMARIZE SELECT age FROM people WHERE age > 3", Unsupported, "a table, or columns of one"),
        ("SUMMARIZE SELECT sex, COUNT(*) FROM people GROUP BY sex", Unsupported, "a table, or columns of one"),
        ("SUMMARIZE people, people AS p", Unsupported, "a table, or columns of one"),
        ("SUMMARIZE people AS p", Unsupported, "a table as it is"),
        ("SUMMARIZE people TABLESAMPLE 5 PERCENT", Unsupported, "a table"),
        ("SUMMARIZE (SELECT age FROM people)", dp.errors.QueryError, "parentheses"),
        ("SUMMARIZE people; SELECT 1", dp.errors.NotOneSelect, "a second one begins"),
        ("SUMMARIZE SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) age FROM people", Unsupported, "no OPTIONS"),
    ],
)
def test_what_is_mistyped_is_refused_with_a_hint(
    desk: Desk, asked: str, refusal: type[dp.DiscreetError], said: str
) -> None:
    """Before anything is paid."""
    account = desk()
    with pytest.raises(refusal, match=said) as caught:
        account.ask(asked, epsilon=1)
    assert caught.value.hint
    assert not account.spent.epsilon


def test_statements_may_stand_in_a_list(desk: Desk) -> None:
    """In place of their questions, beside others; with blanks, comments and a semicolon, in any case."""
    account = desk()
    found = account.ask(
        [
            "-- some\nsummarize select AGE, sex from People;",
            "SELECT AVG(age) AS a FROM people",
            "/* a */ Summarize SELECT sex, sex FROM people",
        ],
        epsilon=GREAT,
    )
    assert [answer.names[-1] for answer in found] == ["rows", "age q75", "sex rows", "a", "rows", "sex rows"]
    assert not isinstance(found, dp.Summary)


@pytest.mark.parametrize(
    "after",
    [
        "(" * 500,
        "\0",
        '"',
        "'",
        "people " * 5_000,
        "/*" * 2_000,
        "t" * 90_000,
        "SELECT " + "a," * 3_000,
        "people -- people",
    ],
)
def test_hostile_texts_are_refused_or_planned(desk: Desk, after: str) -> None:
    """As errors of the question, within the time of any question."""
    with suppress(dp.errors.QueryError):
        assert desk().plan(f"SUMMARIZE {after}", epsilon=1).questions


def test_wide_tables_are_summarized_in_parts(desk: Desk) -> None:
    """The refusal says how."""
    wide = pa.table({f"c{number}": [1, None] for number in range(65)})
    account = desk(data=wide, columns={})
    with pytest.raises(Unsupported, match="at most 64 columns, not 65") as caught:
        account.summary(epsilon=1)
    assert "SUMMARIZE SELECT" in caught.value.hint
    assert len(account.plan("SUMMARIZE SELECT c0, c64 FROM people", epsilon=1).questions) == 3


def test_a_table_is_named_where_there_are_several(desk: Desk) -> None:
    """The error says which there are."""
    account = desk()
    with pytest.raises(dp.errors.InvalidArgument, match="did you mean 'people'"):
        account.summary("peple", epsilon=1)
    with pytest.raises(dp.errors.InvalidArgument, match="columns are named in a list"):
        account.summary(columns="age", epsilon=1)
