"""How many examples a property test takes: three tenths in `make test`, and all in each round of `make soak`."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

EVERYDAY = 30
"""How many of a hundred `make test` takes; those of which a mutant was found only by later ones say so themselves."""


def examples(number: int, *, at_least: int = 0, **others: Any) -> settings:
    """Settings of a test that takes so many examples, instead of a hundred, in a round of a soak.

    Args:
        number: in a soak.
        at_least: how many in `make test`, where three tenths are too few to find what the test is there for.
        others: further settings.
    """
    if settings.get_current_profile_name() == "forgetful":
        return settings(max_examples=number, **others)
    return settings(max_examples=max(at_least, -(-number * EVERYDAY // 100)), **others)
