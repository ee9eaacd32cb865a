"""Objects of a store that speaks S3's protocol: listed, and each read as one version.

PyArrow reads them. Its own words on what went wrong are never passed on: they may quote a key, or what a store wrote.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise
from types import TracebackType
from typing import Any, Self, TypeVar

import pyarrow as pa
from pyarrow import fs

from discreet.errors import SourceError, SourceMissing, SourceUnsupported
from discreet.tables.schema.delta_folder import LOG
from discreet.tables.schema.object_url import Endpoint, ObjectUrl
from discreet.tables.sources.object_failures import failure, of_the_store

_CONNECTING, _SILENT = 5, 10
"""Seconds for which a store is waited for: until it takes a connection, and until it says anything more on it."""
_ATTEMPTS = 3
_STATED = ("Content-Length", "ETag", "Last-Modified", "VersionId")
"""What a store states of a version of an object."""

T = TypeVar("T")


class OpenObject:
    """An object that is open for reading; a context manager.

    Guarantee: what is read within it is of one version, or leaving it raises. `fingerprint` depends on the object and
    its version: its size, its ETag, when it was written, and the number of the version, if the bucket keeps several.

    Args:
        location: its URL.
        called: what errors call it; its URL if it is left out.

    Raises:
        SourceMissing: there is no such object.
        SourceUnsupported: it can't be read.
    """

    is_far = True

    def __init__(self, location: str, called: str | None = None) -> None:
        self._location = location
        self._called = called or repr(ObjectUrl.read(location).shown)
        self._file, self.fingerprint = _opened(location, self._called)
        self._is_read = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if self._is_read and (error is None or isinstance(error, SourceError)) and not self.is_unchanged():
            raise SourceUnsupported(
                f"{self._called} was changed while it was being read", hint="read it while nobody is writing to it"
            ) from None

    @property
    def readable(self) -> pa.NativeFile:
        """What PyArrow reads."""
        self._is_read = True
        return self._file

    def close(self) -> None:
        """Close it."""
        self._file.close()

    def is_unchanged(self) -> bool:
        """Whether its store still has the version that was opened.

        Raises:
            SourceUnsupported: the store doesn't say.
        """
        try:
            file, fingerprint = _opened(self._location, self._called)
        except SourceMissing:
            return False
        file.close()
        return fingerprint == self.fingerprint

    def mark(self) -> str:
        """Which version it is, for any machine."""
        return self.fingerprint

    def failure(self, error: Exception) -> SourceError | None:
        """Why it couldn't be read, unless that lies in what was read."""
        return failure(error, ObjectUrl.read(self._location), self._called) if of_the_store(error) else None


def objects_at(url: ObjectUrl) -> list[tuple[str, Sequence[str]]]:
    """The URLs of the objects that a URL means, each with its names below it; an object that it names itself has none.

    Objects whose names end with a slash are folders, as consoles make them, and none of these.

    Raises:
        SourceMissing: there is no such bucket, object or folder.
        SourceUnsupported: the store doesn't list it; or some are a Delta table's.
    """
    store = _store(url)
    if url.is_pattern:
        folder, signs = url.pattern()
        _check_no_delta_table(store, url, folder)
        is_deep = len(signs) > 1 or "**" in signs
        found = _below(store, url, folder, is_deep=is_deep, is_meant=lambda names: _matches(names, signs))
        return [(url.at("/".join([*folder, *names])), names) for names in found]
    names = [each for each in url.names if each]
    _check_no_delta_table(store, url, names)
    if not url.is_folder:
        place = _asked(url, lambda: store.get_file_info("/".join([url.bucket, *names])))
        if place.is_file:
            return [(url.at("/".join(names)), ())]
    found = _below(store, url, names, is_deep=True, is_meant=lambda _: True)
    return [(url.at("/".join([*names, *below])), below) for below in found]


def _check_no_delta_table(store: fs.S3FileSystem, url: ObjectUrl, folder: Sequence[str]) -> None:
    """Refuse what lies in a Delta table's folder: its log may have deleted rows that are still in the objects."""
    above = [[url.bucket, *folder[:depth]] for depth in range(len(folder) + 1)]
    logs = _asked(url, lambda: store.get_file_info(["/".join([*each, LOG]) for each in above]))
    if any(each.type != fs.FileType.NotFound for each in logs):
        raise _of_a_delta_table(url)


