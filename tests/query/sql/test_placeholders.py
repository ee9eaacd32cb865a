"""Placeholders: a value is written as a literal of its dialect, and can be nothing else, whatever is in it."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from discreet.errors import InvalidArgument, QueryError, SqlSyntax, Unsupported
from discreet.parameters import Value, parameters_from_json, parameters_to_json, read_parameters
from discreet.query.sql import filled_in, parse
from discreet.query.sql import placeholders as module

DIALECTS = ["duckdb", "postgres", "mysql", "bigquery", "snowflake", "tsql", "spark", "sqlite", "clickhouse", "oracle"]
DIALECTS += ["redshift", "trino", "databricks", "hive"]

HOSTILE = [
    *(
        "' OR '1'='1",
        "x'; DROP TABLE t; --",
        "\\' OR 1=1 --",
        "\\",
        "\\\\'",
        "''",
        '"',
        "`",
        "--",
        "/* ",
        "*/",
        "?",
        "$$",
    ),
    *("\n' --", "\t", "\u2019 OR 1=1", "ʼ OR", "{{x}}", "${x}", "%s", ":a", "@a", "{d '2020-01-01'}", "\x1b", "é", ""),
]

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**40) + 1, 10**40 - 1),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda value: abs(value) < 1e40),
    st.decimals(-(10**20), 10**20, places=4),
    st.dates(),
    st.datetimes(),
    st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0")),
)


def literals(text: str, dialect: str) -> list[str]:
    """The texts that stand in a question as values."""
    return [node.name for node in parse(text, dialect).select.find_all(exp.Literal) if node.is_string]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_text_stays_one_text(dialect: str) -> None:
    """Quotes, escapes, comments and signs of templates end no text, in no dialect; or the value is refused."""
    for value in HOSTILE[: -1 if dialect == "oracle" else None]:  # where an empty text is NULL, and refused
        found = filled_in(
            "SELECT COUNT(*) FROM t WHERE a = ? AND b <>? OR c IN (?,?)", dialect, [value, "b", value, "d"]
        )
        assert sorted(literals(found.text, dialect)) == sorted([value, "b", value, "d"]), value
        assert found.text.count("?") == sum(value.count("?") for value in [value, value])


@given(values=st.lists(VALUES, min_size=1, max_size=4), dialect=st.sampled_from(DIALECTS))
def test_any_value_is_written_or_refused(values: list[Value], dialect: str) -> None:
    """All that is around it stays as it was: the words of the question, and as many values as there were."""
    signs = "-?,".join("" for _ in range(len(values) + 1)).rstrip(",")
    question = f"SELECT f({signs}) FROM t"
    try:
        filled = filled_in(question, dialect, read_parameters(values))
    except Unsupported:
        return
    select = parse(filled.text, dialect).select
    assert [each.name for each in select.find_all(exp.Table)] == ["t"]
    (call,) = select.expressions
    assert len(call.expressions) == len(values)


@pytest.mark.parametrize(
    ("question", "dialect"),
    [
        ("SELECT COUNT(*) FROM ?", "duckdb"),
        ("SELECT COUNT(*) FROM t, ?", "duckdb"),
        ("SELECT COUNT(*) FROM t JOIN ? USING (id)", "duckdb"),
        ("SELECT COUNT(*) AS ? FROM t", "mysql"),
        ("SELECT COUNT(*) ? FROM t", "mysql"),
        ("SELECT a::? FROM t", "postgres"),
        ("SELECT CAST(a AS ?) FROM t", "duckdb"),
        ("? COUNT(*) FROM t", "duckdb"),
        ("SELECT COUNT(*) FROM t WHERE a ? b", "duckdb"),
    ],
)
def test_a_value_is_no_name(question: str, dialect: str) -> None:
    """Nor a word, a type or an operator."""
    with pytest.raises(QueryError):
        filled_in(question, dialect, ["other"])


@pytest.mark.parametrize(("question", "number"), [("SELECT '?' FROM t", 1), ('SELECT "?", ? -- ?', 2), ("SELECT ?", 0)])
def test_placeholders_are_counted(question: str, number: int) -> None:
    """Those in texts, names and comments are none; without values, nothing is read."""
    if number:
        with pytest.raises(InvalidArgument, match=rf"and there are {number} parameters"):
            filled_in(question, "duckdb", ["x"] * number)
    else:
        assert filled_in(question, "duckdb", []).text == question


def test_what_is_written_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that gets quotes wrong is caught: the text doesn't read as it should."""
    monkeypatch.setattr(module, "_literal", lambda value: exp.Var(this=f"'{value}'"))
    assert filled_in("SELECT a = ? FROM t", "duckdb", ["x"]).text == "SELECT a = 'x' FROM t"
    for value in ("' OR '1' = '1", "' --", "a' 'b"):
        with pytest.raises((Unsupported, SqlSyntax)):
            filled_in("SELECT a = ? FROM t", "duckdb", [value])
    monkeypatch.setattr(module, "_literal", lambda _: exp.Literal.string("another"))
    with pytest.raises(Unsupported):
        filled_in("SELECT a = ? FROM t", "duckdb", ["x"])


