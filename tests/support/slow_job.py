"""Jobs for a cluster that take their time, or fail over a row; loaded by its executors."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from discreet.engine.spark.job import InMemory

CANARY = "CANARY-" + "41ab"
"""Put together, so that no log has it for showing a line of code."""


class Slow(InMemory):
    """Each part takes two seconds; buckets are added up."""

    def compute(self, parts: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """A part's number, slowly."""
        for part in parts:
            time.sleep(2)
            yield part % 3, str(part).encode()

    def merge(self, _: int, payloads: Sequence[bytes]) -> Iterator[bytes]:
        """The sum."""
        yield str(sum(map(int, payloads))).encode()


class Failing(Slow):
    """It fails in the words of a library that quotes what it was given."""

    def compute(self, parts: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Nothing."""
        raise ValueError(f"can't cast {CANARY} of {parts}")
