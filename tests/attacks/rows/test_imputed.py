"""Anonymised rows that answer: values that cells stand for, drawn once and alike."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import Flat, KAnonymity, anonymize, read
from discreet.attacks import Imputed, compare
from discreet.attacks.targets.rows import Rows
from discreet.errors import InvalidArgument
from discreet.stats import likelihood_ratio, likelihood_ratio_critical

FALSE_ALARM = Fraction(1, 10**9)

people = st.lists(
    st.tuples(st.integers(18, 40) | st.none(), st.sampled_from(["F", "M"]), st.sampled_from(["flu", "cold", "gout"])),
    min_size=2,
    max_size=25,
)


def table(rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    """The rows by column."""
    return {name: [row[place] for row in rows] for place, name in enumerate(("age", "sex", "ill"))}


@pytest.mark.parametrize("algorithm", ["mondrian", "optimal"])
@given(rows=people)
def test_each_value_is_one_that_its_cell_stands_for(rows: list[tuple[Any, ...]], algorithm: Any) -> None:
    """Row by row, and the columns that aren't generalised are as they were released."""
    original = read(table(rows))
    release = anonymize(
        original, quasi_identifiers=["age", "sex"], sensitive=["ill"], models=[KAnonymity(2)], algorithm=algorithm
    )
    drawn = Imputed(Rows.of(release, original=original)).data.to_pydict()
    shown = release.table.to_pydict()
    assert drawn["ill"] == shown["ill"]
    for name in ("age", "sex"):
        cells, labels = release.cells[name], original.column(name).labels()
        place = {label: cell for cell, label in enumerate(cells.labels)}
        for value, label in zip(drawn[name], shown[name], strict=True):
            assert value in [labels[code] for code in cells.covered(place[label]).tolist()]


def off(counts: list[int]) -> bool:
    """Whether counts of alike values are too uneven to be so, at the false alarm."""
    even = np.full(len(counts), 1 / len(counts))
    return likelihood_ratio(np.array(counts), even) > likelihood_ratio_critical(len(counts), FALSE_ALARM)


def test_values_of_a_cell_are_drawn_alike() -> None:
    """300,000 draws from a cell of ten values; shares that are wrong by 3 % of themselves and more are noticed.

    False alarm 1e-9, proved. With every other value 3 % too common, twice the statistic has about the non-central χ²
    law of 9 degrees and 300,000 · 0.03² = 270; it is below twice the critical value, 88, with a probability of 1e-13.
    """
    ages = {"age": list(range(20, 30)) * 30_000}
    release = anonymize(
        ages,
        quasi_identifiers=["age"],
        models=[KAnonymity(300_000)],
        hierarchies={"age": Flat()},
    )
    crowd = Imputed(Rows.of(release, original=read(ages)))
    counts = [int(crowd.count({"age": age}).value or 0) for age in range(20, 30)]
    assert sum(counts) == 300_000
    assert not off(counts)
    assert off([count * (103 if place % 2 else 97) // 100 for place, count in enumerate(counts)])


def test_the_same_question_has_the_same_answer() -> None:
    """Nothing averages out: what was drawn stays."""
    rows = {"age": [20, 21, 22, 23, 40, 41, 42, 43], "ill": ["flu", "cold"] * 4}
    release = anonymize(
        rows, quasi_identifiers=["age"], sensitive=["ill"], models=[KAnonymity(4)], algorithm="mondrian"
    )
    crowd = Imputed(Rows.of(release, original=read(rows)))
    assert len({crowd.count({"age": 21}).value for _ in range(20)}) == 1
    assert crowd.replies[0].deviation is None


def test_cells_without_their_table_are_refused() -> None:
    """Their codes would mean nothing."""
    release = anonymize({"age": [1, 2]}, quasi_identifiers=["age"], models=[KAnonymity(2)], algorithm="mondrian")
    with pytest.raises(InvalidArgument, match="wasn't handed in"):
        Imputed(Rows.of(release))


def test_attacks_on_answers_compare_three_ways_to_publish() -> None:
    """Differencing is right to the last digit on exact answers, and on neither anonymised rows nor private answers."""
    found = compare("differencing", epsilon=1)
    assert [result.against.split(" at ")[0] for result in found.results] == [
        "answers",
        "5-anonymous rows",
        "exact answers",
    ]
    assert [result.success for result in found.results][2] == 1
