"""Studies: members of a table's study stand out by exact marginals, less by anonymised rows, and privacy bounds it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import permutations, product
from math import ceil, comb, exp, factorial, log, prod, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.anonymity import Records, read
from discreet.attacks import attack, compare
from discreet.attacks.answers import study as studies
from discreet.attacks.answers.guessing import most_lead
from discreet.attacks.answers.study import Study, expected
from discreet.attacks.attack_setup import Setup, Terms, set_up
from discreet.attacks.on_answers import run_tracing
from discreet.attacks.people import shuffled
from discreet.attacks.targets import Answers
from discreet.attacks.targets.sql_conditions import quoted
from discreet.census import synthetic
from discreet.errors import InvalidArgument
from discreet.noise import uniform
from discreet.privacy import ADD_REMOVE
from discreet.stats import lower_bound

LEVEL = 1 - Fraction(1, 10**9)

COLUMNS = st.integers(6, 24).flatmap(
    lambda rows: st.lists(
        st.lists(st.sampled_from("abcd"), min_size=rows, max_size=rows), min_size=1, max_size=3
    ).filter(lambda columns: any(len(set(values)) > 1 for values in columns))
)


def named(columns: list[list[str]]) -> Records:
    """A table of these columns."""
    return read({f"c{place}": values for place, values in enumerate(columns)})


def by_hand(study: Study, columns: list[list[str]]) -> list[float]:
    """The scores of members and then strangers, marginal by marginal and person by person."""
    values = {name: columns[int(name[1:])] for name in study.marginals.sizes}
    scores = []
    for person in [*study.members, *study.strangers]:
        total = 0.0
        for names in study.marginals.columns:

            def key(row: int, names: tuple[str, ...] = names) -> tuple[str, ...]:
                """The value, or the pair of values, of a row."""
                return tuple(values[name][row] for name in names)

            number = prod(len(set(values[name])) for name in names)
            alike = sum(key(row) == key(person) for row in study.reference)
            common = (alike + 1 / number) / (len(study.reference) + 1)
            held = sum(key(row) == key(person) for row in study.members)
            total += log((held + common) / ((len(study.members) + 1) * common))
        scores.append(total)
    return scores


@given(columns=COLUMNS, people=st.integers(1, 9))
def test_scores_are_their_definition(columns: list[list[str]], people: int) -> None:
    """Of random tables; and the area under the curve pair by pair of the scores, as they are rounded."""
    table = named(columns)
    study = Study.of(table, shuffled(table.rows), people)
    size = min(people, table.rows // 3)
    assert (len(study.members), len(study.strangers)) == (size, size)
    assert sorted([*study.members, *study.strangers, *study.reference]) == list(range(table.rows))
    inside, outside = (study.scores(study.exact(), rows).tolist() for rows in (study.members, study.strangers))
    assert [*inside, *outside] == pytest.approx(by_hand(study, columns), rel=0, abs=1e-9)  # they have nine places
    area = sum((a > b) + (a == b) / 2 for a in inside for b in outside) / size**2
    found = study.traced(study.exact(), against="exact shares")
    assert found.auc == pytest.approx(area)
    assert (found.people, found.tried, found.attributes) == (size, 2 * size, study.marginals.number)
    assert (found.bound, found.epsilon) == (None, None)


@given(shares=st.lists(st.integers(1, 5), min_size=2, max_size=4), people=st.integers(1, 4), data=st.data())
def test_counts_are_likelier_by_the_stated_factor(shares: list[int], people: int, data: st.DataObject) -> None:
    """h_v/(n·p_v): how much likelier counts are with a person of cell v, by the law of counts, in exact numbers."""
    cells = data.draw(st.lists(st.integers(0, len(shares) - 1), min_size=people, max_size=people))
    own = data.draw(st.sampled_from(cells))
    likely = [Fraction(share, sum(shares)) for share in shares]

    def law(counts: list[int]) -> Fraction:
        """The probability of these counts, of people drawn one by one."""
        ways = factorial(sum(counts)) // prod(map(factorial, counts))
        return ways * prod((p**n for p, n in zip(likely, counts, strict=True)), start=Fraction(1))

    counts = [cells.count(cell) for cell in range(len(shares))]
    others = [count - (cell == own) for cell, count in enumerate(counts)]
    assert law(others) / law(counts) == Fraction(counts[own]) / (people * likely[own])


@given(
    noisy=st.lists(st.integers(-50, 60), min_size=1, max_size=4),
    deviation=st.floats(0.3, 40),
    people=st.integers(1, 12),
    common=st.floats(0.01, 0.99),
)
def test_noise_is_taken_off_by_its_law(noisy: list[int], deviation: float, people: int, common: float) -> None:
    """The average of what the count may be, weighed count by count; in blocks of any size."""
    whole = np.array(noisy, dtype=np.float64)
    found = expected(whole, deviation, people, np.full(len(noisy), common))
    for answer, mean in zip(noisy, found, strict=True):
        nearest = min(abs(answer - count) for count in range(people + 1))
        weights = [
            comb(people, count)
            * common**count
            * (1 - common) ** (people - count)
            * exp(-sqrt(2) / deviation * (abs(answer - count) - nearest))
            for count in range(people + 1)
        ]
        assert mean == pytest.approx(sum(n * weight for n, weight in enumerate(weights)) / sum(weights), abs=1e-9)
    assert expected(whole, 0.0, people, np.full(len(noisy), common)).tolist() == noisy
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(studies, "_BLOCK", 2)
        assert expected(whole, deviation, people, np.full(len(noisy), common)).tolist() == found.tolist()


def average_area(epsilon: float) -> float:
    """How often a member scores higher than a stranger, in exact numbers: over all draws of them, and all noise.

    The four people depend on one another: two have the same value.
    """
    people = read({"value": ["a", "b", "b", "c"]})
    ratio, far = exp(-epsilon), ceil(40 / epsilon)
    steps = np.arange(-far, far + 1)
    chance = (1 - ratio) / (1 + ratio) * ratio ** np.abs(steps)
    areas = []
    for order in permutations(range(4)):
        study = Study.of(people, np.array(order), 1)
        counts, common = study.exact(), study.common()
        scores = np.array(
            [
                study.log_ratios(expected(counts + step, sqrt(2 * ratio) / (1 - ratio), 1, common))
                for step in steps.tolist()
            ]
        )
        (member,), (stranger,) = (study.marginals.cells(rows)[:, 0] for rows in (study.members, study.strangers))
        if member == stranger:
            areas.append(0.5)
            continue
        ahead = np.sign(np.round(scores[:, member][:, np.newaxis] - scores[:, stranger], 12))
        areas.append(float(chance @ (0.5 + ahead / 2) @ chance))
    return sum(areas) / len(areas)


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_the_bound_holds_on_average(epsilon: float) -> None:
    """For people drawn without replacement from a table; a twentieth of the noise breaks it. Nothing is left to chance.

    A member has the higher score with probability (1 + bound)/2 at the most.
    """
    most = (1 + most_lead(str(epsilon), ADD_REMOVE)) / 2
    assert 0.5 < average_area(epsilon) <= most
    assert average_area(20 * epsilon) > most


@contextmanager
def stage_of(table: object, **terms: Any) -> Iterator[Setup]:
    """A setup of a table."""
    with set_up(table, Terms.of(**terms)) as setup:
        yield setup


RUNS = 31


def ahead(epsilon: str) -> int:
    """In how many of the runs a member scores higher than a stranger, by answers at this ε; ties by a coin."""
    table = {"value": [f"{n:02}" for n in range(20)], "same": ["x"] * 20}
    with stage_of(table, on=["value"], sensitive="same", people=1, epsilon=epsilon, budget=epsilon) as setup:
        areas = [run_tracing(setup, "answers").auc for _ in range(RUNS)]
    return sum(area == 1 or (area == 0.5 and bool(uniform(2, 1)[0])) for area in areas)


def test_who_is_alike_scores_alike() -> None:
    """Two members tie with a stranger, by logarithms that are added up in other orders: two of 25 pairs count half.

    By all digits of the sums, one of them would be ahead.
    """
    columns = [list("cbacabbacbbcaccaa"), list("cccaacabbacbabcbc"), list("aacccbabaacbacacb")]
    order = np.array([8, 9, 3, 7, 5, 6, 16, 11, 0, 2, 14, 12, 15, 13, 4, 1, 10])
    study = Study.of(named(columns), order, 7)
    ratios = study.log_ratios(study.exact())
    sums = [ratios[study.marginals.cells(rows)].sum(axis=1) for rows in (study.members, study.strangers)]
    assert np.count_nonzero(sums[0][:, np.newaxis] == sums[1]) == 1
    assert study.traced(study.exact(), against="exact shares").auc == pytest.approx((16 + 2 / 2) / 25)


def test_answers_keep_the_bound() -> None:
    """Through the gateway, each time for other people; with next to no noise they break it.

    An exact test of a share of 31 runs; a false alarm has probability 1e-9 at the most. At ε = 0.01 a member may be
    ahead in 50.5 %, so that all 31 runs are an alarm. At ε = 40 one is in all but for a chance below 1e-15.
    """
    most = (1 + most_lead("0.01", ADD_REMOVE)) / 2
    assert lower_bound(ahead("0.01"), RUNS, LEVEL) <= most
    assert lower_bound(ahead("40"), RUNS, LEVEL) > most


def test_exact_shares_tell_more_than_anonymised_rows() -> None:
    """Of the same 40 studies of the census; rows as they are don't tell less.

    The areas are 0.83 and 0.62 on average, five standard deviations of their difference apart (of 400 simulated
    studies, in which that is normal and never below 0.08). Even if a study in 100,000 went the other way, three of 40,
    which are an alarm, would with a probability below 1e-10. Were the rows as
    good, 38 studies or more would be ahead with a probability below 1e-9.
    """
    with stage_of(synthetic(3_000), on=["dob", "zip", "sex"], sensitive="education") as setup:
        table = setup.records.only(["dob", "zip", "sex", "education"])
        leads, twins = [], []
        for _ in range(40):
            study = Study.of(table, shuffled(table.rows), 100)
            members = table.take(study.members)
            exact = study.traced(study.exact(), against="exact shares").auc
            leads.append(exact - study.traced(study.anonymised(setup.anonymised(members)), against="rows").auc)
            twins.append(exact - study.traced(study.anonymised(setup.raw(members)), against="rows").auc)
    assert lower_bound(sum(lead > 0 for lead in leads), len(leads), LEVEL) > 0.5
    assert max(map(abs, twins)) < 0.01


def test_marginals_end_with_the_budget() -> None:
    """Three of ten are paid for; the others aren't there, tell nothing, and the bound is of what was paid."""
    terms: dict[str, Any] = {"on": ["dob", "zip", "sex"], "sensitive": "education", "people": 20}
    with stage_of(synthetic(300), **terms, epsilon="0.5", budget="1.7") as setup:
        found = run_tracing(setup, "answers")
    assert found.attributes == 10 + 10 + 2
    assert found.epsilon == pytest.approx(1.5)
    assert found.bound == pytest.approx(1 - exp(-1.5))
    assert found.against == "answers at ε = 1.5 in all"
    study = Study.of(read({"a": list("xyxyxy"), "b": list("xxyyzz")}), np.arange(6), 2)
    counts = study.exact()
    counts[2:] = np.nan
    assert study.log_ratios(counts)[2:].tolist() == [0.0] * (study.marginals.number - 2)
    with stage_of(synthetic(300), **terms, epsilon="2", budget="1") as setup, pytest.raises(InvalidArgument) as caught:
        run_tracing(setup, "answers")
    assert "budget" in str(caught.value)


