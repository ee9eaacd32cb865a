"""A query log against whoever answers: always right exactly, hardly ever with noise, by luck from anonymised rows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, hypot, inf, log, sqrt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.anonymity import KAnonymity, anonymize, read
from discreet.attacks.answers import combination, query_log
from discreet.attacks.answers.query_log import QueryLogResult
from discreet.attacks.targets import Answering, Answers, Bare, Exact, Imputed, Reply
from discreet.attacks.targets.answering import sureness
from discreet.attacks.targets.rows import Rows
from discreet.errors import InvalidArgument, NotTried, QueryError
from discreet.stats import clopper_pearson
from support.examples import examples

Sets = list[list[bool]]


class Said(Answering):
    """Whoever says these numbers, one after another, with these deviations; then it refuses."""

    def __init__(self, values: Sequence[float], deviations: Sequence[float | None]) -> None:
        super().__init__("people")
        self.said = list(zip(values, deviations, strict=True))

    @property
    def against(self) -> str:
        """What it is."""
        return "whatever was said"

    def _reply(self, sql: str) -> Reply:
        """The next."""
        del sql
        if len(self.replies) == len(self.said):
            return Reply.refused("budget_exhausted")
        value, deviation = self.said[len(self.replies)]
        return Reply(value=value, deviation=deviation, epsilon=0.5)


def table(sets: Sets, pay: Sequence[int]) -> Exact:
    """People with their pay, and a flag for each question that is about them."""
    flags = {f"q{place}": list(query) for place, query in enumerate(sets)}
    return Exact({"pay": list(pay), **flags})


def conditions(sets: Sets) -> list[str]:
    """One for each question."""
    return [f"q{place}" for place in range(len(sets))]


@st.composite
def logs(draw: st.DrawFn) -> tuple[Sets, list[int]]:
    """Questions × rows, and a pay for each row."""
    rows = draw(st.integers(1, 7))
    sets = draw(st.lists(st.lists(st.booleans(), min_size=rows, max_size=rows), min_size=1, max_size=7))
    return sets, draw(st.lists(st.integers(-1000, 1000), min_size=rows, max_size=rows))


@examples(60)
@given(logs())
def test_exact_answers_are_always_right(log: tuple[Sets, list[int]]) -> None:
    """Of each row that follows, whoever follows."""
    sets, pay = log
    found = query_log(table(sets, pay), "SUM(pay)", conditions(sets))
    followed = [row for row in range(len(pay)) if combination(sets, row) is not None]
    assert found.determined == tuple(followed)
    assert [str(guess) for guess in found.guesses] == [
        f"row {row}: SUM(pay) = {pay[row]:,}, 100 % sure, right" for row in followed
    ]
    assert found.success == len(followed) / len(pay)
    assert (found.answered, found.epsilon) == (len(sets), inf)
    assert found.deviation == (0 if followed else None)


@examples(60)
@given(logs(), st.data())
def test_noise_is_combined_as_the_answers_are(log: tuple[Sets, list[int]], data: st.DataObject) -> None:
    """Value Σf·a and deviation √Σ(f·s)², for the factors that `combination` gives; unknown if one that is used is."""
    sets, pay = log
    number = len(sets)
    answers = data.draw(st.lists(st.floats(-1e6, 1e6), min_size=number, max_size=number))
    noise = st.lists(st.none() | st.floats(0, 3), min_size=number, max_size=number)
    deviations = data.draw(noise)
    found = query_log(Said(answers, deviations), "SUM(pay)", conditions(sets), table=table(sets, pay))
    expected, known = {}, []
    for row in found.determined:
        factors = combination(sets, row) or ()
        used = [(factor, deviations[place]) for place, factor in enumerate(factors) if factor]
        parts = [float(abs(factor)) * deviation for factor, deviation in used if deviation is not None]
        spread = hypot(*parts) if len(parts) == len(used) else None
        value = float(sum(factor * Fraction(answer) for factor, answer in zip(factors, answers, strict=True)))
        expected[f"row {row}"] = (f"SUM(pay) = {value:,.10g}", sureness(spread), abs(value - pay[row]) < 0.5)
        known += [] if spread is None else [spread]
    told = {guess.who: (guess.what, pytest.approx(guess.confidence), guess.right) for guess in found.guesses}
    assert told == expected
    assert found.success == sum(right for _, _, right in expected.values()) / len(pay)
    assert found.deviation == (pytest.approx(min(known)) if known else None)
    confidences = [guess.confidence for guess in found.guesses]
    assert confidences == sorted(confidences, reverse=True), "the surest first"
    assert found.epsilon == pytest.approx(number / 2)


def test_a_refusal_ends_the_log() -> None:
    """What would have followed from the questions after it doesn't."""
    sets = [[True, True, True], [True, True, False], [True, False, False]]
    found = query_log(Said([60, 30], [0.1, 0.1]), "SUM(pay)", conditions(sets), table=table(sets, [10, 20, 30]))
    assert (found.queries, found.answered, found.rank, found.epsilon) == (3, 2, 2, 1.0)
    assert (found.determined, found.groups, found.close_pairs) == ((2,), ((0, 1),), 1)
    assert (found.guesses[0].right, found.success) == (True, pytest.approx(1 / 3))
    with pytest.raises(NotTried):
        query_log(Said([], []), "SUM(pay)", conditions(sets), table=table(sets, [10, 20, 30]))


