"""Attacks by unit, against counting by hand: a person, or a household, with several rows is one of those counted."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import read
from discreet.attacks import attack, compare
from discreet.attacks.people import People
from discreet.attacks.rows import (
    Near,
    Same,
    Typos,
    background,
    fuzzy,
    homogeneity,
    intersection,
    linkage,
    singling_out,
    skewness,
    small_groups,
)
from discreet.attacks.rows.sensitive_values import Truth
from discreet.attacks.rows.singling_out import _isolating
from discreet.attacks.targets import Exact
from discreet.attacks.targets.rows import Rows
from discreet.errors import InvalidArgument

UNITS = st.lists(
    st.tuples(st.integers(0, 2), st.lists(st.sampled_from("abc"), min_size=1, max_size=3)), min_size=1, max_size=8
)
"""Of each unit, the one place that all of its rows have, and a sensitive value of each of its rows."""
TWICE_THREE = {"patient_id": [1, 1, 1, 2, 2, 2], "zip": ["x"] * 6, "ill": ["flu"] * 3 + ["gout"] * 3}
"""Two people, three rows each, all alike in what is known."""


def table(units: list[tuple[int, list[str]]]) -> dict[str, list[Any]]:
    """Their rows."""
    rows = [(number, place, value) for number, (place, values) in enumerate(units) for value in values]
    return {"id": [r[0] for r in rows], "zip": [r[1] for r in rows], "ill": [r[2] for r in rows]}


def best_of(units: list[tuple[int, list[str]]]) -> dict[int, tuple[str, float]]:
    """Of each place, the value that most units there have, of equals the commonest of all, and their share."""
    everywhere = Counter(value for _, values in units for value in set(values))
    there: dict[int, list[set[str]]] = defaultdict(list)
    for place, values in units:
        there[place].append(set(values))
    found = {}
    for place, each in there.items():
        counts = Counter(value for values in each for value in values)
        best = min(counts, key=lambda value: (-counts[value], -everywhere[value], value))
        found[place] = (best, counts[best] / len(each))
    return found


@given(UNITS)
def test_linkage_counts_units(units: list[tuple[int, list[str]]]) -> None:
    """Candidates are units; somebody's value is found if it is one of theirs; so is the commonest one."""
    records = read(table(units), unit="id")
    found = linkage(records, records, on=["zip"], sensitive="ill")
    sizes = Counter(place for place, _ in units)
    assert found.tried == found.units == len(units)
    assert found.rows == sum(len(values) for _, values in units)
    assert dict(found.candidates) == Counter(sizes[place] for place, _ in units)
    best = best_of(units)
    assert found.success == pytest.approx(sum(best[place][0] in values for place, values in units) / len(units))
    commonest = max(Counter(value for _, values in units for value in set(values)).values())
    assert found.baseline == pytest.approx(commonest / len(units))
    sure = Counter(round(best[place][1], 2) for place, _ in units)  # in whole percent points, as the result says it
    assert dict(found.values) == sure


@given(UNITS)
def test_classes_count_units(units: list[tuple[int, list[str]]]) -> None:
    """A class gives away a value that all units in it have, though some of them have others, too."""
    records = read(table(units), unit="id")
    best = best_of(units)
    same = homogeneity(records, on=["zip"], sensitive="ill")
    assert same.tried == same.people == len(units)
    assert same.homogeneous_classes == sum(share == 1 for _, share in best.values())
    assert same.homogeneous_people == sum(best[place][1] == 1 for place, _ in units)
    assert same.success == linkage(records, records, on=["zip"], sensitive="ill").success
    more = skewness(records, on=["zip"], sensitive="ill")
    everywhere = Counter(value for _, values in units for value in set(values))
    ratios = []
    for place in best:
        here = [set(values) for other, values in units if other == place]
        counts = Counter(value for values in here for value in values)
        ratios += [counts[value] / len(here) / (everywhere[value] / len(units)) for value in counts]
    assert more.worst_ratio == pytest.approx(max(ratios))
    few = background(records, on=["zip"], sensitive="ill")
    assert few.at_most == any(len(set(values)) > 1 for _, values in units)
    assert few.certain[0] == pytest.approx(same.homogeneous_people / len(units))
    if not few.at_most:
        once = background(
            read({"zip": [place for place, _ in units], "ill": [values[0] for _, values in units]}),
            on=["zip"],
            sensitive="ill",
        )
        assert (few.certain, few.worst, few.mean) == (once.certain, once.worst, once.mean)


