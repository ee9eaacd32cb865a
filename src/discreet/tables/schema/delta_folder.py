"""Folders of Delta tables, told from others by what lies in them."""

from __future__ import annotations

import os
from pathlib import Path

LOG = "_delta_log"
"""The folder inside of a Delta table's in which its log is."""


def is_delta_folder(path: str | Path) -> bool:
    """Whether a path is the folder of a Delta table. It is looked at, but nothing is opened.

    Examples:
        >>> is_delta_folder("/dev/null")
        False
    """
    return os.path.isdir(os.path.join(path, LOG))  # noqa: PTH112, PTH118 — unlike Path's, never an error


def delta_folder_around(*paths: str | Path) -> str | None:
    """The folder of a Delta table that one of these is, or lies in: by its name, or by where a link leads."""
    seen: set[Path] = set()
    for path in paths:
        plain = Path(path).absolute()
        for place in (plain, Path(os.path.realpath(plain))):
            for folder in (place, *place.parents):
                if folder in seen:
                    break
                seen.add(folder)
                if is_delta_folder(folder):
                    return str(folder)
    return None
