"""Kinds of attributes: guessed with caution, and settled by the user."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity.attributes import AttributeGuess, AttributeKind, confirm, guess_attributes, repeated
from discreet.anonymity.records import read
from discreet.errors import InvalidArgument, SchemaMismatch

IDENTIFYING, QUASI, SENSITIVE, INSENSITIVE = AttributeKind


def guess(name: str, values: list[Any]) -> AttributeGuess:
    """The guess for a table of one column."""
    (found,) = guess_attributes({name: values})
    return found


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (
            "name Name full_name customer_name email E-Mail phone ssn id PatientID patient_id uuid address mrn",
            IDENTIFYING,
        ),
        ("age sex race zip patient_zip ZipCode date_of_birth occupation native-country marital_status city", QUASI),
        ("diagnosis primary_diagnosis income salary salary-class annualIncome disease religion hiv_status", SENSITIVE),
        ("DEBTS savings expend ASSETS cost COSTS allergies therapies CD4 suicide MONEY", SENSITIVE),
        (
            "Einkommen Schulden Diagnose Erkrankung salaire dette maladie ingresos diagnóstico reddito malattia",
            SENSITIVE,
        ),
        ("renda doença inkomen schuld inkomst sjukdom indkomst sygdom inntekt tulo sairaus dochód choroba", SENSITIVE),
        ("příjem nemoc gelir hastalık", SENSITIVE),
        ("x17 remark colour incomer diagnosis_date", QUASI),
    ],
)
@pytest.mark.parametrize("values", [["a", "b", "a"], [1, 2, 1]])
def test_names_say_what_columns_are(names: str, kind: AttributeKind, values: list[Any]) -> None:
    """Whatever they hold, as long as values repeat; what names don't say is quasi-identifying."""
    for name in names.split():
        assert guess(name, values).kind is kind, name


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([f"a{n}" for n in range(20)], IDENTIFYING),
        (list(range(20)), IDENTIFYING),
        ([*map(float, range(20)), float("nan")], IDENTIFYING),
        ([*(f"a{n}" for n in range(20)), *[None] * 20], IDENTIFYING),
        ([*(f"a{n}" for n in range(20)), *[None] * 21], IDENTIFYING),
        ([f"a{n}" for n in range(19)], QUASI),
        ([3, 17, 40, *[None] * 303], QUASI),
        ([n / 2 for n in range(20)], SENSITIVE),
        ([n / 2 for n in range(19)], QUASI),
        ([n / 2 for n in range(6)] * 4, QUASI),
        ([*(n * 1_000 for n in range(20)), 0], IDENTIFYING),
        ([*range(20), 0], IDENTIFYING),
        ([n * 1_000 for n in range(20)] * 2, SENSITIVE),
        ([*range(20)] * 2, QUASI),
        ([0.5, 1.5, 2.5], QUASI),
        (["a", "b", "b"], QUASI),
        ([date(2020, 1, 1), date(2020, 1, 2)], QUASI),
        (["29.02.1984", "1.3.1984", None], QUASI),
        (["29.02.1984", "1.3.1984", "30.02.1984"], QUASI),
        ([True, False], QUASI),
        (["a", None], QUASI),
        (["a", "a"], INSENSITIVE),
        ([None, None], INSENSITIVE),
        ([], INSENSITIVE),
    ],
)
def test_values_say_what_columns_are(values: list[Any], kind: AttributeKind) -> None:
    """Under a name that says nothing: many different texts or whole numbers name rows; one value tells nobody apart."""
    assert guess("x17", values).kind is kind


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("contact", ["kim@example.org", "none", "none", "none"], AttributeKind.IDENTIFYING),
        ("remark", ["Lynn Romero", "Shelly Green", "James Smith", "Mary Major"] * 2 + ["Bob Stone"], "identifying"),
        ("city", ["Lynn Romero", "Shelly Green", "James Smith", "Mary Major"] * 2 + ["Bob Stone"], "quasi-identifying"),
        ("diagnosis", [f"pain in the left arm since day {day}" for day in range(20)], AttributeKind.SENSITIVE),
        ("diagnosis", [f"see kim{day}@example.org" for day in range(20)], AttributeKind.IDENTIFYING),
        ("when", [f"{day}/7/1967" for day in range(1, 29)], AttributeKind.QUASI_IDENTIFYING),
    ],
)
def test_what_values_look_like_decides(name: str, values: list[str], kind: AttributeKind) -> None:
    """Before what the name says of others; only names of people and free text are told by the column's name, too."""
    (guess,) = guess_attributes({name: values})
    assert guess.kind == kind
    assert not any(value in guess.reason for value in values)


