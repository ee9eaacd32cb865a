"""Modes: the forms in which the shell shows answers."""

from __future__ import annotations

from enum import StrEnum

from discreet.cli.show.formats import Format


class Mode(StrEnum):
    """The forms of an answer."""

    TABLE = "table"
    """For people."""
    MARKDOWN = "markdown"
    """To be pasted where Markdown is read."""
    LINE = "line"
    """One value a line."""
    JSON = "json"
    """One JSON object a line, as `discreet ask --format json` writes it."""
    CSV = "csv"
    """Comma-separated, with a header, and the ends of intervals as columns."""

    @property
    def elsewhere(self) -> Format:
        """The form of what isn't an answer."""
        match self:
            case Mode.JSON:
                return Format.JSON
            case Mode.CSV:
                return Format.CSV
            case Mode.TABLE | Mode.MARKDOWN | Mode.LINE:
                return Format.TABLE
