"""Exact results: true numbers about people, which must not get out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Never, final

from discreet.privacy import KeyValue


@final
class ExactResult:
    """The exact answer to one question: private until a mechanism has added its noise.

    Guarantee: it never shows its values by accident. Its repr is constant, it can't be pickled, copied, turned into
    JSON or into a dictionary, and it can't be changed. Whoever wants a number has to take it by name.

    Args:
        keys: one tuple of key values per group, in no particular order. Under public keys, those groups that have
            rows; the caller fills in the rest with zeros. Without keys, the one empty tuple.
        measures: for each measure of the question but histograms, by name, one integer per group, in the order of
            `keys`.
        histograms: for each histogram, by name, one mapping per group, likewise: from a bin's number to its count in
            steps. What isn't mentioned is 0.

    Examples:
        >>> ExactResult(keys=[("NY",)], measures={"n": [3]})
        <ExactResult: private>
    """

    __slots__ = ("histograms", "keys", "measures")

    keys: Sequence[tuple[KeyValue, ...]]
    measures: Mapping[str, Sequence[int]]
    histograms: Mapping[str, Sequence[Mapping[int, int]]]

    def __init__(
        self,
        *,
        keys: Sequence[tuple[KeyValue, ...]],
        measures: Mapping[str, Sequence[int]],
        histograms: Mapping[str, Sequence[Mapping[int, int]]] = MappingProxyType({}),
    ) -> None:
        """Keep the parts; nothing can be changed later."""
        parts = {"keys": keys, "measures": measures, "histograms": histograms}
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> Never:
        """Refuse."""
        raise TypeError("an exact result can't be changed")

    def __delattr__(self, name: str) -> Never:
        """Refuse."""
        raise TypeError("an exact result can't be changed")

    def __repr__(self) -> str:
        """The same for every result, so that a log or a traceback that prints it says nothing."""
        return "<ExactResult: private>"

    def __reduce_ex__(self, protocol: object) -> Never:
        """Refuse: a pickle or a copy would carry the values past the mechanism."""
        raise TypeError("an exact result is private and can't be pickled or copied")

    def __getstate__(self) -> Never:
        """Refuse, for libraries that ask for the state directly."""
        raise TypeError("an exact result is private and can't be pickled or copied")
