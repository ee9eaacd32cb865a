"""The report: each of its figures by definition, its sentences by doing what they say, and its text by its width."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import Missing, read
from discreet.anonymity.frequencies import frequencies_of
from discreet.anonymity.models import Closeness, DeltaPresence, DistinctDiversity, EntropyDiversity, KAnonymity, KMap
from discreet.anonymity.risk import assess, minimal_identifiers, population_uniqueness, reidentification, uniqueness
from discreet.anonymity.risk.remedies import BANDS, TOLERATED, coarsened
from discreet.census import synthetic
from discreet.errors import InvalidArgument, SchemaMismatch
from support.slow_risk import Table, agree, hidden, rows_of, tables, unique

POLICIES = [Missing.OWN_VALUE, Missing.WILDCARD]


def with_sensitive(table: Table) -> tuple[list[str], str | None]:
    """The last column as the sensitive one, if there are two."""
    names = list(table)
    return (names[:-1], names[-1]) if len(names) > 1 else (names, None)


@given(tables(), st.sampled_from(POLICIES))
def test_its_parts_are_the_functions(table: Table, missing: Missing) -> None:
    """Uniqueness, risks and identifying sets are those that their own functions find."""
    names, _ = with_sensitive(table)
    report = assess(table, quasi_identifiers=names, share="1/4", threshold="1/3", missing=missing)
    assert report.uniqueness.to_dict() == uniqueness(table, names, missing=missing).to_dict()
    risks = reidentification(table, names, threshold="1/3", missing=missing)
    assert report.reidentification.to_dict() == risks.to_dict()
    sets = minimal_identifiers(table, names, share="1/4", missing=missing)
    assert report.identifiers.to_dict() == sets.to_dict()
    assert report.k == min(hidden(table, names, missing), default=0)


@given(tables(), st.sampled_from(POLICIES))
def test_what_a_column_adds(table: Table, missing: Missing) -> None:
    """Unique rows by the column alone, by all others, and the difference to all."""
    names, _ = with_sensitive(table)
    report = assess(table, quasi_identifiers=names, missing=missing)
    rows = len(table[names[0]])
    assert sorted(each.name for each in report.columns) == sorted(names)
    for each in report.columns:
        others = [name for name in names if name != each.name]
        without = unique(table, others, missing) if others else int(rows == 1)
        assert (each.alone, each.without) == (unique(table, [each.name], missing), without)
        assert each.adds == unique(table, names, missing) - without
    assert [each.adds for each in report.columns] == sorted((each.adds for each in report.columns), reverse=True)


@given(tables(), st.sampled_from(POLICIES))
def test_what_classes_give_away(table: Table, missing: Missing) -> None:
    """Rows whose class has one value, and how often the most frequent value of a class is right."""
    names, sensitive = with_sensitive(table)
    if sensitive is None:
        return
    report = assess(table, quasi_identifiers=names, sensitive=[sensitive], missing=missing)
    rows, values = rows_of(table, names), table[sensitive]
    held = [
        Counter(value for other, value in zip(rows, values, strict=True) if agree(row, other, missing)) for row in rows
    ]
    (found,) = report.exposures
    assert found.homogeneous == sum(len(each) == 1 for each in held)
    count = max(len(rows), 1)
    guessed = sum((Fraction(max(each.values()), each.total()) for each in held), Fraction(0)) / count
    assert found.guessed == pytest.approx(float(guessed), rel=1e-12)
    assert found.baseline == max(Counter(values).values(), default=0) / count
    if rows:
        measures = {each.name: each.value for each in found.measures}
        assert measures["distinct l-diversity"] == min(len(each) for each in held)
        largest = max(max(each.values()) / each.total() for each in held)
        assert measures["(α, k)-anonymity"] == pytest.approx(largest)
    else:
        assert found.measures == ()


@given(st.data(), st.sampled_from(POLICIES))
def test_remedies_do_what_they_say(data: st.DataObject, missing: Missing) -> None:
    """Leaving out and coarsening are done to the table, and counted."""
    rows = data.draw(st.integers(1, 40))
    numbers = st.one_of(st.none(), st.integers(0, 60))
    table: dict[str, list[int | None]] = {
        name: data.draw(st.lists(numbers, min_size=rows, max_size=rows)) for name in ("a", "b")
    }
    report = assess(table, quasi_identifiers=["a", "b"], missing=missing)
    for remedy in report.remedies:
        changed: dict[str, list[int | None]] = dict(table)
        if remedy.action == "leave out":
            del changed[remedy.column]
        else:
            column = read(table).column(remedy.column)
            bands = coarsened(column)
            labels = bands.labels()
            changed[remedy.column] = [labels[bands.codes[code]] for code in column.codes]  # type: ignore[misc]  # whole
            assert remedy.after == bands.size <= BANDS + 1
        after = uniqueness(changed, list(changed), missing=missing)
        assert remedy.unique == after.unique
        assert remedy.exposed == after.sizes.below(5)


@given(st.data(), st.sampled_from(POLICIES))
def test_a_plan_does_what_it_says(data: st.DataObject, missing: Missing) -> None:
    """Its steps, done to the table one after the other, leave what each says; it ends where little is left."""
    rows = data.draw(st.integers(1, 40))
    numbers, letters = st.one_of(st.none(), st.integers(0, 60)), st.sampled_from(["x", "y", None])
    table: dict[str, list[int | str | None]] = {
        name: data.draw(st.lists(cells, min_size=rows, max_size=rows))
        for name, cells in (("a", numbers), ("b", letters), ("c", letters))
    }
    report = assess(table, quasi_identifiers=["a", "b", "c"], missing=missing)
    for step in report.plan:
        if step.action == "leave out":
            del table[step.column]
        else:
            column = read(table).column(step.column)
            bands = coarsened(column)
            labels = bands.labels()
            table[step.column] = [labels[bands.codes[code]] for code in column.codes]  # type: ignore[misc]  # whole
        after = uniqueness(table, list(table), missing=missing)
        assert (step.unique, step.exposed) == (after.unique, after.sizes.below(5))
        assert step is report.plan[-1] or step.exposed > TOLERATED * rows
    assert bool(report.plan) == (report.uniqueness.sizes.below(5) > TOLERATED * rows)


def test_a_plan_tolerates_a_twentieth() -> None:
    """Two of forty rows may be left to suppress, three not."""
    for lonely, needed in ((2, False), (3, True)):
        table = {"a": ["x"] * (40 - lonely) + ["y"] * lonely, "b": ["z"] * 40}
        assert bool(assess(table, quasi_identifiers=["a", "b"]).plan) == needed


def test_bands_keep_the_order_and_hold_about_as_many_rows() -> None:
    """Ten bands of a hundred numbers; a missing value stays by itself."""
    column = read({"a": [*range(100), None, None]}).column("a")
    found = coarsened(column)
    assert found.codes.tolist() == [place // 10 for place in range(100)] + [10]
    assert found.labels()[-1] is None


def test_suppressing_what_it_says_makes_the_table_anonymous() -> None:
    """The rows in small classes, taken out, leave classes of five and more."""
    people = synthetic(3_000)
    names = ["age", "sex", "education"]
    report = assess(people, quasi_identifiers=names)
    rows = [tuple(row[name] for name in names) for row in people.to_pylist()]
    sizes = Counter(rows)
    kept = [row for row in rows if sizes[row] >= 5]
    sentence = f"{len(rows) - len(kept):,} of 3,000 rows"
    assert any(sentence in each for each in report.advice)
    assert any("5-anonymous" in each for each in report.advice)
    rest = dict(zip(names, map(list, zip(*kept, strict=True)), strict=True))
    assert assess(rest, quasi_identifiers=names).k >= 5
    assert any("nobody is at risk" in each for each in assess(rest, quasi_identifiers=names).advice)


def test_sentences_count_as_people_do() -> None:
    """One row hides, two hide; what doesn't change isn't said to."""
    pairs = assess({"age": [34] * 4 + [35] * 6, "sex": ["F", "M"] * 5}, quasi_identifiers=["age", "sex"])
    of_two = assess({"age": [34] * 5 + [35] * 2}, quasi_identifiers=["age"])
    assert of_two.advice[0] == "2 of 7 rows (28.6 %) hide among fewer than 5."
    of_one = assess({"age": [34] * 5 + [35]}, quasi_identifiers=["age"])
    assert of_one.advice[0] == "1 of 6 rows (16.7 %) hides among fewer than 5, and is unique."
    alone = assess({"age": [34, 35, 36]}, quasi_identifiers=["age"])
    assert alone.advice[0] == "3 of 3 rows (100 %) hide among fewer than 5, and all of them are unique."
    mixed = assess({"age": [34, 35, 35]}, quasi_identifiers=["age"])
    assert mixed.advice[0] == "3 of 3 rows (100 %) hide among fewer than 5; 1 of them is unique."
    for report in (of_two, of_one, alone, mixed, pairs):
        assert not any("from 0 % to 0 %" in sentence or "0 rows (0 %)" in sentence for sentence in report.advice)
    assert any("among fewer than 5 from 100 % to 0 %." in sentence for sentence in pairs.advice)


def people() -> dict[str, list[object]]:
    """Six people."""
    return {
        "name": ["Kim", "Ada", "Lin", "Bo", "Eve", "Joe"],
        "age": [34, 34, 35, 35, 71, 71],
        "zip": ["1", "1", "1", "1", "2", "3"],
        "disease": ["flu", "flu", "flu", "cold", "HIV", "cold"],
    }


def test_what_isnt_said_is_guessed() -> None:
    """Kinds of columns, with reasons that the report shows; what is said isn't guessed."""
    report = assess(people())
    assert (report.identifying, report.quasi_identifiers, report.sensitive) == (("name",), ("age", "zip"), ("disease",))
    assert report.attributes is not None
    assert "name: identifying" in str(report)
    assert report.advice[0] == "Leave out name: it names people by itself."
    said = assess(people(), sensitive=["zip"], identifying=["name", "disease"])
    assert (said.identifying, said.quasi_identifiers, said.sensitive) == (("name", "disease"), ("age",), ("zip",))
    assert assess(people(), quasi_identifiers=["age"]).attributes is None
    assert assess(people(), quasi_identifiers=["age"]).sensitive == ()