def test_groups_are_asked_for(tmp_path: Path) -> None:
    """One question, whatever columns are called; each key has its count, and what can't be paid for is refused.

    At ε = 40 the noise of all six is none but for a chance below 1e-16.
    """
    table = pa.table({"value": [0, 1, 1], 'b "x': [0, 0, 1]})
    keys = {"value": dp.Keys(range(2)), 'b "x': dp.Keys(range(3))}
    account = {"unit": dp.Unit.row(), "budget": dp.Budget(epsilon=41), "ledger": tmp_path / "a.ledger"}
    with dp.protect(table, name="t", columns=keys, **account) as protected:  # type: ignore[arg-type]  # by name
        answers = Answers(protected, epsilon=40)
        both, one = [quoted(name) for name in keys], [quoted("value")]
        found, again, refused = map(answers.histogram, (both, both, one))
    assert list(found.counts) == list(product(range(2), range(3)))
    assert found.counts == {key: float(key in {(0, 0), (1, 0), (1, 1)}) for key in found.counts}
    assert found.deviation == pytest.approx(sqrt(2 * exp(-40)) / (1 - exp(-40)))
    assert (again.counts, again.reused, again.epsilon) == (found.counts, True, 0.0)
    assert (dict(refused.counts), bool(refused.refusal)) == ({}, True)
    assert (answers.bill.fresh, answers.bill.reused, answers.bill.refused, answers.bill.epsilon) == (1, 1, 1, 40.0)


