"""The options of what may be said beside a question, as they are typed."""

from __future__ import annotations

import pytest

from discreet.cli.common.terms import by_column, limits_of
from discreet.errors import InvalidArgument
from discreet.privacy import Limits


def test_what_is_asked_of_columns_is_read_by_column() -> None:
    """`NAME=NUMBER` is for one column, whatever signs its name has; a bare number for the rest."""
    assert by_column(["n=100", "a=b=0.5", "7"]) == {"n": "100", "a=b": "0.5", "*": "7"}
    assert by_column(None) is None
    assert by_column([]) is None


def test_limits_are_read_in_every_shape() -> None:
    """Rows in all, rows in so many groups, or rows in each of so many groups; anything else is refused."""
    assert limits_of(None) is None
    assert limits_of("50") == Limits(rows=50)
    assert limits_of("5×10") == limits_of("5x10") == Limits(groups=5, rows_per_group=10)
    assert limits_of("50in8") == limits_of("50IN8") == Limits(rows=50, groups=8)
    for wrong in ("", "x", "5x", "5x10x2", "in8", "50in", "50in5x2", "-3", "1.5", "0", "٣", "9" * 5_000):
        with pytest.raises(InvalidArgument):
            limits_of(wrong)
