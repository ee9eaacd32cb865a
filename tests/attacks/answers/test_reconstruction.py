"""Reconstruction: everybody from exact answers, fewer the more noise there is, and nobody past the budget.

The figures are those of 100 people and 400 questions. A trial is a success if its share is within stated ends, which
were put so wide that of 3,000 trials hardly any is outside (`test_the_shares_are_safe`, a soak). A success then has a
chance of 97.5 % or more (Clopper–Pearson at 1e-9), so that more than 7 of 12 trials fail, in any of seven cases, with a
chance below 1e-9. Twins, with other noise, must fail more often than that. They all but always do: their shares are 3.8
standard deviations or more from the ends (of 400 simulated trials), and 5 of 12 would have to be inside. That has a
chance below 1e-12, were even one in a thousand of them.
"""

from __future__ import annotations

from functools import cache
from math import comb, log
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.anonymity import KAnonymity, anonymize, read
from discreet.attacks.answers import reconstruction, sweep
from discreet.attacks.answers.reconstruction import fitted, share_right, subsets, surest_possible
from discreet.attacks.targets import Answers, Bare, Exact, Imputed
from discreet.attacks.targets.fresh_noise import Noise, laplace, within
from discreet.attacks.targets.rows import Rows
from discreet.errors import InvalidArgument, NotTried
from discreet.noise import uniform
from discreet.stats import lower_bound

TRIALS, FAILURES = 12, 7
SOAKED, STRAYED = 3_000, 20

EXPECTED: dict[str, tuple[Noise, float, float, Noise]] = {
    "exact": (within(0), 1.0, 1.0, within(5)),
    "±2": (within(2), 0.88, 1.0, within(10)),
    "±5": (within(5), 0.62, 0.99, within(0)),
    "±10": (within(10), 0.45, 0.93, within(1)),
    "ε = 1": (laplace(1), 0.95, 1.0, laplace("0.2")),
    "ε = 0.1": (laplace("0.1"), 0.4, 0.92, laplace(1)),
    "ε = 0.02": (laplace("0.02"), 0.26, 0.83, laplace("0.5")),
}
"""Of each kind of noise: between which shares a trial finds people, and a twin that finds more, or fewer."""


def failures(noise: Noise, low: float, high: float, trials: int = TRIALS) -> int:
    """How many trials are outside of two shares."""
    found = [sweep(noises=[noise]).points[0].success for _ in range(trials)]
    return sum(not low <= share <= high for share in found)


@pytest.mark.parametrize("name", EXPECTED)
def test_shares_found_against_noise(name: str) -> None:
    """Within the stated shares; the twin's aren't."""
    noise, low, high, twin = EXPECTED[name]
    assert failures(noise, low, high) <= FAILURES
    assert failures(twin, low, high) > FAILURES


def test_so_many_failures_are_no_accident() -> None:
    """What the words above say of 12 trials, for all cases together."""
    chance = lower_bound(SOAKED - STRAYED, SOAKED, 1 - 1e-9)
    assert chance > 0.975
    fails = sum(comb(TRIALS, n) * (1 - chance) ** n for n in range(FAILURES + 1, TRIALS + 1))
    assert len(EXPECTED) * fails < 1e-9


@pytest.mark.soak
@pytest.mark.parametrize("name", EXPECTED)
def test_the_shares_are_safe(name: str) -> None:
    """Of 3,000 trials 20 at the most are outside.

    By standard deviations, 4.4 or more from a mean to an end, one in 1,000 is more than there are; then 21 are outside
    with a chance of 1e-11.
    """
    noise, low, high, _ = EXPECTED[name]
    assert failures(noise, low, high, SOAKED) <= STRAYED


