"""Fuzzy linkage against comparing everybody with everybody, and on a census with errors."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import KAnonymity, anonymize, read
from discreet.attacks.on_rows import blurred
from discreet.attacks.rows import Near, Same, Typos, fuzzy, nearness
from discreet.attacks.rows.nearness import close_pairs
from discreet.attacks.targets import Exact
from discreet.attacks.targets.rows import Rows
from discreet.census import synthetic
from discreet.errors import InvalidArgument, NotTried
from discreet.stats import clopper_pearson
from support.exact_ends import every_value_is_shown

WORDS = st.text("abc", max_size=5)


def distance(one: str, other: str) -> int:
    """The edit distance, by its recursion."""
    if not one or not other:
        return len(one) + len(other)
    if one[0] == other[0]:
        return distance(one[1:], other[1:])
    return 1 + min(distance(one[1:], other), distance(one, other[1:]), distance(one[1:], other[1:]))


@given(st.lists(WORDS, max_size=8), st.lists(WORDS, max_size=8), st.integers(0, 2), st.booleans())
def test_typos_are_all_found(ones: list[str], others: list[str], most: int, together: bool) -> None:
    """The pairs are those of the recursion, whether compared directly or brought together by what is left of them."""
    with pytest.MonkeyPatch.context() as patched:
        if together:
            patched.setattr(nearness, "_DIRECT", -1)
        a, b = close_pairs(ones, others, most)
    close = {(i, j) for i, one in enumerate(ones) for j, other in enumerate(others) if distance(one, other) <= most}
    assert set(zip(a.tolist(), b.tolist(), strict=True)) == close
    assert len(a) == len(close)


def test_typos_are_few() -> None:
    """Three letters aren't a typo."""
    with pytest.raises(InvalidArgument):
        close_pairs(["a"], ["b"], 3)


PERSON = st.tuples(st.sampled_from(["ann", "anna", "bob", "eve", None]), st.integers(20, 30), st.sampled_from("FM"))
HOW = {"name": Typos(), "age": Near(within=1), "sex": Same()}
WRONG, PRESENT = 0.02, 0.5


@given(st.lists(PERSON, min_size=1, max_size=8), st.lists(PERSON, min_size=1, max_size=5))
def test_beliefs_are_those_of_comparing_everybody(rows: list[Any], people: list[Any]) -> None:
    """Of all pairs that differ in at most one column, the best row and its probability by Bayes' rule."""
    found = fuzzy(columns(rows), columns(people), on=HOW, threshold=1e-12, gap=0)
    compared, scores = 0, []
    for person in people:
        mine = [score for row in rows if (score := weight(person, row, rows)) is not None]
        compared += len(mine)
        if mine:
            scores.append(max(mine))
            odds = len(rows) * (1 - PRESENT) / PRESENT
            belief = exp(max(mine)) / (sum(map(exp, mine)) + odds)
            assert any(guess.confidence == pytest.approx(belief) for guess in found.guesses)
    assert found.compared == compared
    assert found.scores == pytest.approx(sorted(scores))


def columns(rows: list[Any]) -> dict[str, list[Any]]:
    """People as columns."""
    return {name: [each[place] for each in rows] for place, name in enumerate(HOW)}


def weight(person: Any, row: Any, rows: list[Any]) -> float | None:
    """The weight of a pair; None if more than one column isn't even near."""
    total, far = 0.0, 0
    for place, how in enumerate(HOW.values()):
        if person[place] is None or row[place] is None:
            continue
        levels = [level(person[place], each[place]) for each in rows]
        mine = level(person[place], row[place])
        far += mine == 2
        chance = levels.count(mine) / len(rows) if mine < 2 else 1 - (levels.count(0) + levels.count(1)) / len(rows)
        match = (1 - how.errors - WRONG, how.errors, WRONG)[mine]
        total += log(match) - log(chance) if match and chance > 1e-12 else 0.0
    return total if far <= 1 else None


