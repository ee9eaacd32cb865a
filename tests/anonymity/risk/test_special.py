"""Special uniques: the minimal sets of every row, one by one."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import Missing
from discreet.anonymity.risk import special_uniques, uniqueness
from discreet.errors import InvalidArgument
from support.slow_risk import Table, hidden, tables

POLICIES = [Missing.OWN_VALUE, Missing.WILDCARD]


@given(tables(), st.sampled_from(POLICIES), st.integers(1, 5))
def test_every_row_has_its_minimal_sets(table: Table, missing: Missing, at_most: int) -> None:
    """Sets by which the row is alone while it isn't by any set within; counted by row, by size and by column."""
    names = list(table)
    rows = len(table[names[0]])
    sets = [chosen for size in range(1, at_most + 1) for chosen in combinations(names, size)]
    alone = {chosen: [size == 1 for size in hidden(table, chosen, missing)] for chosen in sets}
    smallest, uses, number = [0] * at_most, dict.fromkeys(names, 0), 0
    for row in range(rows):
        singling = [set(chosen) for chosen in sets if alone[chosen][row]]
        minimal = [one for one in singling if not any(other < one for other in singling)]
        number += len(minimal)
        for one in minimal:
            for name in one:
                uses[name] += 1
        if minimal:
            smallest[min(map(len, minimal)) - 1] += 1
    found = special_uniques(table, at_most=at_most, missing=missing)
    assert found.smallest == tuple(smallest)
    assert dict(zip(found.columns, found.uses, strict=True)) == uses
    assert (found.sets, found.never) == (number, rows - sum(smallest))


@given(tables(), st.sampled_from(POLICIES))
def test_all_columns_single_out_the_unique_rows(table: Table, missing: Missing) -> None:
    """With sets of all sizes, whoever is unique has a minimal set, and nobody else."""
    found = special_uniques(table, at_most=len(table), missing=missing)
    assert sum(found.smallest) == uniqueness(table, list(table), missing=missing).unique
    assert found.to_dict()["never"] == found.units - sum(found.smallest)


@pytest.mark.parametrize("wrong", [{"at_most": 0}, {"columns": []}, {"columns": "a"}])
def test_what_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    """Sets of none, and no columns."""
    with pytest.raises(InvalidArgument):
        special_uniques({"a": [1]}, **wrong)  # type: ignore[arg-type]  # wrong on purpose
