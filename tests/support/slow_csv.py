"""CSV read sign by sign: slow, plain, and by another road than `discreet.tables.sources.csv_records`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rules:
    """What a record is.

    Args:
        width: cells of a record.
        delimiter: between them.
        multiline: whether a quoted cell may hold line ends.
        longest_cell: bytes.
        longest_record: bytes.
    """

    width: int
    delimiter: bytes = b","
    multiline: bool = True
    longest_cell: int = 1 << 20
    longest_record: int = 1 << 24


def read_slowly(text: bytes, rules: Rules, line: int = 1) -> tuple[list[list[str]], list[int]]:
    """The cells of whole records, and the numbers of the lines on which none starts.

    Args:
        text: what follows the header.
        rules: what a record is.
        line: the number of its first line.
    """
    rows, malformed, place = [], [], 0
    while place < len(text):
        found = one_record(text, place, rules)
        if found is None:
            malformed.append(line)
            end = next((at for at in range(place, len(text)) if text[at : at + 1] in (b"\r", b"\n")), len(text))
            place = after(text, end)
            line += 1
            continue
        cells, end = found
        line += ends_in(text[place:end])
        if not (rules.width > 1 and text[place : place + 1] in (b"\r", b"\n")):
            rows.append(cells)
        place = end
    return rows, malformed


def one_record(text: bytes, start: int, rules: Rules) -> tuple[list[str], int] | None:
    """The cells of the record at `start`, and where the next line begins; None if there is no whole record."""
    if rules.width > 1 and text[start : start + 1] in (b"\r", b"\n"):
        return [], after(text, start)
    cells: list[bytes] = []
    place = start
    while True:
        found = one_cell(text, place, rules)
        if found is None or found[1] - place > rules.longest_cell:
            return None
        cells.append(found[0])
        if text[found[1] : found[1] + 1] != rules.delimiter:
            break
        place = found[1] + 1
    return whole(text, start, found[1], cells, rules)


def whole(text: bytes, start: int, end: int, cells: list[bytes], rules: Rules) -> tuple[list[str], int] | None:
    """The record from `start` to `end`, if it is one."""
    if len(cells) != rules.width or end - start > rules.longest_record:
        return None
    try:
        text[start:end].decode()
        return [cell.decode() for cell in cells], after(text, end)
    except UnicodeDecodeError:
        return None


def one_cell(text: bytes, start: int, rules: Rules) -> tuple[bytes, int] | None:
    """The cell at `start`, and where it ends; None if it is malformed."""
    stops = (b"", b"\r", b"\n", rules.delimiter)
    value, place = b"", start
    if text[place : place + 1] != b'"':
        while text[place : place + 1] not in stops:
            if text[place : place + 1] == b'"':
                return None
            value += text[place : place + 1]
            place += 1
        return value, place
    place += 1
    while True:
        sign = text[place : place + 1]
        if sign == b"" or (sign in b"\r\n" and not rules.multiline):
            return None
        if sign == b'"' and text[place + 1 : place + 2] != b'"':
            return (value, place + 1) if text[place + 1 : place + 2] in stops else None
        value += sign
        place += 2 if sign == b'"' else 1


def after(text: bytes, end: int) -> int:
    """Where the line after the line end at `end` begins."""
    return min(len(text), end + (2 if text[end : end + 2] == b"\r\n" else 1))


def ends_in(text: bytes) -> int:
    """How many lines end in a text."""
    return len(text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")) - 1