def level(known: Any, released: Any) -> int:
    """The same, near, or neither; a missing value is neither."""
    if known == released:
        return 0
    if released is None:
        return 2
    if isinstance(known, int):
        return 1 if abs(known - released) <= 1 else 2
    return 1 if len(known) > 1 and distance(known, released) <= 1 else 2


def test_a_census_with_errors_is_linked() -> None:
    """A tenth of each column is off, and nearly everybody is found; the twin, people who aren't there, is not claimed.

    Linking exactly finds less. Nothing is drawn: the data is the same on every run.
    """
    people = read(synthetic(4_000)).only(["name", "dob", "zip"])
    on = {"name": Typos(), "dob": Near(within=2), "zip": Typos()}
    known = blurred(people, on, "row")
    rows = people.to_arrow().append_column("row", known["row"])
    found = fuzzy(rows, known, on=on, truth="row")
    assert found.precision > 0.999
    assert found.recall > 0.99
    exact = fuzzy(rows, known, on=dict.fromkeys(on, Same()), truth="row", gap=0)
    assert exact.recall < found.recall
    half = np.arange(2_000)
    strangers = fuzzy(rows.take(half), known.take(half + 2_000), on=on, truth="row")
    assert strangers.claimed <= 0.01 * strangers.tried


def test_columns_that_tell_few_apart_are_compared_all_the_same() -> None:
    """Ten million pairs of a person and a row, which are four of a kind and a class: nothing is left out.

    Who is ill follows from the sex, so the attack is right about everybody; that isn't the base rate, which is a half.
    """
    rows = {"sex": ["F", "M"] * 1_600, "ill": ["flu", "gout"] * 1_600}
    found = fuzzy(rows, rows, on={"sex": Same()}, sensitive="ill")
    assert (found.compared, found.success, found.baseline) == (2 * 1_600**2, 1, 0.5)
    assert (found.tried, found.drawn_from, found.interval) == (3_200, None, None)


FALSE_ALARM = 1e-9


def test_a_sample_tells_of_everybody() -> None:
    """What is found of people who are drawn agrees with what is found of all, and with its interval.

    The interval holds the truth with probability 1 − 10⁻⁹ by Clopper and Pearson. The twin, a base rate that poses as a
    success as it does where nothing is compared, is 0.3 where all but a few are right, and lies outside: of 100 or more
    people, of whom 0.9 are right or more, fewer than 60 would have to be, which has a probability below 10⁻¹².
    """
    people = read(synthetic(1_500)).only(["dob", "zip", "education"])
    on = {"dob": Near(within=2), "zip": Typos()}
    known = blurred(people, on, "row")
    rows = people.to_arrow().append_column("row", known["row"])
    every, some = (
        fuzzy(rows, known, on=on, sensitive="education", truth="row", comparisons=most) for most in (1 << 24, 1_000)
    )
    assert every.drawn_from is None
    assert every.tried == some.drawn_from == 1_500
    assert 100 <= some.tried < 1_000
    assert some.baseline == every.baseline
    low, high = clopper_pearson(round(some.success * some.tried), some.tried, 1 - FALSE_ALARM)
    assert low <= every.success <= high
    assert not low <= some.baseline <= high
    ends = some.interval
    assert ends is not None
    assert low <= ends[0] <= some.success <= ends[1] <= high
    assert f"tried     {some.tried:,}, drawn at random from 1,500" in str(some)


def test_a_sample_is_drawn_from_all_of_them_alike() -> None:
    """Of people of whom every other can be found, about half of a sample is; the first ones would be all or none.

    The twin is the first people of the table, who are all in the release.
    """
    names = [f"{number:05d}" for number in range(4_000)]
    found = fuzzy(
        {"name": names[:2_000]}, {"name": names}, on={"name": Same()}, comparisons=600, truth="name", present=0.99
    )
    claimed = found.claimed
    low, high = clopper_pearson(claimed, found.tried, 1 - FALSE_ALARM)
    assert 300 <= found.tried <= 600
    assert low <= 0.5 <= high
    assert clopper_pearson(found.tried, found.tried, 1 - FALSE_ALARM)[0] > 0.5


