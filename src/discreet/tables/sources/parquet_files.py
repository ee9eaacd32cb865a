"""The files of a Parquet source: one, those of a folder, or those of a pattern; and what their folders' names say.

Of files that questions read where they lie, it is noted which they are, and seen that they still are those that were
admitted. A file's identity is its device, its inode, its size, the times of its last change and its footer. Whoever
writes to it moves the time of change (`ctime`), which no program can set back: also where size and time of modification
stay as they were, and whichever of its names was used. Another file in its place has another inode.

Through a mapping, only the first write to a page that is on the disk moves it. So all of a file is put on the disk
before its identity is taken. A tmpfs has no such moment, and doesn't notice writes through a mapping.
"""

from __future__ import annotations

import glob
import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from discreet.errors import SnapshotChanged, SourceMissing, SourceUnsupported
from discreet.tables.sources.files import OpenFile

_ENDINGS = (".parquet", ".pq")
_PATTERN = "*?["
_NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a source.

    Args:
        path: of the file.
        values: what the names of the folders above it say, such as `year=2024`; the columns of partitions.
    """

    path: str
    values: dict[str, str | None] = field(default_factory=dict)


def parts_of(location: str) -> list[Part]:
    """The files of a source in the order of their names.

    Hidden files, and those whose names start with `_`, are none of them: Spark and others keep their own notes there.

    Args:
        location: a file, a folder, or a pattern such as `visits/**/*.parquet`.

    Raises:
        SourceMissing: there are no such files.
        SourceUnsupported: a folder has files of other endings; or folders say different columns for different files.
    """
    path = Path(location)
    if path.is_dir():
        parts = list(_below(path, location))
    elif path.exists() or not any(sign in location for sign in _PATTERN):
        return [Part(location)]
    else:
        parts = list(_matching(location))
    if not parts:
        raise SourceMissing(
            f"there are no Parquet files in {location!r}",
            hint="check the path; a folder is read for its .parquet files, and any other file is named itself",
        )
    if any(part.values.keys() != parts[0].values.keys() for part in parts):
        raise SourceUnsupported(
            f"the folders of {location!r} don't all name the same columns", hint="each file needs each KEY=VALUE folder"
        )
    return parts


def listing(parts: list[Part], identities: list[str]) -> str:
    """A digest of which files there are, and of each.

    Examples:
        >>> listing([Part("a")], ["1"]) == listing([Part("a")], ["2"])
        False
    """
    digest = hashlib.sha256()
    for part, identity in zip(parts, identities, strict=True):
        digest.update(f"{part.path!r} {identity}".encode())
    return digest.hexdigest()


def _below(folder: Path, location: str) -> Iterator[Part]:
    """The files in a folder and those within it."""
    try:
        paths = sorted(folder.rglob("*"))
    except OSError as error:  # a folder in it that may not be looked into, or is gone meanwhile
        raise SourceUnsupported(
            f"the folder {location!r} can't be listed: {error.strerror}", hint="name its files by a pattern: *.parquet"
        ) from None
    for path in paths:
        inner = path.relative_to(folder)
        if any(name.startswith(("_", ".")) for name in inner.parts) or path.is_dir():
            continue
        if not path.name.casefold().endswith(_ENDINGS):
            raise SourceUnsupported(
                f"the folder {location!r} has files that aren't called {' or '.join(_ENDINGS)}",
                hint=f"name the ones that count by a pattern: {location.rstrip('/')}/**/*.parquet",
            )
        yield Part(str(path), _values(inner.parts[:-1]))


def _matching(pattern: str) -> Iterator[Part]:
    """The files of a pattern; what stands before its first sign is a place, not a partition."""
    pieces = Path(pattern).parts
    fixed = next(number for number, piece in enumerate(pieces) if any(sign in piece for sign in _PATTERN))
    for found in sorted(glob.glob(pattern, recursive=True)):  # noqa: PTH207 — Path.glob takes no absolute pattern
        if os.path.isfile(found):  # noqa: PTH113 — a text is what glob gives
            yield Part(found, _values(Path(found).parts[fixed:-1]))


def _values(folders: tuple[str, ...]) -> dict[str, str | None]:
    """What the names of folders say."""
    said = (folder.partition("=") for folder in folders if "=" in folder)
    return {unquote(name): None if text == _NULL else unquote(text) for name, _, text in said}


MOST_FILES = 100
"""Of one table: all are open while a question runs."""

_FINE, _COARSE = 50_000_000, 2_500_000_000
"""Nanoseconds after which a clock has moved on: one that ticks at each of a kernel's interrupts, and one of FAT."""
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
        SourceUnsupported: one can't be opened, or was changed at a time that is still to come; there are too many; or
            the system has no names for open files, so that another could take the place of one that is being read.
    """
    parts = parts_of(location)
    if len(parts) > MOST_FILES:
        raise SourceUnsupported(
            f"{location!r} has {len(parts):,} files, and a table in place has at most {MOST_FILES}",
            hint="write fewer and larger ones, or admit it as a copy: leave in_place out",
        )
    return tuple(_place(str(Path(part.path).absolute())) for part in parts)


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


def _place(path: str) -> Place:
    """A file, once the clock has left the moment of its last change."""
    with OpenFile(path) as file:
        if file.path == path:
            raise SourceUnsupported(
                f"{path!r} can't be read in place on this system: an open file has no name of its own here",
                hint="admit it as a copy: leave in_place out",
            )
        file.write_out()
        changed = file.changed_at()
        wait = changed + (_FINE if changed % _SECOND else _COARSE) - time.time_ns()
        if wait > _COARSE:
            raise SourceUnsupported(
                f"{path!r} was changed at a time that is still to come", hint="set the clock, or write the file anew"
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
