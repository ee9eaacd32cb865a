"""Options: BigQuery's clause and arguments, taken out of a question before it is parsed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import InvalidArgument, QueryError, SqlSyntax, TypeMismatch, Unsupported
from discreet.privacy import Limits
from discreet.query.ir import canonical
from discreet.query.planner import Request
from discreet.query.sql import Strategy, options, question
from support.asked import TABLES

DIALECTS = ["duckdb", "postgres", "bigquery", "spark", "snowflake", "tsql", "mysql", "presto", "oracle", "sqlite"]
CLAUSE = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.1, delta = 1e-5, max_groups_contributed = 2, "
    "group_selection_strategy = LAPLACE_THRESHOLD, privacy_unit_column = person_id) COUNT(*) AS n FROM visits"
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_clause_is_read_in_every_dialect(dialect: str) -> None:
    """The options are exact, and the question is what it is without them."""
    found = options(CLAUSE, dialect)
    assert (found.epsilon, found.delta) == (Fraction(1, 10), Fraction(1, 100_000))
    assert (found.max_groups_contributed, found.max_rows_contributed) == (2, None)
    assert found.group_selection_strategy is Strategy.LAPLACE_THRESHOLD
    assert found.privacy_unit_column == ("person_id",)
    plain = "SELECT COUNT(*) AS n FROM visits"
    assert canonical(question(CLAUSE, TABLES, dialect)) == canonical(question(plain, TABLES, dialect))


@pytest.mark.parametrize(("written", "meant"), [(".01", Fraction(1, 100)), (".5e-1", Fraction(1, 20))])
def test_numbers_may_begin_with_a_point(written: str, meant: Fraction) -> None:
    """As in BigQuery's own examples; what isn't one number stays none."""
    asked = CLAUSE.replace("1e-5", written)
    assert {options(asked, dialect).delta for dialect in DIALECTS} == {meant}
    for wrong in (f".{written}", f". {written[1:]}", f"-{written}"):
        with pytest.raises(TypeMismatch):
            options(CLAUSE.replace("1e-5", wrong), "bigquery")


def test_the_older_clause_says_kappa() -> None:
    """SELECT WITH ANONYMIZATION, as ZetaSQL had it first; case is no matter, nor is a clause without options."""
    found = options("select with anonymization options(EPSILON = 2, Kappa = 3) count(*) from visits", "duckdb")
    assert (found.epsilon, found.max_groups_contributed) == (2, 3)
    assert options("SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM people", "duckdb").epsilon is None
    assert options("SELECT COUNT(*) FROM people", "duckdb").at is None


def test_a_common_table_may_stand_before_it() -> None:
    """The clause belongs to the question's own SELECT, wherever that stands."""
    text = "WITH v AS (SELECT * FROM visits) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(rho = 1/1) COUNT(*) FROM v"
    with pytest.raises(SqlSyntax):
        options(text, "duckdb")
    assert options(text.replace("1/1", "1"), "duckdb").rho == 1


REFUSED = [
    ("SELECT WITH PRIVACY COUNT(*) FROM people", SqlSyntax, 13),
    ('SELECT WITH "DIFFERENTIAL_PRIVACY" COUNT(*) FROM people', SqlSyntax, 13),
    ("SELECT WITH", SqlSyntax, 8),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(foo = 1) 1", Unsupported, 42),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(kappa = 1) 1", Unsupported, 42),
    ("SELECT WITH ANONYMIZATION OPTIONS(max_groups_contributed = 1) 1", Unsupported, 35),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = '1') 1", TypeMismatch, 52),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = x) 1", TypeMismatch, 52),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = -1) 1", TypeMismatch, 52),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0) 1", TypeMismatch, 52),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1e999) 1", Unsupported, 52),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta = 1) 1", TypeMismatch, 50),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed = 1.5) 1", TypeMismatch, 67),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed = NULL) 1", TypeMismatch, 67),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed = 0) 1", TypeMismatch, 65),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy = BEST) 1", TypeMismatch, 69),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column = 'id') 1", TypeMismatch, 64),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, epsilon = 1) 1", SqlSyntax, 55),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=1, max_rows_contributed=1) 1", Unsupported, 8),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1 delta = 1) 1", SqlSyntax, 54),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1", SqlSyntax, 8),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon : 1) 1", SqlSyntax, 50),
    ("SELECT COUNT(*) FROM (SELECT WITH DIFFERENTIAL_PRIVACY sex FROM people)", Unsupported, 23),
]