def test_what_would_take_too_long_is_not_tried() -> None:
    """One person alone would take more comparisons than are to be made; nobody, and no rows, are nothing to try."""
    rows = {"age": list(range(100)), "ill": ["flu"] * 100}
    for released, known, most in ((rows, rows, 10), (rows, {"age": []}, 1_000), ({"age": [], "ill": []}, rows, 1_000)):
        with pytest.raises(NotTried):
            fuzzy(released, known, on={"age": Near(within=50)}, sensitive="ill", comparisons=most)


def test_a_distance_is_a_number() -> None:
    """Of dates, too, where it is one of days."""
    for within in (timedelta(days=3), -1, float("nan")):
        with pytest.raises(InvalidArgument, match="near within"):
            Near(within=within)  # type: ignore[arg-type]  # what is refused


@pytest.mark.parametrize("wrong", [{"present": 1}, {"threshold": 0}, {"gap": -1}, {"wrong": 0}, {"on": {}}])
def test_shares_must_be_shares(wrong: dict[str, Any]) -> None:
    """Arguments out of range are refused."""
    rows = {"age": [1]}
    with pytest.raises(InvalidArgument):
        fuzzy(rows, rows, **{"on": {"age": Near(within=1)}, **wrong})


PATIENT = st.tuples(st.integers(20, 27), st.sampled_from("FM"), st.sampled_from(["flu", "gout", "cold"]))
NEAR = {"age": Near(within=1), "sex": Same()}


@given(st.lists(PATIENT, min_size=4, max_size=10), st.lists(PATIENT, min_size=1, max_size=4))
def test_cells_are_compared_by_what_they_cover(rows: list[Any], people: list[Any]) -> None:
    """A cell is the same as what it covers, and near what is near to that; beliefs in values add up those in rows."""
    names = ("age", "sex", "ill")
    table = read({name: [each[place] for each in rows] for place, name in enumerate(names)})
    with every_value_is_shown():
        release = anonymize(
            table, quasi_identifiers=["age", "sex"], sensitive=["ill"], models=[KAnonymity(2)], algorithm="mondrian"
        )
    covers = {name: dict(enumerate(_covers(release, table, name))) for name in NEAR}
    published = [
        {**{name: covers[name][row] for name in NEAR}, "ill": _cell(release.records, "ill", row)}
        for row in range(release.records.rows)
    ]
    known = {name: [each[place] for each in people] for place, name in enumerate(names)}
    found = fuzzy(Rows.of(release, original=table), known, on=NEAR, sensitive="ill", who="ill")
    assert found.claimed == 0
    shown = Counter(str(guess).rsplit(",", 1)[0] for guess in found.guesses)
    for person in people:
        beliefs = _beliefs(person, published)
        best = max(beliefs.values())
        likeliest = [value for value, belief in beliefs.items() if belief == pytest.approx(best)]
        assert any(shown[f"{person[2]}: ill = {value}, {100 * best:.3g} % sure"] for value in likeliest)


def _covers(release: Any, table: Any, name: str) -> list[set[Any]]:
    """Of each released row, the original values that its cell covers."""
    labels, cells = table.column(name).labels(), release.cells.get(name)
    if cells is None:
        return [{_cell(release.records, name, row)} for row in range(release.records.rows)]
    of = {cell: {labels[code] for code in cells.covered(place).tolist()} for place, cell in enumerate(cells.labels)}
    return [of[str(_cell(release.records, name, row))] for row in range(release.records.rows)]


def _cell(records: Any, name: str, row: int) -> Any:
    """One released cell."""
    column = records.column(name)
    return column.labels()[column.codes[row]]