@given(UNITS, st.integers(0, 2))
def test_excluding_values_makes_nobody_surer_than_is_said(units: list[tuple[int, list[str]]], excluded: int) -> None:
    """Whichever values are excluded, and whichever is looked at: over all ways; without exclusions it is exact."""
    found = background(read(table(units), unit="id"), on=["zip"], sensitive="ill")
    reached, sure = 0.0, 0
    for place in {place for place, _ in units}:
        here = [set(values) for other, values in units if other == place]
        best = 0.0
        for gone in combinations("abc", excluded):
            left = [values for values in here if not values & set(gone)]
            best = max([best, *(sum(value in values for values in left) / len(left) for value in "abc" if left)])
        reached, sure = max(reached, best), sure + (best == 1) * len(here)
    assert reached <= found.worst[excluded] + 1e-9
    assert sure / len(units) <= found.certain[excluded] + 1e-9
    if not excluded:
        assert reached == pytest.approx(found.worst[0])


@given(UNITS)
def test_groups_of_values_are_of_units(units: list[tuple[int, list[str]]]) -> None:
    """Somebody with two values of a group is in it once: as if the groups stood in place of the values."""
    groups = {"a": "soft", "b": "soft", "c": "hard"}
    rows = table(units)
    merged = read({**rows, "ill": [groups[value] for value in rows["ill"]]}, unit="id")
    found, same = (
        skewness(read(rows, unit="id"), on=["zip"], sensitive="ill", groups=groups),
        skewness(merged, on=["zip"], sensitive="ill"),
    )
    for name in ("success", "baseline", "worst_ratio", "least_ratio", "doubled_people", "similar_people", "ratios"):
        assert getattr(found, name) == getattr(same, name)


def test_a_unit_in_several_classes_is_one_candidate() -> None:
    """Of the two people who may be 12, one has rows in both classes that fit; and only one of them fits 13."""
    released = read({"id": [1, 1, 2, 3], "zip": ["12", "1*", "1*", "2*"], "ill": ["a", "a", "b", "b"]}, unit="id")
    found = Rows.of(released).candidates(read({"zip": ["12", "21"]}), ["zip"])
    assert found.numbers().tolist() == [2, 1]
    assert found.only().tolist() == [-1, 3]
    tally = Rows.of(released).tally(found, "ill")
    assert tally.counts.tolist() == [1.0, 1.0, 1.0]
    assert tally.totals().tolist() == [2.0, 1.0]
    assert not tally.overlaps
    rows = Rows.of(read({"zip": ["12", "1*", "1*", "2*"]}))  # the wrong twin counts rows
    assert rows.candidates(read({"zip": ["12", "21"]}), ["zip"]).numbers().tolist() == [3, 1]


def test_an_answer_key_is_of_units() -> None:
    """Each candidate of a person is a unit, and is right if one of its rows is theirs."""
    released = {"id": [1, 1, 2], "key": ["A", "A", "B"], "zip": ["x", "x", "x"]}
    known = {"key": ["A"], "zip": ["x"]}
    by_unit, by_row = (linkage(read(released, unit=u), known, on=["zip"], truth="key") for u in ("id", ()))
    assert (by_unit.success, by_unit.precision, by_unit.baseline) == (0.5, 0.5, 0.5)
    assert (by_row.success, by_row.precision, by_row.baseline) == (2 / 3, 2 / 3, 1 / 3)


