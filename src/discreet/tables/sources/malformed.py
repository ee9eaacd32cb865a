"""Malformed records of text files: where they start, what is wrong with each, and what to do about all of them.

A file is malformed for one cause, as a rule, and mended by one option. Leaving lines out is no way to read one of which
many are malformed, or whose bytes are of another encoding: it would drop people by the letters of their names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from discreet.errors import SourceMalformed
from discreet.hints import Hint

MOST_LINES = 100
"""How many lines of malformed records are remembered."""
MOST_COUNTED = 1_000
"""How many malformed records are counted before a file is refused for them."""
_SHOWN = 10
_FEW = 10
"""Leaving lines out is offered if fewer than one in this many is malformed."""
_DELIMITERS = b",;\t|"
_COMMENTS = "#%"
"""Signs with which comments begin, in most files that have some."""


class Cause(StrEnum):
    """A reason why no whole record starts on a line."""

    ENCODING = "encoding"
    COMMENT = "comment"
    ESCAPED = "escaped quotes"
    SINGLE = "single quotes"
    STRAY = "stray quotes"
    OPEN = "open quotes"
    TRAILING = "trailing delimiter"
    DELIMITER = "other delimiter"
    MORE = "more cells"
    FEWER = "fewer cells"
    LONG = "too long"
    NOT_JSON = "no JSON"
    NOT_OBJECT = "no object"


@dataclass(frozen=True, slots=True)
class Fault:
    """The cause of a malformed line, with what a hint about it needs.

    Args:
        cause: of a kind.
        cells: how many it has.
        sign: that it begins with, or that stands between its cells.
    """

    cause: Cause
    cells: int = 0
    sign: str = ""


def fault_in_line(line: bytes, delimiter: bytes, width: int, quote: bytes) -> Fault:
    r"""Find out why no whole record starts on a line of a CSV file.

    Args:
        line: the line, perhaps without its end; nothing more is looked at.
        delimiter: between cells.
        width: cells of a record.
        quote: around quoted cells; none where no cell is quoted.

    Examples:
        >>> fault_in_line(b"1,20,\n", b",", 2, b'"').cause, fault_in_line(b'"a\\"b",1\n', b",", 2, b'"').cause
        (<Cause.TRAILING: 'trailing delimiter'>, <Cause.ESCAPED: 'escaped quotes'>)
    """
    line = line.rstrip(b"\r\n")
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return Fault(Cause.ENCODING)
    if text[:1] and text[:1] in _COMMENTS:
        return Fault(Cause.COMMENT, sign=text[:1])
    cells = _cells(line, delimiter, quote)
    return _misquoted(line, delimiter, quote) if cells is None else _miscounted(line, delimiter, width, quote, cells)


def _misquoted(line: bytes, delimiter: bytes, quote: bytes) -> Fault:
    """Find out why the quotes of a line are wrong."""
    escaped = line.replace(b"\\" + quote, quote + quote)
    if escaped != line and _cells(escaped, delimiter, quote) is not None:
        return Fault(Cause.ESCAPED)
    return Fault(Cause.OPEN if _is_open(line, delimiter, quote) else Cause.STRAY)


def _miscounted(line: bytes, delimiter: bytes, width: int, quote: bytes, cells: int) -> Fault:
    """The fault of a line that has more or fewer cells than there are columns."""
    if cells == width + 1 and line.endswith(delimiter):
        return Fault(Cause.TRAILING, cells)
    if cells > width and quote != b"'" and _cells(line, delimiter, b"'") == width:
        return Fault(Cause.SINGLE, cells)
    if cells != width:
        for other in (bytes([each]) for each in _DELIMITERS if bytes([each]) != delimiter):
            if cells == 1 and _cells(line, other, quote) == width:
                return Fault(Cause.DELIMITER, cells, other.decode())
        return Fault(Cause.MORE if cells > width else Cause.FEWER, cells)
    return Fault(Cause.LONG, cells)


def _cells(line: bytes, delimiter: bytes, quote: bytes) -> int | None:
    """How many cells a line has; None if it isn't quoted as it should be."""
    if not quote or quote not in line:
        return line.count(delimiter) + 1
    place, count = 0, 0
    while True:
        count += 1
        if line[place : place + 1] == quote:
            end = _closing(line, place, quote)
            if end is None or line[end : end + 1] not in (delimiter, b""):
                return None
        else:
            end = line.find(delimiter, place)
            end = len(line) if end < 0 else end
            if quote in line[place:end]:
                return None
        if end == len(line):
            return count
        place = end + 1


def _closing(line: bytes, start: int, quote: bytes) -> int | None:
    """The end of the quoted cell that starts at a place; None if it isn't closed."""
    place = start + 1
    while (found := line.find(quote, place)) >= 0:
        if line[found + 1 : found + 2] != quote:
            return found + 1
        place = found + 2
    return None