def _of_a_delta_table(url: ObjectUrl) -> SourceUnsupported:
    return SourceUnsupported(
        f"{url.shown!r} has files of a Delta table, and perhaps rows in them that it has deleted",
        hint="copy the table's folder to a file system, where it is read as what it is",
    )


def _below(
    store: fs.S3FileSystem,
    url: ObjectUrl,
    folder: Sequence[str],
    *,
    is_deep: bool,
    is_meant: Callable[[Sequence[str]], bool],
) -> list[Sequence[str]]:
    """The names of objects below a folder that are meant; what else lies there may be called and be anything."""
    base = "/".join([url.bucket, *folder])
    found = _asked(url, lambda: store.get_file_info(fs.FileSelector(base, recursive=is_deep)))
    everything = sorted(each.path[len(base) + 1 :].split("/") for each in found if each.is_file)
    names = [each for each in everything if is_meant(each)]
    tables = {tuple(each[: each.index(LOG)]) for each in everything if LOG in each}
    if tables and any(tuple(each[:depth]) in tables for each in names for depth in range(len(each))):
        raise _of_a_delta_table(url)
    if any(not all(each) for each in names) or any(one == other for one, other in pairwise(names)):
        raise SourceUnsupported(
            f"names of objects in {url.shown!r} have slashes side by side, or at the end of what isn't empty",
            hint="rename these objects",
        )
    return names


def _matches(names: Sequence[str], signs: Sequence[str]) -> bool:
    """Whether names are those of a pattern, as a shell's: none that is hidden, unless the pattern says the dot."""
    if not names or not signs:
        return not names and all(each == "**" for each in signs)
    is_hidden = names[0].startswith(".")
    if signs[0] == "**":
        return _matches(names, signs[1:]) or (not is_hidden and _matches(names[1:], signs))
    is_shown = not is_hidden or signs[0].startswith(".")
    return is_shown and fnmatchcase(names[0], signs[0]) and _matches(names[1:], signs[1:])


def _opened(location: str, called: str) -> tuple[pa.NativeFile, str]:
    """An object, open, and which version of it the store says it is."""
    url = ObjectUrl.read(location)
    store, place = _store(url, called), "/".join([url.bucket, *url.names])
    file = _asked(url, lambda: store.open_input_file(place), called)
    stated = {name: file.metadata().get(name) for name in _STATED}
    if not stated["ETag"]:
        raise SourceUnsupported(
            f"the store of {called} doesn't say which version of an object it gives (no ETag)",
            hint="copy the object here, and name the file",
        )
    return file, hashlib.sha256(f"{place!r} {stated}".encode()).hexdigest()


def _store(url: ObjectUrl, called: str | None = None) -> fs.S3FileSystem:
    """The store of an object, whose connections are used again."""
    said = frozenset((name, text) for name, text in os.environ.items() if name.startswith("AWS_"))
    endpoint = url.endpoint()
    return _asked(url, lambda: _connected(endpoint, said, os.getpid()), called)


@lru_cache(maxsize=8)
def _connected(endpoint: Endpoint, _environment: frozenset[tuple[str, str]], _process: int) -> fs.S3FileSystem:
    """A store, by which a process reads with one environment."""
    given: dict[str, Any] = {
        "region": endpoint.region,
        "endpoint_override": endpoint.address,
        "scheme": endpoint.scheme,
        "connect_timeout": _CONNECTING,
        "request_timeout": _SILENT,
        "retry_strategy": fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
    }
    if endpoint.scheme == "https" and endpoint.authorities is not None:
        given["tls_ca_file_path"] = endpoint.authorities
    return fs.S3FileSystem(**given)


def _asked(url: ObjectUrl, ask: Callable[[], T], called: str | None = None) -> T:
    """What a store answers; a failure is said in words of ours, to which none of others are chained."""
    problem: SourceError
    try:
        return ask()
    except (OSError, pa.ArrowException, ValueError) as error:
        problem = failure(error, url, called)
    raise problem
