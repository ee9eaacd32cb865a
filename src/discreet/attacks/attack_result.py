"""Results of attacks: who was found, how sure, and how much better than without the release; and results compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from math import isfinite
from numbers import Integral
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.anonymity.repeated import Repeated

MOST_GUESSES = 20
"""How many guesses a result shows; all of them count in its figures."""

NOT_TRIED = "not tried"
"""Stands in place of a figure, where nothing was tried."""

_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """An attacker's belief about one person.

    Args:
        who: whom it is about, in words that the attacker has: a name, a row's place, a key.
        what: what is claimed of them.
        confidence: how sure the attacker is, in [0, 1].
        right: whether it is so; None where the truth is unknown.

    Raises:
        InvalidArgument: the confidence is out of range.

    Examples:
        >>> print(Guess(who="Karrie", what="income = 56", confidence=1, right=True))
        Karrie: income = 56, 100 % sure, right
    """

    who: str
    what: str
    confidence: float
    right: bool | None

    def __post_init__(self) -> None:
        _share(self.confidence, "confidence")

    def __str__(self) -> str:
        verdict = {True: ", right", False: ", wrong", None: ""}[self.right]
        return f"{self.who}: {self.what}, {_percent(self.confidence)} sure{verdict}"

    def to_dict(self) -> dict[str, object]:
        """The guess as JSON-ready data."""
        return {"who": self.who, "what": self.what, "confidence": float(self.confidence), "right": self.right}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttackResult:
    """The figures that every attack's result has; an attack's own result adds its own.

    A figure is a field: a number, a text, a flag, a tuple or a mapping of them, or a dataclass of them. `facts` and the
    report are made from the fields, so an attack's result need not write them again. Tuples are curves: they are in
    `facts`, and not in the report.

    Args:
        attack: its name.
        against: what was attacked, in words.
        tried: how many people, or guesses.
        success: share that is right; None where the truth is unknown.
        baseline: the same of an attacker who lacks what was released; None if it is unknown.
        baseline_is: which attacker that is.
        guesses: the surest first, at most 20; see `surest`.
        drawn_from: of how many people those who were tried are a random sample; None if nobody was left out, or they
            weren't drawn. `success` then estimates that of all, and `interval` says how well.
        not_tried: why nothing was tried; None if something was. An attack that tried nothing has neither a success nor
            a baseline: it was neither right nor wrong.
        unit: the columns that say whose a row is; none if each row is a unit of its own. With a unit, people are units.
        repeated: columns that identify and repeat though no unit is named. Then people are rows, and `note` says so.

    Raises:
        InvalidArgument: a share is outside [0, 1], there are too many guesses, or what wasn't tried has
            a figure.

    Examples:
        >>> found = AttackResult(
        ...     attack="linkage", against="raw rows", tried=4, success=0.75, baseline=0.25,
        ...     baseline_is="a row drawn at random", guesses=(),
        ... )
        >>> print(found)
        linkage against raw rows
        tried     4
        right     75 %, where a row drawn at random is right in 25 %
    """

    attack: str
    against: str
    tried: int
    success: float | None
    baseline: float | None
    baseline_is: str
    guesses: tuple[Guess, ...]
    drawn_from: int | None = None
    not_tried: str | None = None
    unit: tuple[str, ...] = ()
    repeated: tuple[Repeated, ...] = ()

    def __post_init__(self) -> None:
        for name, value in (("success", self.success), ("baseline", self.baseline)):
            if value is not None:
                _share(value, name)
        if self.tried < 0:
            raise InvalidArgument("an attack can't try fewer than 0 guesses")
        if (self.tried == 0) != (self.not_tried is not None):
            raise InvalidArgument("an attack either tries something, or says why it doesn't", hint="not_tried=…")
        if self.not_tried is not None and not (self.success is self.baseline is None and not self.guesses):
            raise InvalidArgument("an attack that tried nothing was neither right nor wrong")
        if self.drawn_from is not None and self.drawn_from <= self.tried:
            raise InvalidArgument("a sample is drawn from more people than it has")
        if len(self.guesses) > MOST_GUESSES:
            raise InvalidArgument(f"a result shows at most {MOST_GUESSES} guesses", hint="surest(guesses)")

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the success of all people lies, with 95 % confidence; None if all were tried, or it is unknown.

        Nobody is drawn twice, which makes a sample's share vary less than the binomial that the interval is for.

        Source: Clopper, Pearson (1934), the definition of the limits, see `discreet.stats.confidence_bounds`.

        Examples:
            >>> found = AttackResult(
            ...     attack="linkage", against="raw rows", tried=100, success=0.05, baseline=None, baseline_is="",
            ...     guesses=(), drawn_from=1_000_000,
            ... )
            >>> [round(end, 4) for end in found.interval]
            [0.0164, 0.1128]
        """
        if self.success is None or self.drawn_from is None:
            return None
        from discreet.stats.confidence_bounds import clopper_pearson

        return clopper_pearson(round(self.success * self.tried), self.tried, _CONFIDENCE)

    @property
    def note(self) -> str | None:
        """A warning that rows were counted, where several may be one person's; None if nothing suggests that."""
        if not self.repeated:
            return None
        from discreet.anonymity.repeated import rows_counted

        return rows_counted(self.repeated, "every share is one of rows")

    @property
    def warned(self) -> str:
        """The lines that stand above a report: `note`, and what to say so that it isn't needed; none without it."""
        from discreet.anonymity.repeated import say_whose

        return "" if self.note is None else f"{self.note}\n{say_whose(self.repeated)}\n"

    @property
    def gain(self) -> float | None:
        """How much oftener the attacker is right than without what was released; None where that is unknown."""
        return None if self.success is None or self.baseline is None else self.success - self.baseline

    def facts(self) -> dict[str, object]:
        """All figures by name, JSON-ready; infinite numbers as the texts "inf" and "-inf". Guesses are left out."""
        names = [field.name for field in fields(self) if field.name != "guesses"]
        return {name: _plain(getattr(self, name)) for name in [*names, "interval", "note"]}

    def to_dict(self) -> dict[str, object]:
        """The figures and the guesses, as JSON-ready data."""
        return {**self.facts(), "guesses": [guess.to_dict() for guess in self.guesses]}

    def __str__(self) -> str:
        """A short report: one line a fact, curves left out, then the surest guesses.

        Where rows were counted and perhaps not people, the first line says so.
        """
        return self.warned + self.report()

    def report(self) -> str:
        """The same without `warned`, for where that is said once for several results."""
        shared = {field.name for field in fields(AttackResult)}
        own = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in shared}
        drawn = "" if self.drawn_from is None else f", drawn at random from {self.drawn_from:,}"
        counted = f"units of {', '.join(self.unit)}" if self.unit else ""
        lines = {"tried": f"{self.tried:,}{drawn}", "counted": counted, "right": self._right(), **_shown(own)}
        lines = {name: text for name, text in lines.items() if text}
        width = max(9, *map(len, lines))
        return "\n".join(
            [
                f"{self.attack} against {self.against}",
                *(f"{name:<{width}} {text}" for name, text in lines.items()),
                *(f"  {guess}" for guess in self.guesses),
            ]
        )

    def _right(self) -> str:
        """How often it is right, and what that is worth."""
        if self.not_tried is not None:
            return f"{NOT_TRIED}: {self.not_tried}"
        alone = "" if self.baseline is None else f"{self.baseline_is} is right in {_percent(self.baseline)}"
        if self.success is None:
            return alone
        right = share_shown(self)
        return f"{right}, where {alone}" if alone else right