def test_promises_are_checked() -> None:
    """Each against the table of its own sensitive column, with the rows that break it."""
    models = [
        KAnonymity(2),
        KAnonymity(1),
        DistinctDiversity(2, "disease"),
        EntropyDiversity(1, "disease"),
        Closeness("1/2", "zip"),
    ]
    report = assess(people(), quasi_identifiers=["age"], sensitive=["disease", "zip"], models=models)
    assert [each.met for each in report.checked] == [True, True, False, True, False]
    assert [each.failing for each in report.checked] == [0, 0, 2, 0, 2]
    assert "broken  distinct 2-diversity of disease (reached 1; 2 rows in classes that break it)" in str(report)
    with pytest.raises(InvalidArgument, match="'disease'"):
        assess(people(), quasi_identifiers=["age"], models=[DistinctDiversity(2, "disease")])


def test_a_population_serves_models_and_the_journalist() -> None:
    """k-map and δ-presence need it."""
    town = {"age": [34] * 4 + [35] * 3 + [71] * 8}
    models = [KMap(3), DeltaPresence(0, 0.5)]
    report = assess(people(), quasi_identifiers=["age"], population=town, models=models)
    assert report.reidentification.journalist.highest == 1 / 3
    assert [(each.met, each.failing) for each in report.checked] == [(True, 0), (False, 2)]
    with pytest.raises(InvalidArgument):
        assess(people(), quasi_identifiers=["age"], models=[KMap(3)])


