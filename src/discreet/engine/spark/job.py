"""Jobs: what tasks of a cluster do, on some parts of it or with the payloads of one bucket."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol


class Job(Protocol):
    """What tasks do. It is pickled, and read where discreet is of the same version.

    Guarantee: what a task gives depends on the job and on the parts or payloads alone, so that one which died may be
    done again, anywhere.
    """

    def compute(self, parts: Sequence[int]) -> Iterable[tuple[int, bytes]]:
        """Payloads of some parts, each with the number of its bucket."""
        ...

    def merge(self, payloads: Sequence[bytes]) -> Iterable[bytes]:
        """The payloads of one bucket, made fewer."""
        ...
