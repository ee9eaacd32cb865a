"""Recognises columns of e-mail addresses, official numbers, names, dates or notes by their values.

A column is told by the share of its values that hold something, also among others: an e-mail address in one note of
twenty is found. No value is kept or shown. What is found is a likeness; that nothing was found proves nothing, since
only what has a form can be found, and of many values only some are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from discreet.tables.identifying_forms import FORMS, LOOKS_IDENTIFYING, NUMBERS, kinds_of
from discreet.tables.spelled_dates import days_of

if TYPE_CHECKING:
    import pyarrow as pa

NAMES, NOTES = "names of people", "free text"
"""Contents that are recognised by words and not by a form, so that they may be something else."""
LOOKED_AT = 10_000
"""How many distinct values of a column are looked at, spread evenly over all of them in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Something that part of a column's values are, such as e-mail addresses.

    Args:
        what: in words, in the plural.
        share: of the values that were looked at, each as often as it occurs; missing ones don't count.
        identifies: whether it leads to one person, or may: a date of birth alone doesn't.

    Examples:
        >>> print(Content(what="e-mail addresses", share=0.05, identifies=True))
        e-mail addresses in 5 % of its values
    """

    what: str
    share: float
    identifies: bool

    def __str__(self) -> str:
        part = "all" if self.share == 1 else "under 0.1 %" if self.share < 0.001 else f"{100 * self.share:.3g} %"  # noqa: PLR2004 — the last digit shown
        return f"{self.what} in {part} of its values"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnContent:
    """Everything that was recognised in the values of a column that were looked at.

    Args:
        found: what identifies first, then by share.
        looked: how many different values were looked at.
        different: how many there are.
    """

    found: tuple[Content, ...] = ()
    looked: int = 0
    different: int = 0

    @property
    def identifying(self) -> tuple[Content, ...]:
        """The contents that lead to one person."""
        return tuple(each for each in self.found if each.identifies)

    @property
    def sampled(self) -> bool:
        """Whether some values weren't looked at, so that what is rare may be among these."""
        return self.looked < self.different

    def to_dict(self) -> dict[str, object]:
        """All of it as JSON-ready data."""
        found = [{"what": each.what, "share": each.share, "identifies": each.identifies} for each in self.found]
        return {"found": found, "looked": self.looked, "different": self.different}

    def __str__(self) -> str:
        told = " and ".join(map(str, self.found)) or "nothing that has a known form"
        return (
            f"{told} ({self.looked:,} of {self.different:,} different values were looked at)" if self.sampled else told
        )


Weights: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"
"""How often each value occurs."""


_PLAIN, _SLIP = 0.5, 0.1
"""If half of the values have one form, another form that fewer than a tenth as many have is counted as that form
too.
"""


def content_of(values: pa.Array, counts: Weights | None = None) -> ColumnContent:
    """Look for known forms in a column's values.

    Args:
        values: its different values, in an order of their own; those that are missing are left out.
        counts: how often each occurs; once if left out.

    Examples:
        >>> import pyarrow as pa
        >>> notes = pa.array(["called twice"] * 19 + ["ask kim@example.org"])
        >>> print(content_of(notes))
        e-mail addresses in 5 % of its values
        >>> print(content_of(pa.array([1967, 1984])))
        nothing that has a known form
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    weights = np.ones(len(values), dtype=np.int64) if counts is None else np.asarray(counts, dtype=np.int64)
    if values.null_count:
        there = pc.is_valid(values)
        values, weights = values.filter(there), weights[np.asarray(there)]
    different = len(values)
    step = max(-(-different // LOOKED_AT), 1)
    if step > 1:
        chosen = np.arange(0, different, step)
        values, weights = values.take(pa.array(chosen)), weights[chosen]
    texts = _texts(values)
    if texts is None or not len(texts):
        return ColumnContent(looked=len(values), different=different)
    column = _Column(texts=texts, weights=weights, numbers=not _is_text(values))
    signs = column.numbers or len(column.matching(_SIGNS)) > 0
    found = [*_worded(column)] if not column.numbers else []
    if signs:
        formed = _formed(column) if not column.numbers else []
        most = max((each.share for each in formed), default=0.0)
        # One telephone number of forty may be read as a Danish CPR number: that names no nationality.
        found += [each for each in _official(column) if most < _PLAIN or each.share >= _SLIP * most]
        found += formed
    if signs and not any(each.identifies for each in found):
        found += _dated(column)
    found.sort(key=lambda each: (not each.identifies, -each.share))
    return ColumnContent(found=tuple(found), looked=len(values), different=different)


def may_identify(texts: Sequence[str]) -> bool:
    """Whether texts that would be shown may lead to someone; one that only looks like it is enough.

    Examples:
        >>> may_identify(["5 Main St", "unknown"]), may_identify(["Bachelors", "11th"])
        (True, False)
    """
    import pyarrow as pa

    return any(map(LOOKS_IDENTIFYING.search, texts)) or bool(content_of(pa.array(texts, pa.string())).identifying)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Column:
    """Values as they are looked at.

    Args:
        texts: as texts.
        weights: how often each occurs.
        numbers: whether they are whole numbers.
    """

    texts: pa.Array
    weights: Weights
    numbers: bool

    def share(self, places: np.ndarray) -> float:
        """The share of the rows with these values."""
        whole = int(self.weights.sum())
        return int(self.weights[places].sum()) / whole if whole else 0.0

    def matching(self, form: str) -> pa.Array:
        """The places of the values in which a form occurs."""
        import pyarrow as pa
        import pyarrow.compute as pc

        return pa.array(np.flatnonzero(np.asarray(pc.match_substring_regex(self.texts, form))))


def _is_text(values: pa.Array) -> bool:
    """Whether values are texts."""
    import pyarrow as pa

    return bool(pa.types.is_string(values.type) or pa.types.is_large_string(values.type))


_LARGEST_FLOAT = 2**53


def _texts(values: pa.Array) -> pa.Array | None:
    """Texts as they are, whole numbers as texts of one length, also if they are kept as floats; None of others."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if _is_text(values):
        return values
    if pa.types.is_floating(values.type):
        wide = values.cast(pa.float64())
        if not pc.all(pc.and_(pc.equal(wide, pc.floor(wide)), pc.less(pc.abs(wide), _LARGEST_FLOAT))).as_py():
            return None
        values = wide.cast(pa.int64())
    if not pa.types.is_integer(values.type) or not len(values):
        return None
    least = pc.min(values).as_py()
    written = values.cast(pa.string())
    return None if least < 0 else pc.utf8_lpad(written, pc.max(pc.utf8_length(written)).as_py(), "0")