def _is_open(line: bytes, delimiter: bytes, quote: bytes) -> bool:
    """Whether the last quotation mark of a line opens a cell that isn't closed on it."""
    last = line.rfind(quote)
    return line.count(quote) % 2 == 1 and line[max(0, last - 1) : last] in (b"", delimiter)


@dataclass(slots=True)
class Malformed:
    """The malformed records of a text file, as far as it has been read.

    Args:
        count: lines that were left out because no whole record starts there.
        lines: the numbers of the first 100 of them; the first line of the file is line 1.
        faults: how many lines have which.
        whole: records that are whole.
        whole_since: those of them behind the first malformed line.
        first_of: on which line each fault was first found.
    """

    count: int = 0
    lines: list[int] = field(default_factory=list)
    faults: Counter[Fault] = field(default_factory=Counter)
    whole: int = 0
    whole_since: int = 0
    first_of: dict[Fault, int] = field(default_factory=dict)

    def add(self, line: int, fault: Fault) -> None:
        """Count one more."""
        self.count += 1
        self.faults[fault] += 1
        self.first_of.setdefault(fault, line)
        if len(self.lines) < MOST_LINES:
            self.lines.append(line)

    def add_whole(self, records: int) -> None:
        """Count records that are whole."""
        self.whole += records
        self.whole_since += records if self.count else 0

    @property
    def causes(self) -> dict[str, int]:
        """How many lines are malformed for each cause."""
        found = Counter[str]()
        for fault, count in self.faults.items():
            found[fault.cause.value] += count
        return dict(found.most_common())

    def refusal(self, location: str, *, width: int = 0, encoding: str = "utf-8", header: str = "") -> SourceMalformed:
        """The error for a file that has them, all of which are counted unless there are a thousand.

        Args:
            location: of the file.
            width: cells of a record.
            encoding: as it is declared.
            header: the sign with which the header begins.
        """
        others = ""
        if self.count > 1:
            least = "at least " if self.count >= MOST_COUNTED else ""
            listed = ", ".join(f"{line:,}" for line in self.lines[1 : _SHOWN + 1])
            more = ", …" if len(self.lines) > _SHOWN + 1 else ""
            others = f", and on {least}{self.count - 1:,} other line{'s' if self.count > 2 else ''}: {listed}{more}"  # noqa: PLR2004 — plural
        templates, arguments = self._ways_out(width, encoding, header)
        return SourceMalformed(
            f"no whole record starts on line {self.lines[0]:,} of {location!r}{others}; {self._said(width, encoding)}",
            hint=Hint.of("; ".join(templates), **arguments),
        )

    def _said(self, width: int, encoding: str) -> str:
        """The causes in words, by how many lines they concern."""
        found: dict[str, int] = {}
        for fault, count in self.faults.most_common():
            words = _WORDS[fault.cause].format(fault=fault, width=width, encoding=encoding)
            found[words] = found.get(words, 0) + count
        listed = [f"{count:,} {words}" for words, count in sorted(found.items(), key=lambda each: -each[1])]
        more = f", and {len(listed) - _CAUSES} causes more" if len(listed) > _CAUSES else ""
        return ", ".join(listed[:_CAUSES]) + more + f"; {self.whole:,} are whole" * (self.count < MOST_COUNTED)

    def _ways_out(self, width: int, encoding: str, header: str) -> tuple[list[str], dict[str, str | int | bool]]:
        """The remedies, for most lines first, as the template of a hint and its arguments."""
        ways: list[str] = []
        arguments: dict[str, str | int | bool] = {}

        def way(template: str, **said: str | int | bool) -> None:
            if template not in ways and not said.keys() & arguments.keys():
                ways.append(template)
                arguments.update(said)

        counts = self.causes
        is_footer = self._is_footer(counts)
        if header and header in _COMMENTS:
            way("lines that begin so are comments: {comment}", comment=header)
        elif (title := self._header_below(width)) is not None:
            way(
                "line 1 seems to be a title: {header_line} names the line that has the columns' names",
                header_line=title,
            )
        elif is_footer:
            way(
                "they are all at the end of the file: {footer_lines} leaves out that many lines; count empty lines "
                "and sums above them too",
                footer_lines=self.count,
            )
        else:
            for cause in counts:
                self._way(Cause(cause), width, encoding, way)
        if not is_footer and not self._is_many() and not counts.keys() & _READABLE:  # few, and no option reads them
            way(
                f"correct the file, or leave these lines out, {{skip_malformed}}, {self.count:,} beside "
                f"{self.whole:,} records",
                skip_malformed=True,
            )
        return ways or ["correct the file, or the options that say how it is written"], arguments

    def _way(self, cause: Cause, width: int, encoding: str, way: _Way) -> None:
        """The remedy for one cause."""
        fault = next(each for each, _ in self.faults.most_common() if each.cause is cause)
        if cause in _WAYS:
            template, arguments = _WAYS[cause]
            is_utf8 = encoding.replace("_", "-").casefold() in ("utf-8", "utf8")
            signs = {"comment": fault.sign, "delimiter": fault.sign, "encoding": "cp1252" if is_utf8 else "utf-8"}
            way(template, **{name: signs.get(name, said) for name, said in arguments.items()})
        elif cause in (Cause.MORE, Cause.FEWER) and 2 * self.causes[cause] > self.count + self.whole:
            way(f"does the header name each of {fault.cells:,} columns? It has {width:,}")
        elif cause in (Cause.NOT_JSON, Cause.NOT_OBJECT) and self._is_many():
            way('write one object per line: {{"age": 34}}')

    def _is_many(self) -> bool:
        """Whether too many are malformed for it to be a few damaged lines."""
        return self.count * _FEW >= self.count + self.whole

    def _is_footer(self, counts: dict[str, int]) -> bool:
        """Whether nothing but a few malformed lines stands at the end."""
        at_the_end = self.whole > self.whole_since == 0 and self.count <= _FOOTER and not self._is_many()
        return at_the_end and counts.keys() <= {Cause.FEWER, Cause.MORE, Cause.TRAILING, Cause.DELIMITER}

    def _header_below(self, width: int) -> int | None:
        """The line where the columns seem to be named, if the first line isn't it: where most have more cells."""
        more = [(count, fault) for fault, count in self.faults.items() if fault.cause is Cause.MORE]
        if not more or not self._is_many():
            return None
        count, fault = max(more, key=lambda each: each[0])
        is_title = width == 1 or fault.cells > width + 1
        return self.first_of[fault] if is_title and 2 * count > self.count + self.whole else None


