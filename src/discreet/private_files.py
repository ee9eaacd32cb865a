"""Private files: keys and ledgers, which their owner alone may read or write; one rule for all of them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_OTHERS = 0o077
"""The permission bits of everyone but a file's owner."""

IS_OPEN = "can be read by users other than its owner"
"""The complaint about a file that isn't private."""

CLOSE = "chmod 600, and find out who had access to it"
"""What its owner should do."""


def is_open(file: Path | int) -> bool:
    """Whether others than its owner have any right to a file, given by its path or by its descriptor.

    Only where files have such rights; elsewhere nothing is open.

    Raises:
        OSError: it isn't there, or can't be looked at.
    """
    return os.name == "posix" and bool(os.stat(file).st_mode & _OTHERS)  # noqa: PTH116 — of a descriptor, too


def write_private(path: Path, content: bytes, *, replacing: bool = False) -> None:
    """Write a file that its owner alone can read, whole and on the disk; of two processes, one comes first.

    Args:
        path: of the file; one that is there stays, and nothing is said.
        content: of it.
        replacing: replace one that is there.

    Raises:
        OSError: it can't be written.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # which its owner alone can read
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if replacing:
            path.unlink(missing_ok=True)
        link(draft, path)
    finally:
        draft.unlink()


def link(draft: Path, place: Path) -> None:
    """Put a finished file in its place, and the place on the disk; where there is one already, that stays."""
    try:
        os.link(draft, place)
    except FileExistsError:  # another process came first
        return
    if os.name == "posix":  # elsewhere a folder can't be synced, and needn't be
        folder = os.open(place.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
