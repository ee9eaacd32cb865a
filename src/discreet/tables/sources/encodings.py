"""Text of files as UTF-8: unpacked, and of whichever encoding."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from discreet.errors import SourceUnsupported
from discreet.tables.sources.files import OpenFile

_PACKED = {".gz": "gzip", ".zst": "zstd"}
_MARK = codecs.BOM_UTF8
_WRONG = "\udcff"
"""Stands for bytes that aren't valid in the file's encoding. It isn't valid UTF-8 either, so a check for UTF-8 finds it
in the record where it belongs.
"""
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
        raise SourceUnsupported(f"the file {location!r} is damaged or cut off", hint="compress it again, or unpack it")
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