def test_more_noise_hides_more() -> None:
    """On average over ten trials each, by both methods, from all to little more than half.

    Of 400 simulated trials of each kind the shares are 1, 0.83 (0.92 by least squares) and 0.54 (0.53), with standard
    deviations of 0.052 at the most, about normal: means of ten are 9 deviations or more from where they would fail,
    which has a chance below 1e-15.
    """
    for method in ("least absolute", "least squares"):
        found = sweep(trials=10, noises=[within(0), within(5), laplace("0.02")], method=method)
        shares = [point.success for point in found.points]
        assert shares[0] == 1
        assert shares == sorted(shares, reverse=True)
        assert shares[2] < 0.7
        assert found.points[2].epsilon == pytest.approx(8)
        assert found.points[0].epsilon is None
        assert all(point.least <= point.success <= point.most for point in found.points)
        assert found.tried == 100 * 10 * 3


def test_subsets_are_never_empty() -> None:
    """Of one or two people as well."""
    assert subsets(200, 1).all()
    assert subsets(200, 2).any(axis=1).all()


def test_least_squares_agrees_where_answers_are_exact() -> None:
    """Both find every bit of a system with one solution, as 240 random halves of 60 have but for a chance of 1e-60."""
    bits, sets = uniform(2, 60).astype(np.bool_), subsets(240, 60)
    counts = (sets.astype(np.float64) @ bits).astype(np.float64)
    for method in ("least absolute", "least squares"):
        assert share_right(fitted(sets, counts, method).estimates, bits) == 1


PEOPLE = 24
ILL = [person * person % 7 < 3 for person in range(PEOPLE)]


def clinic() -> pa.Table:
    """People with a key that tells them apart, and a secret."""
    return pa.table({"id": list(range(PEOPLE)), "ill": ILL})


def test_exact_answers_give_everybody_away() -> None:
    """A hundred random halves of 24 people have one solution, but for a chance below 1e-12."""
    found = reconstruction(
        Exact(clinic(), name="clinic"), "ill", key="id", people=range(PEOPLE), truth=ILL, questions=100
    )
    assert found.success == 1
    assert found.baseline == max(sum(ILL), PEOPLE - sum(ILL)) / PEOPLE
    assert (found.answered, found.deviation, found.epsilon) == (100, 0, float("inf"))
    assert found.gap < 1e-4
    assert len(found.guesses) == 20
    assert all(guess.right for guess in found.guesses)
    assert found.guesses[0].what in {"ill", "not ill"}


def test_fresh_noise_that_nobody_counts_doesnt_help() -> None:
    """At ε = 5 each, 100 answers give everybody away, for ε = 500 in all: wrong with a chance below 1e-9.

    One answer is off by 1 or more in 1.3 % of cases; one person is in about 50 of 100, and all would have to be off in
    the same direction.
    """
    bare = Bare(Exact(clinic(), name="clinic"), epsilon=5)
    found = reconstruction(bare, "ill", key="id", people=range(PEOPLE), truth=ILL, questions=100)
    assert found.success == 1
    assert found.epsilon == 500


def test_the_budget_stops_it(tmp_path: Path) -> None:
    """Of a hundred questions five are answered, which can't tell 24 people apart: at most so many independent sums."""
    with dp.protect(
        clinic(),
        name="clinic",
        unit=dp.Unit.row(),
        columns={},
        budget=dp.Budget(epsilon=1),
        ledger=tmp_path / "clinic.ledger",
    ) as protected:
        target = Answers(protected, epsilon="0.2")
        found = reconstruction(target, "ill", key="id", people=range(PEOPLE), truth=ILL, questions=100)
        assert protected.spent.epsilon == found.epsilon == 1
        assert (found.answered, found.questions) == (5, 100)
        assert found.deviation == pytest.approx(2**0.5 / 0.2, rel=1e-2)
        with pytest.raises(NotTried):
            reconstruction(target, "ill", key="id", people=range(PEOPLE), questions=10)


@cache
def released(k: int) -> Rows:
    """Sixteen people in rows that are k-anonymous by their number, every other one ill."""
    table = read({"id": list(range(16)), "ill": [person % 2 == 0 for person in range(16)]})
    release = anonymize(
        table, quasi_identifiers=["id"], sensitive=["ill"], models=[KAnonymity(k)], algorithm="mondrian"
    )
    return Rows.of(release, original=table)


def crowd(k: int) -> Imputed:
    """These rows, with a value drawn for each cell."""
    return Imputed(released(k))