def share_shown(result: AttackResult) -> str:
    """A success as reports and tables have it: in percent, with its interval; "not tried", and "unknown".

    Examples:
        >>> untried = AttackResult(
        ...     attack="linkage", against="answers", tried=0, success=None, baseline=None, baseline_is="", guesses=(),
        ...     not_tried="the budget doesn't last for one person",
        ... )
        >>> share_shown(untried)
        'not tried'
    """
    if result.success is None:
        return _lacking(result)
    ends = result.interval
    between = "" if ends is None else f" ({100 * ends[0]:.4g} % to {100 * ends[1]:.4g} %)"
    return _percent(result.success) + (" of rows" if result.repeated else "") + between


def baseline_shown(result: AttackResult) -> str:
    """A baseline as tables have it: in percent; "not tried", and "unknown"."""
    return _lacking(result) if result.baseline is None else _percent(result.baseline)


def _lacking(result: AttackResult) -> str:
    """The text in place of a figure that isn't there."""
    return "unknown" if result.not_tried is None else NOT_TRIED


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison:
    """The results of one attack against each way to publish a table.

    Args:
        attack: its name.
        results: one for each way.
    """

    attack: str
    results: tuple[AttackResult, ...]

    def rows(self) -> list[dict[str, object]]:
        """The table: what was attacked, how many were tried, how often it was right, and how often without.

        An attack that wasn't tried has None for these, and says why; one that was tried on a sample has its interval.
        """
        return [
            {
                "against": result.against,
                "tried": result.tried,
                "success": result.success,
                "baseline": result.baseline,
                "gain": result.gain,
                "interval": result.interval,
                "not_tried": result.not_tried,
            }
            for result in self.results
        ]

    def to_dict(self) -> dict[str, object]:
        """All of it, as JSON-ready data."""
        return {"attack": self.attack, "results": [result.to_dict() for result in self.results]}

    def __str__(self) -> str:
        """The table, for people; the first line says if rows were counted and perhaps not people."""
        width = max((len(result.against) for result in self.results), default=0)
        right = [share_shown(result) for result in self.results]
        wide = max(8, *map(len, right))
        lines = [f"{self.attack:<{width}} {'tried':>7} {'right':>{wide}} {'without':>8}"]
        lines += [
            f"{result.against:<{width}} {result.tried:>7,} {shown:>{wide}} {baseline_shown(result):>8}"
            for result, shown in zip(self.results, right, strict=True)
        ]
        return next((result.warned for result in self.results if result.repeated), "") + "\n".join(lines)


