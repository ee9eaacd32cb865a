"""Spill folders, where sessions put what doesn't fit in memory.

A folder goes with its session. A process that is killed removes nothing; so each folder is locked for as long as the
process that made it lives, and servers sweep away this user's folders that no process holds.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from time import time

_PREFIX = "discreet-spill-"

_SETTLING = 60.0
"""Seconds in which a folder may have been made and not yet be locked."""


class SpillFolder:
    """A new folder that only this user can read, locked until it is removed or this process ends.

    Raises:
        OSError: none can be made.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        self._held = _locked(self.path)

    def remove(self) -> None:
        """Remove it, with what it holds, though it may be in use."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)
            self._held = None


def sweep(gone: int | None = None) -> None:
    """Remove the spill folders that killed processes left behind.

    Only this user's folders, and no links, so that others who may write to the temporary directory can't have anything
    else removed. A folder whose process lives is locked, even in another container.

    Args:
        gone: the number of a process that has ended, whose folders go at once; others' go after a minute.
    """
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            found = path.lstat()
            is_gone = gone is not None and path.name.startswith(f"{_PREFIX}{gone}-")
            if not _is_own(found) or not (is_gone or time() - found.st_mtime > _SETTLING):
                continue
            held = _locked(path)
            if held is not None:
                try:
                    if os.path.samestat(os.fstat(held), found):
                        shutil.rmtree(path, ignore_errors=True)  # follows no links, and none can be put in its place
                finally:
                    os.close(held)


def _is_own(found: os.stat_result) -> bool:
    """Whether it is one of this user's folders."""
    return stat.S_ISDIR(found.st_mode) and hasattr(os, "geteuid") and found.st_uid == os.geteuid()


def _locked(path: Path) -> int | None:
    """A descriptor that holds a folder's lock; None if another holds it, or the system has no such locks."""
    try:
        import fcntl
    except ImportError:
        return None
    held = None
    try:
        held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        if held is not None:
            os.close(held)
        return None
    return held