@given(st.lists(st.one_of(st.none(), st.integers(0, 20)), max_size=30))
def test_figures_are_counts(values: list[int | None]) -> None:
    """Different values, and rows alone with theirs, by counting; missing ones are a value."""
    found, counts = guess("x17", values), Counter(values)
    rows = max(len(values), 1)
    assert found.distinct == len(counts) / rows
    assert found.unique == sum(count == 1 for count in counts.values()) / rows


def test_ages_that_all_differ_are_no_names() -> None:
    """A small table of few people keeps its quasi-identifiers."""
    assert guess("age", [31, 32, 33]).kind is QUASI


def test_the_census_extract(trial_data: Path) -> None:
    """Of Adult only the weights look like codes, and money is sensitive; the patients' names and numbers identify."""
    adult = confirm(guess_attributes(trial_data / "adult.csv"))
    assert adult.identifying == ("fnlwgt",)
    assert adult.sensitive == ("capital-gain", "capital-loss", "salary-class")
    assert confirm(guess_attributes(trial_data / "patients_demographic.csv")).identifying == ("ID", "Name")


PEOPLE = {"name": ["Kim", "Ada"], "age": [30, 40], "disease": ["flu", "gout"], "shoe": [40.5, 41.0]}


def test_the_user_has_the_last_word() -> None:
    """What is said holds, whatever was guessed; what isn't said stays; the order is that of the table."""
    settled = confirm(guess_attributes(read(PEOPLE)), insensitive=["shoe"], quasi_identifying=["disease", "age"])
    assert settled.identifying == ("name",)
    assert settled.quasi_identifying == ("age", "disease")
    assert settled.insensitive == ("shoe",)
    assert settled.sensitive == ()
    assert [guess.reason for guess in settled.guesses][1:] == ["said by the user"] * 3
    assert str(settled).splitlines()[3] == "shoe: insensitive, said by the user (100.0% of rows unique)"


def test_what_cannot_be_settled_is_refused() -> None:
    """A column that isn't there, one of two kinds, a text for a list."""
    guesses = guess_attributes(PEOPLE)
    with pytest.raises(SchemaMismatch, match="no column 'height'"):
        confirm(guesses, sensitive=["height"])
    with pytest.raises(InvalidArgument, match="'age' can't be both quasi-identifying and sensitive"):
        confirm(guesses, sensitive=["age"], quasi_identifying=["age"])
    with pytest.raises(InvalidArgument, match=r"\['age'\]"):
        confirm(guesses, sensitive="age")
    assert confirm(guesses, sensitive=["age", "age"]).sensitive == ("age", "disease")


def test_what_is_mentioned_here_and_there_says_not_whose_rows_are() -> None:
    """Notes repeat, and so do names of nurses; a column of e-mail addresses that repeat is another matter."""
    table = {
        "notes": [f"ask kim{row % 7}@example.org" if row % 20 == 0 else "nothing" for row in range(100)],
        "by": ["Lynn Romero", "Shelly Green", "James Smith", "Mary Major", "Bob Stone"] * 20,
        "contact": [f"kim{row // 2}@example.org" for row in range(100)],
    }
    guesses = guess_attributes(table)
    assert {guess.kind for guess in guesses} == {AttributeKind.IDENTIFYING}
    found = repeated(read(table), [guess.column for guess in guesses])
    assert [each.column for each in found] == ["contact"]