def surest(guesses: Iterable[Guess]) -> tuple[Guess, ...]:
    """The guesses that a result shows: the surest first, at most 20; of equally sure ones the first.

    Examples:
        >>> unsure = Guess(who="A", what="was asked", confidence=0.5, right=None)
        >>> sure = Guess(who="B", what="was asked", confidence=1, right=None)
        >>> [guess.who for guess in surest([unsure, sure])]
        ['B', 'A']
    """
    return tuple(sorted(guesses, key=lambda guess: -guess.confidence)[:MOST_GUESSES])


def _share(value: float, name: str) -> None:
    """Refuse what isn't a share."""
    if not 0 <= value <= 1:
        raise InvalidArgument(f"{name} is a share, in [0, 1]")


def _percent(share: float) -> str:
    """A share in percent, to three digits."""
    return f"{100 * share:.3g} %"


def _shown(figures: Mapping[str, object]) -> dict[str, str]:
    """Figures as the report has them: curves, mappings, and what is unknown, are left out."""
    kept = {name: value for name, value in figures.items() if isinstance(value, str | int | float | Fraction)}
    return {name.replace("_", " "): _worded(value) for name, value in kept.items()}


def _worded(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{float(value):.4g}" if isinstance(value, float | Fraction) else str(value)


def _plain(value: object) -> object:
    """A figure as JSON has it."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, float | Fraction):
        number = float(value)
        return number if isfinite(number) else str(number)
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, Sequence):
        return [_plain(each) for each in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    raise InvalidArgument(f"a figure can't be a {type(value).__name__}", hint="plain numbers, texts and tuples")