@pytest.mark.parametrize(("sql", "kind", "column"), REFUSED, ids=[sql[12:60] for sql, _, _ in REFUSED])
def test_refused(sql: str, kind: type[QueryError], column: int) -> None:
    """What is wrong with the clause is said with its place, before anything else is read."""
    with pytest.raises(kind) as caught:
        options(sql, "bigquery")
    assert caught.value.place == (1, column)


def test_what_was_expected_and_what_was_got() -> None:
    """As BigQuery's own errors do."""
    with pytest.raises(TypeMismatch, match="option epsilon takes a number above 0, not the text 'x'"):
        options("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 'x') COUNT(*) FROM t", "bigquery")
    with pytest.raises(Unsupported, match=r"unknown option 'epsilom' \(did you mean epsilon\?\)"):
        options("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilom = 1) COUNT(*) FROM t", "bigquery")


UNITS = [
    ("visits", "person_id", True),
    ("visits", "PERSON_ID", True),
    ("visits AS v", "v.person_id", True),
    ("visits", "region", False),
    ("visits", "nope", False),
    ("visits", "a.b.c", False),
    ("days", "person_id", False),
    ("people", "age", False),
    ("items", "customer_id", True),
    ("customers JOIN orders ON orders.customer_id = customers.id", "customers.id", True),
    ("customers JOIN orders ON orders.customer_id = customers.id", "orders.id", False),
]


@pytest.mark.parametrize(("rows", "column", "agrees"), UNITS)
def test_the_unit_is_the_custodian_s(rows: str, column: str, agrees: bool) -> None:
    """privacy_unit_column may say what is declared, and nothing else."""
    sql = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column = {column}) COUNT(*) AS n FROM {rows}"
    if agrees:
        question(sql, TABLES)
    else:
        with pytest.raises(QueryError) as caught:
            question(sql, TABLES)
        assert caught.value.place == (1, 8)


def test_public_groups_are_public() -> None:
    """PUBLIC_GROUPS is a demand, and refused where it can't be met."""
    clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy = PUBLIC_GROUPS)"
    question(f"{clause} sex, COUNT(*) FROM people GROUP BY sex", TABLES)
    with pytest.raises(Unsupported, match="'education' aren't public"):
        question(f"{clause} education, COUNT(*) FROM people GROUP BY education", TABLES)


def _offer(inside: str, rows: str = "visits", **beside: Any) -> Request:
    """What is offered by OPTIONS and arguments together."""
    sql = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({inside}) region, COUNT(*) AS n FROM {rows} GROUP BY region"
    return Request.read(beside).with_options(options(sql, "duckdb"), question(sql, TABLES))


def test_options_and_arguments_make_one_offer() -> None:
    """Either may say a thing; both may say the same; δ = 0 offers none."""
    assert _offer("epsilon = 0.5", delta="1e-6") == Request(epsilon=Fraction(1, 2), delta=Fraction(1, 10**6))
    assert _offer("epsilon = 0.5, delta = 0", epsilon="1/2") == Request(epsilon=Fraction(1, 2))
    assert _offer("max_rows_contributed = 7", epsilon=1).limits == Limits(rows=7)
    assert _offer("max_groups_contributed = 1").limits == Limits(groups=1, rows_per_group=5)
    assert _offer("max_groups_contributed = 3", "days").limits == Limits(rows=5, groups=3)
    assert _offer("", limits="auto").limits == "auto"


@pytest.mark.parametrize(
    ("inside", "beside"),
    [
        ("epsilon = 1", {"epsilon": 2}),
        ("delta = 1e-5", {"delta": 1e-6}),
        ("delta = 0", {"delta": 1e-6}),
        ("rho = 1", {"rho": 2}),
        ("max_rows_contributed = 1", {"limits": Limits(rows=2)}),
        ("max_rows_contributed = 1", {"limits": "auto"}),
        ("group_selection_strategy = LAPLACE_THRESHOLD", {"rho": 1}),
    ],
)
def test_contradictions_are_refused(inside: str, beside: dict[str, object]) -> None:
    """What OPTIONS and arguments say differently has no meaning."""
    with pytest.raises(InvalidArgument):
        _offer(inside, **beside)


BOUNDED = [
    ("SUM(amount, contribution_bounds_per_row => (0, 50))", "SUM(CASE WHEN amount IS NOT NULL THEN {} END)"),
    ("AVG(amount , Contribution_Bounds_Per_Row=>(0,50))", "AVG(CASE WHEN amount IS NOT NULL THEN {} END)"),
    ("MEDIAN(amount, contribution_bounds_per_row => (0, 50))", "MEDIAN(CASE WHEN amount IS NOT NULL THEN {} END)"),
]


