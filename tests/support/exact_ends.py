"""Releases that show every value, also those that few people share: for tests of how classes are made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from discreet.anonymity.columns import Coded
from discreet.anonymity.records import Records
from discreet.anonymity.sharing import Sharing, sharing_of


@contextmanager
def every_value_is_shown() -> Iterator[None]:
    """As if all values were shared by enough people: ranges end where classes end, averages are what they are."""

    def whatever(records: Records, column: Coded, _: int) -> Sharing:
        return sharing_of(records, column, 1)

    with pytest.MonkeyPatch.context() as patch:
        for module in ("mondrian", "microaggregation"):
            patch.setattr(f"discreet.anonymity.reduce.{module}.sharing_of", whatever)
        yield