_READABLE = {Cause.ENCODING, Cause.ESCAPED, Cause.SINGLE, Cause.TRAILING, Cause.DELIMITER, Cause.COMMENT}
"""Faults that an option saying how the file is written would cure."""
_CAUSES = 4
"""How many causes are named."""
_FOOTER = 20
"""More lines than this are no footer."""


class _Way(Protocol):
    """Adds a way out: the template of a hint, and its arguments."""

    def __call__(self, template: str, **said: str | int | bool) -> None:
        """Add it, unless it is there."""


_WORDS = {
    Cause.ENCODING: "with bytes that aren't {encoding}",
    Cause.COMMENT: "beginning with {fault.sign}",
    Cause.ESCAPED: "with a backslash before a quotation mark",
    Cause.SINGLE: "with delimiters inside single quotes",
    Cause.STRAY: "with a quotation mark inside of a cell",
    Cause.OPEN: "with a quotation mark that isn't closed as it should be",
    Cause.TRAILING: "with one more delimiter at the end than the header's {width:,} cells need",
    Cause.DELIMITER: "with a delimiter other than the header's",
    Cause.MORE: "with more cells than the header's {width:,}: {fault.cells:,}",
    Cause.FEWER: "with fewer cells than the header's {width:,}: {fault.cells:,}",
    Cause.LONG: "with a cell or record that is too long, or whose quotes take in other lines",
    Cause.NOT_JSON: "that aren't JSON",
    Cause.NOT_OBJECT: "that are JSON, but not objects",
}
"""How lines with each of these causes are described."""
_WAYS: Mapping[Cause, tuple[str, Mapping[str, str | bool]]] = {
    Cause.ENCODING: ("declare the file's encoding, such as {encoding}; or save it as UTF-8", {"encoding": ""}),
    Cause.COMMENT: ("lines that begin so are comments: {comment}", {"comment": ""}),
    Cause.ESCAPED: ("a backslash escapes quotation marks: {escape}", {"escape": "\\"}),
    Cause.SINGLE: ("cells are in single quotes: {quote}", {"quote": "'"}),
    Cause.TRAILING: ("each line ends with a delimiter: {trailing_delimiter}", {"trailing_delimiter": True}),
    Cause.DELIMITER: ("another delimiter stands between these cells: {delimiter}", {"delimiter": ""}),
    Cause.STRAY: ('if no cell of the file is quoted, {quote}; else double each " within a cell', {"quote": ""}),
    Cause.OPEN: ("if no cell of the file is quoted, {quote}; else close each cell that is", {"quote": ""}),
}
"""The options that read such lines, as the template of a hint and its arguments; an empty sign is the line's own."""
