"""What discreet.toml can't say: each mistake is refused by name, with what was expected and how to put it right."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from discreet.errors import ConfigError, DiscreetError
from discreet.tables import loads

FULL = Path(__file__).with_name("clinic.toml").read_text(encoding="utf-8")

LINK = "tables.prescriptions.links.visit_id"
ROW = 'unit = "row"'


def refused(text: str) -> ConfigError:
    """The error that a configuration causes."""
    with pytest.raises(ConfigError) as caught:
        loads(text)
    return caught.value


@pytest.mark.parametrize(
    ("old", "new", "place", "expected"),
    [
        ("epsilon = 3", "epsilon = -3", "budget", "epsilon must be above 0"),
        ("epsilon = 3", "epsilon = nan", "budget.epsilon", "expected a finite number, got the number NaN"),
        ("epsilon = 3", "epsilon = inf", "budget.epsilon", "expected a finite number"),
        ("epsilon = 3", 'epsilon = "1/0"', "budget.epsilon", "expected a number"),
        ("epsilon = 3", 'epsilon = "three"', "budget.epsilon", 'expected a finite number, got "three"'),
        ("epsilon = 3", "epsilon = 1e999999999", "budget.epsilon", "at most 400 digits"),
        ("epsilon = 3", 'epsilon = "1e999999999"', "budget.epsilon", "at most 400 digits"),
        ("epsilon = 3", "epsilon = 0e999999999", "budget", "epsilon must be above 0"),
        ("epsilon = 3", "epsilon = true", "budget.epsilon", "expected a finite number, got true"),
        ("epsilon = 3", "epsilon = 3, rho = 1", "budget", "either epsilon or rho"),
        ("delta = 1e-6", "delta = 1", "budget", "delta must be strictly between 0 and 1"),
        ("delta = 1e-6", "delta = 0", "budget", "delta must be strictly between 0 and 1"),
        ('"substitution"', '"bounded"', "adjacency", 'expected one of "add_remove", "substitution"'),
        (
            "bob = { epsilon = 2 }",
            "bob = { epsilon = 4 }",
            "analysts.bob",
            "'bob' has more epsilon than the budget has",
        ),
        ("delta = 1e-7", "delta = 1e-5", "analysts.alice", "'alice' has more delta"),
        ('kind = "csv"', 'kind = "memory"', "tables.visits.source.kind", 'expected one of "csv", "jsonl", "parquet"'),
        ('"people.parquet"', '"people.docx"', "tables.people.source", "doesn't say what kind of file"),
        (
            '"people.parquet"',
            '"p.parquet"\nmissing = ["?"]',
            "tables.people.missing",
            "missing means nothing for a source of kind 'parquet'",
        ),
        ('"visits.csv",', '"visits.csv", table = "t",', "tables.visits.source", "only a database has tables"),
        ('delimiter = ";"', 'delimiter = ";;"', "tables.visits.source", "a delimiter is one ASCII character"),
        ('delimiter = ";"', 'delimiter = ","', "tables.visits.source", "can't be both delimiter and decimal mark"),
        ('encoding = "cp1252"', 'encoding = "base64"', "tables.visits.source", "no text encoding"),
        ('dates = "dmy"', 'dates = "ydm"', "tables.visits.source.dates", 'expected one of "ymd", "dmy", "mdy"'),
        ('decimal = ","', 'decimal = "·"', "tables.visits.source.decimal", 'expected one of ".", ","'),
        ("multiline = false", "multiline = 0", "tables.visits.source.multiline", "expected true or false"),
        (
            'kind = "csv", path',
            'kind = "arrow", path',
            "tables.visits.source",
            "means nothing for a source of kind 'arrow'",
        ),
        ('unit = "row"', 'unit = "ages"', "tables.people.unit", 'there is no column "ages"'),
        ('unit = "row"', 'unit = "row"\nlimits = { rows = 2 }', "tables.people", "is a unit of its own"),
        ('at = "visited_at"', 'at = "visited"', "tables.visits.unit.at", 'there is no column "visited"'),
        ('at = "visited_at"', 'at = "age"', "tables.visits", "isn't a date or timestamp"),
        ('per = "day", ', "", "tables.visits.unit", "per and at go together"),
        ('per = "day"', 'per = "daily"', "tables.visits.unit.per", "expected one of"),
        ('"person_id", per', '"smoker", per', "tables.visits", "can't identify anyone"),
        ("groups = 5, rows", "groups = 0, rows", "tables.visits.limits", "groups must be a whole number from 1"),
        ("groups = 5, ", "rows = 5, ", "tables.visits.limits", "three shapes"),
        ("groups = 5, rows", "groups = 5.0, rows", "tables.visits.limits.groups", "expected a whole number"),
        ("1_000_000", "0", "tables.visits", "row_ceiling must be a whole number from 1"),
        ("1_000_000", "1e6", "tables.visits.row_ceiling", "expected a whole number"),
        ("1_000_000", "true", "tables.visits.row_ceiling", "expected a whole number"),
        ("nullable = false", "places = 2", "tables.visits.columns.age", "only reals have places"),
        ("nullable = false", "nullable = 0", "tables.visits.columns.age.nullable", "expected true or false"),
        ('kind = "real"', 'kind = "float"', 'tables.visits.columns."hours per week".kind', "expected one of"),
        ("[0.5, 99.5]", "[99.5, 0.5]", 'tables.visits.columns."hours per week".bounds', "wrong order"),
        ("[0.5, 99.5]", "[0.5]", 'tables.visits.columns."hours per week".bounds', "expected an array of two"),
        ("[0.5, 99.5]", "[0.5, 12:00:00]", 'tables.visits.columns."hours per week".bounds[1]', "got the time 12:00:00"),
        ("[0.5, 99.5]", "[0.5, inf]", 'tables.visits.columns."hours per week".bounds[1]', "expected a finite number"),
        ("[2020-01-01,", '["2020-01-01",', "tables.visits.columns.visited_at.bounds[0]", "expected a finite number"),
        ("[2020-01-01,", "[2020-01-01T00:00:00Z,", "tables.visits.columns.visited_at.bounds", "two dates or two"),
        ("[2020-01-01,", "[5,", "tables.visits.columns.visited_at.bounds", "two numbers, two dates"),
        ('["Female", "Male"]', '["Female", "Female"]', "tables.visits.columns.sex.keys", "listed twice"),
        ('["Female", "Male"]', "[]", "tables.visits.columns.sex.keys", "must not be empty"),
        ('["Female", "Male"]', '["Female", 2]', "tables.visits.columns.sex.keys", "of one kind"),
        ('["Female", "Male"]', "[1, 2]", "tables.visits.columns.sex", "aren't text values"),
        ('["Female", "Male"]', "[1.5]", "tables.visits.columns.sex.keys[0]", "expected a text, whole number, date"),
        ('["Female", "Male"]', "[{ null = false }]", "tables.visits.columns.sex.keys[0]", "or { null = true }"),
        ('["Female", "Male"]', "[{ null = 1 }]", "tables.visits.columns.sex.keys[0]", "or { null = true }"),
        ('["Female", "Male"]', '["Female", " Male"]', "tables.visits", "trimmed of spaces"),
        ('["Female", "Male"]', '["Female", "?"]', "tables.visits", "the key '?' of column 'sex' is read as NULL"),
        ('["Female", "Male"]', '["Female", ""]', "tables.visits", "the key '' of column 'sex' is read as NULL"),
        (
            "[0, 110], nullable",
            "[0, 110], keys = [1], nullable",
            "tables.visits.columns.age",
            "has both bounds and keys",
        ),
        ('{ kind = "text" }', '{ kind = "text", bounds = [0, 1] }', "tables.visits.columns.person_id", "don't fit it"),
        ("smoker =", "AGE =", "tables.visits", "two columns named 'age'"),
        ("[tables.people", "[tables.Visits", "tables", "two tables of one name"),
        ('"visits.visit_id"', '"visit.visit_id"', LINK, "linked to 'visit', which isn't declared"),
        ('"visits.visit_id"', '"visits.id"', LINK, "column 'id', which table 'visits' doesn't have"),
        ('"visits.visit_id"', '"visits.person_id"', LINK, "leads from integer values to text values"),
        ('"visits.visit_id"', '"visits"', LINK, "which isn't a table and its column"),
        ('"visits.visit_id"', '"visits.visit_id.x"', LINK, "which isn't a table and its column"),
        ('"visits.visit_id"', '"people.age"', "tables.prescriptions", "each row of table 'people' is a unit"),
        ('"visits.visit_id"', '"prescriptions.visit_id"', "tables.prescriptions", "lead in a circle"),
        ('visit_id = "visits.visit_id", ', "", "tables.prescriptions", "nothing says whose the rows"),
        ('links = { visit_id = "', 'links = { visit = "', "tables.prescriptions.links.visit", "there is no column"),
        (
            '"drugs", column = "code"',
            '"visits", column = "person_id"',
            "tables.prescriptions",
            "both say whose the rows",
        ),
        ('drug = { kind = "text" }', 'drug = { kind = "real" }', "tables.prescriptions", "can't identify anyone"),
        ('"drugs", column', '"drugs", to', "tables.prescriptions.links.drug.to", "there is no such key"),
        ("public = true", "public = 1", "tables.drugs.public", "expected true or false"),
        ("public = true", "public = false", "tables.drugs", "nothing says whose the rows"),
        ("public = true", 'public = true\nunit = "code"', "tables.drugs", "is public, so it has no rows to protect"),
        ("public = true", "public = true\nlimits = { rows = 1 }", "tables.drugs.limits", "no units to limit"),
        ("public = true", 'public = true\nlinks = { code = "people.age" }', "tables.drugs", "takes no links"),
        ('unique = ["code"]', 'unique = ["id"]', "tables.drugs.unique[0]", 'there is no column "id"'),
        ('unique = ["code"]', 'unique = "code"', "tables.drugs.unique", "expected an array"),
        (
            '"visits.visit_id", drug',
            '"visits.visit_id", VISIT_ID = "visits.visit_id", drug',
            "tables.prescriptions",
            "two",
        ),
        (ROW, 'unit = "row"\nunique = ["age"]', "tables.people", "is private"),
        (
            ROW,
            'unit = "age"\nlimits = { rows = 1 }\nlinks = { age = "visits.visit_id" }',
            "tables.people",
            "to another",
        ),
    ],
)
def test_a_bad_value_is_named_with_what_was_expected(old: str, new: str, place: str, expected: str) -> None:
    """Each mistake is refused under the full name of its key, in words that say what is wrong."""
    assert old in FULL
    error = refused(FULL.replace(old, new))
    assert error.message.startswith(f"{place}: ")
    assert expected in error.message


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        ("ledger =", "leger =", "leger: there is no such key", "did you mean ledger?"),
        ("epsilon = 3", "epsilonn = 3", "budget.epsilonn: there is no such key", "did you mean epsilon?"),
        ("row_ceiling", "row-ceiling", "tables.visits.row-ceiling: there is no such key", "did you mean row_ceiling?"),
        ("[tables.visits]", "[table.visits]", "table: there is no such key", "did you mean tables?"),
        (
            "bounds = [0, 110], n",
            "bouns = [0, 110], n",
            "tables.visits.columns.age.bouns: there",
            "did you mean bounds?",
        ),
        ("bounds = [0, 110], n", "upper = 110, n", "tables.visits.columns.age.upper: there", "did you mean bounds?"),
        ("limits =", "max_ids =", "tables.visits.max_ids: there is no such key", "did you mean limits?"),
        ('kind = "real"', 'type = "real"', 'columns."hours per week".type: there', "did you mean kind?"),
        ('kind = "real"', 'kind = "double"', "expected one of", 'did you mean "real"?'),
        ('per = "day"', 'per = "dya"', "expected one of", 'did you mean "day"?'),
        ('"substitution"', '"unbounded"', "expected one of", 'did you mean "add_remove"?'),
        ('at = "visited_at"', 'at = "visit_at"', "no column", 'did you mean "visited_at"?'),
        ('unit = "row"', 'unit = "rows"', "no column", 'did you mean "row"?'),
        ("smoker =", "smo.ker =", "tables.visits.columns.smo: expected a column", "points in it stands in quotes"),
        ("links =", "references =", "tables.prescriptions.references: there is no such key", "did you mean links?"),
        ("links =", "foreign_keys =", "tables.prescriptions.foreign_keys: there is no such key", "did you mean links?"),
        ("links =", "fk =", "tables.prescriptions.fk: there is no such key", "did you mean links?"),
        ("public =", "is_public =", "tables.drugs.is_public: there is no such key", "did you mean public?"),
        ("unique =", "primary_key =", "tables.drugs.primary_key: there is no such key", "did you mean unique?"),
        ('"drugs", column', '"drugs", to', "links.drug.to: there is no such key", "did you mean column?"),
        ("links = { visit_id", "links = { visitid", "there is no column", 'did you mean "visit_id"?'),
        ("ledger =", "zzzzzz =", "zzzzzz: there is no such key", "there are name, ledger, adjacency"),
    ],
)
def test_a_typo_is_met_with_what_was_meant(old: str, new: str, message: str, hint: str) -> None:
    """Unknown keys and words are never ignored; the hint names the nearest that is known."""
    error = refused(FULL.replace(old, new, 1))
    assert message in error.message
    assert hint in error.hint


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("name = ", (1, 8)),
        ('name = "a"\nname = "b"', (2, 11)),
        ('a = 1\n\n  = 2"', (3, 3)),
        ('a = "unterminated', (1, 18)),
        ("a = [1, 2", (1, 10)),
        ("[budget]\nepsilon = 1\n[budget]", (3, 8)),
        ('path = "C:\\data"', (1, 11)),
        ("a = 1\nb = 'x'\nâge = 1", (3, 1)),
        ("a = 2020-13-01", (1, 9)),
        ("\0", (1, 1)),
    ],
)
def test_bad_toml_is_refused_with_its_place(text: str, place: tuple[int, int]) -> None:
    """What isn't TOML says in which line and column."""
    error = refused(text)
    # Versions of Python differ by a sign or two in where they say an error is.
    assert error.place is not None
    assert error.place[0] == place[0]
    assert abs(error.place[1] - place[1]) <= 2
    assert error.message.startswith("the file isn't valid TOML: ")
    assert not re.search(r"\(at ", error.message)


def test_a_path_with_backslashes_gets_the_hint_it_needs() -> None:
    """The commonest mistake on Windows is met with what to write instead."""
    assert "write /" in refused('path = "C:\\data"').hint


def test_errors_are_of_one_class_and_code() -> None:
    """Programs see one code for all of it, and it is one of discreet's errors."""
    error = refused(FULL.replace("epsilon = 3", "epsilon = -3"))
    assert isinstance(error, DiscreetError)
    assert error.to_dict() == {"code": "config", "message": error.message, "hint": error.hint, "place": None}
    assert refused("a =").to_dict()["place"] == (1, 4)


def test_the_full_configuration_is_right() -> None:
    """The configuration that is mutated above is itself accepted, or nothing would have been shown."""
    dataset = loads(FULL)
    assert [table.name for table in dataset.tables] == ["visits", "people", "drugs", "prescriptions"]
    assert [str(dataset.owner(table)) for table in dataset.tables] == [
        "person_id per day of visited_at",
        "row",
        "None",
        "visit_id → visits.visit_id → person_id per day of visited_at",
    ]
    assert dataset.tables[0].columns[1].bounds is not None
    assert dataset.tables[0].columns[1].bounds.lo == date(2020, 1, 1)
