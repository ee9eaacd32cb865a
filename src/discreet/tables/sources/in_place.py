"""Parquet files in place, which questions read where they lie: that they still are what was admitted.

Which files they are is noted, and seen that they still are those that were admitted. A file's identity is its device,
its inode, its size, the times of its last change and its footer. Writing to it moves the time of change
(`ctime`), which no program can set back: also where size and time of modification stay as they were, and whichever of
its names was used. Another file in its place has another inode.

Through a mapping, only the first write to a page that is on the disk moves it. So all of a file is put on the disk
before its identity is taken. A tmpfs has no such moment, and doesn't notice writes through a mapping.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import SnapshotChanged, SourceMissing, SourceUnsupported
from discreet.tables.sources.files import OpenFile
from discreet.tables.sources.partitions import parts_of

MOST_FILES = 100
"""How many files a table may have: all of them are open while a question runs."""

_FINE, _COARSE = 50_000_000, 2_500_000_000
"""Nanoseconds after which a clock has surely moved on: one that ticks at a kernel's interrupts, and FAT's."""
_SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Place:
    """A file that was admitted where it lies.

    Args:
        path: of the file, absolute.
        identity: which file it was, in one text.
    """

    path: str
    identity: str


def places_of(location: str) -> tuple[Place, ...]:
    """The files of a Parquet source, as they are from now on: any later change of one changes its identity.

    A clock may tick slower than a writer writes. So where a file was changed just now, its identity is taken a moment
    later: a change after that has another time.

    Raises:
        SourceMissing: there are none.
        SourceUnsupported: one can't be opened, or was changed at a time in the future; there are too many; or the
            system has no names for open files, so that another could take the place of one that is being read.
    """
    parts = parts_of(location)
    if len(parts) > MOST_FILES:
        raise SourceUnsupported(
            f"{location!r} has {len(parts):,} files, and a table in place has at most {MOST_FILES}",
            hint="write fewer and larger ones, or admit it as a copy: leave in_place out",
        )
    called = repr(location) if len(parts) == 1 else f"a file of {location!r}"  # folders may be named by values
    return tuple(_place(str(Path(part.path).absolute()), called) for part in parts)


@contextmanager
def held_open(places: Sequence[Place]) -> Iterator[tuple[Place, ...]]:
    """The same files, open, under names that lead to nothing else; each is what it was, before and afterwards.

    Raises:
        SnapshotChanged: one isn't, or isn't there.
    """
    with ExitStack() as files:
        opened = [files.enter_context(_opened(place.path)) for place in places]
        _check(opened, places)
        yield tuple(Place(file.path, place.identity) for file, place in zip(opened, places, strict=True))
        _check(opened, places)


def check_places(places: Sequence[Place]) -> None:
    """Refuse files that aren't what they were.

    Raises:
        SnapshotChanged: one isn't, or isn't there.
    """
    for place in places:
        with _opened(place.path) as file:
            _check([file], [place])


def _place(path: str, called: str) -> Place:
    """A file, once the clock has left the moment of its last change."""
    with OpenFile(path, called) as file:
        if file.path == path:
            raise SourceUnsupported(
                f"{called} can't be read in place on this system: an open file has no name of its own here",
                hint="admit it as a copy: leave in_place out",
            )
        file.write_out()
        changed = file.changed_at()
        wait = changed + (_FINE if changed % _SECOND else _COARSE) - time.time_ns()
        if wait > _COARSE:
            raise SourceUnsupported(
                f"{called} was changed at a time in the future", hint="set the clock, or write the file again"
            )
        time.sleep(max(0, wait) / _SECOND)
        return Place(path, file.identity())


def _opened(path: str) -> OpenFile:
    """A file of before."""
    try:
        return OpenFile(path)
    except (SourceMissing, SourceUnsupported):
        pass
    raise SnapshotChanged


def _check(files: Sequence[OpenFile], places: Sequence[Place]) -> None:
    """Refuse open files that aren't what they were."""
    if any(file.identity() != place.identity for file, place in zip(files, places, strict=True)):
        raise SnapshotChanged