def test_what_is_known_of_a_unit_is_any_row_of_it() -> None:
    """One of three rows is drawn, all alike: never one of them in 60 draws has a chance of 3·(2/3)^60 < 10⁻⁹."""
    records = read({"id": [1, 1, 1], "zip": ["a", "b", "c"]}, unit="id")
    drawn = {People.of(records).known.column("zip").labels()[0] for _ in range(60)}
    assert drawn == {"a", "b", "c"}


def test_truths_are_of_several_values() -> None:
    """A guess is right if it is among a person's values, and none is of a person without any."""
    truth = Truth(owners=np.array([0, 0, 2, 2]), values=np.array([1, 3, -1, 3]), people=3)
    assert truth.right(np.array([1, 1, 3])).tolist() == [True, False, True]
    assert truth.commonest == 2
    assert truth.of(np.array([2, 1])).right(np.array([3, 3])).tolist() == [True, False]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=7))
def test_a_class_isolates_a_unit_as_often_as_counted(owners: list[int]) -> None:
    """Over all ways that its rows can be hit: how likely all that are hit are of one unit."""
    records = read({"id": owners, "zip": ["x"] * len(owners)}, unit="id")
    found = Rows.of(records).candidates(records, ["zip"])
    (size,), (isolating,) = found.sizes.tolist(), _isolating(found).tolist()
    assert size == len(set(owners))
    exact = 0.0
    for hits in product([False, True], repeat=len(owners)):
        if len({owner for owner, hit in zip(owners, hits, strict=True) if hit}) == 1:
            exact += (1 / size) ** sum(hits) * (1 - 1 / size) ** (len(hits) - sum(hits))
    assert isolating == pytest.approx(exact)


def test_all_rows_of_one_person_are_singled_out() -> None:
    """A class of three rows of one person is that person: each predicate isolates them. Rows are never alone there."""
    rows = {"id": [1, 1, 1, 2, 2, 2], "zip": ["x"] * 3 + ["y"] * 3}
    by_unit = read(rows, unit="id")
    found = singling_out(by_unit, by_unit, on=["zip"], trials=50)
    assert (found.people, found.success, found.expected) == (2, 1.0, 1.0)
    by_row = read(rows).only(["zip"])  # the wrong twin: three rows that are alike have one hash
    assert singling_out(by_row, by_row, trials=50).success == 0


def test_totals_are_of_units() -> None:
    """What a unit has in a group is one contribution, however many rows it is from."""
    rows = {"id": [1, 1, 1, 2, 3, 3, 4], "team": ["a", "a", "a", "b", "b", "b", "b"], "pay": [10, 20, 30, 5, 5, 5, 80]}
    found = small_groups(read(rows, unit="id"), by=["team"], value="pay")
    assert (found.tried, found.groups, found.singles, found.pairs) == (4, 2, 1, 0)
    assert found.success == 0.25
    assert str(found.guesses[0]) == "team a: pay = 60, 100 % sure, right"
    assert found.sizes == ((1, 1), (3, 1))
    assert found.dominated == 2  # 60 of 60, and 80 of 95
    by_row = small_groups(read(rows, unit=()), by=["team"], value="pay")
    assert (by_row.tried, by_row.singles, by_row.success) == (7, 0, 0)


def test_a_unit_in_two_groups_is_one_person() -> None:
    """It is found if it is alone in one of them."""
    rows = {"id": [1, 1, 2, 3], "team": ["a", "b", "b", "b"], "pay": [10, 20, 30, 40]}
    found = small_groups(read(rows, unit="id"), by=["team"], value="pay")
    assert (found.tried, found.success, found.singles) == (3, 1 / 3, 1)


def test_two_releases_are_intersected_by_unit() -> None:
    """Two people with the same value in both leave two candidates, whatever number of rows they have."""
    rows = {"id": [1, 1, 1, 2, 2, 3], "zip": ["x"] * 6, "ill": ["flu", "flu", "flu", "flu", "gout", "cold"]}
    released = read(rows, unit="id")
    found = intersection(released, released, released, on=["zip"], sensitive="ill")
    assert found.tried == 3
    assert found.candidates == (3, 3, 3)
    assert found.success == 2 / 3  # flu, which 1 and 2 have
    assert intersection(read(rows, unit=()), read(rows), read(rows), on=["zip"], sensitive="ill").candidates == (
        6,
        6,
        6,
    )