PAIRS = 120
COUPLES = {
    "couple": [place // 2 for place in range(2 * PAIRS)],
    "first": [place % 2 == 0 for place in range(2 * PAIRS)],
    "ill": [place % 3 == 0 for place in range(2 * PAIRS)],
}


def seconds(target: Answering) -> QueryLogResult:
    """Of each couple, how many are ill, and whether the first is: whether the second is, is the difference."""
    asked = [f"couple = {each}" for each in range(PAIRS)]
    log = [*asked, *(f"{each} AND first" for each in asked)]
    found = query_log(target, "COUNT_IF(ill)", log, table=Exact(COUPLES))
    assert found.determined == tuple(range(2 * PAIRS))
    return found


def test_with_noise_it_is_right_as_often_as_the_noise_is_none() -> None:
    """A first one is known with one noise, a second one with two: at ε = ½ each, right in 24.5 % and 13.0 %.

    The two share a noise, but couples are independent: the mean of 120 of them is within 0.299 of 18.7 % but for a
    chance of 1e-9 (Hoeffding). The twins are above that: exact answers are right of all, and at ε = 3 each 86.4 % are
    on average, which is missed with a chance below 1e-14 (the same).
    """

    def mean(epsilon: float) -> float:
        """Of a couple, the share that is right: Pr[noise = 0], and Pr[two noises are alike]."""
        ratio = exp(-epsilon)
        none = (1 - ratio) / (1 + ratio)
        return (none + none**2 * (1 + 2 * ratio**2 / (1 - ratio**2))) / 2

    far = sqrt(log(2e9) / (2 * PAIRS))
    assert mean(3) - mean(0.5) - far > sqrt(log(1e14) / (2 * PAIRS))
    noisy, less = (seconds(Bare(Exact(COUPLES), epsilon=each)).success or 0 for each in ("0.5", "3"))
    assert abs(noisy - mean(0.5)) <= far < less - mean(0.5)
    assert seconds(Exact(COUPLES)).success == 1


def test_two_noises_leave_less_sureness_than_one() -> None:
    """A first one is known with the deviation of an answer, a second one with √2 of it."""
    target = Bare(Exact(COUPLES), epsilon="0.5")
    found = seconds(target)
    deviation = target.replies[0].deviation
    assert deviation is not None
    assert found.deviation == pytest.approx(deviation)
    assert found.epsilon == PAIRS
    log_of_two = ["couple = 0", "couple = 0 AND first"]
    few = query_log(Bare(Exact(COUPLES), epsilon="0.5"), "COUNT_IF(ill)", log_of_two, table=Exact(COUPLES))
    sure = {guess.who: guess.confidence for guess in few.guesses}
    assert sure["row 0"] == pytest.approx(sureness(deviation))
    assert sure["row 1"] == pytest.approx(sureness(deviation * 2**0.5))


def test_the_budget_ends_it(tmp_path: Path) -> None:
    """Of eleven questions four are answered: of two people the value follows, with noise that hides anybody."""
    pay = {"pay": [1000 + 10 * person for person in range(10)], "id": list(range(10))}
    with dp.protect(
        pa.table(pay),
        name="staff",
        unit=dp.Unit.row(),
        columns={"pay": dp.Bounds(0, 2000)},
        budget=dp.Budget(epsilon=2),
        ledger=tmp_path / "staff.ledger",
    ) as protected:
        log = ["TRUE", "id < 5", *(f"id <> {person}" for person in range(9))]
        found = query_log(Answers(protected, epsilon="0.5"), "SUM(pay)", log, table=Exact(pay, name="staff"))
        assert protected.spent.epsilon == found.epsilon == 2
    assert (found.queries, found.answered, found.determined) == (11, 4, (0, 1))
    assert found.against == "answers at ε = 0.5 each from a budget of ε = 2"
    assert found.deviation == pytest.approx(2**0.5 * 2**0.5 * 2000 / 0.5, rel=1e-3)
    assert all(guess.confidence < 0.001 for guess in found.guesses)


CLASSES, K = 64, 5


def of_one_in_each_class(k: int) -> QueryLogResult:
    """The pay of one person in each five, from totals with and without them; rows that are k-anonymous by age."""
    rows = K * CLASSES
    people = read({"age": list(range(rows)), "pay": [1000 + age for age in range(rows)]})
    release = anonymize(
        people, quasi_identifiers=["age"], insensitive=["pay"], models=[KAnonymity(k)], algorithm="mondrian"
    )
    sizes = np.unique(release.table["age"].to_pylist(), return_counts=True)[1]
    assert set(sizes.tolist()) == {k}
    log = ["TRUE", *(f"age <> {age}" for age in range(0, rows, K))]
    return query_log(Imputed(Rows.of(release, original=people)), "SUM(pay)", log, table=Exact(people.to_arrow()))


def test_anonymised_rows_are_right_by_luck_and_nobody_is_sure() -> None:
    """Right if the own row, and no other of the class, is given one's age: (1/k)(1 − 1/k)^(k−1), 8 % of cases at k = 5.

    Classes are independent, so an exact interval at 1e-9 holds that. The twin, rows in classes of one, is right always:
    64 of 64, of which the interval's lower end is above 70 %.
    """
    found, twin = of_one_in_each_class(K), of_one_in_each_class(1)
    low, high = clopper_pearson(round((found.success or 0) * K * CLASSES), CLASSES, 1 - 1e-9)
    assert low <= (1 / K) * (1 - 1 / K) ** (K - 1) <= high
    assert twin.success == 1 / K
    assert clopper_pearson(CLASSES, CLASSES, 1 - 1e-9)[0] > 0.7
    assert len(found.determined) == CLASSES
    assert {guess.confidence for guess in found.guesses} == {0.0}
    assert (found.deviation, found.against) == (None, "rows with 5-anonymity")


def test_somebody_must_know_the_rows() -> None:
    """Neither noise nor drawn values say which rows a question is about, or what is true of them."""
    people = read({"age": [1, 2], "pay": [3, 4]})
    release = anonymize(
        people, quasi_identifiers=["age"], insensitive=["pay"], models=[KAnonymity(2)], algorithm="mondrian"
    )
    for target in (Said([1.0], [0.0]), Imputed(Rows.of(release, original=people))):
        with pytest.raises(InvalidArgument, match="which rows"):
            query_log(target, "SUM(pay)", ["TRUE"])


def test_columns_may_be_called_anything() -> None:
    """Also what rows are numbered by; letters' case doesn't tell columns apart in SQL."""
    found = query_log(Exact({"Place": [7, 7], "place_": [5, 6]}), 'SUM("place_")', ["TRUE", "place_ = 5"])
    assert [(guess.what, guess.right) for guess in found.guesses] == [
        ('SUM("place_") = 5', True),
        ('SUM("place_") = 6', True),
    ]


def test_what_cannot_be_added_up_is_refused(tmp_path: Path) -> None:
    """An infinite answer; and a question that the gateway doesn't take."""
    with pytest.raises(InvalidArgument, match="finite"):
        query_log(Exact({"pay": [inf, 1.0]}), "SUM(pay)", ["TRUE"])
    with (
        dp.protect(
            pa.table({"pay": [1, 2]}),
            name="staff",
            unit=dp.Unit.row(),
            columns={"pay": dp.Bounds(0, 9)},
            budget=dp.Budget(epsilon=1),
            ledger=tmp_path / "staff.ledger",
        ) as protected,
        pytest.raises(QueryError),
    ):
        query_log(
            Answers(protected, epsilon="0.5"), "MEDIAN(nope)", ["TRUE"], table=Exact({"pay": [1, 2]}, name="staff")
        )
