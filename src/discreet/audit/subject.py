"""Subjects of an audit: how outputs are drawn of a mechanism or a black box."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from discreet.errors import InvalidArgument
from discreet.privacy import ApproxDP, Loss, PureDP

Data: TypeAlias = Any
"""The data that a mechanism runs on: an integer, a list of integers, scores, or whatever a black box takes."""

Draw: TypeAlias = Callable[[Data, int], Any]
"""A number of independent outputs on some data."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Something to audit.

    Args:
        name: in words.
        draw: its outputs.
        loss: what it says of itself; None if it doesn't.
    """

    name: str
    draw: Draw
    loss: Loss | None


def subject_of(mechanism: Any) -> Subject:  # noqa: ANN401 — told apart here
    """Anything that can be audited.

    Args:
        mechanism: one that makes many outputs at once, by `draw(data, count)`; noise, by `release(values)`; a chooser,
            by `choose(scores)`; one that tells a single value, by `choose_all(values)` or `randomise_all(values)`; or a
            callable that makes one output of data.

    Raises:
        InvalidArgument: it is none of these.
    """
    name = getattr(mechanism, "name", None) or _described(mechanism)
    loss = getattr(mechanism, "loss", None)
    for method, how in _WAYS.items():
        if hasattr(mechanism, method):
            return Subject(name, how(getattr(mechanism, method)), loss)
    if callable(mechanism):
        return Subject(name, _repeating(mechanism), loss if isinstance(loss, Loss) else None)
    raise InvalidArgument(
        f"a {type(mechanism).__name__} can't be audited",
        hint="give a mechanism, or a function from data to an output",
    )


def _releasing(release: Callable[[Sequence[int]], Sequence[int]]) -> Draw:
    """Noise on an integer, or on a list of them: each number has its own, so a long list is many draws."""

    def draw(data: Data, count: int) -> Any:  # noqa: ANN401 — an array
        values = [data] if isinstance(data, int) else list(data)
        noisy = release(values * count)
        wide = not all(-(1 << 63) <= end < 1 << 63 for end in (min(noisy), max(noisy)))
        table = np.array(noisy, dtype=object if wide else np.int64)
        return table if isinstance(data, int) else table.reshape(count, len(values))

    return draw


def _telling(tell_all: Callable[[Any], Any]) -> Draw:
    """The report on one value, as if as many users held it."""

    def draw(data: Data, count: int) -> Any:  # noqa: ANN401 — an array
        return tell_all(np.full(count, data))

    return draw


def _repeating(run: Callable[[Data], Any]) -> Draw:
    """One output after another."""

    def draw(data: Data, count: int) -> Any:  # noqa: ANN401 — a list
        return [run(data) for _ in range(count)]

    return draw


def _described(mechanism: Any) -> str:  # noqa: ANN401 — anything
    """A mechanism by its name and its loss, a function by its name."""
    loss = getattr(mechanism, "loss", None)
    name = getattr(mechanism, "__name__", type(mechanism).__name__)
    return f"{name}, {loss}" if isinstance(loss, PureDP | ApproxDP) else str(name)


_WAYS: dict[str, Callable[[Any], Draw]] = {
    "randomise_all": _telling,
    "choose_all": _telling,
    "draw": lambda draw: draw,
    "release": _releasing,
    "choose": _repeating,
}
"""How outputs are drawn, by the method that a mechanism has; the first that is there."""
