"""Arrow: the types in which sources hand out columns, and making these of others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.tables.sources.reader import is_delivered

MOST_ROWS = 1 << 16
"""Rows of a batch, at most."""
MOST_BYTES = 1 << 26
"""Bytes of a batch, at most, unless a single row has more."""

_TEXT = pa.string()
_CATEGORIES = pa.dictionary(pa.int32(), _TEXT)
_EXTENSIONS = {"arrow.uuid": _TEXT, "arrow.json": _TEXT, "arrow.bool8": pa.bool_()}
_LONGEST = 1 << 30
"""Bytes of a text, at most; an Arrow array of texts holds 2³¹."""
_UUID = 16
_DASHES = (8, 12, 16, 20)


def delivered(kind: pa.DataType) -> pa.DataType:
    """The type in which a column of this type is handed out; the type itself if it can't be.

    Examples:
        >>> delivered(pa.large_string()), delivered(pa.dictionary(pa.int8(), pa.int64()))
        (DataType(string), DataType(int64))
    """
    if kind == pa.large_string() or kind == pa.string_view() or kind == pa.null():
        return _TEXT
    if pa.types.is_dictionary(kind):
        inner = delivered(kind.value_type)
        return (_CATEGORIES if inner == _TEXT else inner) if is_delivered(inner) else kind
    if pa.types.is_run_end_encoded(kind):
        inner = delivered(kind.value_type)
        return inner if is_delivered(inner) else kind
    if pa.types.is_decimal(kind) and not is_delivered(kind):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, pa.BaseExtensionType):
        return _EXTENSIONS.get(kind.extension_name, kind)
    return kind


def deliver(array: pa.Array, into: pa.DataType) -> tuple[pa.Array, int]:  # noqa: PLR0911 — one per family of types
    r"""An array in the type in which it is handed out, and how many of its values aren't what they were.

    Guarantee: no value makes it raise. Texts are valid UTF-8, decimals have no more digits than their type says.

    Args:
        array: valid but for the bytes of its texts and the digits of its decimals.
        into: the type that `delivered` gave for the array's.

    Examples:
        >>> array = pa.array([b"a", b"\xff", None]).view(pa.string())
        >>> deliver(array, pa.string())[0].to_pylist(), deliver(array, pa.string())[1]
        (['a', '\ufffd', None], 1)
    """
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        is_uuid = kind.extension_name == "arrow.uuid"
        # Both types mean the same, so nothing can fail but the bytes of texts, which aren't looked at here.
        return (uuid_texts(array.storage), 0) if is_uuid else deliver(array.storage.cast(into, safe=False), into)
    if pa.types.is_run_end_encoded(kind):
        import pyarrow.compute as pc  # takes 34 ms

        return deliver(pc.run_end_decode(array), into)
    if pa.types.is_dictionary(kind):
        if into == _CATEGORIES:
            return _categories(array)
        return deliver(array.dictionary.take(array.indices), into)
    if kind == pa.null():
        return pa.nulls(len(array), into), 0
    if into == _TEXT:
        return _texts(array)
    if pa.types.is_decimal(kind):
        return _decimals(array, into)
    return array, 0


def sound(array: pa.Array) -> pa.Array:
    """The array, once it is sure that nothing in it points outside of it; bytes of texts may still be wrong.

    Raises:
        ValueError: something does: what it was read from is damaged.
    """
    _bare(array).validate(full=True)
    return array


def _bare(array: pa.Array) -> pa.Array:
    """The same memory in a type whose values may be anything."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _bare(array.storage)
    if pa.types.is_dictionary(kind):
        array.validate()
        places = pa.DictionaryArray.from_arrays(array.indices, pa.nulls(len(array.dictionary)), safe=False)
        places.validate(full=True)
        return _bare(array.dictionary)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        array.validate()
        return array.view(pa.binary() if pa.types.is_string(kind) else pa.large_binary())
    if pa.types.is_decimal(kind):
        array.validate()
        return array.view(pa.binary(kind.byte_width))
    return array.view(pa.int64()) if pa.types.is_date64(kind) else array  # milliseconds needn't be whole days


