"""What anybody's release gives away: a copy is convicted, strangers are acquitted, and the figures are as defined."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import attacks
from discreet.anonymity.records import read
from discreet.attacks.rows.release_risks import RISKS, inference, linkability, predicates, risks
from discreet.attacks.rows.risk_result import RiskResult, risk_of
from discreet.errors import InvalidArgument, NotTried, SchemaMismatch
from discreet.noise import uniform
from discreet.stats import lower_bound, upper_bound
from support.examples import examples

LEVEL = 1 - 1e-12
"""Of each of two bounds: predicates of one release aren't quite independent, so that 1e-9 is far from being reached."""
PEOPLE = 400


def people(number: int = PEOPLE) -> dict[str, list[Any]]:
    """People of one population, drawn anew: what they do depends on their age, and pay on what they do."""
    age = uniform(60, number) + 20
    job = (age // 7 + uniform(4, number)) % 9
    pay = 20_000 + 3_000 * job + uniform(9_000, number)
    return {
        "age": age.tolist(),
        "job": [f"job {each}" for each in job.tolist()],
        "pay": pay.tolist(),
        "weight": uniform(100_000, number).tolist(),
        "zip": [f"{8_000 + each}" for each in uniform(50, number).tolist()],
        "sex": ["FM"[each] for each in uniform(2, number).tolist()],
    }


def jittered(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The same people: age off by one or not, weight by fifty at the most, the rest copied."""
    off, far = uniform(3, PEOPLE) - 1, uniform(101, PEOPLE) - 50
    moved = {"age": np.add(table["age"], off).tolist(), "weight": np.add(table["weight"], far).tolist()}
    return {**table, **moved}


ATTACKS = {
    "one column": partial(predicates, trials=300),
    "three columns": partial(predicates, columns=3, trials=1_000),
    "linking": partial(linkability, known=(["age", "weight"], ["pay", "job", "zip", "sex"])),
    "inferring a text": partial(inference, sensitive="job"),
    "inferring a number": partial(inference, sensitive="weight"),
}


def convicts(found: RiskResult) -> bool:
    """Whether the attack works better on the original than on others, beyond all doubt."""
    assert found.success is not None
    assert found.baseline is not None
    attacked, controls = round(found.success * found.tried), round(found.baseline * found.controls)
    return lower_bound(attacked, found.tried, LEVEL) > upper_bound(controls, found.controls, LEVEL)


@pytest.mark.parametrize("name", ATTACKS)
def test_a_copy_is_convicted_and_strangers_are_acquitted(name: str) -> None:
    """Whoever's copy it is; and a release of others of the same population says nothing of anybody."""
    original, control = people(), people()
    copy = ATTACKS[name](original, original, control)
    assert convicts(copy)
    assert copy.risk is not None
    assert copy.risk > 0.8
    assert not convicts(ATTACKS[name](people(), original, control))


@pytest.mark.parametrize("name", [name for name in ATTACKS if name != "one column"])
def test_a_jittered_copy_is_convicted(name: str) -> None:
    """Two of six columns are moved: predicates of whole rows fit nobody, and say so instead of 0 %."""
    original, control = people(), people()
    leak = jittered(original)
    assert convicts(ATTACKS[name](leak, original, control))
    with pytest.raises(NotTried, match="no one meets a predicate of all columns"):
        attacks.singling_out(leak, original, fresh=control)


def test_a_smaller_control_changes_nothing() -> None:
    """Half as many others: a copy is a copy, strangers are strangers.

    A copy's risk is 1, give or take 0.04 for the half that isn't there; undivided it would be a half.
    """
    original, control = people(), people(PEOPLE // 2)
    copy = predicates(original, original, control, columns=3, trials=1_000)
    assert copy.risk is not None
    assert copy.risk > 0.7
    assert not convicts(predicates(people(), original, control, columns=3, trials=300))
    with pytest.raises(InvalidArgument, match="199 people for 400"):
        predicates(original, original, {name: cells[:199] for name, cells in control.items()})


ROW = st.tuples(st.sampled_from([0, 4, 8]), st.sampled_from("abc"), st.sampled_from([0, 2, 4, None]))
"""Ranges are powers of two, so that distances, as parts of them, add up exactly and ties are ties."""


@examples(100)
@given(*[st.lists(ROW, min_size=4, max_size=6)] * 3)
def test_nearest_rows_are_those_of_the_definition(release: list[Any], original: list[Any], control: list[Any]) -> None:
    """Gower's distance, in fractions of the range; the first of the nearest rows."""
    tables = [{name: [row[i] for row in rows] for i, name in enumerate("xyz")} for rows in (release, original, control)]
    spans = {
        i: max(values) - min(values) or 1
        for i in (0, 2)
        if (values := [row[i] for rows in (release, original, control) for row in rows if row[i] is not None])
    }

    def apart(one: Any, other: Any, by: tuple[int, ...]) -> float:
        total = 0.0
        for i in by:
            if one[i] is None or other[i] is None or i == 1:
                total += one[i] != other[i]
            else:
                total += abs(one[i] - other[i]) / spans[i]
        return round(total, 5)

    def nearest(row: Any, by: tuple[int, ...]) -> int:
        return min(range(len(release)), key=lambda place: (apart(row, release[place], by), place))

    usable = any(row[2] is not None for row in release) and any(row[2] is not None for row in original)
    texts = {row[1] for row in release} & {row[1] for row in original}
    if not (usable and texts) or sorted(map(repr, original)) == sorted(map(repr, control)):
        return
    found = linkability(*tables, known=(["x"], ["y", "z"]))
    right = [sum(nearest(row, (0,)) == nearest(row, (1, 2)) for row in rows) for rows in (original, control)]
    assert (found.success, found.baseline) == (right[0] / len(original), right[1] / len(control))
    guessed = inference(*tables, sensitive="y")
    right = [sum(release[nearest(row, (0, 2))][1] == row[1] for row in rows) for rows in (original, control)]
    assert (guessed.success, guessed.baseline) == (right[0] / len(original), right[1] / len(control))


def test_the_risk_is_what_chance_left_over() -> None:
    """Nothing where both do as well, all where the one never fails and the other always does; wider for fewer."""
    assert risk_of((50, 1_000), (50, 1_000))[0] == 0
    assert risk_of((1_000, 1_000), (0, 1_000))[0] > 0.99
    ends = [risk_of((62 * n, 100 * n), (20 * n, 100 * n)) for n in (1, 100)]
    assert all(low < risk < high for risk, low, high in ends)
    assert ends[0][2] - ends[0][1] > 5 * (ends[1][2] - ends[1][1])
    assert ends[1][0] == pytest.approx((0.62 - 0.2) / 0.8, abs=0.001)


def test_what_cannot_be_tried_is_not_tried() -> None:
    """No figure for what a release doesn't say: cells that are no values, one column only, a secret left out."""
    original, control = people(), people()
    stars = {"age": [f"{10 * (age // 10)}–{10 * (age // 10) + 9}" for age in original["age"]], "job": ["*"] * PEOPLE}
    by_several = risks("singling-out", stars, original, control)
    assert [each.not_tried is None for each in by_several] == [False, False]
    assert all(each.success is each.risk is None and each.between == "not tried" for each in by_several)
    of_age, of_job = risks("inference", stars, original, control)
    assert of_job.not_tried == "no released cell says anything about the values of 'job'"
    assert of_age.not_tried is not None
    (linked,) = risks("linkability", stars, original, control)
    assert "one of the parties" in str(linked.not_tried)


def test_what_cannot_be_judged_is_refused() -> None:
    """Each with its cause."""
    original, control = people(), people()
    with pytest.raises(InvalidArgument, match="the control is the original"):
        predicates(original, original, read(original).take(np.arange(PEOPLE)[::-1].copy()))
    with pytest.raises(SchemaMismatch, match="'shoe'"):
        risks("inference", original, original, control, sensitive="shoe")
    with pytest.raises(InvalidArgument, match="isn't tried beside"):
        risks("averaging", original, original, control)
    with pytest.raises(InvalidArgument, match="known and inferred"):
        inference(original, original, control, sensitive="job", on=["job"])
    with pytest.raises(InvalidArgument, match="none of them twice"):
        linkability(original, original, control, known=(["age"], ["age"]))
    for name in RISKS:
        if name not in attacks.NAMED:
            with pytest.raises(InvalidArgument, match="beside its original"):
                attacks.attack(name, original)
    for wrong in ({"columns": 0}, {"trials": 0}):
        with pytest.raises(InvalidArgument):
            predicates(original, original, control, **wrong)


def test_times_missing_values_and_ranges_are_compared() -> None:
    """Days lie on a line; a missing number is near a missing one alone; a range of ages is its middle."""
    days = np.array([f"2024-01-{day:02}" for day in range(1, 31)], dtype="datetime64[D]").tolist()
    original = {"day": days, "age": [None, *range(20, 49)]}
    control = {"day": days, "age": [*range(20, 49), None]}
    ranges = {"day": days, "age": [None, *(f"{age - 1}–{age + 1}" for age in range(20, 49))]}
    found = inference(ranges, original, control, sensitive="age")
    assert found.success == 1
    assert found.left_out == "no column"
