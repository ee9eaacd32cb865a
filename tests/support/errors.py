"""The tree of errors, to be walked."""

from __future__ import annotations

from discreet.errors import DiscreetError


def errors_below(kind: type[DiscreetError]) -> list[type[DiscreetError]]:
    """All errors below one, in the order in which they were defined."""
    return [error for child in kind.__subclasses__() for error in (child, *errors_below(child))]