@pytest.mark.parametrize(("question", "value"), [("SELECT a = 'x'? FROM t", "y"), ("SELECT a = 1? FROM t", 2)])
def test_a_value_never_runs_into_its_neighbour(monkeypatch: pytest.MonkeyPatch, question: str, value: Value) -> None:
    """It stands apart; and a writer that forgets to is caught, since the words around it would read otherwise."""
    monkeypatch.setattr(module, "_spaced", lambda literal, *_: literal)
    with pytest.raises(Unsupported):
        filled_in(question, "duckdb", [value])


def test_places_are_those_of_the_text_that_was_given() -> None:
    """Before, between and behind values, and in one."""
    filled = filled_in("SELECT ?,\n f(?) +\n ? FROM t", "duckdb", ["a" * 9, "b", 123_456])
    for word in ("SELECT", "f", "+", "FROM"):
        at, was = filled.text.index(word), filled.given.index(word)
        error = SqlSyntax("x", place=module.place_at(filled.text, at))
        filled.replaced(error)
        assert error.place == module.place_at(filled.given, was)
    error = SqlSyntax("x", place=module.place_at(filled.text, filled.text.index("aaaa") + 3))
    filled.replaced(error)
    assert error.place == (1, 8)
    given = "SELECT COUNT(*)\nFROM t WHERE a = ? AND b = ? ORDER"
    with pytest.raises(SqlSyntax) as caught:
        filled_in(given, "duckdb", ["long text", 1])
    assert (caught.value.place, caught.value.text) == ((2, 30), given)


def test_every_digit_of_a_decimal_is_written() -> None:
    """Also those beyond what arithmetic with decimals keeps."""
    digits = "1234567890" * 4
    for value, written in ((Decimal(digits), digits), (Decimal(f"-0.{digits}"), f"(-0.{digits})")):
        assert filled_in("SELECT ?", "duckdb", read_parameters([value])).text == f"SELECT {written}"


def test_a_number_that_is_written_as_another_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What rounds on the way is caught, as a text is that changes."""
    monkeypatch.setattr(module, "_literal", lambda _: exp.Literal.number("1.5"))
    for value in (1.25, 2, Decimal("1.51")):
        with pytest.raises(Unsupported):
            filled_in("SELECT ?", "duckdb", [value])


@pytest.mark.parametrize(
    "value", [None, True, 7, -0.5, "a", "", Decimal("-0.10"), date(2020, 4, 1), datetime(2020, 4, 1, 12, 30, 0, 5)]
)
def test_a_value_is_sent_and_read_again(value: Value) -> None:
    """As JSON, of the same type."""
    (found,) = parameters_from_json(parameters_to_json([value]))
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    "sent",
    [
        *({}, "a", {"0": 1}, [[1]], [{"date": "x"}], [{"date": 1}], [{"time": "12:00"}], [{"decimal": "NaN"}]),
        *([{"decimal": "sNaN"}], [{"decimal": "-Infinity"}], [{"decimal": "1E+40"}], [{"decimal": "-1E+40"}]),
        *([{"decimal": "1e999999"}], [{"decimal": "1e-99"}], [{}], [{"date": "2020-01-01", "x": "y"}], [10**40]),
        *([float("inf")], [{"timestamp": "2020-01-01T00:00:00Z"}], [{"decimal": [1]}]),
    ],
)
def test_anything_else_is_refused(sent: object) -> None:
    """In a typed error that repeats nothing of it."""
    with pytest.raises(InvalidArgument) as caught:
        parameters_from_json(sent)
    assert "999999" not in str(caught.value)


def test_scalars_of_libraries_are_values() -> None:
    """NumPy's and pandas' are Python's; those that aren't times are refused."""
    np, pd = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    found = read_parameters([np.int64(3), np.float64(0.5), np.bool_(True), np.str_("a"), pd.Timestamp("2020-01-01")])  # noqa: FBT003 — a value
    assert [type(each) for each in found] == [int, float, bool, str, datetime]
    beyond = np.datetime64("20000-01-01")  # which NumPy's `item` makes a number
    for wrong in (pd.NaT, np.timedelta64(1, "ns"), np.array([1]), pd.Timestamp("2020-01-01", tz="UTC"), beyond):
        with pytest.raises(InvalidArgument):
            read_parameters([wrong])
    times = [np.datetime64("2020-01-01"), np.datetime64("2020-01-01", "ns"), np.datetime64("NaT")]
    assert read_parameters(times) == (date(2020, 1, 1), datetime(2020, 1, 1), None)