@pytest.mark.parametrize("against", ["raw", "anonymized"])
@pytest.mark.parametrize("name", ["linkage", "homogeneity", "skewness", "background"])
def test_two_people_are_two_however_many_rows_they_have(name: str, against: str) -> None:
    """One of the two is found by the value that is commonest among them: not of six rows."""
    terms: dict[str, Any] = {"on": ["zip"], "sensitive": "ill", "k": 2, "against": against}
    found = attack(name, TWICE_THREE, unit="patient_id", **terms)
    assert (found.tried, found.unit, found.note) == (2, ("patient_id",), None)
    if name != "background":
        assert (found.success, found.baseline) == (0.5, 0.5)
    assert "counted" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["unit"] == ["patient_id"]


def test_k_is_of_units() -> None:
    """Two places of one person each, three rows in each: 2-anonymous by rows, and by unit only together."""
    rows = {**TWICE_THREE, "age": [20] * 3 + [30] * 3}
    terms: dict[str, Any] = {"on": ["age"], "sensitive": "ill", "k": 2, "against": "anonymized"}
    assert attack("linkage", rows, unit="patient_id", **terms).success == 0.5
    assert attack("linkage", rows, unit=(), **terms).success == 1
    with pytest.raises(InvalidArgument, match="2 units can't be made 3-anonymous"):
        attack("linkage", rows, unit="patient_id", **{**terms, "k": 3})


def test_units_of_one_row_are_people() -> None:
    """Then every attack can be run, since rows are units."""
    rows = {"person": list(range(30)), "zip": [n % 7 for n in range(30)], "ill": ["flu", "gout", "cold"] * 10}
    found = attack("linkage", rows, against="answers", on=["zip"], sensitive="ill", unit="person", people=3)
    assert found.unit == ("person",)


def test_all_are_compared_by_unit() -> None:
    """Two people are two as rows, as rows that were made k-anonymous, and for whoever asks."""
    found = compare("linkage", TWICE_THREE, on=["zip"], sensitive="ill", k=2, unit="patient_id")
    assert [(each.tried, each.unit, each.not_tried) for each in found.results] == [(2, ("patient_id",), None)] * 4


def test_an_unnamed_unit_is_noted() -> None:
    """A column that identifies repeats: the first line says so, and shares are marked as those of rows."""
    terms: dict[str, Any] = {"on": ["zip"], "sensitive": "ill", "against": "raw"}
    found = attack("linkage", TWICE_THREE, **terms)
    first, second, *_ = str(found).splitlines()
    assert first == found.note
    assert first.startswith("Rows were counted, not people: patient_id has 2 values in 6 rows.")
    assert "--unit patient_id" in second
    assert "50 % of rows" in str(found)
    assert found.to_dict()["note"] == first
    [one] = found.to_dict()["repeated"]
    assert (one["column"], one["values"], one["rows"]) == ("patient_id", 2, 6)
    for unit in ("patient_id", ()):
        said = attack("linkage", TWICE_THREE, unit=unit, **terms)
        assert said.note is None
        assert "of rows" not in str(said)
        assert said.to_dict()["note"] is None
    both = compare("linkage", TWICE_THREE, on=["zip"], sensitive="ill", k=2, people=2)
    assert str(both).splitlines()[0] == first


