"""Parameters that are crossed with each other: some of all combinations in `make test`, and all in a soak."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest


def crossed(*values: Sequence[Any]) -> list[Any]:
    """All combinations, of which `make test` takes every other one.

    Of two lists each value is taken, with half of the other list's; of more, each with each value of any other list.

    Args:
        values: of each parameter, two or more.
    """
    places = product(*(range(len(each)) for each in values))
    return [
        pytest.param(*case, marks=() if sum(at) % 2 == 0 else pytest.mark.soak)
        for at, case in zip(places, product(*values), strict=True)
    ]
