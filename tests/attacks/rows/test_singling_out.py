"""Singling out: how often predicates isolate a row, against what theory says, and against chance.

All rates are compared with exact bounds, at a false alarm of 1e-9 for all that a test compares.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.anonymity import read
from discreet.anonymity.models.k_anonymity import KAnonymity
from discreet.anonymity.records import Records
from discreet.anonymity.reduce.anonymize import anonymize
from discreet.attacks.rows import linkage, singling_out
from discreet.attacks.rows.halving import Box, axes_of, halve
from discreet.attacks.targets import Bare, Exact
from discreet.attacks.targets.rows import Rows
from discreet.census import synthetic
from discreet.errors import InvalidArgument
from discreet.noise import uniform
from discreet.stats import clopper_pearson, lower_bound

SURE = 1 - Fraction(1, 10**9)
EACH = 1 - Fraction(1, 2 * 10**9)
"""Of two intervals, each."""
TRIALS = 30_000


def rate(share: float, trials: int) -> tuple[float, float]:
    """Bounds of a rate, given the share seen."""
    return clopper_pearson(round(share * trials), trials, EACH)


@pytest.mark.parametrize("k", [5, 10])
def test_a_class_of_k_is_singled_out_as_theory_says(k: int) -> None:
    """(1 − 1/k)^(k−1): 41 % for classes of 5, 39 % for classes of 10.

    Two cases, 1e-9 together. Power: the twin, a predicate that takes the isolated row for granted, has rates of 33 %
    and 35 %; by 30,000 draws it is within the bounds with a probability below 1e-14.
    """
    people = {"zone": [n // k for n in range(20 * k)], "id": list(range(20 * k))}
    found = singling_out({"zone": people["zone"]}, people, on=["zone"], trials=TRIALS)
    low, high = rate(found.success, TRIALS)
    theory = (1 - 1 / k) ** (k - 1)
    assert round(theory, 2) == {5: 0.41, 10: 0.39}[k]
    assert low <= theory <= high
    assert found.expected == pytest.approx(theory)
    assert not low <= (1 - 1 / k) ** k <= high  # a predicate that takes the isolated row for granted


def test_equal_rows_are_never_singled_out() -> None:
    """A predicate is a function of the record: two equal rows meet it together, or not at all."""
    people = {"zone": [0, 0, 1, 1], "id": [1, 1, 2, 2]}
    assert singling_out({"zone": [0, 0, 1, 1]}, people, on=["zone"], trials=500).success == 0


def test_a_release_that_says_nothing_is_at_the_baseline() -> None:
    """Everybody in one class: predicates isolate as often among strangers as in the data, at most by chance.

    Two rates, 1e-9 together.
    """
    n = 50
    data, fresh = ({"id": list(range(start, start + n)), "all": [0] * n} for start in (0, n))
    found = singling_out({"all": [0] * n}, data, fresh=fresh, on=["all"], trials=TRIALS)
    for share in (found.success, found.baseline):
        low, high = rate(share, TRIALS)
        assert low <= found.ceiling <= high
    assert found.weight == pytest.approx(1 / n)


def test_adult(trial_data: Path) -> None:
    """On Adult, 5-anonymous by ranges of eight columns, predicates isolate about as (1 − 1/k)^(k−1) says.

    That is more than the same predicates do among people who weren't released, and more than chance ever could: so
    k-anonymity doesn't keep anybody from being singled out. Rows as they are isolate far oftener still.

    Their rates are 27 %, 21 % and 59 %, and 40 % are expected; which half is released moves that by 0.2 points (of 25
    simulated runs). Of 50,000 predicates the bounds of the nearest two, which are 5.8 points apart, take 2.4 points of
    that, and their difference has a deviation of 0.3: they meet with a probability below 1e-20.
    """
    table = read(trial_data / "adult_arx" / "adult.csv")
    order = np.argsort(uniform(1 << 62, table.rows))
    half = table.rows // 2
    data, fresh = table.take(order[:half]), table.take(order[half : 2 * half])
    on = [name for name in table.names if name != "salary-class"]
    release = anonymize(
        data, quasi_identifiers=on, sensitive=["salary-class"], models=[KAnonymity(5)], algorithm="mondrian"
    )
    trials = 50_000
    raw = singling_out(Rows.of(data), data, fresh=fresh, on=on, trials=trials)
    found = singling_out(Rows.of(release, original=data), data, fresh=fresh, on=on, trials=trials)
    assert rate(found.success, trials)[0] > rate(found.baseline, trials)[1]
    assert rate(raw.success, trials)[0] > rate(found.success, trials)[1]
    assert found.success < found.expected  # some rows are equal in all columns


def census() -> tuple[Records, Records, Any]:
    """A third of a census, the rest, and the first as a table."""
    table = synthetic(6_144)
    data = table.slice(0, 2_048)
    return read(data), read(table.slice(2_048)), data


def test_exact_counts_single_out_and_noisy_ones_do_not() -> None:
    """Halving leads to one person by exact counts, and at ε = 0.1 for each count no further than chance does.

    Chance isolates at most (1 − 1/n)^(n−1) of the time, whatever the predicate's weight: an alarm at noise has a
    probability of 1e-9 at the most. Power: exact counts, the wrong twin, isolate in 93.5 %, by all ways that the coins
    may fall; that 56 or fewer of 80 trials do, which aren't enough, has a probability below 2e-10.
    """
    trials = 80
    data, fresh, table = census()
    exact = Exact(table)
    bare = Bare(exact, epsilon="0.1")
    found = singling_out(lambda: exact, data, fresh=fresh, on=["income", "dob"], trials=trials)
    assert lower_bound(round(found.success * trials), trials, SURE) > found.ceiling
    private = singling_out(lambda: bare, data, fresh=fresh, on=["income", "dob"], trials=trials)
    assert lower_bound(round(private.success * trials), trials, SURE) <= private.ceiling
    # How many there are, and each halving; fewer where noise leads to people who are alike in all that is halved.
    assert log2(data.rows) < private.asked <= ceil(log2(data.rows)) + 5


def test_predicates_mean_the_same_in_sql() -> None:
    """A box holds the rows that meet its condition, whichever way it was found."""
    data, fresh, table = census()
    exact, axes = Exact(table), axes_of(fresh, ["income", "age"])
    box = halve(exact, fresh, axes, ceil(log2(data.rows)))
    columns = [np.asarray(table[axis.name].to_numpy(), dtype=float) for axis in axes]
    assert box.holds(columns).tolist() == exact.rows(box.condition()).tolist()
    assert Box.all(axes).condition() == "TRUE"
    assert str(Box.all(axes)) == "everyone"


def test_what_is_needed_is_said() -> None:
    """Trials, rows, a population for answers, and a column to halve."""
    people = {"sex": ["F", "M"]}
    for wrong in (
        lambda: singling_out(people, people, trials=0),
        lambda: singling_out(lambda: Exact(people), people),
        lambda: singling_out(lambda: Exact(people), people, fresh=people),
    ):
        with pytest.raises(InvalidArgument):
            wrong()


def test_columns_that_are_kept_are_looked_at() -> None:
    """A column that a release keeps as it is can name people: by it each is linked, and singled out.

    A predicate is about it, too, unless columns are named. The twin, by generalised columns alone, links nobody.
    """
    people = read({"age": [20 + row // 5 for row in range(40)], "badge": [f"B{row}" for row in range(40)]})
    release = anonymize(
        people, quasi_identifiers=["age"], insensitive=["badge"], models=[KAnonymity(5)], algorithm="mondrian"
    )
    rows = Rows.of(release, original=people)
    strangers = read({"age": [20 + row // 5 for row in range(40)], "badge": [f"C{row}" for row in range(40)]})
    found = singling_out(rows, people, fresh=strangers, trials=20)
    assert (found.success, found.baseline, found.expected) == (1, 0, 1)
    assert linkage(rows, people, on=["age", "badge"], truth="badge").unique_right == 40
    assert linkage(rows, people, on=["age"], truth="badge").unique == 0
