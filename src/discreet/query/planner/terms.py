"""Terms: the settings beside a question, and how each is read and written as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from typing import Any, Literal, NamedTuple, Self, TypeAlias, TypedDict

from discreet.errors import InvalidArgument
from discreet.exact import Rationalizable
from discreet.exact.rational import confidence as read_confidence
from discreet.exact.rational import moderate, positive, probability
from discreet.hints import Hint
from discreet.parameters import Sent, Value, parameters_from_json, parameters_to_json, read_parameters
from discreet.privacy import Bounds, BoundValue, Limits
from discreet.query.planner.typed_terms import (
    typed_accuracies,
    typed_bounds,
    typed_by_column,
    typed_flag,
    typed_limits,
    typed_parameters,
)
from discreet.query.planner.within import Accuracies, read_within, within_from_json, within_to_json

_PAIR = 2

_ROWS_DIGITS = 12
"""The longest number of rows that is read."""

_DAY = 10
"""The characters of a date; a time has more."""

_LEAST_DELTA = Fraction(1, 10**30)
"""Accounts count δ in steps of 10⁻⁴⁰, upwards: of this one, no charge is off by more than a part in 10¹⁰."""

Auto: TypeAlias = Literal["auto"]
"""To be chosen privately, for a stated share of the offer."""


class Terms(TypedDict, total=False):
    """The settings beside a question, by name.

    Args:
        epsilon: the offer for Laplace noise; with `within`, the most that the question may cost.
        delta: the offer for choosing groups privately, which is needed where their keys aren't public. Beside
            `epsilon` it allows Gaussian noise, too, which is used where it errs less, and is charged in ρ.
        rho: the same as `epsilon`, for Gaussian noise.
        within: the half width of intervals to reach, for all columns or by name, at the least cost: a number, or a part
            of every value from some size on, as in `{"n": ("5%", 1000)}`. For averages, variances and ratios it is
            meant in a group of 1,000 rows, or of as many as are expected.
        weights: by column, how much its relative error matters, 1 by default: the offer is shared so that the worst
            error, times its weight, is least.
        confidence: the confidence of announced errors and of `within`; 0.95 by default.
        expecting: about how many rows a group has, 1,000 by default: the errors of averages, variances and ratios are
            stated for it. A guess will do: it changes neither the answer nor how an offer is shared, since all errors
            fall alike as groups grow.
        limits: how much a unit may contribute to this question, in place of the declared limits. Lower ones cut off
            more and need less noise; all are private. "auto" spends a tenth of the offer on a private profile of how
            much units contribute, and chooses the limits that err least; the answer then says which, and about how much
            they cut off, and its intervals hold that. The same is done where no table declares limits.
        bounds: bounds of columns, in place of wider declared ones or of none: `{"income": Bounds(0, 10**6)}`. "auto"
            spends another tenth of the offer on a private profile of how large values are, and chooses bounds that hold
            nearly all of them; the answer says which.
        consistent: without effect: the groups of ROLLUP, CUBE and GROUPING SETS add up wherever they can.
        cut_off: whether to measure how much limits cut off, even if they aren't chosen, so that intervals hold it, and
            how many units have values that bounds move before they are added up; for a tenth of the offer.
        dialect: the SQL dialect of the question, as sqlglot names it; "duckdb" by default.
        parameters: the values of the question's placeholders, one for each `?`: numbers, texts, truth values, dates,
            timestamps and None. Each stands in the question as a value and can be nothing else, whatever is in it.
        analyst: who asks, if analysts have budgets of their own.
    """

    epsilon: Rationalizable | None
    delta: Rationalizable | None
    rho: Rationalizable | None
    within: Accuracies | None
    weights: Mapping[str, Rationalizable] | None
    confidence: Rationalizable
    expecting: int | None
    limits: Limits | Auto | None
    bounds: Mapping[str, Bounds | tuple[BoundValue, BoundValue] | Auto] | None
    consistent: bool
    cut_off: bool
    dialect: str
    parameters: Sequence[Value] | None
    analyst: str | None


def _by_column(given: object, name: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise InvalidArgument(
            f"{name} must be given by column, not as {type(given).__name__}",
            hint=Hint(f'{name}={{"income": …}}', cli=f"--{name} income=…"),
        )
    return given


def _read_weights(weights: Mapping[str, Rationalizable], name: str) -> tuple[tuple[str, Fraction], ...]:
    """The weights by column."""
    return tuple((column, moderate(weight, "a weight")) for column, weight in _by_column(weights, name).items())


def _read_confidence(confidence: Rationalizable, _name: str) -> Fraction:
    """The confidence of intervals."""
    return read_confidence(confidence)


def _read_limits(limits: object, _name: str) -> object:
    """Limits, or "auto"; or as they are typed."""
    limits = typed_limits(limits) if isinstance(limits, str) else limits
    if limits != "auto" and not isinstance(limits, Limits):
        raise InvalidArgument(
            f"limits must be Limits or 'auto', not {type(limits).__name__}",
            hint=Hint("Limits(rows=50)", cli="--limits 50"),
        )
    return limits


def _limits_as_sent(limits: object, name: str) -> object:
    """Limits, by the names of their parts where they come as JSON."""
    try:
        return _read_limits(Limits(**limits) if isinstance(limits, Mapping) else limits, name)
    except TypeError:
        raise InvalidArgument("limits have no such parts", hint='{"limits": {"rows": 5}}') from None


def _bounds_as_sent(bounds: Mapping[str, object], name: str) -> tuple[tuple[str, object], ...]:
    """Bounds by column; JSON has lists for pairs."""
    sent = _by_column(bounds, name).items()
    return _read_bounds({column: tuple(ends) if isinstance(ends, list) else ends for column, ends in sent}, name)


def _read_bounds(bounds: Mapping[str, object], name: str) -> tuple[tuple[str, object], ...]:
    """Bounds by column, or "auto"; a pair stands for bounds, as in a declaration."""
    found: dict[str, object] = {}
    for column, ends in _by_column(bounds, name).items():
        is_pair = isinstance(ends, tuple) and len(ends) == _PAIR
        found[column] = Bounds(*ends) if is_pair else ends
        if found[column] != "auto" and not isinstance(found[column], Bounds):
            raise InvalidArgument(
                f"bounds of {column!r} must be Bounds, a pair or 'auto'",
                hint=Hint("Bounds(0, 100)", cli=f"--bounds {column}=0..100"),
            )
    return tuple(sorted(found.items()))


def _read_rows(value: object, name: str) -> int:
    """A number of rows."""
    whole = int(value) if isinstance(value, str) and value.isdecimal() and len(value) <= _ROWS_DIGITS else value
    if isinstance(whole, bool) or not isinstance(whole, int) or not 1 <= whole < 10**_ROWS_DIGITS:
        raise InvalidArgument(
            f"{name} must be a whole number of rows, at least 1", hint=Hint.of("{expecting}", expecting=20000)
        )
    return whole


def _read_flag(value: object, name: str) -> bool:
    """Yes or no."""
    if not isinstance(value, bool):
        raise InvalidArgument(f"{name} must be True or False, not {type(value).__name__}")
    return value


def _read_text(value: object, name: str) -> str:
    """A name."""
    if not isinstance(value, str):
        raise InvalidArgument(f"{name} must be a text, not {type(value).__name__}")
    return value


def read_delta(said: Rationalizable, name: str) -> Fraction:
    """A δ that an account can charge as it is.

    Raises:
        InvalidArgument: it isn't within (0, 1), or is too small to be charged.
    """
    delta = probability(said, name)
    if delta < _LEAST_DELTA:
        raise InvalidArgument(
            f"{name} must be at least 1e-30: accounts count it in steps of 1e-40",
            hint=Hint.of("{delta} is far below 1 / number of units for any table", delta=1e-15),
        )
    return delta


def _limits_to_json(limits: Limits | Auto | None) -> object:
    """Limits by the names of their parts; "auto" and None as they are."""
    if not isinstance(limits, Limits):
        return limits
    return {"groups": limits.groups, "rows_per_group": limits.rows_per_group, "rows": limits.rows}


def _limits_from_json(data: Any, name: str) -> object:  # noqa: ANN401 — JSON
    """Limits, or "auto"."""
    return _read_limits(Limits(**data) if isinstance(data, dict) else data, name)


def _bounds_to_json(bounds: Sequence[tuple[str, Bounds | Auto]]) -> object:
    """Bounds by column, as exact numbers or times; "auto" as it is."""
    return [[name, [str(ends.lo), str(ends.hi)] if isinstance(ends, Bounds) else ends] for name, ends in bounds]


def _bounds_from_json(data: Any, name: str) -> tuple[tuple[str, object], ...]:  # noqa: ANN401 — JSON
    """Bounds by column."""
    read = {column: Bounds(*map(_end, ends)) if isinstance(ends, list) else ends for column, ends in data}
    return _read_bounds(read, name)


def _end(text: str) -> Fraction | date:
    """An end of bounds: a number, a date or a time."""
    if text[1:].count("-") < _PAIR:
        return Fraction(text)
    return date.fromisoformat(text) if len(text) == _DAY else datetime.fromisoformat(text)


Number: TypeAlias = str | int | float
"""A number as it is sent."""


class Form(NamedTuple):
    """How a term is read, written and described.

    Args:
        words: a description of one line.
        sent: its type in JSON that a client sends; numbers may be texts, which are read exactly.
        read: reads a value given in Python; takes the term's name, too.
        to_json: makes JSON-ready data of it, with rationals as `"p/q"`.
        from_json: reads that back; takes the term's name, too.
        typed: makes the value given in Python of a text that was typed.
        as_sent: reads JSON that a client sends, if it is of other types than Python's.
    """

    words: str
    sent: Any
    read: Callable[[Any, str], Any]
    to_json: Callable[[Any], object]
    from_json: Callable[[Any, str], Any]
    typed: Callable[[str], Any] = str.strip
    as_sent: Callable[[Any, str], Any] | None = None

    @classmethod
    def as_said(
        cls, words: str, sent: type, read: Callable[[Any, str], Any], typed: Callable[[str], Any] = str.strip
    ) -> Self:
        """The form of a term that is read the same from JSON and from Python."""
        return cls(words, sent, read, lambda value: value, read, typed)

    def received(self, said: Any, name: str) -> Any:  # noqa: ANN401 — a term, as it is sent, and as it is read
        """Read the term as a server receives it: as JSON, or as given in Python."""
        return (self.as_sent or self.read)(said, name)


FORMS: Mapping[str, Form] = {
    "epsilon": Form("The offer in ε, for Laplace noise: 0.1 or '1/10'.", Number, moderate, str, positive),
    "delta": Form("The offer in δ, for groups that aren't public.", Number, read_delta, str, probability),
    "rho": Form("The offer in ρ (zCDP), for Gaussian noise.", Number, moderate, str, positive),
    "within": Form(
        "The half width of intervals to reach at the least cost, for all columns or by name.",
        Number | dict[str, Number],
        lambda said, _: read_within(said),
        within_to_json,
        within_from_json,
        typed_accuracies,
    ),
    "weights": Form(
        "How much the relative error of each column matters, by column.",
        dict[str, Number],
        _read_weights,
        lambda weights: [[name, str(weight)] for name, weight in weights],
        lambda data, name: _read_weights(dict(data), name),
        lambda text: typed_by_column(text.split(";")),
    ),
    "confidence": Form(
        "The confidence of intervals; 0.95 if left out.", Number, _read_confidence, str, _read_confidence
    ),
    "expecting": Form.as_said(
        "About how many rows a group has, for the errors that are announced; 1,000 if left out.",
        int,
        _read_rows,
        lambda text: text.strip().replace(",", ""),
    ),
    "limits": Form(
        "How much one unit may contribute; or 'auto'.",
        dict[str, int] | str,
        _read_limits,
        _limits_to_json,
        _limits_from_json,
        typed_limits,
        _limits_as_sent,
    ),
    "bounds": Form(
        "Bounds by column; or 'auto'.",
        dict[str, list[Number] | str],
        _read_bounds,
        _bounds_to_json,
        _bounds_from_json,
        lambda text: typed_bounds(text.split(";")),
        _bounds_as_sent,
    ),
    "consistent": Form.as_said("Without effect: groups of ROLLUP and CUBE add up.", bool, _read_flag, typed_flag),
    "cut_off": Form.as_said(
        "Whether to measure how much limits cut off, for a tenth of the offer.", bool, _read_flag, typed_flag
    ),
    "dialect": Form.as_said("The dialect of the SQL; 'duckdb' if left out.", str, _read_text),
    "parameters": Form(
        "The values of the question's placeholders, one for each ?.",
        list[Sent],
        read_parameters,
        parameters_to_json,
        parameters_from_json,
        lambda text: typed_parameters(text.split(";")),
        parameters_from_json,
    ),
    "analyst": Form.as_said("Who asks, if analysts have budgets of their own.", str, _read_text),
}
"""The terms, by name."""

OFFERED: Mapping[str, Form] = {name: form for name, form in FORMS.items() if name != "analyst"}
"""The terms beside a question if a token, or the start of a session, says who asks."""