def test_a_population_that_cannot_be_one_is_refused() -> None:
    """Fewer rows are refused; rows that it lacks are said, with why that may be."""
    with pytest.raises(InvalidArgument, match="the population has 1 row, fewer than the 2"):
        assess({"age": [1, 2]}, quasi_identifiers=["age"], population={"age": [1]})
    report = assess({"sex": ["F", "M", "M"]}, quasi_identifiers=["sex"], population={"sex": ["F", " M", " M"]})
    assert report.reidentification.lacking == 2
    said = [sentence for sentence in report.advice if "lacks" in sentence]
    assert len(said) == 1
    assert said[0].startswith("The population lacks 2 rows of the table: either people are missing from it, or")


def test_texts_that_look_like_something_else_are_said() -> None:
    """In every column, whatever it is for; not where they are read as what they are."""
    table = {
        "born": ["11/2/1984", "1/3/1984", None, "2/3/1984"],
        "seen": ["9/17/1984 11:30"] * 3 + ["9/18/1984 9:00"],
        "dots": ["29.02.1984", "1.3.1984", None, "2.3.1984"],
        "pay": ["1.200,50", "3,5", "4", "3,5"],
        "zip": ["02139", "02138", "02138", "02138"],
        "size": [1.5, 2.5, 2.5, 2.5],
    }
    for named in ({}, {"quasi_identifiers": ["born", "zip"], "sensitive": ["pay", "size"]}):
        report = assess(table, **named)  # type: ignore[arg-type]  # of these kinds
        assert report.lookalikes == {
            "born": "dates with the day or the month first",
            "seen": "dates with a time of day",
            "pay": "numbers with decimal commas",
        }
        assert [sentence for sentence in report.advice if "looks like" in sentence] == [
            f"{name} looks like {what}, but is taken as text, without an order: {how}."
            for name, what, how in (
                ("born", "dates with the day or the month first", "say which with --dates dmy or mdy"),
                ("seen", "dates with a time of day", "write 1984-02-29 12:30 for 29.02.1984 12:30"),
                ("pay", "numbers with decimal commas", "write 3.14 for 3,14"),
            )
        ]
        assert report.to_dict()["lookalikes"] == report.lookalikes
    assert not any("looks like" in sentence for sentence in assess(people()).advice)


