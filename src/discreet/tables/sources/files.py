"""Private files: each opened once, read as bytes or as text; and those of a folder or a pattern of names.

Whatever happens to a file's path, one pass reads one version of it.
"""

from __future__ import annotations

import codecs
import glob
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

from discreet.errors import SourceMissing, SourceUnsupported

_SAMPLE = 1 << 16
_TRAILER = 8
"""The last bytes of a Parquet file: the length of its footer in four, and a sign."""
_LONGEST_FOOTER = 1 << 28


class OpenFile:
    """A file that is open for reading.

    Guarantee: `path` leads to the very file that was opened, even if another has taken its name since (on Linux and
    macOS; elsewhere it is the name, and `is_unchanged` finds out). `fingerprint` depends on the file, not on its name.

    Raises:
        SourceMissing: there is no such file.
        SourceUnsupported: it can't be opened, or is a directory, pipe or device.
    """

    def __init__(self, location: str) -> None:
        self._location = location
        self._descriptor = _open(location)
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
        """When the file was last changed, or given or bereft of a name, in nanoseconds since 1970."""
        return os.fstat(self._descriptor).st_ctime_ns

    def identity(self) -> str:
        """Which file this is, in which state: device, inode, size, times, and a digest of a Parquet file's footer."""
        status = os.fstat(self._descriptor)
        trailer = self._read(_TRAILER, max(0, status.st_size - _TRAILER))
        length = min(int.from_bytes(trailer[:4], "little"), _LONGEST_FOOTER, status.st_size)
        footer = hashlib.sha256(self._read(length + _TRAILER, max(0, status.st_size - _TRAILER - length)))
        times = f"{status.st_mtime_ns} {status.st_ctime_ns}"
        return f"{status.st_dev} {status.st_ino} {status.st_size} {times} {footer.hexdigest()}"

    def head(self, size: int) -> bytes:
        """The first bytes of the file, `size` of them at most."""
        return self._read(size, 0)

    def _identify(self) -> str:
        """A digest of the file's identity, size and time of change, and of both its ends.

        The ends are there because a clock may tick slower than a writer writes. The price is 128 KiB of reading.
        """
        status = os.fstat(self._descriptor)
        digest = hashlib.sha256(f"{status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns}".encode())
        digest.update(self._read(_SAMPLE, 0))
        digest.update(self._read(_SAMPLE, max(0, status.st_size - _SAMPLE)))
        return digest.hexdigest()

    def _read(self, size: int, start: int) -> bytes:
        """Some bytes of the file; `os.pread` would do it in one step, but Windows lacks it."""
        os.lseek(self._descriptor, start, os.SEEK_SET)
        return os.read(self._descriptor, size)


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


def _open(location: str) -> int:
    """A descriptor of a regular file. It doesn't wait for a pipe's other end."""
    unreadable = False
    try:
        descriptor = os.open(location, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (FileNotFoundError, NotADirectoryError):
        descriptor = None
    except (OSError, ValueError):
        descriptor, unreadable = None, True
    if unreadable:
        raise SourceUnsupported(f"the file {location!r} can't be opened", hint="is this user allowed to read it?")
    if descriptor is None:
        raise SourceMissing(f"there is no file {location!r}", hint="check the path; it is relative to where you are")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise SourceUnsupported(f"{location!r} isn't a regular file", hint="give the path of one file")
    return descriptor


# ── Text ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

_PACKED = {".gz": "gzip", ".zst": "zstd"}
_MARK = codecs.BOM_UTF8
_WRONG = "\udcff"
"""Stands for bytes that aren't in the file's encoding. As UTF-8 it isn't valid either, so that whoever checks for UTF-8
finds it, in the record where it belongs."""
_HANDLER = "discreet-wrong-bytes"


def _marked(error: UnicodeError) -> tuple[str, int]:
    """Put the sign in the place of bytes that can't be decoded."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _WRONG, error.end


codecs.register_error(_HANDLER, _marked)


def utf8_blocks(file: OpenFile, location: str, encoding: str, size: int) -> Iterator[bytes]:
    """A file's text in blocks of bytes, which may end anywhere, even within a character.

    Guarantee: bytes that aren't valid in the file's encoding come as bytes that aren't valid UTF-8.

    Args:
        file: open.
        location: what to call it in an error; `.gz` and `.zst` at its end say how it is packed.
        encoding: in which it is written.
        size: bytes to read at a time.

    Raises:
        SourceUnsupported: it is packed, and damaged or cut off.
    """
    blocks = _unpacked(file, location, size)
    if codecs.lookup(encoding).name != "utf-8":
        blocks = _transcoded(blocks, encoding)
    head = b""
    for block in blocks:
        head += block
        if len(head) >= len(_MARK):
            break
    yield head.removeprefix(_MARK)
    yield from blocks


def _unpacked(file: OpenFile, location: str, size: int) -> Iterator[bytes]:
    """The bytes, unpacked as the name says they are packed."""
    import pyarrow as pa

    ending = next((packed for ending, packed in _PACKED.items() if location.casefold().endswith(ending)), None)
    with pa.OSFile(file.path, "rb") as raw:
        stream: Any = pa.CompressedInputStream(raw, ending) if ending else raw
        while block := _read(stream, size, location):
            yield block


def _read(stream: Any, size: int, location: str) -> bytes:  # noqa: ANN401 — a stream of PyArrow
    """The next bytes."""
    import pyarrow as pa

    block: bytes | None = None
    with suppress(pa.ArrowException, OSError):
        block = stream.read(size)
    if block is None:
        raise SourceUnsupported(f"the file {location!r} is damaged or cut off", hint="pack it anew, or unpack it")
    return block


def _transcoded(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """The text of another encoding as UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)(errors=_HANDLER)
    for block in blocks:
        yield decoder.decode(block).encode(errors="surrogatepass")
    yield decoder.decode(b"", final=True).encode(errors="surrogatepass")


