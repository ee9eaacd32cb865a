"""Regrouping: groups that make up others, as far as their keys tell, and as far as it takes little time to find out."""

from __future__ import annotations

import pytest

from discreet.gateway.answers.regrouping import regrouped
from discreet.query.ir import Key, call
from support.questions import column, literal


@pytest.mark.parametrize(("ages", "is_looked_for"), [(40_000, True), (60_000, False)])
def test_ways_that_take_long_to_find_are_not_looked_for(ages: int, is_looked_for: bool) -> None:
    """Each new key is computed for each old group: at most 100,000 values."""
    age = column("x")
    old = Key(name="age", expr=age, values=tuple(range(ages)))
    new = Key(name="old", expr=call("ge", age, literal(20_000)), values=(False, True))
    found = regrouped([old], [new], [])
    assert (found is not None) == is_looked_for
    if found is not None:
        assert {key: len(parts) for key, parts in found.groups.items()} == {(False,): 20_000, (True,): ages - 20_000}