def test_a_table_without_rows_says_so() -> None:
    """Nothing can be guessed of its columns; where they are named there is a report."""
    none = {"a": pa.array([], pa.string()), "b": pa.array([], pa.string())}
    with pytest.raises(InvalidArgument, match="the table has no rows") as error:
        assess(none)
    assert "name some" in error.value.hint
    assert assess(none, quasi_identifiers=["a"]).rows == 0
    with pytest.raises(InvalidArgument, match="no column seems quasi-identifying"):
        assess({"a": ["x", "x"]})


def test_what_was_guessed_without_a_reason_has_a_verdict_of_its_own() -> None:
    """Beside that for all columns stands the one for those whose names say that others know them; ways are short."""
    rng = np.random.default_rng()
    table: dict[str, object] = {"sex": rng.integers(2, size=400), "region": rng.integers(3, size=400)}
    table |= {f"x{n}": rng.integers(2 + n, size=400) for n in range(12)}
    report = assess(table)
    found = report.surely_known
    assert found is not None
    alone = uniqueness(table, ["sex", "region"])
    assert (found.columns, found.guessed) == (("sex", "region"), 12)
    assert (found.sizes.unique, found.sizes.smallest) == (alone.unique, alone.sizes.smallest)
    assert report.advice[0].startswith("12 columns were taken to be known only because nothing shows the opposite")
    assert "By sex and region alone" in report.advice[0]
    assert len(report.plan) > 3
    assert max(sentence.count("coarsen ") + sentence.count("leave out ") for sentence in report.advice) <= 3
    assert report.to_dict()["surely_known"]["unique"] == alone.unique  # type: ignore[index]  # a dict
    assert assess(table, quasi_identifiers=["x1", "sex"]).surely_known is None
    assert assess({"sex": table["sex"], "region": table["region"]}).surely_known is None


@pytest.mark.parametrize("unit", [None, "who"])
def test_rows_that_say_nothing_are_no_class(unit: str | None) -> None:
    """Nobody is found by stars alone, and nobody hides behind them; a cell of stars beside others is one value."""
    table = {
        "age": ["30", "30", "40", "40", "*", "*", *["**"] * 5],
        "zip": ["1", "1", "2", "2", "3", "3", *["*"] * 5],
        "ill": ["flu"] * 11,
        "who": list(range(11)),
    }
    report = assess(table, quasi_identifiers=["age", "zip"], sensitive=["ill"], unit=unit)
    risk = report.reidentification.prosecutor
    assert (report.rows, report.silent, report.units, report.k) == (11, 5, 6, 2)
    assert (risk.average, risk.at_risk) == (0.5, 1.0)
    assert "5 rows say nothing" in str(report)
    assert report.to_dict()["silent"] == 5
    nothing = assess({"age": ["*"] * 6}, quasi_identifiers=["age"])
    assert (nothing.silent, nothing.k) == (0, 6)


