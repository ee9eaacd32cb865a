"""The formats of a result on standard output."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """The formats of a result on standard output."""

    TABLE = "table"
    """For people."""
    JSON = "json"
    """One JSON object; errors are one JSON object too, on standard error."""
    CSV = "csv"
    """Comma-separated, with a header."""
    ARROW = "arrow"
    """An Arrow IPC stream."""


class TextFormat(StrEnum):
    """The formats of a result that isn't a sheet."""

    TABLE = "table"
    """For people."""
    JSON = "json"
    """One JSON object."""