def without_last_lines(blocks: Iterator[bytes], lines: int, location: str) -> Iterator[bytes]:
    r"""Blocks of bytes without the last lines, whatever is quoted in them.

    Args:
        blocks: that may end anywhere.
        lines: at least 1.
        location: what to call the file in an error.

    Raises:
        SourceUnsupported: the last lines are longer than lines are.

    Examples:
        >>> b"".join(without_last_lines(iter([b"a\nb\r", b"\nc"]), 1, "t.csv"))
        b'a\nb\r\n'
    """
    held = b""
    for block in blocks:
        held += block
        # What may still grow isn't counted: the last line, and a CR behind which an LF may come.
        ends = [found.end() for found in _LINE_END.finditer(held)]
        if len(ends) > lines + 1:
            cut = ends[-lines - 2]
            yield held[:cut]
            held = held[cut:]
        if len(held) > _LONGEST_LINES:
            raise SourceUnsupported(f"the last lines of {location!r} have no end", hint="are lines ended by CR or LF?")
    ends = [found.end() for found in _LINE_END.finditer(held)]
    if not ends or ends[-1] < len(held):
        ends.append(len(held))
    yield held[: ends[-lines - 1]] if len(ends) > lines else b""


def unescaped(blocks: Iterator[bytes], escape: bytes, quote: bytes) -> Iterator[bytes]:
    r"""Blocks of bytes with quotation marks doubled, in the place of escaped ones.

    Args:
        blocks: that may end anywhere.
        escape: the byte that makes a quotation mark or itself a part of a cell.
        quote: the quotation mark.

    Examples:
        >>> b"".join(unescaped(iter([b'"6\\', b'" tall","a\\\\b"']), b"\\", b'"')).decode()
        '"6"" tall","a\\b"'
    """
    pattern = re.compile(re.escape(escape) + b"([" + re.escape(escape + quote) + b"])")
    held = b""
    for block in blocks:
        text = held + block
        ending = len(text) - len(text.rstrip(escape))
        held = escape if ending % 2 else b""
        text = text.removesuffix(held) if held else text
        yield pattern.sub(lambda found: quote * 2 if found[1] == quote else escape, text)
    yield held


_LINE_END = re.compile(rb"\r\n|\r|\n")
_LONGEST_LINES = 1 << 26

# ── Several files ────────────────────────────────────────────────────────────────────────────────────────────────────

_ENDINGS = (".parquet", ".pq")
PATTERN = "*?["
"""Signs of which a pattern of names has one."""
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
    fixed = next(number for number, piece in enumerate(pieces) if any(sign in piece for sign in PATTERN))
    for found in sorted(glob.glob(pattern, recursive=True)):  # noqa: PTH207 — Path.glob takes no absolute pattern
        if os.path.isfile(found):  # noqa: PTH113 — a text is what glob gives
            yield Part(found, _values(Path(found).parts[fixed:-1]))


def _values(folders: tuple[str, ...]) -> dict[str, str | None]:
    """What the names of folders say."""
    said = (folder.partition("=") for folder in folders if "=" in folder)
    return {unquote(name): None if text == _NULL else unquote(text) for name, _, text in said}