@pytest.mark.parametrize(
    ("table", "people", "match"),
    [
        ({"a": [1, 2], "b": [1, 2]}, 2, "three rows"),
        ({"a": [1] * 9, "b": ["x"] * 9}, 2, "one value"),
        ({"a": [1, 2, 3] * 5, "b": ["x"] * 15}, 4, "5-anonymous"),
    ],
)
def test_what_tells_nothing_is_refused(table: dict[str, list[object]], people: int, match: str) -> None:
    """Too few people, columns that are the same everywhere, or a study that is smaller than k; with a hint."""
    with pytest.raises(InvalidArgument, match=match) as caught:
        attack("tracing", table, against="anonymized", on=["a"], sensitive="b", people=people)
    assert caught.value.hint


def test_adult(trial_data: Path) -> None:
    """A real table, six columns, 100 members: 0.90 by exact shares, 0.70 by 5-anonymous rows, 0.6 by answers.

    One run's areas have a standard deviation of 0.02, 0.04 and 0.04 (of 900 simulated studies, and 56 by answers,
    about normal): the ends are seven or more away, which has a chance below 1e-10 by that law.
    """
    path = trial_data / "adult.csv"
    if not path.is_file():
        pytest.skip(f"Adult isn't in {trial_data}")
    on = ["age", "sex", "race", "education", "marital-status"]
    found = compare("tracing", read(path), on=on, sensitive="occupation")
    private, anonymous, exact = (result.facts() for result in found.results)
    assert exact["auc"] > 0.75
    assert 0.4 < anonymous["auc"] < 0.99
    assert private["epsilon"] == pytest.approx(2.1)
    assert private["bound"] == pytest.approx(1 - exp(-2.1))
    assert 0.3 < private["auc"] < 0.9
