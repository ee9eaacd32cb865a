"""What was asked, kept beside the answer as exact JSON, so that its plan can be made again.

What is read back is believed no further than this: the plan made from it has the digest under which it was paid for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import InvalidArgument
from discreet.privacy import Bounds, Limits
from discreet.query.planner import Auto, Request, Wish


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question, or several that were planned together, with what was offered.

    Args:
        questions: each with its dialect.
        request: what was offered for all of them.
        together: whether they are a workload.
    """

    questions: tuple[tuple[str, str], ...]
    request: Request
    together: bool

    def to_json(self) -> dict[str, object]:
        """What was asked, as JSON-ready data; rationals as `"p/q"`."""
        return {
            "questions": [{"text": text, "dialect": dialect} for text, dialect in self.questions],
            "request": _request_to_json(self.request),
            "together": self.together,
        }

    @classmethod
    def from_json(cls, data: Any) -> Asked | None:  # noqa: ANN401 — JSON from the ledger
        """Read back what `to_json` wrote; None for anything else, such as what a later version writes."""
        try:
            return cls(
                questions=tuple((str(one["text"]), str(one["dialect"])) for one in data["questions"]),
                request=_request_from_json(**data["request"]),
                together=bool(data["together"]),
            )
        except (TypeError, ValueError, KeyError, ZeroDivisionError, InvalidArgument):
            return None


def _request_to_json(request: Request) -> dict[str, object]:
    """An offer as JSON-ready data."""
    return {
        "epsilon": _written(request.epsilon),
        "rho": _written(request.rho),
        "delta": _written(request.delta),
        "within": [
            [name, _written(wish.width), _written(wish.part), _written(wish.floor)] for name, wish in request.within
        ],
        "weights": [[name, str(weight)] for name, weight in request.weights],
        "confidence": str(request.confidence),
        "limits": _limits_to_json(request.limits),
        "bounds": [
            [name, [str(ends.lo), str(ends.hi)] if isinstance(ends, Bounds) else ends] for name, ends in request.bounds
        ],
        "consistent": request.consistent,
    }


def _request_from_json(  # noqa: PLR0913 — what `_request_to_json` writes, each by name
    *,
    epsilon: str | None,
    rho: str | None,
    delta: str | None,
    within: Sequence[Sequence[str | None]],
    weights: Sequence[Sequence[str]],
    confidence: str,
    limits: Any,  # noqa: ANN401 — JSON
    bounds: Sequence[Any],
    consistent: bool,
) -> Request:
    """The offer."""
    return Request(
        epsilon=_read(epsilon),
        rho=_read(rho),
        delta=_read(delta),
        within=tuple(
            (str(name), Wish(width=_read(width), part=_read(part), floor=_read(floor)))
            for name, width, part, floor in within
        ),
        weights=tuple((name, Fraction(weight)) for name, weight in weights),
        confidence=Fraction(confidence),
        limits=Limits(**limits) if isinstance(limits, dict) else limits,
        bounds=tuple((name, Bounds(*map(Fraction, ends)) if isinstance(ends, list) else ends) for name, ends in bounds),
        consistent=consistent,
    )


def _limits_to_json(limits: Limits | Auto | None) -> object:
    """Limits by name; "auto" and None as they are."""
    if not isinstance(limits, Limits):
        return limits
    return {"groups": limits.groups, "rows_per_group": limits.rows_per_group, "rows": limits.rows}


def _written(number: Fraction | None) -> str | None:
    """A number exactly."""
    return None if number is None else str(number)


def _read(text: str | None) -> Fraction | None:
    """A number as it was."""
    return None if text is None else Fraction(text)
