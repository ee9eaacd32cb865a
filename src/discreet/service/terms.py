"""Terms: what a caller offers for a question, in whose name, and what one question of theirs may cost."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.errors import AboveCeiling, InvalidArgument
from discreet.privacy import Limits
from discreet.service.tokens import Caller


def terms_of(subject: str, terms: Mapping[str, Any]) -> dict[str, Any]:
    """The terms of a question, which is asked in this name; limits and bounds may be said as JSON has them.

    Raises:
        InvalidArgument: another analyst is named, or limits are of no shape that is known.
    """
    if terms.get("analyst", subject) != subject:
        raise InvalidArgument("a question is asked in the name of the token's holder", hint="leave the analyst out")
    found = {**terms, "analyst": subject}
    if isinstance(bounds := found.get("bounds"), Mapping):
        found["bounds"] = {name: tuple(ends) if isinstance(ends, list) else ends for name, ends in bounds.items()}
    try:
        if isinstance(limits := found.get("limits"), Mapping):
            found["limits"] = Limits(**limits)
    except TypeError:
        raise InvalidArgument("limits aren't of a shape that is known", hint='{"limits": {"rows": 5}}') from None
    return found


def check_ceiling(caller: Caller, plan: Mapping[str, Any]) -> None:
    """Refuse what costs more than the caller may spend on one question.

    A question has to be within each ceiling that there is; but where it has no finite ε, the one in ρ alone binds it.

    Raises:
        AboveCeiling: it does; or it has no finite ε, and there is a ceiling in ε and none in ρ.
    """
    exact = plan["cost"]["exact"]
    epsilon, rho = (None if exact[name] is None else Fraction(exact[name]) for name in ("epsilon", "rho"))
    if caller.most_epsilon is not None and (epsilon is not None or caller.most_rho is None):
        _check("ε", epsilon, caller.most_epsilon)
    if caller.most_rho is not None:
        _check("ρ", rho, caller.most_rho)


def _check(name: str, cost: Fraction | None, most: Fraction) -> None:
    """Refuse a cost above a ceiling.

    Raises:
        AboveCeiling: it is.
    """
    if cost is not None and cost <= most:
        return
    said = f"no finite {name}" if cost is None else f"{name} = {float(cost):.6g}"
    raise AboveCeiling(
        f"this question costs {said}, and one of yours may cost {name} = {float(most):.6g}",
        hint="offer less, or request approval for it",
    )
