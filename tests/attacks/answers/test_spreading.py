"""Spreading: an anonymised row counts as the people who fit it, and as its columns say where nobody does."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.anonymity import KAnonymity, anonymize, read
from discreet.attacks.answers.marginals import Marginals, spread
from discreet.attacks.targets.rows import Rows

PEOPLE = st.lists(st.tuples(st.integers(0, 39), st.sampled_from("xyz")), min_size=4, max_size=30).filter(
    lambda people: len({age for age, _ in people}) > 1 and len({ill for _, ill in people}) > 1
)


def decade(age: int) -> str:
    """A range such as 20-29."""
    return f"{age // 10 * 10}-{age // 10 * 10 + 9}"


@given(people=PEOPLE, data=st.data())
def test_rows_are_spread_over_whom_they_fit(people: list[tuple[int, str]], data: st.DataObject) -> None:
    """Person by person, value by value: an independent way to say the same."""
    ages, ills = [list(each) for each in zip(*people, strict=True)]
    table = read({"age": ages, "ill": ills})
    marginals = Marginals.of(table)
    study = data.draw(st.integers(1, len(people) // 2))
    members, reference = people[:study], list(range(study, len(people)))
    hidden = Rows.of(read({"age": [decade(age) for age, _ in members], "ill": [ill for _, ill in members]}))
    found = spread(hidden, table, marginals, np.array(reference))
    by_hand = np.zeros(marginals.number)
    values = sorted(set(ages))
    for age, ill in members:
        fits = [row for row in reference if decade(ages[row]) == decade(age) and ills[row] == ill]
        if fits:
            by_hand += marginals.counts(np.array(fits)) / len(fits)
            continue
        weights = {
            value: sum(ages[row] == value for row in reference) + 1 / len(values)
            for value in values
            if decade(value) == decade(age)
        }
        total = sum(weights.values())
        for value, weight in weights.items():
            by_hand += _one(marginals, ages.index(value), ills.index(ill)) * weight / total
    assert np.allclose(found, by_hand)


def _one(marginals: Marginals, aged: int, sick: int) -> NDArray[np.float64]:
    """The cells of somebody who has the age of one row and the illness of another."""
    cells = np.zeros(marginals.number)
    first, second = int(marginals.codes["age"][aged]), int(marginals.codes["ill"][sick])
    pair = first * marginals.sizes["ill"] + second
    cells[marginals.starts[:-1] + np.array([first, second, pair])] = 1
    return cells


@given(people=PEOPLE, seen=st.integers(1, 10))
def test_rows_as_they_are_are_counted(people: list[tuple[int, str]], seen: int) -> None:
    """A row that hides nothing counts where it belongs, whoever else is like it."""
    table = read(dict(zip(("age", "ill"), map(list, zip(*people, strict=True)), strict=True)))
    members = np.arange(min(seen, len(people) - 1))
    rows, marginals = Rows.of(table.take(members)), Marginals.of(table)
    found = spread(rows, table, marginals, np.arange(len(members), table.rows))
    assert np.allclose(found, marginals.counts(members))


def test_nobody_is_lost() -> None:
    """Of a release that is 5-anonymous, each marginal has as many people as were released."""
    table = read({"age": list(range(60)), "zip": [f"{n * 7919 % 100:02}" for n in range(60)], "ill": list("xyz") * 20})
    members = table.take(np.arange(20))
    release = anonymize(
        members,
        quasi_identifiers=["age", "zip"],
        sensitive=["ill"],
        models=[KAnonymity(5)],
        algorithm="mondrian",
    )
    marginals = Marginals.of(table)
    found = spread(Rows.of(release, original=members), table, marginals, np.arange(20, 60))
    for start, end in zip(marginals.starts, marginals.starts[1:], strict=False):
        assert np.isclose(found[start:end].sum(), 20)
    ill = found[marginals.starts[2] : marginals.starts[3]]
    assert np.allclose(ill, members.column("ill").counts()), "what is released as it is, is exact"