def _beliefs(person: Any, published: list[dict[str, Any]]) -> dict[Any, float]:
    """What is believed of a person's value, by Bayes' rule over all rows and over not being there."""
    odds = len(published) * (1 - PRESENT) / PRESENT
    illness = Counter(row["ill"] for row in published)
    mass = {value: odds * number / len(published) for value, number in illness.items()}
    for row in published:
        total, far = 0.0, 0
        for value, (name, how) in zip(person, NEAR.items(), strict=False):
            levels = [_level(value, each[name], how) for each in published]
            mine = _level(value, row[name], how)
            far += mine == 2
            chance = levels.count(mine) / len(published)
            match = (1 - how.errors - WRONG, how.errors, WRONG)[mine]
            total += log(match) - log(chance) if match else 0.0
        if far <= 1:
            mass[row["ill"]] += exp(total)
    return {value: each / sum(mass.values()) for value, each in mass.items()}


def _level(value: Any, cell: set[Any], how: Any) -> int:
    """Whether a cell covers the value, or something near it; ages that nobody has are in the ranges around them."""
    if value in cell or (isinstance(value, int) and min(cell) < value < max(cell)):
        return 0
    return 1 if isinstance(how, Near) and any(abs(value - each) <= 1 for each in cell) else 2


def test_answers_are_asked_for_what_is_near() -> None:
    """Each value, and what is near it, is asked for; exact answers give the counts, and so the guess.

    The twin, which asks for what is known as it is, sees nobody.
    """
    rows = {"name": ["Meyer", "Meier", "Smith"], "born": [1960, 1961, 1985], "ill": ["flu", "flu", "gout"]}
    known = {"name": ["Meier", "Smitt"], "born": [1962, 1983], "ill": ["flu", "gout"]}
    asked = Exact(rows)
    near = {"name": Typos(), "born": Near(within=2)}
    found = fuzzy(asked, known, on=near, sensitive="ill")
    assert found.success == 0.5  # nobody called Smitt is known to be called Smith as well
    assert found.rows is found.claimed is None
    everybody, counts = asked.replies[:2], asked.replies[2:]
    assert [reply.value for reply in everybody] == [2, 1]
    assert [reply.value for reply in counts] == [1, 0, 0, 0]
    twin = Exact(rows)
    fuzzy(twin, known, on=dict.fromkeys(near, Same()), sensitive="ill")
    assert not any(reply.value for reply in twin.replies[2:])


def test_errors_do_not_save_people_in_rows_as_they_are() -> None:
    """People whose data has errors are found out by raw rows; of 5-anonymous ones no row is ever claimed."""
    people = read(synthetic(2_000)).only(["dob", "zip", "education"])
    on = {"dob": Near(within=2), "zip": Typos()}
    known = blurred(people, on, "row")
    raw = fuzzy(people, known, on=on, sensitive="education")
    assert raw.success > 0.99
    release = anonymize(
        people, quasi_identifiers=list(on), sensitive=["education"], models=[KAnonymity(5)], algorithm="mondrian"
    )
    found = fuzzy(Rows.of(release, original=people.to_arrow()), known, on=on, sensitive="education")
    assert found.claimed == 0
    assert found.success < 0.7


def test_what_cells_stand_for_must_be_known() -> None:
    """Without the table that was generalised, nothing tells what is near a cell; answers have no rows to claim."""
    table = read({"age": [31, 32, 33, 34], "ill": ["flu", "gout", "flu", "cold"]})
    release = anonymize(table, quasi_identifiers=["age"], sensitive=["ill"], models=[KAnonymity(2)])
    with pytest.raises(InvalidArgument, match="stand for"):
        fuzzy(release, {"age": [31]}, on={"age": Near(within=1)})
    with pytest.raises(InvalidArgument, match="no rows to link"):
        fuzzy(Exact(table.to_arrow()), {"age": [31]}, on={"age": Near(within=1)})
