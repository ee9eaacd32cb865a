"""Hints in the words of this door: what to do about an error, where other doors say it otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from discreet.errors import DeltaRequired, OfferRequired
from discreet.service import PublicError

_HINTS: Mapping[str, str] = MappingProxyType(
    {
        OfferRequired.code: "SET discreet.epsilon = 0.5; or -c discreet.epsilon=0.5 in the connection's options; or "
        "/* discreet.epsilon = 0.5 */ in the question. SET discreet.within = 100 asks for the least cost of ± 100",
        DeltaRequired.code: "SET discreet.delta = '1e-6', far below 1 / number of people; or declare the keys",
    }
)


def hint_of(error: PublicError) -> str:
    """What to do about an error, in this door's words if it has any."""
    return _HINTS.get(error.code, error.hint)
