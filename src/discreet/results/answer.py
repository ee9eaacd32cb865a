"""Answers: released numbers as data, with intervals, cost and certificate."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Protocol, Self

from discreet.arguments import taking_known
from discreet.errors import InvalidArgument
from discreet.exact import Rationalizable
from discreet.exact.rational import confidence as read_confidence
from discreet.hints import Door, Hint
from discreet.notebook import MOST, framed, notes, table, titled
from discreet.results.charts import Chart, charts, drawn, svg
from discreet.results.columns import (
    AnswerColumn,
    End,
    Ends,
    Intervals,
    arrow_table,
    cell_texts,
    decimal_of,
    places_of,
    text_table,
    with_ends,
)
from discreet.results.cost import Cost, Note, entries_in_words
from discreet.results.cut_off import CutOff, Moved, unless_hidden_in_words

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


_TALL = 20
"""Rows: above a longer table stand its pictures."""

_CUT_OFF = ("share", "least", "most", "limits", "ceiling", "shows", "hidden")
_MOVED = ("column", "bounds", "share", "far", "margin")
"""The fields of each that JSON holds, in order."""


class Signer(Protocol):
    """An object that signs answers: the key of an account, or one that remembers what that key has signed."""

    def __call__(self, content: Mapping[str, Any]) -> Mapping[str, Any]:
        """The signature of an answer as JSON-ready data, as JSON-ready data."""
        ...


@dataclass(frozen=True, slots=True)
class _Signed:
    """A signature as it was read. Whether it holds, `verify_certificate` says."""

    signature: Mapping[str, Any]

    def __call__(self, content: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002 — it was signed before
        """That signature."""
        return self.signature


@dataclass(frozen=True, slots=True)
class _Read:
    """Intervals as they were read, at one confidence."""

    confidence: Fraction
    ends: Mapping[str, Sequence[Ends]]
    rows: int

    def __call__(self, name: str, confidence: Fraction) -> Sequence[Ends]:
        """Those, at that confidence."""
        if confidence != self.confidence:
            raise InvalidArgument(
                f"this answer has intervals at {float(self.confidence):.6g} only",
                hint=Hint.of("ask with {confidence}", confidence=f"{float(confidence):.6g}"),
            )
        return self.ends.get(name, (None,) * self.rows)


@taking_known
@dataclass(frozen=True, kw_only=True, repr=False)
class Answer:
    """An answer: immutable, stored with its debit, and the same whenever it is asked for again.

    Args:
        columns: the values, by column, in order.
        intervals: of its values, at whatever confidence.
        confidence: at which errors were announced.
        coverage: what its intervals don't say, or say too cautiously, in words.
        limits: how much of each unit counts, at most, in words; empty where nothing of a unit can be cut off.
        cost: the proved bound on what it gives away about one unit, with what was asked first, so that limits and
            bounds could be chosen. A reused answer cost this when it was released.
        certificate: what was done, as JSON-ready data.
        entry: the number of its debit in the ledger; 0 where there was none, as public facts alone answer it.
        reused: whether it was released before, so that this time it cost nothing.
        origin: the entries that it follows from, where it was worked out from other answers; empty where it was
            released for this question.
        first: the part of `cost` that was paid for what was asked first; None where nothing was.
        cut_off: what limits cut off, where it was measured.
        unless_hidden: intervals, by column, of an answer without groups, at the confidence at which errors were
            announced: if no unit has more rows than those that show. `interval` allows for those that don't.
        moved: what bounds move, by column, where it was measured.
        bounds: of columns, where they were chosen privately; in words, where the answer was read from JSON.
        warnings: what in the question may not mean what it was meant to, and what isn't measured, in plain sentences.
        left: what whoever asked could spend after it, in words; empty where nobody has said. It is true of a moment, so
            it is no part of what is signed and written as JSON.
        signer: signs it when it is written as JSON; None where there is no key at hand.

    Examples:
        >>> answer = census.ask("SELECT COUNT(*) AS n FROM census", epsilon=1)  # doctest: +SKIP
        >>> answer["n"][0], answer.interval("n")[0]                             # doctest: +SKIP
        (32560, (32557, 32563))
    """

    columns: tuple[AnswerColumn, ...]
    intervals: Intervals = field(repr=False, compare=False)
    confidence: Fraction
    coverage: str = ""
    limits: str = ""
    cost: Cost
    certificate: Mapping[str, Any] = field(repr=False)
    entry: int
    reused: bool
    origin: tuple[int, ...] = ()
    first: Cost | None = None
    cut_off: CutOff[Any] | None = None
    unless_hidden: Mapping[str, Ends] = field(default_factory=dict)
    moved: tuple[Moved[Any], ...] = ()
    bounds: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    left: str = field(default="", compare=False)
    signer: Signer | None = field(default=None, repr=False, compare=False)

    def __replace__(self, **changes: Any) -> Self:  # noqa: ANN401 — values of its fields
        """The same answer with other values of some fields, as `copy.replace` makes it from Python 3.13 on."""
        return type(self)(**{**{name: getattr(self, name) for name in _FIELDS}, **changes})

    def __deepcopy__(self, _: object) -> Self:
        """The answer itself: it never changes."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle holds: all of it, and the signature in place of what signs."""
        return {**vars(self), "signer": None if self.signer is None else _Signed(self.to_json()["signature"])}

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """The parts of `to_json`, each with its name, so that FastAPI and `dict(answer)` make that of it."""
        return iter(self.to_json().items())

    def __contains__(self, name: object) -> bool:
        """Whether it has a column of this name."""
        return name in self.names

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> Any:  # noqa: ANN401 — Pydantic's own kind
        """How Pydantic, and FastAPI where a handler says that it returns an answer, take one: as JSON, by `to_json`."""
        written = {"type": "function-plain", "function": cls.to_json, "return_schema": {"type": "dict"}}
        return {"type": "is-instance", "cls": cls, "serialization": written}

    @property
    def __pydantic_serializer__(self) -> Any:  # noqa: ANN401 — Pydantic's own kind
        """The same for where only a value is at hand: a handler that says that it returns anything."""
        from pydantic import TypeAdapter

        return TypeAdapter(type(self)).serializer

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def withheld(self) -> tuple[int, ...]:
        """The rows of which a custodian withholds values, because they are of too few units: they are NULL there."""
        return tuple(sorted({row for column in self.columns for row in column.withheld}))

    def __len__(self) -> int:
        return len(self.columns[0].values)

    def __getitem__(self, name: str) -> list[Any]:
        """The values of one column.

        Raises:
            InvalidArgument: the answer has no such column.
        """
        return list(self.column(name).values)

    def column(self, name: str) -> AnswerColumn:
        """One column, with what is known of its values.

        Raises:
            InvalidArgument: the answer has no such column.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise InvalidArgument(f"the answer has no column {name!r}", hint=f"it has {', '.join(self.names)}")

    def rows(self) -> list[dict[str, Any]]:
        """The answer row by row."""
        found = zip(*(self[name] for name in self.names), strict=True)
        return [dict(zip(self.names, row, strict=True)) for row in found]

    def interval(self, name: str, confidence: Rationalizable | None = None) -> list[Ends]:
        """The interval of each value of a column: it holds the bounded answer with at least this confidence.

        That is over draws of the noise; of a group that a threshold or HAVING selected by its noisy numbers, over those
        that show it. Near the threshold such a group's values are too high, so its intervals reach far down. Where
        ORDER BY with LIMIT picked groups by noisy values, intervals are wider, so that as many hold of those that are
        shown, on average over draws of the noise. What follows from an answer that picked is as unsure as it was there.
        A group that HAVING shows less often than once in ten million draws isn't reckoned with.

        Those of counts and sums, of linear combinations of them, of averages and of ratios of sums hold as often as
        they say, but for rounding: the ends of whole numbers are put on the outside, so with little noise they hold
        more often, at ε = 1 in 97 % and more instead of 95 %; and averages are kept within what bounds allow. Those of
        variances and standard deviations are a little wide: a 95 % interval holds in at most 97 % of all cases,
        where the noise of the group's count is below a hundredth of it. Those of any other arithmetic (a product of two
        aggregates, a rounded one, a difference of two averages) take the worst of their parts together, and are wider
        than they need be (Bonferroni). Those of quantiles, MIN and MAX reach to the edges of the cells in which rows
        are counted around the answer, and so hold more often than they say; of dates, their ends are dates. What MODE
        chooses has none.

        What bounds move isn't in an interval. What limits cut off is in it where that was measured, of counts, sums,
        averages and what is made of them by arithmetic: with limits that were chosen privately, and with `cut_off`. Of
        groups, any may have lost all the rows that were cut off, so with many groups intervals are wide. Where nothing
        bounds how many rows one unit has, an end is infinite. In anything else an interval speaks of the noise only.
        None where a value has no noise, or where the noise may carry it anywhere.

        Args:
            name: the column.
            confidence: from 2⁻⁵⁰ to 1 − 2⁻⁵⁰; that at which errors were announced, if it is left out.

        Raises:
            InvalidArgument: the answer has no such column, the confidence is out of range, or the answer was read from
                JSON and has intervals at another one only.
        """
        level = self.confidence if confidence is None else read_confidence(confidence)
        return list(self.intervals(self.column(name).name, level))

    def informative(self, name: str) -> list[bool]:
        """Whether each value of a column says something, at the announced confidence.

        One whose interval holds nearly all that is declared, 95 % and more, doesn't: that much was known before.

        Raises:
            InvalidArgument: the answer has no such column.
        """
        column = self.column(name)
        return list(map(column.is_informative, column.values, self.interval(name)))

    def notes(self, door: Door = "python") -> tuple[Note, ...]:
        """The lines that belong under the answer, the same wherever it is shown.

        At which confidence the ± holds, which limits are in force and what is known of what they cut off, what bounds
        move, warnings, what it cost the one who asks, with its entry in the ledger, and what is left.

        Args:
            door: in whose words arguments are named.
        """
        found = []
        if any(any(self.interval(name)) for name in self.names):
            words = f"at {float(self.confidence) * 100:.6g} %"
            found.append(Note("±", f"{words}; {self.coverage}" if self.coverage else words))
        if self.withheld:
            rows = f"{len(self.withheld)} of {len(self):,} rows"
            found.append(Note("withheld", f"values of {rows}: they are of too few, by a rule of the custodian's"))
        if self.limits and self.cut_off is None:
            measured = Hint.of("{cut_off} measures how much that leaves out", cut_off=True)
            found.append(Note("limits", f"{self.limits}; {measured if door == 'python' else getattr(measured, door)}"))
        found += [Note(about, words) for about, words in self.tuning]
        found += [Note("warning", warning) for warning in self.warnings]
        return (*found, Note("cost", self.price), *([Note("left", self.left)] if self.left else []))

    @property
    def price(self) -> str:
        """The cost of the answer for someone who asks now, in words; `cost` is what it cost when it was released."""
        if self.origin:
            return f"free: follows from {entries_in_words(self.origin)}"
        if not self.entry:
            return "free: follows from what is declared"
        if self.reused:
            return f"free: the same answer again, paid for in entry {self.entry}"
        return f"{self.cost}, entry {self.entry}"

    def to_json(self, confidence: Rationalizable | None = None) -> dict[str, Any]:
        """The answer as JSON-ready data, with its intervals at one confidence; `from_json` reads it.

        `informative` says of each value that has an interval whether that tells more than what is `declared` does.
        Dates are in ISO form, and numbers that aren't finite are null. Decimals are numbers, or texts if they have more
        digits than a double. It is signed where the account's key is at hand: `verify_certificate` checks that.

        Args:
            confidence: that at which errors were announced, if it is left out.
        """
        level = self.confidence if confidence is None else read_confidence(confidence)
        intervals = {name: self.interval(name, level) for name in self.names}
        content = {
            "columns": {column.name: column.kind for column in self.columns},
            "rows": [{name: _to_json(value) for name, value in row.items()} for row in self.rows()],
            "intervals": {name: _to_json(ends) for name, ends in intervals.items() if any(ends)},
            "confidence": float(level),
            "cost": self.cost.to_json(),
            "entry": self.entry,
            "reused": self.reused,
            "origin": list(self.origin),
            "coverage": self.coverage,
            "limits": self.limits,
            "declared": {one.name: _to_json(one.declared) for one in self.columns if one.declared is not None},
            "informative": {name: self.informative(name) for name, ends in intervals.items() if any(ends)},
            "certificate": self.certificate,
            **self._chosen(),
        }
        return content if self.signer is None else {**content, "signature": dict(self.signer(content))}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read an answer that `to_json` wrote: all of it but intervals at other confidences.

        Raises:
            InvalidArgument: it is anything else.
        """
        try:
            return cls._read(data)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise InvalidArgument(
                "this isn't an answer as discreet writes it", hint="use what Answer.to_json writes"
            ) from None

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> Self:
        """Read an answer; what is wrong with it is some built-in error."""
        kinds, rows, level = data["columns"], data["rows"], read_confidence(data["confidence"])
        columns = tuple(
            AnswerColumn(
                name,
                str(kind),
                tuple(_from_json(row[name], kind) for row in rows),
                declared=_declared_from_json(data.get("declared", {}).get(name)),
                withheld=tuple(map(int, data.get("withheld", {}).get(name, ()))),
            )
            for name, kind in kinds.items()
        )
        ends = {
            name: tuple(None if each is None else _ends_from_json(each, kinds[name]) for each in found)
            for name, found in data["intervals"].items()
        }
        if not columns or any(len(found) != len(rows) for found in ends.values()):
            raise ValueError("no columns, or not an interval for each row")
        cut_off, signature = data.get("cut_off"), data.get("signature")
        told = [name for name in _CUT_OFF if cut_off is not None and name in cut_off]  # earlier versions told less
        return cls(
            columns=columns,
            intervals=_Read(level, ends, len(rows)),
            confidence=level,
            coverage=str(data.get("coverage", "")),
            limits=str(data.get("limits", "")),
            cost=Cost.from_json(data["cost"]),
            first=Cost.from_json(data["first"]) if "first" in data else None,
            certificate=dict(data.get("certificate", {})),
            entry=int(data["entry"]),
            reused=bool(data["reused"]),
            origin=tuple(map(int, data["origin"])),
            cut_off=None if cut_off is None else CutOff(**{name: cut_off[name] for name in told}),
            unless_hidden={
                name: _ends_from_json(ends, kinds[name]) for name, ends in data.get("unless_hidden", {}).items()
            },
            moved=tuple(Moved(*(each[name] for name in _MOVED)) for each in data.get("moved", ())),
            bounds={name: str(ends) for name, ends in data.get("bounds", {}).items()},
            warnings=tuple(map(str, data.get("warnings", ()))),
            signer=None if signature is None else _Signed(dict(signature)),
        )

    def _chosen(self) -> dict[str, Any]:
        """Warnings, and what was chosen or measured privately, as JSON-ready data; nothing, if there are none."""
        found: dict[str, Any] = {"warnings": list(self.warnings)} if self.warnings else {}
        if self.withheld:
            found["withheld"] = {one.name: list(one.withheld) for one in self.columns if one.withheld}
        if self.first is not None:
            found["first"] = self.first.to_json()
        if self.cut_off is not None:
            found["cut_off"] = _in_json(self.cut_off, _CUT_OFF, "limits")
        if self.unless_hidden:
            found["unless_hidden"] = {name: _to_json(ends) for name, ends in self.unless_hidden.items()}
        if self.moved:
            found["moved"] = [_in_json(each, _MOVED, "bounds") for each in self.moved]
        if self.bounds:
            found["bounds"] = {name: str(ends) for name, ends in self.bounds.items()}
        return found

    def to_arrow(self, *, intervals: bool = False) -> pa.Table:
        """The answer as an Arrow table; needs PyArrow.

        The schema's metadata holds, under `discreet`, as JSON: cost, entry, whether the answer was reused, origin,
        confidence, and the notes.

        Args:
            intervals: whether the ends of intervals stand beside each noisy column, as `n_low` and `n_high`, as in
                CSV. Of whole numbers they are whole, or infinite; so they are floats where one is infinite.
        """
        ends = {name: self.interval(name) for name in self.names}
        columns = with_ends(self.columns, ends) if intervals else self.columns
        return arrow_table(columns).replace_schema_metadata({"discreet": json.dumps(self._beside())})

    def to_pandas(self, *, intervals: bool = False) -> pd.DataFrame:
        """The answer as a pandas frame, whose `attrs` hold what the metadata of `to_arrow` does; needs pandas.

        Args:
            intervals: as for `to_arrow`.
        """
        found = self.to_arrow(intervals=intervals).to_pandas()
        found.attrs = self._beside()
        return found

    def to_polars(self, *, intervals: bool = False) -> pl.DataFrame:
        """The answer as a Polars frame, which has no room for anything else; needs Polars.

        Args:
            intervals: as for `to_arrow`.
        """
        import polars as pl

        return pl.DataFrame(self.to_arrow(intervals=intervals))

    def _beside(self) -> dict[str, Any]:
        """What goes with the values where they go on as a frame, as JSON-ready data."""
        return {
            "cost": self.cost.to_json(),
            "entry": self.entry,
            "reused": self.reused,
            "origin": list(self.origin),
            "confidence": float(self.confidence),
            "notes": [[note.title, note.words] for note in self.notes()],
        }

    def charts(self) -> list[Chart]:
        """A chart for each noisy number, as `discreet.results.charts` chooses it; none where there is none.

        A chart's `drawing` is marks, for a page or for paint; `to_svg` is all of them as a file.
        """
        return charts(self.columns, {name: self.interval(name) for name in self.names}, self.confidence)

    def to_svg(self) -> str:
        """A picture of the answer as SVG, with whiskers or bands for intervals: the text of a file.

        It has no script, loads nothing, is light or dark as its reader's screen is, and says in words what it shows.

        Raises:
            InvalidArgument: there is no number with noise to draw.
        """
        return svg(drawn(self.charts()), alone=True)

    def __repr__(self) -> str:
        """The table, as far as a prompt has room for it; nothing of the certificate, nor of what signs it."""
        lines = ["".join(sign if sign.isprintable() else "�" for sign in line) for line in str(self).splitlines()]
        below = len(self.notes()) if type(self) is Answer else 0
        more = len(lines) - below - MOST
        if more > 0:
            lines = [*lines[:MOST], f"… and {more:,} more lines: print() shows all", *lines[len(lines) - below :]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        ends = [self.interval(name) for name in self.names]
        texts = [cell_texts(column, found) for column, found in zip(self.columns, ends, strict=True)]
        numbers = {
            place
            for place, (column, found) in enumerate(zip(self.columns, ends, strict=True))
            if any(found) or column.kind not in {"text", "boolean", "date", "timestamp"}
        }
        dim = {
            (row, place)
            for place, column in enumerate(self.columns)
            for row, told in enumerate(self.informative(column.name))
            if not told or row in column.withheld
        }
        rows = list(zip(*texts, strict=True))
        sheet = table(self.names, rows, numbers=numbers, dim=dim)
        pictures = "".join(svg(chart.drawing()) for chart in self.charts()) if len(self) > 1 else ""
        return framed(*((sheet, pictures) if len(self) <= _TALL else (pictures, sheet)), notes(self.notes()))

    def __str__(self) -> str:
        """A table, each noisy value with its interval at the announced confidence, and what belongs under it."""
        table = text_table(self.columns, {name: self.interval(name) for name in self.names})
        return "\n".join([table, *(f"{title:<9}{words}" for title, words in self.notes())])

    @property
    def tuning(self) -> tuple[tuple[str, str], ...]:
        """Notes on what was measured or chosen privately beside the answer."""
        limits = [] if self.cut_off is None else [str(self.cut_off), self.cut_off.upper_ends]
        shows = None if self.cut_off is None else self.cut_off.shows
        limits += [unless_hidden_in_words(name, ends, shows or 0) for name, ends in self.unless_hidden.items()]
        bounds = [str(each) for each in self.moved]
        bounds += [f"values of {name} were moved into {ends}" for name, ends in self.bounds.items()]
        return (*(("limits", each) for each in limits if each), *(("bounds", each) for each in bounds))


_FIELDS = tuple(each.name for each in fields(Answer))

del Answer.__dataclass_fields__  # FastAPI would take a dataclass apart into fields, some of which JSON doesn't have


class Explanation(Answer):
    r"""The answer to EXPLAIN: one text column, the plan in words. Nothing was spent, and no data was touched.

    `cost` is what the question would cost; there is no entry, and no certificate.

    Examples:
        >>> print(Explanation.of("question  SELECT 1\ncost      ε = 1", Cost(epsilon=Fraction(1))))
        question  SELECT 1
        cost      ε = 1
    """

    @classmethod
    def of(cls, text: str, cost: Cost) -> Self:
        """The explanation of a plan.

        Args:
            text: line by line.
            cost: what the question would cost.
        """
        lines = tuple(text.splitlines())
        level = Fraction(19, 20)
        return cls(
            columns=(AnswerColumn("plan", "text", lines),),
            intervals=_Read(level, {}, len(lines)),
            confidence=level,
            cost=cost,
            certificate={},
            entry=0,
            reused=True,
        )

    def __str__(self) -> str:
        return "\n".join(self["plan"])

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        return framed(titled(str(self)))


def _in_json(measured: CutOff[Any] | Moved[Any], names: Sequence[str], words: str) -> dict[str, Any]:
    """A private measurement as JSON-ready data, with words that say what it is about."""
    values = {name: getattr(measured, name) for name in names}
    return {**values, words: str(values[words])}


def _to_json(value: Any) -> Any:  # noqa: ANN401 — a value, or a list of them
    """A value as JSON has it."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Decimal):
        number = float(value)
        return number if Decimal(repr(number)) == value else str(value)
    if isinstance(value, date):
        return value.isoformat()
    return [_to_json(each) for each in value] if isinstance(value, list | tuple) else value


def _from_json(value: Any, kind: str) -> Any:  # noqa: ANN401 — JSON, and what it stands for
    """A value as it was."""
    if isinstance(value, list):
        return [_from_json(each, kind) for each in value]
    if isinstance(value, dict):
        raise TypeError("no value is an object")
    if (places := places_of(kind)) is not None and isinstance(value, (int, float, str)):
        return decimal_of(value, places)
    if isinstance(value, str) and kind == "date":
        return date.fromisoformat(value)
    return datetime.fromisoformat(value) if isinstance(value, str) and kind == "timestamp" else value


def _declared_from_json(ends: Sequence[Any] | None) -> tuple[float, float] | None:
    """Between which numbers values lie; one that is null lies nowhere."""
    if ends is None:
        return None
    low, high = (None if end is None else float(end) for end in ends)
    return -inf if low is None else low, inf if high is None else high


def _ends_from_json(ends: Sequence[Any], kind: str) -> tuple[End, End]:
    """The ends of an interval; one that is null lies nowhere."""
    low, high = (each if places_of(kind) else _from_json(each, kind) for each in ends)
    if any(each is not None and not isinstance(each, int | float | date) for each in (low, high)):
        raise TypeError("an end is a number or a date")
    return -inf if low is None else low, inf if high is None else high
