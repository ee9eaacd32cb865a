"""The UCI Adult extract: what its codebook publishes is proposed from the names of its columns, without its data."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.privacy import Bounds
from discreet.tables import Column, Kind, Source, loads
from discreet.tables.proposals import ColumnProfile, DataProfile, Origin, Proposal, propose

KINDS = {
    "age": Kind.INTEGER,
    "workclass": Kind.TEXT,
    "fnlwgt": Kind.INTEGER,
    "education": Kind.TEXT,
    "education-num": Kind.INTEGER,
    "marital-status": Kind.TEXT,
    "occupation": Kind.TEXT,
    "relationship": Kind.TEXT,
    "race": Kind.TEXT,
    "sex": Kind.TEXT,
    "capital-gain": Kind.INTEGER,
    "capital-loss": Kind.INTEGER,
    "hours-per-week": Kind.INTEGER,
    "native-country": Kind.TEXT,
    "salary-class": Kind.TEXT,
}

GOLDEN = """\
[tables.adult]
source = "adult.csv"
missing = ["?"]
unit = "row"

[tables.adult.columns]
age = { kind = "integer", bounds = [17, 99] }
workclass = { kind = "text", keys = [
    "Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov",
    "Without-pay", "Never-worked", { null = true },
] }
fnlwgt = { kind = "integer", bounds = [0, 2_000_000] }
education = { kind = "text", keys = [
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad",
    "Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
] }
education-num = { kind = "integer", bounds = [1, 16] }
marital-status = { kind = "text", keys = [
    "Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent",
    "Married-AF-spouse",
] }
occupation = { kind = "text", keys = [
    "Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial", "Prof-specialty",
    "Handlers-cleaners", "Machine-op-inspct", "Adm-clerical", "Farming-fishing", "Transport-moving",
    "Priv-house-serv", "Protective-serv", "Armed-Forces", { null = true },
] }
relationship = { kind = "text", keys = [@] }
race = { kind = "text", keys = ["White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"] }
sex = { kind = "text", keys = ["Female", "Male"] }
capital-gain = { kind = "integer", bounds = [0, 99_999] }
capital-loss = { kind = "integer", bounds = [0, 5000] }
hours-per-week = { kind = "integer", bounds = [1, 99] }
native-country = { kind = "text", keys = [
    "United-States", "Cambodia", "England", "Puerto-Rico", "Canada", "Germany",
    "Outlying-US(Guam-USVI-etc)", "India", "Japan", "Greece", "South", "China", "Cuba", "Iran",
    "Honduras", "Philippines", "Italy", "Poland", "Jamaica", "Vietnam", "Mexico", "Portugal", "Ireland",
    "France", "Dominican-Republic", "Laos", "Ecuador", "Taiwan", "Haiti", "Columbia", "Hungary",
    "Guatemala", "Nicaragua", "Scotland", "Thailand", "Yugoslavia", "El-Salvador", "Trinadad&Tobago",
    "Peru", "Hong", "Holand-Netherlands", { null = true },
] }
salary-class = { kind = "text", keys = ["<=50K", ">50K"] }
""".replace("@", '"Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"')


def adult(names: list[str] | None = None, profile: DataProfile | None = None, *, strict: bool = False) -> Proposal:
    """The proposal for the extract, its columns under these names."""
    columns = [Column(name=name, kind=kind) for name, kind in zip(names or KINDS, KINDS.values(), strict=True)]
    return propose(columns, profile, source=Source.of("adult.csv"), strict=strict)


def declarations(text: str) -> str:
    """The file without its comments, from its first table on."""
    lines = [line for line in text.split("\n") if not line.startswith("#")]
    bare = "\n".join(line.split("  # ")[0] for line in lines)
    return bare[bare.index("[tables") :]


@pytest.mark.parametrize("strict", [True, False])
def test_the_proposal_is_the_codebook(strict: bool) -> None:
    """Every column is declared from public knowledge, to the letter, and nothing is left blank or leaked."""
    proposal = adult(strict=strict)
    assert declarations(proposal.to_toml()) == GOLDEN
    assert loads(proposal.to_toml()) == proposal.dataset
    assert {item.origin for item in proposal.tables[0].suggestions} == {Origin.KNOWLEDGE}
    assert proposal.tables[0].missing_origin is Origin.KNOWLEDGE
    assert "UCI Adult (adult.names, doi:10.24432/C5XW20)" in proposal.to_toml()


def test_the_data_changes_nothing() -> None:
    """With a codebook there is nothing left to read off the data, whatever is in it."""
    profile = DataProfile(columns={name: ColumnProfile(lo=-9, hi=9**9, values=("canary", "?")) for name in KINDS})
    assert adult(profile=profile).dataset == adult().dataset
    assert adult(profile=profile).to_toml() == adult().to_toml()
    assert len(adult(profile=profile).tables[0].mismatches) == len(KINDS)


def test_the_names_of_other_copies_are_known_too() -> None:
    """Kaggle's dots, underscores, capitals, and `income` or `class` for the last column lead to the same."""
    changes: tuple[Callable[[str], str], ...] = (
        lambda name: name.replace("-", "."),
        lambda name: name.replace("-", "_").upper(),
        lambda name: name.title().replace("-", " "),
        lambda name: {"salary-class": "income", "sex": "gender", "education-num": "educational-num"}.get(name, name),
    )
    for change in changes:
        names = [change(name) for name in KINDS]
        proposal = adult(names)
        assert [column.keys for column in proposal.dataset.tables[0].columns] == [
            column.keys for column in adult().dataset.tables[0].columns
        ]
        assert proposal.dataset.tables[0].column(names[0]).bounds == Bounds(17, 99)


def test_the_extract_of_nine_columns_is_known_too() -> None:
    """ARX's copy has nine of the columns: enough to be taken for it."""
    numbers = {"fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week", "relationship"}
    columns = [Column(name=name, kind=kind) for name, kind in KINDS.items() if name not in numbers]
    assert len(columns) == 9
    proposal = propose(columns, source=Source.of("adult.csv"))
    assert all(item.origin is Origin.KNOWLEDGE for item in proposal.tables[0].suggestions)
    assert proposal.tables[0].codebook is not None


def test_the_codebook_holds_for_the_real_extract(trial_data: Path) -> None:
    """No value of the real table lies outside of what the codebook declares."""
    with (trial_data / "adult.csv").open(encoding="utf-8", newline="") as file:
        rows = [{name: text.strip(" ") for name, text in row.items()} for row in csv.DictReader(file)]
    assert list(rows[0]) == list(KINDS)
    found = {name: {row[name] for row in rows} - {"?"} for name in KINDS}
    for column in adult().dataset.tables[0].columns:
        if column.keys is not None:
            assert found[column.name] <= set(column.keys)
            has_gaps = any(row[column.name] == "?" for row in rows)
            assert (None in column.keys) == has_gaps
        else:
            assert column.bounds is not None
            numbers = [int(text) for text in found[column.name]]
            Bounds(column.bounds.lo, min(numbers))
            Bounds(max(numbers), column.bounds.hi)