@pytest.mark.parametrize(("named", "plain"), BOUNDED)
@pytest.mark.parametrize("dialect", ["bigquery", "duckdb", "snowflake"])
def test_bounds_per_row_clamp_each_row(named: str, plain: str, dialect: str) -> None:
    """They mean GREATEST(LEAST(x, hi), lo), with NULL staying NULL; CASE WHEN says the same at more length."""
    bounded = str(question(f"SELECT {named} AS s FROM visits", TABLES, dialect).aggregates[0])
    clamp = "GREATEST(LEAST(amount, 50), 0)"
    expected = str(question(f"SELECT {plain.format(clamp)} AS s FROM visits", TABLES).aggregates[0])
    inner = 'greatest(least("visits"."amount", real:50), real:0)'
    assert inner in bounded
    assert inner in expected
    assert bounded.replace(inner, "") == (
        expected.replace(inner, "").replace(
            'if(not(is_null("visits"."amount")), , real:None)', 'if(is_null("visits"."amount"), real:None, )'
        )
    )


def test_the_clamp_bounds_what_has_no_bounds() -> None:
    """A column without bounds can be added up with them; the second argument stays where it is."""
    asked = question("SELECT SUM(wealth, contribution_bounds_per_row => (-5, 1e3)) AS s FROM people", TABLES)
    argument = asked.aggregates[0].argument
    assert argument is not None
    assert (argument.type.lo, argument.type.hi) == (-5, 1000)
    asked = question(
        "SELECT QUANTILE_CONT(wealth, 0.9, contribution_bounds_per_row => (0, 9)) AS q FROM people", TABLES
    )
    assert asked.aggregates[0].fraction == Fraction(9, 10)
    nested = "SELECT SUM(GREATEST(LEAST(age, 3), 1), contribution_bounds_per_row => (0, 2)) + COUNT(*) AS s FROM people"
    assert "greatest(least(greatest(least(" in canonical(question(nested, TABLES))


@pytest.mark.parametrize(
    "aggregate",
    [
        "SUM(age, contribution_bounds_per_row => (5, 0))",
        "SUM(age, contribution_bounds_per_row => (0))",
        "SUM(age, contribution_bounds_per_row => 5)",
        "SUM(age, contribution_bounds_per_row => (0, 1, 2))",
        "SUM(age, contribution_bounds_per_row => (0, age))",
        "SUM(age, contribution_bounds_per_row => (0, 'x'))",
        "SUM(age, contribution_bounds_per_row => (0, NULL))",
        "SUM(contribution_bounds_per_row => (0, 1))",
        "SUM(age, contribution_bounds_per_row => (0, 1), contribution_bounds_per_row => (0, 1))",
        "SUM(age, contribution_bounds_per_group => (0, 1))",
        "COUNT(*, contribution_bounds_per_group => (0, 1))",
        "SUM(age, bounds => (0, 1))",
        "SUM(age, 'contribution_bounds_per_row' => (0, 1))",
        "SUM(education, contribution_bounds_per_row => (0, 1))",
        "SUM(ABS(age, contribution_bounds_per_row => (0, 1)))",
        "SUM(age, contribution_bounds_per_row => (0, 1)",
        "SUM(age, contribution_bounds_per_row =>",
        "SUM(contribution_bounds_per_row(age, 0, 1))",
        '"contribution_bounds_per_row"(age, 0, 1)',
    ],
)
def test_bounds_that_mean_nothing(aggregate: str) -> None:
    """Everything but two constants in order, after what is aggregated, is refused with its place."""
    with pytest.raises(QueryError) as caught:
        question(f"SELECT {aggregate} FROM people", TABLES)
    assert caught.value.place is not None


def test_bounds_per_group_name_the_form_that_works() -> None:
    """A clamp of a unit's total is a subquery here."""
    with pytest.raises(Unsupported, match="add up each unit's rows in a subquery"):
        question("SELECT SUM(amount, contribution_bounds_per_group => (0, 9)) FROM visits", TABLES)
    question(
        "SELECT region, SUM(GREATEST(LEAST(total, 9), 0)) AS s FROM (SELECT person_id, region, SUM(amount) AS total"
        " FROM visits GROUP BY person_id, region) AS v GROUP BY region",
        TABLES,
    )
