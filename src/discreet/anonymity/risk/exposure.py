"""Attribute disclosure: what a class gives away about everyone in it, though no one is found."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.columns import Whole
from discreet.anonymity.frequencies import Frequencies
from discreet.anonymity.grouping import group, starts_of
from discreet.anonymity.models import (
    AlphaK,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    Model,
    RecursiveDiversity,
)
from discreet.anonymity.risk.remedies import in_order
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """The figure that the worst class reaches by a model, whatever its threshold.

    Args:
        name: of the model.
        value: what is reached; ∞ where no class reaches anything, or no threshold would do.
        says: what the value is, in words.
    """

    name: str
    value: float
    says: str

    def to_dict(self) -> dict[str, object]:
        """The figure as JSON-ready data; None where it is infinite."""
        return {"name": self.name, "value": self.value if isfinite(self.value) else None, "says": self.says}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """How much classes give away about a sensitive attribute.

    Args:
        sensitive: the attribute.
        values: how many different values it has.
        homogeneous: how many units hide among units that all have one and the same value of it.
        guessed: the share of units of which a value is guessed right from the class of one of their rows, as often as
            can be: by the value that is right most often there. Any row of a unit with several may be the known one,
            and any of its values, in whatever row, is right.
        baseline: the same without classes: by the table's most frequent value.
        alike: how many values are texts that differ from another only in case, outer blanks or how letters are
            composed. They count as different: if they mean the same, classes look more diverse than they are.
        measures: of each model what is reached.
    """

    sensitive: str
    values: int
    homogeneous: int
    guessed: float
    baseline: float
    alike: int
    measures: tuple[Measure, ...]

    def to_dict(self) -> dict[str, object]:
        """The figures as JSON-ready data."""
        return {
            "sensitive": self.sensitive,
            "values": self.values,
            "homogeneous": self.homogeneous,
            "guessed": self.guessed,
            "baseline": self.baseline,
            "alike": self.alike,
            "measures": [each.to_dict() for each in self.measures],
        }


def exposure_of(frequencies: Frequencies) -> Exposure:
    """How much the classes give away about the sensitive attribute.

    Raises:
        InvalidArgument: the frequencies have none.
    """
    column = frequencies.sensitive
    if column is None:
        raise InvalidArgument("exposure needs a sensitive attribute")
    name, whole = column.name, frequencies.whole
    guessed, baseline, single = 0.0, 0.0, np.zeros(0, dtype=np.bool_)
    if whole:
        most = np.maximum.reduceat(frequencies.counts, frequencies.starts[:-1])
        guessed = _right(frequencies, most) / whole
        baseline = int(frequencies.totals.max()) / whole
        single = most == frequencies.sizes
    return Exposure(
        sensitive=name,
        values=column.size,
        homogeneous=frequencies.within(single),
        guessed=guessed,
        baseline=baseline,
        alike=_alike(column.values),
        measures=_measures(frequencies, name, column.values) if whole else (),
    )


_EXPANDED = 1 << 21
"""How many values of units are looked at, at a time."""


def _right(frequencies: Frequencies, most: Whole) -> float:
    """For how many units a guess of the value from the class is right.

    Args:
        frequencies: of the table.
        most: for each class, how many of its units have its most frequent value.
    """
    members = None if frequencies.classes is None else frequencies.classes.members
    if members is None or frequencies.holders is None:
        return float((frequencies.units * (most / frequencies.sizes)).sum())
    values = frequencies.values[frequencies.holders.pairs]
    size = len(frequencies.totals)
    held = group([frequencies.holders.units, values], [members.number, size]).tuples()
    numbers = np.bincount(held[:, 0], minlength=members.number)
    begins = np.cumsum(numbers) - numbers
    weights = members.rows / np.bincount(members.units, members.rows, minlength=members.number)[members.units]
    expanded = np.cumsum(numbers[members.units])
    right, start = 0.0, 0
    while start < len(members.units):
        stop = int(np.searchsorted(expanded, (expanded[start - 1] if start else 0) + _EXPANDED, side="right"))
        last = members.classes[min(max(stop, start + 1), len(members.classes)) - 1]
        stop = int(np.searchsorted(members.classes, last, side="right"))  # a class is looked at whole
        part = slice(start, stop)
        each = numbers[members.units[part]]
        entry = np.repeat(np.arange(start, stop), each)
        place = np.arange(len(entry)) - np.repeat(np.cumsum(each) - each, each)
        value = held[begins[members.units[entry]] + place, 1]
        keys, of_key = np.unique(members.classes[entry] * size + value, return_inverse=True)
        sums = np.bincount(of_key.reshape(-1), weights[entry])
        right += float(np.maximum.reduceat(sums, starts_of(keys // size)).sum())
        start = stop
    return right


def _alike(values: pa.Array) -> int:
    """How many of some different values look like another one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return 0
    known = values.drop_null()
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(pc.utf8_normalize(known, form="NFKC")))
    return len(known) - int(pc.count_distinct(plain).as_py())


def _measures(frequencies: Frequencies, name: str, values: pa.Array) -> tuple[Measure, ...]:
    """The figures reached by every model; thresholds don't enter."""
    models: list[tuple[str, str, Model]] = [
        ("distinct l-diversity", "least number of values in a class", DistinctDiversity(1, name)),
        ("entropy l-diversity", "least exp(entropy) of a class", EntropyDiversity(1, name)),
        ("recursive (c, 2)-diversity", "c must be above it", RecursiveDiversity(1, 2, name)),
        ("recursive (c, 3)-diversity", "c must be above it", RecursiveDiversity(1, 3, name)),
        ("(α, k)-anonymity", "α: greatest share of a value in a class", AlphaK(1, 1, name)),
        ("t-closeness, equal", "t: farthest a class is from the table", Closeness(1, name)),
        ("basic β-likeness", "β: greatest relative gain of a value", BetaLikeness(1, name)),
        ("enhanced β-likeness", "the same; ∞ if above −ln p", BetaLikeness(1, name, enhanced=True)),
        ("δ-disclosure privacy", "δ must be above it", DeltaDisclosure(1, name)),
    ]
    if in_order(values):
        ordered = Closeness(1, name, distance="ordered")
        models.insert(6, ("t-closeness, ordered", "t by the order of the values", ordered))
    return tuple(Measure(name=title, value=model.reached(frequencies), says=says) for title, says, model in models)