_SIGNS = "[0-9@:/.]"
"""Nothing has a known form without one of these."""
_APART = r"(?:^|[^0-9A-Za-z.]|[^0-9][.])"
"""The text before a number that isn't a part of a longer one, in RE2, which doesn't look behind."""
_BEFORE, _AFTER = r"(?<![0-9A-Za-z])(?<![0-9][.,])", r"(?![0-9A-Za-z]|[.,][0-9])"
"""The same in Python, and what stands behind it."""
_LONG = r"[0-9][0-9A-Za-z .+/-]{5,}[0-9A-Z]|[A-Z]{4}[0-9]{2}|[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4}"
"""Something that may be an official number."""


def _official(column: _Column) -> list[Content]:
    """Official numbers."""
    import pyarrow as pa

    if column.numbers:
        length = len(column.texts[0].as_py())
        kinds = [kind for kind in NUMBERS if kind.digits == length]
        places = pa.array(np.arange(len(column.texts)))
    else:
        kinds, places = list(NUMBERS), column.matching(_LONG)
    if not kinds or not len(places):
        return []
    likely = _Column(texts=column.texts.take(places), weights=column.weights[np.asarray(places)], numbers=False)
    tried, where = [], {}
    for kind in kinds:
        at = likely.matching(f"{_APART}(?:{kind.form})")
        form = re.compile(f"{_BEFORE}(?:{kind.form}){_AFTER}")
        texts = likely.texts.take(at).to_pylist()
        held = [(place, form.findall(text)) for place, text in zip(at.to_pylist(), texts, strict=True)]
        where[kind] = np.array([place for place, numbers in held if numbers], dtype=np.int64)
        tried.append((kind, sorted({number for _, numbers in held for number in numbers})))
    whole = max(int(column.weights.sum()), 1)
    shares: dict[str, float] = {}
    for kind, share in kinds_of(tried):
        rows = share * int(likely.weights[where[kind]].sum()) / whole
        shares[kind.what] = max(rows, shares.get(kind.what, 0.0))
    best = max(shares.values(), default=0.0)
    return [Content(what=what, share=rows, identifies=True) for what, rows in shares.items() if 2 * rows > best]


def _formed(column: _Column) -> list[Content]:
    """The contents that are recognised by a form."""
    shares: dict[str, float] = {}
    for each in FORMS:
        places = np.asarray(column.matching(each.form))
        if each.proof is not None and len(places):
            texts = column.texts.take(places).to_pylist()
            form = re.compile(each.form.replace(r"\p{L}", r"[^\W\d_]"))
            held = np.array([any(each.proof(one.group()) for one in form.finditer(text)) for text in texts])
            places = places[held] if held.sum() >= each.valid * len(held) else places[:0]
        share = column.share(places) if len(places) else 0.0
        if len(places) >= min(each.values, len(column.texts)) and len(places) and share >= each.least:
            shares[each.what] = max(share, shares.get(each.what, 0.0))
    return [Content(what=what, share=share, identifies=True) for what, share in shares.items()]


