"""Files: each opened once, and read as bytes. An object of a store is another kind of file.

Whatever happens to a file's path, one pass reads one version of it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeAlias, TypeVar

from discreet.errors import SourceMissing, SourceUnsupported
from discreet.tables.schema.object_url import is_object_url

if TYPE_CHECKING:
    from discreet.tables.sources.objects import OpenObject

    AnyFile: TypeAlias = "OpenFile | OpenObject"

T = TypeVar("T")

_TOGETHER = 16
"""Objects that are opened at a time."""
_SAMPLE = 1 << 16
_TRAILER = 8
"""The last bytes of a Parquet file: the length of its footer in four, and a sign."""
_LONGEST_FOOTER = 1 << 28


class OpenFile:
    """A file that is open for reading.

    Guarantee: `path` leads to the very file that was opened, even if another has taken its name since (on Linux and
    macOS; elsewhere it is the name, and `is_unchanged` finds out). `fingerprint` depends on the file, not on its name.

    Args:
        location: its path.
        called: what errors call it; its path if it is left out.

    Raises:
        SourceMissing: there is no such file.
        SourceUnsupported: it can't be opened, or is a directory, pipe or device.
    """

    is_far = False
    """Whether what is read of it travels, so that few large pieces are better than many small ones."""

    def __init__(self, location: str, called: str | None = None) -> None:
        self._location = location
        self._descriptor = _open(location, called or repr(location))
        self.path = next(
            (
                link
                for link in (f"/proc/self/fd/{self._descriptor}", f"/dev/fd/{self._descriptor}")
                if Path(link).exists()
            ),
            location,
        )
        self.fingerprint = self._identify()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def readable(self) -> str:
        """What PyArrow reads."""
        return self.path

    def failure(self, error: Exception) -> None:
        """Why it couldn't be read, unless that lies in what was read: of a file nothing is known."""

    def close(self) -> None:
        """Close it, if it is open."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def is_unchanged(self) -> bool:
        """Whether the file's content is still what it was when opened."""
        if self._identify() != self.fingerprint:
            return False
        if self.path != self._location:
            return True
        try:  # the path may lead to another file by now
            there = Path(self._location).stat()
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self._descriptor))

    def write_out(self) -> None:
        """Wait until it is on the disk, so that the next write moves its time of change, also one through a mapping."""
        with suppress(OSError):  # a disk that can't be written to holds all of it
            os.fsync(self._descriptor)

    def changed_at(self) -> int:
        """The last time the file was changed, linked or unlinked, in nanoseconds since 1970."""
        return os.fstat(self._descriptor).st_ctime_ns

    def identity(self) -> str:
        """Which file this is, in which state: device, inode, size, times, and a digest of a Parquet file's footer."""
        status = os.fstat(self._descriptor)
        trailer = self._read(_TRAILER, max(0, status.st_size - _TRAILER))
        length = min(int.from_bytes(trailer[:4], "little"), _LONGEST_FOOTER, status.st_size)
        footer = hashlib.sha256(self._read(length + _TRAILER, max(0, status.st_size - _TRAILER - length)))
        times = f"{status.st_mtime_ns} {status.st_ctime_ns}"
        return f"{status.st_dev} {status.st_ino} {status.st_size} {times} {footer.hexdigest()}"

    def mark(self) -> str:
        """A digest of what the file is on whichever machine it is looked at: of size, time of change and both ends."""
        status = os.fstat(self._descriptor)
        return self._digest(f"{status.st_size} {status.st_mtime_ns}", status.st_size)

    def head(self, size: int) -> bytes:
        """The first bytes of the file, `size` of them at most."""
        return self._read(size, 0)

    def _identify(self) -> str:
        """A digest of the file's identity, size and time of change, and of both its ends.

        The ends are there because a clock may tick slower than a writer writes. The price is 128 KiB of reading.
        """
        status = os.fstat(self._descriptor)
        which = f"{status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns}"
        return self._digest(which, status.st_size)

    def _digest(self, said: str, size: int) -> str:
        """A digest of what is said of the file, and of both its ends."""
        digest = hashlib.sha256(said.encode())
        digest.update(self._read(_SAMPLE, 0))
        digest.update(self._read(_SAMPLE, max(0, size - _SAMPLE)))
        return digest.hexdigest()

    def _read(self, size: int, start: int) -> bytes:
        """Some bytes of the file; `os.pread` would do it in one step, but Windows lacks it."""
        os.lseek(self._descriptor, start, os.SEEK_SET)
        return os.read(self._descriptor, size)


def open_file(location: str, called: str | None = None) -> AnyFile:
    """A file by its path, or an object by its URL, open for reading.

    Args:
        location: its path or URL.
        called: what errors call it; its path or URL if it is left out.

    Raises:
        SourceMissing: there is none.
        SourceUnsupported: it can't be opened.
    """
    if not is_object_url(location):
        return OpenFile(location, called)
    from discreet.tables.sources.objects import OpenObject

    return OpenObject(location, called)


def for_each(locations: Sequence[str], look: Callable[[str], T]) -> Iterator[T]:
    """What is found of each file, in order; of objects several are looked at together, for each waits for its store.

    Args:
        locations: of the files.
        look: opens one.
    """
    if len(locations) < 2 or not is_object_url(locations[0]):  # noqa: PLR2004 — one has nothing beside it
        yield from map(look, locations)
        return
    with ThreadPoolExecutor(_TOGETHER) as threads:
        yield from threads.map(look, locations)


def absolute(location: str) -> str:
    """The same location, whatever the current folder is; links stay."""
    return location if is_object_url(location) else os.path.abspath(location)  # noqa: PTH100 — links stay


def identity_of(*locations: str) -> str:
    """A digest of the identities of several files, some of which may not exist: a database and its log.

    Raises:
        SourceMissing: the first of them isn't there.
        SourceUnsupported: one of them can't be opened.
    """
    digest = hashlib.sha256()
    for number, location in enumerate(locations):
        if number and not Path(location).exists():
            continue
        with OpenFile(location) as file:
            digest.update(file.fingerprint.encode())
    return digest.hexdigest()


def _open(location: str, called: str) -> int:
    """A descriptor of a regular file. It doesn't wait for a pipe's other end."""
    unreadable = False
    try:
        descriptor = os.open(location, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (FileNotFoundError, NotADirectoryError):
        descriptor = None
    except (OSError, ValueError):
        descriptor, unreadable = None, True
    if unreadable:
        raise SourceUnsupported(f"the file {called} can't be opened", hint="is this user allowed to read it?")
    if descriptor is None:
        raise SourceMissing(f"there is no file {called}", hint="check the path; it is relative to the current folder")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise SourceUnsupported(f"{called} isn't a regular file", hint="give the path of one file")
    return descriptor