def test_anonymised_rows_say_no_more_than_their_classes() -> None:
    """Half of the people at the most are found, as by guessing the commoner value of each class: two of four are ill.

    All of a class are alike in what was drawn, so whatever is said of them is said as often of the ill as of the
    others, whatever is said of other classes, and half of it is right on average. The mean of 13 tries, of four classes
    each, is above 0.95 with a chance below 1e-9 (Hoeffding). The twin, rows in classes of one, gives everybody away,
    but for a chance below 1e-12 of undecided ones.
    """

    def share(k: int, tries: int) -> float:
        """Of people who were found, on average."""
        ill = [person % 2 == 0 for person in range(16)]
        found = [
            reconstruction(crowd(k), "ill", key="id", people=range(16), truth=ill, questions=60) for _ in range(tries)
        ]
        return float(np.mean([each.success for each in found]))

    ceiling = 0.5 + (log(1e9) / (2 * 13 * 4)) ** 0.5
    assert share(4, 13) <= ceiling < share(1, 5)


def test_nobody_is_sure_of_what_is_off_by_an_unknown_amount() -> None:
    """The fit to anonymised rows may be as decided as one to exact answers; it says nothing all the same.

    Of 2,000 simulated fits none leaves everybody undecided, so one does with a chance below 1.1 % (Clopper–Pearson at
    1e-9), and all of five do with a chance below 1e-9.
    """
    fits = [reconstruction(crowd(4), "ill", key="id", people=range(16), questions=60) for _ in range(5)]
    assert max(abs(each - 0.5) for found in fits for each in found.estimates) > 0.4
    for found in fits:
        assert (found.deviation, {guess.confidence for guess in found.guesses}) == (None, {0.5})
    sets = np.eye(2, dtype=np.bool_)
    assert surest_possible(sets, 0.0).tolist() == [1, 1]
    assert surest_possible(sets, None).tolist() == [0.5, 0.5]


def test_nonsense_is_refused() -> None:
    """Too few people, truths that don't fit, no question, an unknown method, noise within less than nothing."""
    exact = Exact(clinic(), name="clinic")
    with pytest.raises(InvalidArgument):
        reconstruction(exact, "ill", key="id", people=[1])
    with pytest.raises(InvalidArgument):
        reconstruction(exact, "ill", key="id", people=[1, 2], truth=[True])
    with pytest.raises(InvalidArgument):
        reconstruction(exact, "ill", key="id", people=[1, 2], questions=0)
    with pytest.raises(InvalidArgument):
        reconstruction(exact, "ill", key="id", people=[1, 2], method="by hand")  # type: ignore[arg-type]  # no such one
    for wrong in ({"people": 1}, {"trials": 0}, {"noises": []}):
        with pytest.raises(InvalidArgument):
            sweep(**wrong)  # type: ignore[arg-type]  # as wrong as it is meant to be
    with pytest.raises(InvalidArgument):
        within(-1)


def test_nobody_is_surer_than_the_noise_allows() -> None:
    """The formula is how often a fit by least squares is right, over 5,000 fits; twice as much noise is noticed.

    False alarm: the share that is right is within 0.047 of its mean but for 2·exp(−2·5000·0.047²) = 5e-10 (Hoeffding).
    The formula says some 0.86 at σ = 1.5, and 0.70 at twice that, which is missed with a chance below 1e-20.
    """
    people, trials = 20, 5_000
    sets = uniform(2, (60, people)).astype(np.bool_)
    bits = uniform(2, people).astype(np.float64)
    noise = sum(uniform(2**30, (trials, 60)) / 2**30 - 0.5 for _ in range(12)) * 1.5  # of standard deviation 1.5
    fits = np.linalg.lstsq(sets.astype(np.float64), (sets @ bits + noise).T, rcond=None)[0].T
    right = ((fits > 0.5) == (bits > 0.5)).mean()
    assert abs(surest_possible(sets, 1.5).mean() - right) < 0.047
    assert abs(surest_possible(sets, 3.0).mean() - right) > 0.047