def uuid_texts(array: pa.Array) -> pa.Array:
    """The usual texts of UUIDs that are stored as 16 bytes each.

    Examples:
        >>> uuid_texts(pa.array([bytes(range(16)), None], pa.binary(16))).to_pylist()
        ['00010203-0405-0607-0809-0a0b0c0d0e0f', None]
    """
    import pyarrow.compute as pc

    count = len(array)
    held = array.buffers()[1]
    raw = np.frombuffer(held, np.uint8, count * _UUID, array.offset * _UUID) if count else np.zeros(0, np.uint8)
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    hexed = np.stack([digits[raw >> 4], digits[raw & 15]], axis=1).reshape(count, 2 * _UUID)
    texts = np.insert(hexed, _DASHES, ord("-"), axis=1)
    offsets = np.arange(count + 1, dtype=np.int32) * np.int32(texts.shape[1])
    made = pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(texts)))
    return pc.if_else(array.is_valid(), made, pa.scalar(None, _TEXT))


def slices(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The same rows in batches that are small enough to be worked on."""
    for start in range(0, batch.num_rows, MOST_ROWS):
        yield from _light(batch.slice(start, MOST_ROWS))


def size_of(array: pa.Array) -> int:
    """The bytes of an array; some versions of PyArrow can't tell those of views of texts."""
    try:
        return int(array.nbytes)
    except pa.ArrowTypeError:
        return int(array.cast(pa.large_binary()).nbytes)


def _light(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The batch, halved until each part is small or a single row."""
    size = sum(size_of(each.indices if pa.types.is_dictionary(each.type) else each) for each in batch.columns)
    if batch.num_rows <= 1 or size <= MOST_BYTES:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _light(batch.slice(0, half))
    yield from _light(batch.slice(half))


def _texts(array: pa.Array) -> tuple[pa.Array, int]:
    """Texts or bytes as valid UTF-8."""
    try:
        made = array if array.type == _TEXT else array.cast(_TEXT)
        made.validate(full=True)
    except pa.ArrowInvalid:
        return _mended(array)
    return made, 0


def _mended(array: pa.Array) -> tuple[pa.Array, int]:
    """Texts with their wrong bytes replaced, and how many texts these are."""
    wrong = 0
    texts: list[str | None] = []
    for each in _bare(array).to_pylist():
        text, is_wrong = (None, each is not None) if each is None or len(each) > _LONGEST else decoded(each)
        wrong += is_wrong
        texts.append(text)
    return pa.array(texts, _TEXT), wrong


def decoded(raw: bytes) -> tuple[str, bool]:
    r"""The text that bytes of UTF-8 are, with wrong ones replaced by U+FFFD; and whether there were any.

    Examples:
        >>> decoded(b"caf\xc3\xa9"), decoded(b"caf\xe9")
        (('café', False), ('caf\ufffd', True))
    """
    try:
        return raw.decode(), False
    except UnicodeDecodeError:
        return raw.decode(errors="replace"), True


def _categories(array: pa.Array) -> tuple[pa.Array, int]:
    """Categories with valid texts; only the different texts are looked at."""
    texts, wrong = deliver(array.dictionary, _TEXT)
    places = array.indices.cast(pa.int32(), safe=False)
    made = pa.DictionaryArray.from_arrays(places, texts)
    if wrong:
        is_wrong = [each is not None and decoded(each)[1] for each in _bare(array.dictionary).to_pylist()]
        wrong = pa.array(is_wrong).take(places).sum().as_py() or 0
    return made, wrong


def _decimals(array: pa.Array, into: pa.DataType) -> tuple[pa.Array, int]:
    """Decimals; one with more digits than its type allows is NULL."""
    made = array if array.type == into else array.cast(into)
    try:
        made.validate(full=True)
    except pa.ArrowInvalid:
        least = 10**into.precision
        width = into.bit_width // 8
        raw: list[Any] = made.view(pa.binary(width)).to_pylist()
        kept = [
            each if each is not None and abs(int.from_bytes(each, "little", signed=True)) < least else None
            for each in raw
        ]
        mended = pa.array(kept, pa.binary(width)).view(into)
        return mended, mended.null_count - made.null_count
    return made, 0
