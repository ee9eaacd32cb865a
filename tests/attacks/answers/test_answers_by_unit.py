"""Attacks on answers by unit, against counting by hand: a person with several rows is one of those who are counted."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.anonymity import read
from discreet.anonymity.records import Records
from discreet.attacks import attack
from discreet.attacks.answers import differencing, guessing, query_log, reconstruction, tracking
from discreet.attacks.answers.marginals import Marginals, spread
from discreet.attacks.answers.study import Study
from discreet.attacks.attack_setup import Terms, set_up
from discreet.attacks.rows import background, homogeneity, intersection, linkage, skewness, small_groups
from discreet.attacks.rows.presence_in_answers import presence
from discreet.attacks.rows.singling_out import singling_out
from discreet.attacks.rows.sparse import Log
from discreet.attacks.targets import Answers, Bare, Exact, Restricted
from discreet.attacks.targets.exact_answers import Imputed
from discreet.attacks.targets.fresh_noise import laplace_deviation
from discreet.attacks.targets.rows import Rows
from discreet.attacks.targets.tally_of_answers import see
from discreet.errors import InvalidArgument, SchemaMismatch
from support.examples import examples

ROWS = st.lists(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc")), min_size=1, max_size=3), min_size=1, max_size=7
)
"""Of each unit, the place and the sensitive value of each of its rows."""
ONE_PLACE = st.lists(
    st.tuples(st.integers(0, 2), st.lists(st.sampled_from("abc"), min_size=1, max_size=3)), min_size=1, max_size=8
).map(lambda units: [[(place, value) for value in values] for place, values in units])
"""The same, where all rows of a unit have one place."""
VISITS = {
    "id": [1, 1, 1, 2, 2, 3, 4, 5],
    "zip": ["x", "x", "y", "x", "x", "y", "z", "x"],
    "ill": ["flu", "flu", "gout", "flu", "gout", "gout", "cold", "flu"],
    "pay": [10, 20, 30, 5, 5, 40, 80, 7],
}


def table(units: list[list[tuple[int, str]]]) -> Records:
    """Their rows, by unit."""
    rows = [(number, place, value) for number, each in enumerate(units) for place, value in each]
    return read({"id": [r[0] for r in rows], "zip": [r[1] for r in rows], "ill": [r[2] for r in rows]}, unit="id")


def private(path: Path, unit: str | None = "id", groups: int = 2, **terms: Any) -> Answers:
    """Answers about the visits, within limits that cut nothing."""
    protected = dp.protect(
        pa.table(VISITS),
        name="visits",
        unit=dp.Unit(unit) if unit else dp.Unit.row(),
        columns={"pay": dp.Bounds(0, 100)},
        limits=dp.Limits(rows=3, groups=groups) if unit else None,
        budget=dp.Budget(epsilon=10_000),
        ledger=path / f"{unit}{groups}.ledger",
    )
    return Answers(protected, **terms)


@examples(40)  # each asks DuckDB dozens of questions
@given(ROWS)
def test_exact_answers_count_units(units: list[list[tuple[int, str]]]) -> None:
    """Who has a row with both: of each place and value, and of each place, by hand."""
    exact = Exact(table(units))
    pairs = Counter(pair for rows in units for pair in set(rows))
    places = Counter(place for rows in units for place in {place for place, _ in rows})
    known = read({"zip": [0, 1, 2]})
    seen = see(exact, known, ["zip"], "ill", list("abc"))
    for kind, place in enumerate(range(3)):
        entries = slice(seen.starts[kind], seen.starts[kind + 1])
        held = dict(zip(seen.values[entries].tolist(), seen.counts[entries].tolist(), strict=True))
        assert held == {code: pairs[place, value] for code, value in enumerate("abc") if pairs[place, value]}
        assert seen.totals()[kind] == places[place]
    everywhere = Counter(value for rows in units for value in {value for _, value in rows})
    assert seen.priors == pytest.approx([max(everywhere[value], 0.5) / len(units) for value in "abc"])
    assert exact.count({}).value == len(units)


@examples(25)  # as above
@given(ONE_PLACE)
def test_exact_answers_show_what_rows_show(units: list[list[tuple[int, str]]]) -> None:
    """Where all rows of somebody are alike in what is known, asking comes to the same as having the rows."""
    records = table(units)
    exact = Exact(records)
    terms: dict[str, Any] = {"on": ["zip"], "sensitive": "ill"}
    one, two = linkage(records, records, **terms), linkage(exact, records, **terms)
    assert (one.tried, one.success, one.baseline, one.values) == (two.tried, two.success, two.baseline, two.values)
    for run in (homogeneity, background, skewness):
        rows, answers = run(records, people=records, **terms), run(exact, people=records, **terms)
        left, right = rows.facts(), answers.facts()
        names = set(left) - {"against", "worst_value"}  # of equals the first, which isn't the same
        assert {name: left[name] for name in names} == {name: right[name] for name in names}
    both, asked = intersection(records, records, records, **terms), intersection(exact, exact, records, **terms)
    assert (both.tried, both.success, both.values, both.left) == (asked.tried, asked.success, asked.values, asked.left)
    grouped = {"a": "soft", "b": "soft", "c": "hard"}
    had, told = (skewness(each, people=records, groups=grouped, **terms) for each in (records, exact))
    assert (had.success, had.similar_people, had.classes) == (told.success, told.similar_people, told.classes)


def test_rows_are_counted_where_no_unit_is_named() -> None:
    """The wrong twin: five people are eight."""
    assert Exact(VISITS).count({}).value == 8
    assert Exact(VISITS, unit="id").count({}).value == 5
    assert Exact(VISITS, unit="id").count({"zip": "x"}).value == 3
    assert Exact(read(VISITS, unit=["id", "zip"])).count({}).value == 6
    with pytest.raises(SchemaMismatch):
        Exact(VISITS, unit="nobody")


def test_private_answers_count_units(tmp_path: Path) -> None:
    """At ε = 500 they are exact but for a chance below 1e-100; the noise is that of one unit in each group."""
    answers, exact = private(tmp_path, epsilon=500), Exact(VISITS, unit="id")
    for conditions in ({}, {"zip": "x"}, {"ill": ["flu", "gout"]}, {"pay": range(50)}):
        assert answers.count(conditions).value == exact.count(conditions).value
    assert exact.aggregate("SUM(pay)").value == sum(VISITS["pay"])
    assert answers.aggregate("SUM(pay)").value == pytest.approx(sum(VISITS["pay"]), abs=15)  # scale 0.6: 1e-10
    told, same = (each.by_value("ill", ["flu", "gout", "cold"], {"zip": "x"}) for each in (answers, exact))
    assert [[each.counts[place,] for place in range(3)] for each in (told, same)] == [[3, 1, 0]] * 2
    assert answers.bill.epsilon == 6 * 500  # four counts, a sum and a histogram


def test_noise_is_that_of_a_unit(tmp_path: Path) -> None:
    """A unit is in two groups at the most, so the counts of groups have twice the scale that one count has."""
    answers = private(tmp_path, epsilon=1)
    assert answers.overlaps
    assert answers.count({}).deviation == pytest.approx(laplace_deviation(1))
    assert answers.by_value("ill", ["flu", "gout"], {}).deviation == pytest.approx(laplace_deviation(2))
    alone = private(tmp_path, groups=1, epsilon=1)
    assert not alone.overlaps
    rows = private(tmp_path, None, epsilon=1)
    assert (rows.unit, rows.counting, rows.overlaps) == (None, "COUNT(*)", False)
    bare = Bare(Exact(VISITS, unit="id"), epsilon=500)
    assert (bare.count({}).value, bare.unit) == (5, "id")


@pytest.mark.parametrize("attacked", ["linkage", "homogeneity", "background", "skewness"])
def test_answers_at_a_large_epsilon_are_exact_ones(attacked: str) -> None:
    """The whole way from a table: limits and bounds cut nothing, and the noise is none."""
    rows = {**VISITS, "zip": ["x"] * 5 + ["y", "z", "x"]}  # all rows of somebody are alike in what is known
    terms: dict[str, Any] = {"on": ["zip"], "sensitive": "ill", "value": "pay", "unit": "id"}
    raw = attack(attacked, rows, against="raw", **terms)
    found = attack(attacked, rows, against="answers", epsilon=1_000, budget=100_000, **terms)
    assert (found.tried, found.unit) == (5, ("id",))
    assert found.success == pytest.approx(raw.success if attacked != "background" else found.success)


def test_limits_cut_nothing_off_what_is_asked() -> None:
    """A unit with fifty rows of the same and of other values weighs what it has."""
    rows = {"id": [1] * 50 + [2, 3], "ill": ["a", "b"] * 26, "pay": [7] * 52, "zip": ["x"] * 50 + ["y", "z"]}
    terms = Terms.of(on=["zip"], sensitive="ill", value="pay", epsilon=500, budget=100_000)
    with set_up(rows, terms, unit="id") as setup:
        answers = setup.answers()
        assert answers.protected.dataset.private[0].limits == dp.Limits(rows=50, groups=2)
        assert answers.aggregate("SUM(pay)").value == pytest.approx(7 * 52, abs=25)  # scale 1: a chance below 1e-10
        assert [answers.by_value("ill", ["a", "b"], {}).counts[place,] for place in (0, 1)] == [2, 2]
        assert answers.count({}).value == 3


def test_one_person_is_subtracted() -> None:
    """What all rows of a unit that meet the condition come to, is what a difference and a tracker find."""
    rows = {
        "id": [n // 2 for n in range(60)],
        "zip": [n // 2 if n // 2 < 20 else 99 for n in range(60)],
        "ill": ["flu" if n // 2 % 2 else "gout" for n in range(60)],
        "pay": list(range(60)),
    }
    for name, against in (("differencing", "exact"), ("tracker", "restricted")):
        found = attack(name, rows, against=against, on=["zip"], sensitive="ill", value="pay", unit="id")
        assert (found.success, found.tried) == (1.0, 1)
        assert "SUM" in str(found.guesses[0])


def test_few_people_are_few_however_many_rows_they_have() -> None:
    """Two people's ten rows are refused, and so is what leaves out rows of two."""
    rows = {"id": [n // 5 for n in range(40)], "pay": [1] * 40}
    by_unit, by_row = Restricted(rows, smallest=3, unit="id"), Restricted(rows, smallest=3)
    assert by_unit.aggregate("SUM(pay)", "id < 2").refusal == "too_few_rows"
    assert by_unit.aggregate("SUM(pay)", "id >= 2").refusal == "too_few_rows"
    assert by_unit.aggregate("SUM(pay)", "id < 3").value == 15
    assert by_row.aggregate("SUM(pay)", "id < 2").value == 10
    assert "3 units or more" in by_unit.against
    found = tracking(by_unit, "SUM(pay)", wanted="id = 7", by="id < 4", truth=5)  # only 4 units: too few for 2t = 6
    assert found.refused == 0
    assert found.found == 5


def test_totals_of_groups_are_asked_for_by_unit() -> None:
    """Somebody with three rows is alone in a team."""
    rows = {"id": [1, 1, 1, 2, 3, 3, 4], "team": ["a", "a", "a", "b", "b", "b", "b"], "pay": [10, 20, 30, 5, 5, 5, 80]}
    people = read(rows, unit="id")
    by_rows, asked = (small_groups(each, by=["team"], value="pay", people=people) for each in (people, Exact(people)))
    assert (
        (asked.tried, asked.success, asked.singles) == (by_rows.tried, by_rows.success, by_rows.singles) == (4, 0.25, 1)
    )
    assert str(asked.guesses[0]) == "team a: pay = 60, 100 % sure, right"


def test_guessing_is_about_a_person() -> None:
    """Two rows of theirs are one, for a yes; rows would be two."""
    target = Exact(VISITS, unit="id")
    found = guessing(target, "id = 1 AND ill = 'flu'", who="1", truth=True)
    assert (found.answer, found.success) == (1, 1.0)
    assert guessing(Exact(VISITS), "id = 1 AND ill = 'flu'", who="1", truth=True).answer == 2
    rows = {
        "id": [n // 2 for n in range(40)],
        "zip": [n // 2 for n in range(40)],
        "ill": ["flu" if n % 4 < 2 else ("flu", "gout", "cold")[n % 3] for n in range(40)],
    }
    every = attack("guessing", rows, against="exact", on=["zip"], sensitive="ill", unit="id")
    assert (every.success, every.tried) == (1.0, 20)


def test_reconstruction_finds_people() -> None:
    """Who has it in any row; asked by rows, those who have it twice add two, and others are taken for having it."""
    rows = {"id": [n // 3 for n in range(90)], "ill": ["flu" if n // 3 % 3 and n % 3 else "gout" for n in range(90)]}
    truth = [bool(person % 3) for person in range(12)]
    asked: dict[str, Any] = {"key": "id", "people": range(12), "truth": truth, "questions": 80}
    assert reconstruction(Exact(rows, unit="id"), "ill = 'flu'", **asked).success == 1
    assert reconstruction(Exact(rows), "ill = 'flu'", **asked).estimates != pytest.approx(truth)
    named: dict[str, Any] = {"on": ["zip"], "sensitive": "ill", "unit": "id", "people": 12}
    found = attack("reconstruction", {**rows, "zip": rows["id"]}, against="exact", **named)
    assert (found.success, found.tried) == (1.0, 12)


@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=7),
    st.lists(st.lists(st.booleans(), min_size=7, max_size=7), min_size=1, max_size=4),
)
def test_a_log_finds_units(owners: list[int], sets: list[list[bool]]) -> None:
    """A unit is found if a vector that is 1 on some rows of it alone, and the same on all that are alike, follows."""
    number = len(owners)
    rows = {"id": owners, "place": list(range(number)), "pay": [3**place for place in range(number)]}
    log = [" OR ".join(["FALSE", *(f"place = {p}" for p in range(number) if asked[p])]) for asked in sets]
    found = query_log(Exact(rows, unit="id"), "SUM(pay)", log)
    matrix = np.array([asked[:number] for asked in sets], dtype=np.float64)
    alike: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for place in range(number):
        alike[(owners[place], *map(int, matrix[:, place]))].append(place)
    lost = set()
    for places in alike.values():
        pointed = np.zeros(number)
        pointed[places] = 1.0
        if np.linalg.matrix_rank(np.vstack([matrix, pointed])) == np.linalg.matrix_rank(matrix):
            lost.add(owners[places[0]])
    assert found.tried == len(set(owners))
    assert found.success == pytest.approx(len(lost) / len(set(owners)))


@given(
    units=st.lists(
        st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from("ab")), min_size=1, max_size=3),
        min_size=3,
        max_size=9,
    ).filter(lambda units: len({row for rows in units for row in rows}) > 3),
    people=st.integers(1, 3),
)
def test_a_study_counts_units(units: list[list[tuple[str, str]]], people: int) -> None:
    """Of each cell, the members with a row in it; and the score is of one row of somebody's."""
    rows = [(number, *row) for number, each in enumerate(units) for row in each]
    records = read({"id": [r[0] for r in rows], "a": [r[1] for r in rows], "b": [r[2] for r in rows]}, unit="id")
    study = Study.of(records, np.arange(len(units)), people)
    size = min(people, len(units) // 3)
    assert (study.members.tolist(), study.strangers.tolist()) == (list(range(size)), list(range(size, 2 * size)))
    columns = [("a", {row[0] for each in units for row in each}), ("b", {row[1] for each in units for row in each})]
    expected = []
    for place, (_, values) in enumerate(columns):
        expected += [
            sum(any(r[place] == v for r in units[m]) for m in range(size)) for v in sorted(values) if len(values) > 1
        ]
    assert study.exact()[: len(expected)].tolist() == expected
    common = study.common()
    assert ((common > 0) & (common <= 1)).all()
    known = {number: study.known[number] for number in range(len(units))}
    assert all(rows[int(row)][0] == number for number, row in known.items())
    found = study.traced(study.exact(), against="exact shares")
    assert (found.people, found.tried) == (size, 2 * size)


def test_a_studys_answers_are_of_units() -> None:
    """At a large ε they are the exact counts; limits are those of the whole table, so nobody's presence sets them."""
    rows = {"id": [n // 3 for n in range(90)], "zip": ["abc"[n % 3] for n in range(90)], "ill": ["flu", "gout"] * 45}
    terms: dict[str, Any] = {"on": ["zip"], "sensitive": "ill", "unit": "id", "people": 10}
    found = attack("tracing", rows, against="answers", epsilon=2_000, budget=100_000, **terms)
    assert (found.tried, found.unit) == (20, ("id",))
    uneven = {**rows, "id": [0] * 60 + [1 + n // 3 for n in range(30)]}
    with set_up(uneven, Terms.of(on=["zip"], sensitive="ill"), unit="id") as setup:
        few = setup.records.take(np.arange(60, 90))
        assert setup.answers(few).protected.dataset.private[0].limits == dp.Limits(rows=60, groups=2)
        study = Study.of(setup.records, np.arange(11), 3)
        answers = setup.answers(study.coded(study.members), keys=study.marginals.keys(), grouped_by=study.groupings())
        assert answers.protected.dataset.private[0].limits == dp.Limits(rows=60, groups=6)


def test_rows_of_units_are_spread_by_hand() -> None:
    """Somebody with two rows that may be 20 or 25 has one of them with 1 − ½·½; rows that look alike are one row."""
    people = read({"age": [20, 25, 31, 31], "ill": ["flu", "flu", "cold", "flu"]})
    released = read({"id": [1, 1, 1], "age": ["20-29", "20-29", "*"], "ill": ["flu", "flu", "flu"]}, unit="id")
    found = spread(Rows.of(released), people, Marginals.of(people), np.array([0, 1]))
    assert found[:3].tolist() == pytest.approx([1 - 1 / 4, 1 - 1 / 4, 0.0])
    assert found[3:5].tolist() == [0.0, 1.0]


def test_imputed_rows_keep_one_value_for_a_persons_cells() -> None:
    """Thirty rows of one person in the range of thirty values are one value, and never two: a chance of 30^−29 else."""
    records = read(
        {"id": [7] * 30 + list(range(10, 40)), "age": [*range(30), *range(30)], "ill": ["a"] * 60}, unit="id"
    )
    with set_up(records, Terms.of(on=["age"], sensitive="ill", k=31)) as setup:
        crowd = Imputed(setup.anonymised())
    assert crowd.unit is not None
    mine = [
        age
        for age, unit in zip(crowd.data["age"].to_pylist(), crowd.data[crowd.unit].to_pylist(), strict=True)
        if not unit
    ]
    assert len(mine) == 30
    assert len(set(mine)) == 1
    assert crowd.count({}).value == 31


def test_ranges_are_halved_by_unit() -> None:
    """Exact counts of units lead to one, whose rows alone meet the predicate: others are as old, so it can be said."""
    ages = [3 * (n % 20) for n in range(60)]
    rows = {"id": [n for n in range(60) for _ in range(2)], "age": [age + off / 4 for age in ages for off in (0, 1)]}
    records = read(rows, unit="id")
    data, fresh = records.take(np.arange(40)), records.take(np.arange(40, 120))
    found = singling_out(lambda: Exact(data), data, fresh=fresh, trials=5)
    assert (found.people, found.success) == (20, 1.0)
    assert found.guesses[0].what == "one unit of them"


def test_presence_is_of_units(tmp_path: Path) -> None:
    """Whoever did it is a unit; and privately the answer moves by one, however many rows the limits let a unit have."""
    known = {"person": ["Ann", "Ann"], "item": ["x", "y"]}
    done = read({"who": [1, 1, 2], "item": ["x", "y", "x"]}, unit="who")
    found = presence(Exact(done), known, log=Log(), enough=1)
    assert found.said == 1
    answers = private(tmp_path, epsilon=1)
    presence(answers, {"person": ["Ann"], "zip": ["x"]}, log=Log(item="zip"), enough=1)
    assert answers.replies[-1].deviation == pytest.approx(laplace_deviation(1))


@pytest.mark.parametrize("against", ["raw", "anonymized", "answers"])
def test_people_are_found_by_what_they_did(against: str) -> None:
    """With the unit, what they did is all that needs to be named; who else did it mustn't be."""
    rows = {
        "home": [n // 20 for n in range(200)],
        "who": [n // 10 for n in range(200)],
        "item": [f"i{n}" for n in range(200)],
        "day": [n % 7 for n in range(200)],
    }
    terms: dict[str, Any] = {"sensitive": "day", "unit": "home", "people": 6, "k": 2, "epsilon": 50, "budget": 1_000}
    for on in (["item"], ["home", "item"]):
        found = attack("sparse", rows, against=against, on=on, **terms)
        assert (found.tried, found.unit, found.note) == (6, ("home",), None)
        assert against == "anonymized" or found.success == 1
    with pytest.raises(InvalidArgument, match="the unit says who did it: home"):
        attack("sparse", rows, against=against, on=["who", "item"], **terms)


def test_a_difference_of_noise_is_of_people(tmp_path: Path) -> None:
    """Three rows of up to 100 each: the noise of a sum is sized for all of them."""
    answers = private(tmp_path, epsilon=1)
    found = differencing(answers, "SUM(pay)", without="zip <> 'z'")
    assert found.deviation == pytest.approx(sqrt(2) * laplace_deviation(300))
