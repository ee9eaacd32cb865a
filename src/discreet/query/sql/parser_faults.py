"""Faults of a parser: what it can fail with on a hostile text, besides its own errors."""

from __future__ import annotations

FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    RuntimeError,
    TypeError,
    ValueError,
)