def test_a_sampling_fraction_gives_estimates() -> None:
    """The same as its own function's; without one there are none."""
    table = synthetic(2_000)
    report = assess(table, quasi_identifiers=["age", "education", "hours"], sampling_fraction=0.1)
    found = population_uniqueness(table, ["age", "education", "hours"], fraction=0.1)
    assert report.population is not None
    assert report.population.to_dict() == found.to_dict()
    assert f"about {found.people:,} people" in str(report)
    assert assess(table, quasi_identifiers=["age"]).population is None


def test_where_the_table_came_from_means_nothing(tmp_path: Path) -> None:
    """A pandas table with any index and order, Polars, Arrow, and a file give the same report."""
    frame = pd.DataFrame(people())
    expected = assess(people(), sampling_fraction=0.5).to_dict()
    frame.to_csv(tmp_path / "people.csv", index=False)
    shuffled = frame.iloc[np.array([4, 2, 0, 5, 1, 3])]
    others = [
        frame.set_axis([5, 3, 1, 0, 2, 4]),
        frame.set_axis(range(100, 106)),
        shuffled,
        pl.DataFrame(people()),
        pl.LazyFrame(people()),
        pa.table(people()),
    ]
    for table in others:
        assert assess(table, sampling_fraction=0.5).to_dict() == expected
    assert assess(str(tmp_path / "people.csv"), sampling_fraction=0.5).to_dict()["uniqueness"] == expected["uniqueness"]


@given(tables(), st.sampled_from(POLICIES))
def test_every_report_can_be_printed_and_stored(table: Table, missing: Missing) -> None:
    """Lines of a hundred at the most, and JSON without infinities."""
    names, sensitive = with_sensitive(table)
    report = assess(
        table,
        quasi_identifiers=names,
        sensitive=[sensitive] if sensitive else [],
        missing=missing,
        sampling_fraction=0.3,
        models=[KAnonymity(3)],
    )
    assert max(map(len, str(report).splitlines())) <= 100
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False))["rows"] == len(table[names[0]])
    assert "differential privacy" in report.caveat
    assert all(report.advice)


def test_long_names_and_many_columns_fit() -> None:
    """Names are cut and lists are wrapped."""
    table = {f"a column with a very long name, number {place}": [place % 2, 1] for place in range(9)}
    report = assess(table, quasi_identifiers=list(table), threshold="1/2")
    assert max(map(len, str(report).splitlines())) <= 100


