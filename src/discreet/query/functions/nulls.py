"""NULLs in Python: most functions give NULL for NULL, and nothing here ever gives NaN."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any


def strict(compute: Callable[..., Any]) -> Callable[..., Any]:
    """A function on Python numbers that gives NULL for NULL, and for what is no number."""

    def evaluate(*values: Any) -> Any:  # noqa: ANN401 — values of any kind
        if any(value is None for value in values):
            return None
        try:
            result = compute(*values)
        except (OverflowError, ZeroDivisionError):  # a float of a released whole number beyond 2¹⁰²⁴
            return None
        return None if isinstance(result, float) and isnan(result) else result

    return evaluate
