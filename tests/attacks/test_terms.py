"""Terms of an attack: what is said to matter to it is what it looks at."""

from __future__ import annotations

from typing import ClassVar

import pytest

from discreet.attacks import named_attacks
from discreet.attacks.attack_setup import Terms
from discreet.attacks.named_attacks import NAMED, attack
from discreet.census import synthetic

NUMBERS = frozenset({"k", "epsilon", "budget", "people", "trials"})


class Watched(Terms):
    """Terms that remember which of their numbers were looked at."""

    seen: ClassVar[set[str]] = set()

    def __getattribute__(self, name: str) -> object:
        """Remember, and look."""
        if name in NUMBERS:
            Watched.seen.add(name)
        return super().__getattribute__(name)


@pytest.mark.parametrize(("name", "against"), [(each.name, to) for each in NAMED.values() for to in each.against])
def test_what_matters_is_what_is_looked_at(monkeypatch: pytest.MonkeyPatch, name: str, against: str) -> None:
    """Each number that is looked at is said to matter, and no other is; of a table of 60, 5 are asked about."""
    monkeypatch.setattr(named_attacks, "Terms", Watched)
    Watched.seen.clear()
    attack(
        name,
        None if name == "sparse" else synthetic(60),
        against=against,
        on=["dob", "zip"],
        sensitive="education",
        value="income",
        epsilon=1,
        people=5,
        trials=1,
    )
    assert Watched.seen == NAMED[name].uses(against)