def test_large_tables_try_smaller_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all sets would take too long, sets up to a size are tried, and the report says so."""
    monkeypatch.setattr("discreet.anonymity.risk.report._WORK", 3_000)
    report = assess(synthetic(1_000), quasi_identifiers=["age", "sex", "education", "hours"])
    assert report.identifiers.at_most == 1
    assert "of 1 or fewer columns" in str(report)
    limited = minimal_identifiers(synthetic(1_000), ["age", "sex", "education", "hours"], at_most=1)
    assert report.identifiers.to_dict() == limited.to_dict()


@pytest.mark.parametrize(
    "wrong",
    [
        {"quasi_identifiers": []},
        {"quasi_identifiers": "age"},
        {"quasi_identifiers": ["age"], "sensitive": ["age"]},
        {"quasi_identifiers": ["age", "age"]},
        {"quasi_identifiers": ["age"], "identifying": ["age"]},
        {"quasi_identifiers": ["age"], "threshold": 0},
        {"quasi_identifiers": ["age"], "share": 1},
        {"quasi_identifiers": ["age"], "sampling_fraction": 2},
        {"identifying": ["name", "age", "zip", "disease"]},
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    """No quasi-identifier, two roles for one column, numbers out of range."""
    with pytest.raises(InvalidArgument):
        assess(people(), **wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_missing_values_and_columns_are_named() -> None:
    """A policy that allows no missing value, a policy that isn't one, and a column that isn't there."""
    with pytest.raises(InvalidArgument, match="'a'"):
        assess({"a": [1, None]}, quasi_identifiers=["a"], missing="refuse")
    with pytest.raises(InvalidArgument):
        assess({"a": [1]}, quasi_identifiers=["a"], missing="perhaps")
    with pytest.raises(SchemaMismatch, match="'b'"):
        assess({"a": [1]}, quasi_identifiers=["b"])


def test_no_value_of_a_row_is_in_the_report() -> None:
    """Names of columns and counts only: a report may be shown where the table may not."""
    table = {"age": [11_111, 22_222, 33_333], "zip": ["secretplace"] * 3, "disease": ["rarething", "other", "other"]}
    report = assess(table, quasi_identifiers=["age", "zip"], sensitive=["disease"])
    text = str(report) + json.dumps(report.to_dict())
    assert not any(value in text for value in ("11111", "11,111", "secretplace", "rarething"))


def test_adult(trial_data: Path) -> None:
    """Eight quasi-identifiers and the salary class: counted again with a dictionary."""
    records = read(trial_data / "adult_arx" / "adult.csv")
    names = [name for name in records.names if name != "salary-class"]
    report = assess(records, quasi_identifiers=names, sensitive=["salary-class"])
    classes: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    codes = [records.column(name).codes.tolist() for name in names]
    for row, value in zip(zip(*codes, strict=True), records.column("salary-class").codes.tolist(), strict=True):
        classes[row].append(value)
    sizes = [len(held) for held in classes.values()]
    assert (report.rows, report.k) == (30_162, 1)
    assert report.uniqueness.unique == sizes.count(1)
    assert report.reidentification.marketer == len(sizes) / 30_162
    (salary,) = report.exposures
    assert salary.homogeneous == sum(len(held) for held in classes.values() if len(set(held)) == 1)
    measures = {each.name: each.value for each in salary.measures}
    table = Counter(records.column("salary-class").codes.tolist())
    farthest = max(
        sum(abs(held.count(value) / len(held) - number / 30_162) for value, number in table.items()) / 2
        for held in classes.values()
    )
    assert measures["t-closeness, equal"] == pytest.approx(farthest)
    entropy = EntropyDiversity(1, "salary-class").reached(frequencies_of(records, names, "salary-class"))
    assert measures["entropy l-diversity"] == entropy


def test_sensitive_values_that_look_alike_are_said() -> None:
    """They count as different, which makes classes look more diverse."""
    table = {
        "zip": ["1"] * 6,
        "ill": ["HIV", "hiv ", "caf\u00e9", "cafe\u0301", "flu", None],
        "pay": [1, 2, 3, 4, 5, 6],
    }
    report = assess(table, quasi_identifiers=["zip"], sensitive=["ill", "pay"])
    assert [each.alike for each in report.exposures] == [2, 0]
    assert sum("Values of ill that differ" in sentence for sentence in report.advice) == 1


def test_what_leaves_most_at_risk_is_no_way() -> None:
    """Columns by which everybody is unique even in bands: no plan is offered, and no single change either."""
    rows = range(300)
    many = {f"q{place}": [row * prime % 307 for row in rows] for place, prime in enumerate((1, 11, 37, 101))}
    advice = assess(many, quasi_identifiers=list(many)).advice
    (plan,) = [sentence for sentence in advice if "coarsen q" in sentence]
    assert plan.startswith("No way was found by leaving out and coarsening columns: ")
    assert not any(sentence.startswith(("One way", "Coarsening", "Leaving out")) for sentence in advice)
    two = {"a": [row % 150 for row in rows], "b": [row // 2 % 30 * 10 + row % 10 for row in rows]}
    some = assess({**two, "c": [row * 7 % 307 for row in rows]}, quasi_identifiers=["a", "b", "c"])
    for sentence in some.advice:  # what is offered leaves few
        assert not sentence.startswith("One way") or some.plan[-1].exposed <= 0.05 * 300