def test_answers_that_count_rows_arent_asked_about_people() -> None:
    """Nobody said whose the rows are that are counted, so people with several rows aren't asked for."""
    records = read(TWICE_THREE, unit="patient_id")
    ages = read({"id": [1, 1, 2], "age": [30, 31, 40], "zip": ["x"] * 3}, unit="id")
    four = read({"id": [1, 2, 3, 4], "age": [30, 35, 40, 45], "zip": ["x"] * 4}, unit="id")
    exact = Exact(TWICE_THREE)
    for run in (
        lambda: linkage(exact, records, on=["zip"], sensitive="ill"),
        lambda: homogeneity(exact, on=["zip"], sensitive="ill", people=records),
        lambda: intersection(exact, exact, records, on=["zip"], sensitive="ill"),
        lambda: singling_out(lambda: exact, ages, fresh=four, on=["age"]),
        lambda: small_groups(exact, by=["zip"], value="age", people=ages),
    ):
        with pytest.raises(InvalidArgument, match="count rows") as refused:
            run()
        assert "unit=" in str(refused.value.hint)


@given(UNITS.filter(lambda units: len(units) > 1), st.lists(st.integers(1, 3), min_size=8, max_size=8))
def test_fuzzy_doesnt_mind_how_often_a_unit_is_there(units: list[tuple[int, list[str]]], times: list[int]) -> None:
    """Everybody's row, as often as you like, by unit, is what it is once: scores, claims and beliefs."""
    once = {"id": list(range(len(units))), "zip": [p for p, _ in units], "ill": [values[0] for _, values in units]}
    order = [n for n in range(len(units)) for _ in range(times[n])]
    often = read({name: [values[n] for n in order] for name, values in once.items()}, unit="id")
    known = {"zip": once["zip"], "ill": once["ill"]}
    for sensitive in (None, "ill"):
        of_units, of_rows = (
            fuzzy(each, known, on={"zip": Near(within=1)}, sensitive=sensitive, threshold=0.3, gap=0.1)
            for each in (often, read(once).only(["zip", "ill"]))
        )
        assert of_units.units == of_rows.rows == len(units)
        assert of_units.scores == pytest.approx(of_rows.scores)
        assert (of_units.claimed, of_units.baseline) == (of_rows.claimed, pytest.approx(of_rows.baseline))
        sure, also = ([guess.confidence for guess in each.guesses] for each in (of_units, of_rows))
        assert sure == pytest.approx(also)


def test_fuzzy_claims_a_person_with_several_rows() -> None:
    """Three rows alike are one person's, who stands out; as rows none of them does."""
    names = ["Meyer", "Smith", "Jones", "Adams", "Brown", "Clark", "Davis", "Evans"]
    rows = {"id": [n for n in range(8) for _ in range(3)], "surname": [name for name in names for _ in range(3)]}
    on, known = {"surname": Typos()}, {"surname": ["Meier"]}
    by_unit = fuzzy(read(rows, unit="id"), known, on=on, present=0.99, threshold=0.5)
    assert (by_unit.claimed, by_unit.rows, by_unit.units, by_unit.baseline) == (1, 24, 8, 1 / 8)
    assert by_unit.guesses[0].what == "row 1"
    assert fuzzy(read(rows, unit=()), known, on=on, present=0.99, threshold=0.5).claimed == 0


def test_beliefs_are_of_units() -> None:
    """Worked by hand: unit 1 has one of its two rows there and flu and gout, unit 2 its only one and gout.

    Both rows score s, so unit 1 scores s − ln 2; of the two it has a third of the belief, and gout has all of both.
    """
    rows = {"id": [1, 1, 2, 3], "zip": ["x", "y", "x", "z"], "ill": ["flu", "gout", "gout", "cold"]}
    found = fuzzy(read(rows, unit="id"), {"zip": ["x"]}, on={"zip": Same()}, sensitive="ill", present=1 - 1e-9)
    assert str(found.guesses[0]).startswith("zip x: ill = gout, 100 % sure")
    flu = {**rows, "ill": ["flu", "flu", "gout", "cold"]}
    found = fuzzy(read(flu, unit="id"), {"zip": ["x"]}, on={"zip": Same()}, sensitive="ill", present=1 - 1e-9)
    assert str(found.guesses[0]).startswith("zip x: ill = gout, 66.7 % sure")
