"""The files of a folder or a pattern of names, and the columns that their folders name."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from discreet.errors import SourceMissing, SourceUnsupported
from discreet.tables.formats import FORMATS
from discreet.tables.schema.object_url import ObjectUrl, is_object_url

_ENDINGS = FORMATS["parquet"].endings
PATTERN = "*?["
"""Signs that make a path a pattern."""
_NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a source.

    Args:
        path: of the file; of an object its URL.
        values: what the names of the folders above it say, such as `year=2024`; the columns of partitions.
    """

    path: str
    values: dict[str, str | None] = field(default_factory=dict)


def parts_of(location: str) -> list[Part]:
    """The files of a source in the order of their names.

    Hidden files, and those whose names start with `_`, are none of them: Spark and others keep their own notes there.

    Args:
        location: a file, a folder, or a pattern such as `visits/**/*.parquet`; or the URL of objects.

    Raises:
        SourceMissing: there are no such files.
        SourceUnsupported: a folder has files of other endings; or folders say different columns for different files.
    """
    path = Path(location)
    if is_object_url(location):
        parts = list(_objects(location))
    elif path.is_dir():
        parts = list(_below(path, location))
    elif path.exists() or not any(sign in location for sign in PATTERN):
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
        if not _is_hidden(inner.parts) and not path.is_dir():
            yield _named(str(path), inner.parts, location)


def _objects(location: str) -> Iterator[Part]:
    """The objects of a URL."""
    from discreet.tables.sources.objects import objects_at

    url = ObjectUrl.read(location)
    for path, names in objects_at(url):
        if url.is_pattern:
            yield Part(path, _values(names[:-1]))
        elif not names:
            yield Part(path)
        elif not _is_hidden(names):
            yield _named(path, names, url.shown)


def _is_hidden(names: Sequence[str]) -> bool:
    """Whether a file in a folder is none of a table's: it, or a folder that it is in, is someone's note."""
    return any(name.startswith(("_", ".")) for name in names)


def _named(path: str, names: Sequence[str], folder: str) -> Part:
    """A file of a folder, by its names below that; one of another ending may have rows, so it isn't passed over."""
    if not names[-1].casefold().endswith(_ENDINGS):
        raise SourceUnsupported(
            f"the folder {folder!r} has files that aren't called {' or '.join(_ENDINGS)}",
            hint=f"name the ones to read by a pattern: {folder.rstrip('/')}/**/*.parquet",
        )
    return Part(path, _values(names[:-1]))


def _matching(pattern: str) -> Iterator[Part]:
    """The files of a pattern; what stands before its first sign is a place, not a partition."""
    pieces = Path(pattern).parts
    fixed = next(number for number, piece in enumerate(pieces) if any(sign in piece for sign in PATTERN))
    for found in sorted(glob.glob(pattern, recursive=True)):  # noqa: PTH207 — Path.glob takes no absolute pattern
        if os.path.isfile(found):  # noqa: PTH113 — a text is what glob gives
            yield Part(found, _values(Path(found).parts[fixed:-1]))


def _values(folders: Sequence[str]) -> dict[str, str | None]:
    """The values of keys in the names of folders."""
    said = (folder.partition("=") for folder in folders if "=" in folder)
    return {unquote(name): None if text == _NULL else unquote(text) for name, _, text in said}
