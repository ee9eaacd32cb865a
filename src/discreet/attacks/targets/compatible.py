"""Which released cells a value may have become: the same text, a range it lies in, a mask it fits, a set it is in."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from math import isfinite, nan
from typing import Protocol

import numpy as np

from discreet.anonymity.columns import Coded, Codes, Mask, Reals, Value, Whole
from discreet.anonymity.hierarchies.texts import is_time, present, spelled_dates
from discreet.anonymity.records import Missing
from discreet.attacks.targets.candidates import Relation
from discreet.errors import InvalidArgument

_NUMBER = r"[-+]?\d+(?:\.\d+)?"
_BETWEEN = re.compile(
    rf"(?P<open>[\[(\]]?)\s*(?P<lo>{_NUMBER})\s*(?:-|–|,|;|\.\.|to)\s*(?P<hi>{_NUMBER})\s*(?P<close>[\])\[]?)"
)
_FROM = re.compile(rf"(?:(?P<sign>>=|≥|>)\s*(?P<lo>{_NUMBER})|(?P<plus>{_NUMBER})\s*\+)")
_UP_TO = re.compile(rf"(?P<sign><=|≤|<)\s*(?P<hi>{_NUMBER})")
_TIME = r"\d{3}0s|\d{4}(?:-\d{2}(?:-\d{2}(?: \d{2}(?:h|:[\d:.]+))?)?)?"
_TIMES = re.compile(rf"(?P<lo>{_TIME})\s*(?:-|–|\.\.|to)\s*(?P<hi>{_TIME})")
_TIMES_FROM = re.compile(rf"(?:≥|>=)\s*(?P<lo>{_TIME})")
_TIMES_UP_TO = re.compile(rf"(?:≤|<=)\s*(?P<hi>{_TIME})")
_TEXTS = re.compile(r"\{(?P<lo>.*) … (?P<hi>.*)\}|\{(?P<from>.+) …\}|\{… (?P<to>.+)\}|\{(?P<alike>.+…)\}")
_AFTER = "\U0010ffff"
_OR_MISSING = " or (missing)"
_SET = re.compile(r"\{(?P<members>.*)\}")
_YEAR, _MONTH, _DATE, _HOUR, _MINUTE = 4, 7, 10, 13, 16  # characters of a time that say it as far as that
_ISO = re.compile(r"\d{4}-\d{2}")
_BLOCK = 1 << 22  # comparisons of values with ranges that are made at a time


class CellsLike(Protocol):
    """The cells of one of a release's columns; `anonymity`'s `Cells` is one."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The released cells."""

    def covering(self, code: int) -> Whole:
        """The places of the cells that a value of the original column may have become."""

    def covered(self, cell: int) -> Codes:
        """The codes of the original values that a cell stands for."""


