"""Parts of an answer: its columns, what it cost, and the certificate of what was done for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, inf, isfinite, log10
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, Self, TypeAlias, TypeVar

from discreet.exact.rational import rational, shown
from discreet.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa


End: TypeAlias = Any
"""An end of an interval: a number; of dates a date, of timestamps a timestamp."""

Ends: TypeAlias = tuple[End, End] | None
"""An interval; None where there is none."""


# ── Columns ───────────────────────────────────────────────────────────────────────────────────────────────────────────

_DIGITS = 38
"""Of sums of decimals, in SQL and in Arrow."""

_NEARLY_ALL = 0.95
"""An interval that holds so much of what is declared says nothing."""

_LOPSIDED = 1 / 20
"""Ends whose distances from a value differ by more than this part of the greater aren't told as ±."""

_DECIMAL = re.compile(r"decimal\(38,(\d\d?)\)")


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """One column of an answer.

    Args:
        name: of the column.
        kind: of its values, as in `dp.Kind`: "integer", "real", "text", "boolean", "date" or "timestamp"; or
            "decimal(38,2)" of decimals with two digits behind the point.
        values: one for each row; None is NULL, and a list has several.
        deviation: the standard deviation of the noise in each value, where it is the same in all of them, and known.
        declared: between which numbers each value lies, by what is declared; infinite where nothing says so. Of counts
            it begins at 0, whatever the noise makes of them. None where values aren't numbers, or nothing is declared.
    """

    name: str
    kind: str
    values: tuple[Any, ...] = field(repr=False)
    deviation: float | None = None
    declared: tuple[float, float] | None = None

    def is_informative(self, value: object, found: Ends) -> bool:
        """Whether a value and its interval say more than what is declared says without them.

        Examples:
            >>> cost = AnswerColumn("cost", "real", (2552.0, 20000.0), declared=(0, 20_000))
            >>> cost.is_informative(2552.0, (883, 3873)), cost.is_informative(20000.0, (0, 20_000))
            (True, False)
        """
        if self.declared is None:
            return True
        least, most = self.declared
        if value is None or found is None:
            return value is not None and isfinite(least)
        if most == least or not isfinite(most - least) or any(isinstance(end, date) for end in found):
            return True
        width: float = min(found[1], most) - max(found[0], least)
        return width < _NEARLY_ALL * (most - least)


class Intervals(Protocol):
    """Where an answer's intervals come from: the noise that was added, or the JSON that it was read from."""

    def __call__(self, name: str, confidence: Fraction) -> Sequence[Ends]:
        """The interval of each value of a column.

        Raises:
            InvalidArgument: they aren't known at this confidence.
        """
        ...


def arrow_table(columns: Sequence[AnswerColumn]) -> pa.Table:
    """Columns as an Arrow table; needs PyArrow."""
    import pyarrow as pa

    arrays = [pa.array(one.values, type=arrow_type(one.kind, one.values)) for one in columns]
    return pa.table({one.name: array for one, array in zip(columns, arrays, strict=True)})


def arrow_type(kind: str, values: Sequence[object]) -> pa.DataType | None:
    """The type of a column in Arrow; None leaves it to Arrow, which sees lists and numbers. Needs PyArrow.

    Of decimals that are too great for it, which no declared bounds allow, Arrow says so. Where all is NULL, or there
    are no rows, the kind alone tells.
    """
    if places_of(kind) is None and any(value is not None for value in values):
        return _wide(values)
    return arrow_kind(kind)