_GIVEN = (
    "james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony donald "
    "steven paul andrew joshua kenneth kevin brian george edward ronald timothy jason jeffrey ryan jacob gary nicholas "
    "eric jonathan stephen larry justin scott brandon benjamin samuel gregory frank alexander raymond patrick jack "
    "dennis jerry tyler aaron jose adam henry nathan douglas zachary peter kyle walter ethan jeremy harold keith roger "
    "mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy betty margaret sandra "
    "ashley kimberly emily donna michelle carol amanda dorothy melissa deborah stephanie rebecca sharon laura cynthia "
    "kathleen amy shirley angela helen anna brenda pamela nicole emma samantha katherine christine debra rachel "
    "catherine maria heather diane ruth julie olivia joyce virginia kelly lauren christina joan evelyn judith megan "
    "andrea hannah cheryl jacqueline martha gloria teresa ann sara janet julia alice kathryn jean lynn shelly ada "
    "hans peter michael wolfgang klaus jürgen stefan andreas ursula monika petra sabine renate jan lars anders per "
    "ole nils erik bjørn knut svein kari anne inger ingrid marit liv eva karin birgitta elisabeth johan sven gunnar "
    "juha matti timo pekka kari marja pierre michel philippe nathalie isabelle françois juan carlos luis miguel javier "
    "manuel carmen ana josé antonio francisco pedro giuseppe giovanni marco luca francesca giulia joão paulo tomasz "
    "piotr krzysztof anna katarzyna agnieszka ivan sergey olga natalia dmitry vladimir tatiana elena "
    "mohammed mohamed muhammad ahmed ali hassan hussein fatima aisha omar ibrahim yusuf mehmet mustafa ayşe "
    "wei fang min jing lei yang hui rahul priya amit sanjay anita sunita raj deepak pooja hiroshi yuki takashi kenji"
)
_FAMILY = (
    "smith johnson williams jones davis garcia rodriguez wilson martinez anderson thomas hernandez martin thompson "
    "gonzalez robinson lewis lopez perez scott nguyen harris sanchez ramirez torres rivera evans edwards collins "
    "stewart morris murphy rogers reed morgan peterson howard ramos kelly sanders bennett hughes romero ortiz "
    "müller schmidt schneider fischer weber meyer wagner becker hoffmann schulz hansen johansen olsen larsen andersen "
    "pedersen nilsen kristiansen jensen karlsen nielsen christensen andersson johansson karlsson nilsson eriksson "
    "korhonen virtanen dubois durand lefebvre moreau rossi russo ferrari esposito bianchi silva santos oliveira souza "
    "fernandez diaz alvarez kowalski nowak ivanov petrov wang zhang liu chen huang zhao zhou kim choi jung tran pham "
    "singh kumar sharma patel khan gupta tanaka suzuki sato yılmaz kaya"
)
_KNOWN_NAMES = frozenset(f"{_GIVEN} {_FAMILY}".split())
_LETTER = r"A-Za-z\x{80}-\x{2018}\x{201A}-\x{10FFFF}"
_WORDS = rf"^[{_LETTER}][{_LETTER}'’.-]*(?:,? [{_LETTER}][{_LETTER}'’.-]*){{0,4}}$"
"""Other signs beyond ASCII in place of letters match too, and `_OTHERS` rules them out: with `\\pL` here RE2 would take
5 ms to compile it, each time.
"""
_OTHERS = r"[^\x00-\x7F\pL’]"
_NAMED = 0.15
"""The share of distinct values that must contain one of the commonest names. No list has all names, and other things,
such as cities, are named after people too.
"""
_PEOPLE = 5
"""Fewer distinct names than this prove nothing: three categories may happen to have people's names."""
_SPOKEN = 5
"""The average number of words in a note, and of spaces between them."""
_NEW = 0.5
"""Roughly the share of rows whose text occurs only once."""


def _worded(column: _Column) -> list[Content]:
    """Names of people and free text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found, different, rows = [], len(column.texts), int(column.weights.sum())
    worded = column.matching(_WORDS)
    if len(worded):
        worded = pa.array(np.setdiff1d(worded, column.matching(_OTHERS)))
    if len(worded) >= _PEOPLE and 2 * len(worded) >= different:
        held = [
            not _KNOWN_NAMES.isdisjoint(re.split(r"[ ,.-]+", text.lower()))
            for text in column.texts.take(worded).to_pylist()
        ]
        if sum(held) >= max(_NAMED * len(worded), _PEOPLE / 2):
            found.append(Content(what=NAMES, share=column.share(np.asarray(worded)), identifies=True))
    spaces = pc.count_substring_regex(column.texts, r"\s+\S").cast(pa.float64())
    if different >= _NEW * rows and float(np.mean(np.asarray(spaces))) >= _SPOKEN:
        found.append(Content(what=NOTES, share=1.0, identifies=True))
    return found


_DATES = 0.8


def _dated(column: _Column) -> list[Content]:
    """Dates, however they are spelled."""
    told = days_of(column.texts, most=1 - _DATES, digits=column.numbers)
    if told is None:
        return []
    there = np.asarray(told.days.is_valid())
    return [Content(what="dates", share=column.share(there), identifies=False)]