def relate(  # noqa: PLR0913 — two columns, and what is said of their cells and missing values, each by name
    known: Coded,
    released: Coded,
    *,
    cells: CellsLike | None = None,
    original: Coded | None = None,
    kept: bool = False,
    missing: tuple[Missing, Missing] = (Missing.OWN_VALUE, Missing.OWN_VALUE),
) -> Relation:
    """Which released codes each known value may have become.

    A cell is read by its label: it takes values with the same text, numbers in a range such as `20-29`, `[20, 30)`,
    `≥70`, `70+` or `<18`, texts that fit a mask such as `123**`, members of a set such as `{a, b}` or `{a … z}`, texts
    that begin so `{An…}`, days in a decade `1990s`, a year `1990` or a month `1990-05`, times in an hour
    `1990-05-01 14h`, both from one of these to another, and anything if it is only stars. Where the release says itself
    what its cells cover, that is believed instead, for all values that the original column has; a label that
    can't be read takes its own text alone, and then fewer rows are found than there are.

    Args:
        known: the column of the attacker.
        released: the column that was released.
        cells: what the release says its cells cover.
        original: the column before it was released, whose codes `cells` means.
        kept: whether the column was released as it is, so that its values are values and no cells.
        missing: what a missing value of either column is: a wildcard goes with everything, else it goes with itself.

    Raises:
        InvalidArgument: a cell stands for several values, its label doesn't say for which, and neither does `original`.

    Examples:
        >>> from discreet.anonymity import read
        >>> ages = read({"age": [25, 71]}).column("age")
        >>> ranges = read({"age": ["20-29", "70+"]}).column("age")
        >>> relate(ages, ranges).cells.tolist()
        [0, 1]
    """
    labels = released.labels()
    found: list[list[int]] = [[] for _ in range(known.size)]
    rest, covered = list(range(known.size)), (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    values = known.labels() if kept else _as_dates(known)
    if cells is not None and original is not None:
        asked = values if is_time(original.values) else known.labels()
        rest, covered = _covered(asked, original, cells, labels)
    if kept:
        same: dict[str | None, list[int]] = defaultdict(list)
        for code, label in enumerate(labels):
            same[plain(label)].append(code)
        found, rest = [list(same.get(plain(value), ())) for value in values], []
    read = _Labels(labels)
    if cells is not None and original is None:
        _check_readable(released.name, cells, read)
    for value, codes in zip(rest, read.fitting([values[value] for value in rest]), strict=True):
        found[value] += codes
    _wildcards(known, released, missing, found)
    read_off = Relation.of(found, released.size).pairs()
    pairs = np.concatenate([read_off[0], covered[0]]), np.concatenate([read_off[1], covered[1]])
    return Relation.paired(pairs, known.size, released.size)


def stands_for(released: Coded, cells: CellsLike) -> list[Codes]:
    """For each released value, the codes of the original values that its cell stands for."""
    place = {label: cell for cell, label in enumerate(cells.labels)}
    return [cells.covered(place[str(label)]) for label in released.labels()]


def plain(value: Value) -> str | None:
    """A value as the text by which two tables agree on it: whole numbers without a point, times as ISO has them.

    Examples:
        >>> plain(39.0), plain("039"), plain(True), plain(None)
        ('39', '039', 'true', None)
    """
    match value:
        case None | str():
            return value
        case bool():
            return "true" if value else "false"
        case datetime() | date():
            return value.isoformat()
        case float() | Decimal() if isfinite(value) and value == int(value):
            return str(int(value))
        case _:
            return str(value)


def number(value: Value) -> float | None:
    """A value as a number, if it is one or is written like one.

    Examples:
        >>> number("25"), number("F"), number(None)
        (25.0, None, None)
    """
    if isinstance(value, int | float | Decimal):
        return float(value)
    return float(value) if isinstance(value, str) and re.fullmatch(_NUMBER, value.strip()) else None


def middle(value: Value) -> float:
    """A value as a number, or the middle of the range that it is a cell for; NaN if it is neither, or open.

    Examples:
        >>> middle("20–29"), middle(25), middle("*")
        (24.5, 25.0, nan)
    """
    size = number(value)
    if size is not None:
        return size
    spread = _range(value.removesuffix(_OR_MISSING)) if isinstance(value, str) else None
    return nan if spread is None or not isfinite(spread.hi - spread.lo) else (spread.lo + spread.hi) / 2


@dataclass(frozen=True, slots=True)
class _Range:
    """Numbers between two ends."""

    lo: float
    hi: float
    with_lo: bool = True
    with_hi: bool = True


@dataclass(frozen=True, slots=True)
class _Span:
    """Texts between two, in the order of code points."""

    lo: str
    hi: str
    code: int
    times: bool


def _span_of(code: int, label: str) -> _Span | None:
    """The range of a label that reaches from text to text, or from time to time; None if it is no such label."""
    if found := _TIMES.fullmatch(label) or _TIMES_FROM.fullmatch(label) or _TIMES_UP_TO.fullmatch(label):
        ends = found.groupdict()
        return _Span(_time(ends.get("lo")), _time(ends.get("hi")) + _AFTER, code, times=True)
    if label == "{…}":
        return _Span("", _AFTER, code, times=False)
    if found := _TEXTS.fullmatch(label):
        lo, hi = (found[one] or found[other] or found["alike"] or "" for one, other in (("lo", "from"), ("hi", "to")))
        return _Span(_beginning(lo), _beginning(hi) + _AFTER * (not hi or hi.endswith("…")), code, times=False)
    return None


def _time(end: str | None) -> str:
    """One end of a range of times as all times in it begin; nothing if it is open."""
    return re.sub("0s$|h$", "", end or "")


def _beginning(end: str) -> str:
    """One end of a range of texts: what stands in quotation marks, or the letters before an ellipsis."""
    text = end.removesuffix("…")
    with suppress(ValueError):  # a text that only looks quoted is taken as it is
        if text.startswith('"'):
            return str(json.loads(text))
    return text


def _written(value: Value) -> str:
    """A value as ranges of texts and times are written: a time with a space before its hour."""
    return value.isoformat(" ") if isinstance(value, datetime) else plain(value) or ""


class _Labels:
    """Labels of cells, sorted by how they are read; `bare` are those that are nothing but their own text."""

    def __init__(self, labels: Sequence[Value]) -> None:
        self._same: dict[str, list[int]] = defaultdict(list)
        self._masks: dict[tuple[bool, ...], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._all: list[int] = []
        self.bare: set[str] = set()
        ranges: list[tuple[int, _Range]] = []
        self._spans: list[_Span] = []
        for code, label in enumerate(labels):
            text = plain(label)
            if text is None:
                continue
            self._same[text].append(code)
            if isinstance(label, str):
                self._read(code, label.removesuffix(_OR_MISSING), ranges)
        self._places = np.array([code for code, _ in ranges], dtype=np.int64)
        self._ends = np.array([(each.lo, each.hi) for _, each in ranges], dtype=np.float64).reshape(-1, 2)
        self._closed = np.array([(each.with_lo, each.with_hi) for _, each in ranges], dtype=np.bool_).reshape(-1, 2)

    def _read(self, code: int, label: str, ranges: list[tuple[int, _Range]]) -> None:
        """Read one label that isn't only its own text."""
        members = _SET.fullmatch(label)
        span = _span_of(code, label)
        spread = _range(label)
        if span is not None:
            self._spans.append(span)
        if label and set(label) == {"*"}:
            self._all.append(code)
        elif span is not None and not span.times:
            return
        elif members:
            for member in members["members"].split(","):
                self._same[member.strip()].append(code)
        elif "*" in label:
            stars = tuple(letter == "*" for letter in label)
            self._masks[stars][label].append(code)
        elif spread is not None:  # years may be numbers as well
            ranges.append((code, spread))
        elif span is None:
            self.bare.add(label)

    def fitting(self, values: Sequence[Value]) -> list[list[int]]:
        """For each value, the codes of the labels that it fits; of a missing one, none."""
        found = [list(self._by_text(value)) for value in values]
        self._span(values, found)
        numbers = [number(value) for value in values] if len(self._places) else []
        places = [place for place, value in enumerate(numbers) if value is not None]
        sizes = np.array([numbers[place] for place in places], dtype=np.float64)
        step = max(_BLOCK // max(len(self._places), 1), 1)
        for start in range(0, len(places), step):
            inside = self._inside(sizes[start : start + step])
            for row, column in zip(*np.nonzero(inside), strict=True):
                found[places[start + int(row)]].append(int(self._places[column]))
        return found

    def _by_text(self, value: Value) -> Iterable[int]:
        """The codes of labels that fit a value's text."""
        text = plain(value)
        if text is None:
            return
        yield from self._all
        yield from self._same.get(text, ())
        if isinstance(value, date):
            yield from self._same.get(f"{text[: _YEAR - 1]}0s", ())
            yield from self._same.get(text[:_YEAR], ())
            yield from self._same.get(text[:_MONTH], ())
        if isinstance(value, datetime):
            yield from self._same.get(text[:_DATE], ())
            yield from self._same.get(f"{_written(value)[:_HOUR]}h", ())
            yield from self._same.get(_written(value)[:_MINUTE], ())
        for stars, labels in self._masks.items():
            if len(stars) == len(text):
                masked = "".join("*" if star else letter for star, letter in zip(stars, text, strict=True))
                yield from labels.get(masked, ())

    def _span(self, values: Sequence[Value], found: list[list[int]]) -> None:
        """Add the labels that reach from text to text, by code point; of times, from time to time."""
        for times in (False, True):
            spans = [span for span in self._spans if span.times is times]
            if not spans:
                continue
            texts = [_written(value) for value in values]
            taken = (place for place, value in enumerate(values) if value is not None)
            order = sorted((place for place in taken if not times or _ISO.match(texts[place])), key=texts.__getitem__)
            ordered = [texts[place] for place in order]
            for span in spans:
                for place in order[bisect_left(ordered, span.lo) : bisect_right(ordered, span.hi)]:
                    found[place].append(span.code)

    def _inside(self, sizes: Reals) -> Mask:
        """Which numbers lie in which ranges: numbers × ranges."""
        one = sizes[:, np.newaxis]
        lo, hi = self._ends.T
        above = (one > lo) | (self._closed[:, 0] & (one == lo))
        below = (one < hi) | (self._closed[:, 1] & (one == hi))
        return np.asarray(above & below)


def _check_readable(name: str, cells: CellsLike, read: _Labels) -> None:
    """Refuse cells of several values whose labels don't say which: they would seem to hide nobody."""
    for cell, label in enumerate(cells.labels):
        if label in read.bare and len(cells.covered(cell)) > 1:
            raise InvalidArgument(
                f"the cells of {name!r} can't be read by their labels",
                hint="Rows.of(release, original=table), with the table that was anonymised",
            )


def _range(label: str) -> _Range | None:
    """The range that a label says, if it says one."""
    text = label.strip()
    if found := _BETWEEN.fullmatch(text):
        lo, hi = float(found["lo"]), float(found["hi"])
        inner = found["open"] in {"(", "]"}, found["close"] in {")", "["}
        return _Range(lo, hi, with_lo=not inner[0], with_hi=not inner[1]) if lo <= hi else None
    if found := _FROM.fullmatch(text):
        return _Range(float(found["lo"] or found["plus"]), float("inf"), with_lo=found["sign"] != ">")
    if found := _UP_TO.fullmatch(text):
        return _Range(float("-inf"), float(found["hi"]), with_hi=found["sign"] != "<")
    return None


def _as_dates(known: Coded) -> Sequence[Value]:
    """The known values, with texts such as 9/17/1967 read as days: ranges of days are written another way."""
    found = None if is_time(known.values) else spelled_dates(present(known))
    if found is None or not found.settled:
        return known.labels()
    return [*found.days.to_pylist(), *([None] if known.has_missing else [])]


def _covered(
    known: Sequence[Value], original: Coded, cells: CellsLike, labels: Sequence[Value]
) -> tuple[list[int], tuple[Whole, Whole]]:
    """The values that the release says nothing of, and pairs of a value and a cell that it says covers it."""
    place = {label: code for code, label in enumerate(labels)}
    here = np.array([place.get(label, -1) for label in cells.labels], dtype=np.int64)  # −1 was never released
    codes = {plain(label): code for code, label in enumerate(original.labels())}
    rest: list[int] = []
    values: list[Whole] = [np.zeros(0, dtype=np.int64)]
    found: list[Whole] = [np.zeros(0, dtype=np.int64)]
    for value, label in enumerate(known):
        code = codes.get(plain(label))
        if code is None:
            rest.append(value)
        else:
            became = here[cells.covering(code)]
            found.append(became[became >= 0])
            values.append(np.full(len(found[-1]), value, dtype=np.int64))
    return rest, (np.concatenate(values), np.concatenate(found))


def _wildcards(known: Coded, released: Coded, missing: tuple[Missing, Missing], found: list[list[int]]) -> None:
    """Let missing values go with what they may be."""
    if released.has_missing:
        last = released.size - 1
        for value, codes in enumerate(found):
            if missing[1] is Missing.WILDCARD or (known.has_missing and value == known.size - 1):
                codes.append(last)
    if known.has_missing and missing[0] is Missing.WILDCARD:
        found[known.size - 1][:] = range(released.size)