def arrow_kind(kind: str) -> pa.DataType | None:
    """The type in Arrow of values of a kind; None if there is no such kind. Needs PyArrow."""
    import pyarrow as pa

    if (places := places_of(kind)) is not None:
        return pa.decimal128(_DIGITS, places)
    types = {
        "integer": pa.int64(),
        "real": pa.float64(),
        "text": pa.string(),
        "boolean": pa.bool_(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us"),
    }
    return types.get(kind)


def decimal_kind(places: int) -> str:
    """The kind of decimals with so many digits behind the point."""
    return f"decimal({_DIGITS},{places})"


def places_of(kind: str) -> int | None:
    """How many digits values of a kind have behind the point; None if they aren't decimals."""
    found = _DECIMAL.fullmatch(kind)
    return None if found is None else int(found[1])


def decimal_of(value: float | str, places: int) -> Decimal:
    """A number as the nearest decimal with so many digits behind the point.

    Examples:
        >>> decimal_of(1234.5, 2), decimal_of(0.125, 2)
        (Decimal('1234.50'), Decimal('0.12'))
    """
    return Decimal(f"{round(Fraction(value) * 10**places)}E-{places}")


def text_table(columns: Sequence[AnswerColumn], intervals: Mapping[str, Sequence[Ends]]) -> str:
    """Columns as text, each noisy value with its interval."""
    cells = [cell_texts(column, intervals[column.name]) for column in columns]
    return _table([column.name for column in columns], list(zip(*cells, strict=True)))


def cell_texts(column: AnswerColumn, intervals: Sequence[Ends]) -> list[str]:
    """The values of a column as people read them: in one notation, and not known where nothing is.

    A count below 0 is told by the end of its interval, since no count is; where one interval is lopsided, all are told
    by their ends.

    Examples:
        >>> cost = AnswerColumn("cost", "real", (2552.0, 20000.0), declared=(0, 20_000))
        >>> cell_texts(cost, [(883, 3873), (0, 20_000)])
        ['2552 (883 to 3873)', 'not known (0 to 20,000)']
        >>> cell_texts(AnswerColumn("n", "integer", (40, -1305), declared=(0, inf)), [(37, 43), (-2788, 178)])
        ['40 ± 3', 'fewer than 179']
    """
    pairs = list(zip(column.values, intervals, strict=True))
    words = [_special(column, value, ends) for value, ends in pairs]
    by_ends = any(one is None and _is_lopsided(value, ends) for (value, ends), one in zip(pairs, words, strict=True))
    return [
        cell_text(value, ends, by_ends=by_ends) if one is None else one
        for (value, ends), one in zip(pairs, words, strict=True)
    ]


def _special(column: AnswerColumn, value: object, found: Ends) -> str | None:
    """What is said in place of a value that says nothing by itself; None if it does."""
    if column.declared is None or value is None:
        return None
    if not column.is_informative(value, found):
        least, most = column.declared
        return f"not known ({least:,.6g} to {most:,.6g})" if isfinite(most - least) else "not known"
    is_count = column.kind == "integer" and column.declared == (0, inf)
    if is_count and isinstance(value, int) and value < 0 and found is not None and isfinite(found[1]):
        return f"fewer than {max(floor(found[1]), 0) + 1:,}"
    return None


def _is_lopsided(value: object, found: Ends) -> bool:
    """Whether an interval reaches clearly further on one side of its value than on the other."""
    if not isinstance(value, (int, float, Decimal)) or isinstance(value, bool) or found is None:
        return False
    if isinstance(found[0], date) or isinstance(found[1], date):
        return False
    below, above = float(value) - found[0], found[1] - float(value)
    rounded = 1 if isinstance(value, int) else 0  # ends of whole numbers are put on the outside
    return not abs(below - above) <= max(max(below, above) * _LOPSIDED, rounded)


def _wide(values: Sequence[object]) -> pa.DataType | None:
    """The type of whole numbers beyond 64 bits, which noise may carry a sum to; None leaves it to Arrow."""
    import pyarrow as pa

    beyond = any(type(value) is int and not -(2**63) <= value < 2**63 for value in values)
    return pa.decimal128(38) if beyond else None


def cell_text(value: object, found: Ends, *, by_ends: bool = False) -> str:
    """One value to the digits that its error leaves: `17432 ± 30`, or with its ends where the interval is lopsided.

    Args:
        value: of an answer.
        found: its interval.
        by_ends: whether to tell the ends anyway, because another value of its column needs them.

    Examples:
        >>> cell_text(38.58164, (38.34, 38.82)), cell_text(3.0, (2.5, 4.5)), cell_text(None, None)
        ('38.58 ± 0.24', '3.0 (2.5 to 4.5)', 'NULL')
    """
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return ", ".join("NULL" if each is None else str(each) for each in value)
    if not isinstance(value, (int, float, Decimal)) or isinstance(value, bool):
        return str(value) if found is None else f"{value} ({found[0]} to {found[1]})"
    if found is None or isinstance(found[0], date) or isinstance(found[1], date):
        return _number(value)
    below, above = float(value) - found[0], found[1] - float(value)
    error = max(below, above)
    places = max(0, 1 - floor(log10(error))) if 0 < error < inf and not isinstance(value, int) else 0
    shown = f"{value:.{places}f}" if isinstance(value, float) else str(value)
    if not by_ends and not _is_lopsided(value, found):
        return f"{shown} ± {error:.{places}f}"
    return f"{shown} ({found[0]:.{places}f} to {found[1]:.{places}f})"


def _number(value: float | Decimal) -> str:
    """A number, whole, as a decimal or to six digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _table(names: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Columns of text, each as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    lines = [names, ["─" * width for width in widths], *cells]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)


_Words = TypeVar("_Words")

_NEARLY = 1e-9
"""Limits leave more of what is counted."""


# ── What it cost, and what limits and bounds took from it ─────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What was charged for an answer, in each way of counting; None is infinite.

    Args:
        epsilon: of pure differential privacy.
        rho: of zero-concentrated differential privacy.
        delta: the probability of rare events in which neither need hold.

    Examples:
        >>> print(Cost(epsilon=Fraction(1, 10), rho=Fraction(1, 200)))
        ε = 0.1
        >>> print(Cost(epsilon=None, rho=Fraction(1, 200), delta=Fraction(1, 10**6)))
        ρ = 0.005, δ = 1e-06
    """

    epsilon: Fraction | None = Fraction(0)
    rho: Fraction | None = Fraction(0)
    delta: Fraction = Fraction(0)

    def to_json(self) -> dict[str, object]:
        """The cost as JSON-ready data: decimal numbers for reading, and exact ones for proof; null is infinite."""
        amounts = {"epsilon": self.epsilon, "rho": self.rho, "delta": self.delta}
        return {
            **{name: None if one is None else float(one) for name, one in amounts.items()},
            "exact": {name: None if one is None else str(one) for name, one in amounts.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_json` wrote."""
        exact = data["exact"]
        epsilon, rho = (None if exact[name] is None else rational(exact[name], name) for name in ("epsilon", "rho"))
        return cls(epsilon=epsilon, rho=rho, delta=rational(exact["delta"], "delta"))

    def __str__(self) -> str:
        if not self.epsilon and not self.rho:
            return "nothing"
        words = f"ε = {shown(self.epsilon)}" if self.epsilon else f"ρ = {shown(self.rho or Fraction(0))}"
        return f"{words}, δ = {shown(self.delta, 3)}" if self.delta else words


def prospect(times: int | None, left: object) -> str:
    """Whether a budget pays for a question, how often, and what it leaves; empty of one that costs nothing.

    Args:
        times: how many questions of the same cost are paid for; None if it costs nothing.
        left: what a next question may cost once it is paid; prints as amounts, and is empty if that isn't known.

    Examples:
        >>> prospect(0, ""), prospect(1, "")
        ("doesn't pay for it; what is stored is free", 'pays for 1 such question')
        >>> prospect(1200, "ε = 2.9")
        'pays for 1,200 such questions; after one, what is left is ε = 2.9'
    """
    if times is None:
        return ""
    if not times:
        return "doesn't pay for it; what is stored is free"
    words = f"pays for {times:,} such question{'' if times == 1 else 's'}"
    return f"{words}; after one, what is left is {left}" if str(left) else words


def answered_already(entries: Sequence[int]) -> str:
    """That a question is answered already, by which entries, and so for nothing; empty if it isn't.

    Examples:
        >>> answered_already([2, 3])
        'answered already by entries 2 and 3: free'
    """
    return f"answered already by {entries_in_words(entries)}: free" if entries else ""


def state_in_words(state: str, *, is_due: bool | None = None) -> str:
    """What became of a question that was paid for, as people read it.

    Args:
        state: as the ledger has it.
        is_due: whether it would have been answered by now; None if nobody knows.

    Examples:
        >>> state_in_words("committed"), state_in_words("reserved"), state_in_words("reserved", is_due=True)
        ('answered', 'pending or lost', 'lost')
    """
    if state == "reserved":
        return "pending or lost" if is_due is None else "lost" if is_due else "pending"
    return {"committed": "answered"}.get(state, state)


class Note(NamedTuple):
    """One line under an answer.

    Args:
        title: what it is about, in a word.
        words: what is to be said of it.
    """

    title: str
    words: str


def entries_in_words(numbers: Sequence[int]) -> str:
    """Entries of a ledger in words.

    Examples:
        >>> entries_in_words([3]), entries_in_words([2, 3])
        ('entry 3', 'entries 2 and 3')
    """
    *most, last = map(str, numbers)
    return f"entries {', '.join(most)} and {last}" if most else f"entry {last}"


@dataclass(frozen=True, slots=True)
class CutOff(Generic[_Words]):
    """What limits cut off.

    Noise hides units that are few, however much they have. So nothing but a bound on what one unit has gives the share
    an upper end. What is said of the ends holds in all but one of 10,000 draws of the noise.

    Args:
        share: of all rows, from 0 to 1: an estimate from the units that are seen; under limits on groups, as if a
            unit's rows were spread over its groups evenly.
        least: what it is at the least.
        most: what it is at the most; None where nothing bounds it.
        limits: those in force; in words, where the answer was read from JSON.

    Examples:
        >>> print(CutOff(0.07, 0.06, None, "5 rows"))  # doctest: +NORMALIZE_WHITESPACE
        limits (5 rows) cut off 7.0% of what is seen, at least 6.0% of all;
        a few units with very many rows wouldn't show
        >>> print(CutOff(0.0, 0.0, None, "24 rows"))
        limits (24 rows) cut off nothing that shows; a few units with very many rows wouldn't show
        >>> print(CutOff(0.01, 0.004, 0.071, "24 rows"))
        limits (24 rows) cut off 0.4% to 7.1% of the rows
    """

    share: float
    least: float
    most: float | None
    limits: _Words

    def __str__(self) -> str:
        said = f"limits ({self.limits}) cut off"
        if self.most is not None:
            return f"{said} {_range(self.least, self.most)} of the rows"
        least, seen = _percent_below(self.least), _percent_below(self.share)
        shown = f"{seen} of what is seen" if seen else "nothing that shows"
        shown += f", at least {least} of all" if least else ""
        return f"{said} {shown}; a few units with very many rows wouldn't show"


def _percent_below(share: float) -> str:
    """A share in per cent, rounded down; empty if that leaves nothing."""
    tenths = floor(1000 * share)
    return f"{tenths / 10:.1f}%" if tenths > 0 else ""


def _range(least: float, most: float) -> str:
    """Two shares in per cent, rounded outwards."""
    above = f"{min(ceil(1000 * most), 1000) / 10:.1f}%"
    below = _percent_below(least)
    return f"{below} to {above}" if below else f"at most {above}"


@dataclass(frozen=True, slots=True)
class Moved(Generic[_Words]):
    """Of how many units bounds move values.

    Args:
        column: with its table.
        bounds: in force; in words, where the answer was read from JSON.
        share: of the units that have values there, those of which some are moved, from 0 to 1: an estimate.
        far: those of which some are moved by more than the bounds are wide.
        margin: by how much either share may be off, in all but one of 10,000 draws of the noise.

    Examples:
        >>> print(Moved("visits.paid", "[0, 100]", share=0.031, far=0.002, margin=0.004))
        bounds of visits.paid ([0, 100]) move values of 2.7% to 3.5% of the units, of at most 0.6% by more than their width; a few units with very large values wouldn't show
    """  # noqa: E501 — one line as it is printed

    column: str
    bounds: _Words
    share: float
    far: float
    margin: float

    def __str__(self) -> str:
        some, far = (_range(each - self.margin, each + self.margin) for each in (self.share, self.far))
        return (
            f"bounds of {self.column} ({self.bounds}) move values of {some} of the units, of {far} by more than their "
            "width; a few units with very large values wouldn't show"
        )


def with_cut_off(found: Ends, cut_off: CutOff[Any]) -> Ends:
    """An interval of a count that limits bound, with what they cut off.

    Args:
        found: of the count of rows within limits.
        cut_off: what limits cut off of these rows.

    Returns:
        That of all rows; its upper end is infinite where nothing bounds what is cut off.
    """
    if found is None:
        return None
    low, high = found
    above = inf if cut_off.most is None or cut_off.most >= 1 else max(high, 0) / (1 - cut_off.most)
    return floor(max(low, 0) / (1 - min(cut_off.least, 1 - _NEARLY))), above if above == inf else ceil(above)


def all_rows_in_words(name: str, found: Ends) -> str:
    """Such an interval, in words.

    Examples:
        >>> all_rows_in_words("n", (187400, 203000)), all_rows_in_words("n", (187400, inf))
        ('n with what limits cut off: 187,400 to 203,000', 'n with what limits cut off: at least 187,400')
    """
    low, high = found or (0, inf)
    ends = f"at least {low:,}" if high == inf else f"{low:,} to {high:,}"
    return f"{name} with what limits cut off: {ends}"


# ── The certificate ───────────────────────────────────────────────────────────────────────────────────────────────────


def certificate(  # noqa: PLR0913 — what is vouched for, each by name
    *,
    text: str,
    analyst: str | None,
    version: int,
    entry: int | None,
    questions: Sequence[str],
    plans: Sequence[Mapping[str, object]],
    cost: Mapping[str, object],
    follows_from: Sequence[Mapping[str, object]] = (),
) -> dict[str, object]:
    """What was done for an answer, or for all answers of a workload, as JSON-ready data: all of it public.

    Args:
        text: of the questions.
        analyst: who asked, if they said so.
        version: the number of the last admission of a table that was read; it says nothing of what they hold.
        entry: the number of the debit in the ledger; None where there was none, for an answer that follows from others
            or from public facts.
        questions: what was asked, in canonical form.
        plans: how what was measured was made: unit, adjacency, bounds, limits, mechanisms with exact parameters.
        cost: in every way of counting.
        follows_from: the certificates of the answers that it follows from.
    """
    return {
        "discreet": __version__,
        "text": text.strip(),
        "analyst": analyst,
        "data_version": version,
        "entry": entry,
        "questions": list(questions),
        "plans": list(plans),
        "cost": dict(cost),
        "follows_from": deepcopy(list(follows_from)),
    }


def said_once(certificate: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A certificate as it is kept beside the question's text: what that says, or another part of it, isn't said again.

    Args:
        certificate: as `certificate` makes it.
        text: the question as it was asked.
    """
    questions, plans = certificate.get("questions"), certificate.get("plans")
    found = dict(certificate)
    if found.get("text") == text.strip():
        found["text"] = None
    if isinstance(questions, list) and isinstance(plans, list):
        places = {question: place for place, question in enumerate(questions)}
        found["plans"] = [
            {**plan, "question": places[plan["question"]]} if plan.get("question") in places else plan for plan in plans
        ]
    return found


def said_in_full(kept: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A certificate of which `said_once` made this; one that was kept in full is as it is.

    Examples:
        >>> whole = {"text": "SELECT 1", "questions": ["1"], "plans": [{"question": "1"}]}
        >>> said_once(whole, " SELECT 1")
        {'text': None, 'questions': ['1'], 'plans': [{'question': 0}]}
        >>> said_in_full(said_once(whole, " SELECT 1"), " SELECT 1") == whole
        True
    """
    found = dict(kept)
    if "text" in found and found["text"] is None:
        found["text"] = text.strip()
    if isinstance(found.get("plans"), list):
        found["plans"] = [
            {**plan, "question": found["questions"][plan["question"]]} if type(plan.get("question")) is int else plan
            for plan in found["plans"]
        ]
    return found
