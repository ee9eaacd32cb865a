"""Local sensitivity at a distance: how far a value could move if a table were a few units different."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.errors import InvalidArgument


def median_sensitivities(values: Sequence[int], *, lower: int, upper: int, steps: int) -> list[int]:
    """A(0), A(1), …: how far the median could move between neighbours, of any table within k substitutions.

    With the values sorted as x₁ ≤ … ≤ xₙ, m = (n + 1)/2, and the bounds beyond both ends,

        A(k) = max over t = 0 … k + 1 of x₍ₘ₊ₜ₎ − x₍ₘ₊ₜ₋ₖ₋₁₎.

    Neighbours differ in one value, put in place of another; so how many there are is public.

    Args:
        values: an odd number of integers; those beyond the bounds are moved to them.
        lower: the least value, from public knowledge.
        upper: the greatest; not below `lower`.
        steps: how many distances to look at, 1 or more; public, too.

    Returns:
        `steps` integers that don't fall. As exact as the data, so not to be released.

    Raises:
        InvalidArgument: an argument is out of range.

    Source: Nissim, Raskhodnikova, Smith (2007), the proposition on the smooth sensitivity of the median.

    Examples:
        >>> median_sensitivities([3, 4, 5, 6, 90], lower=0, upper=100, steps=4)
        [1, 85, 95, 96]
    """
    if type(steps) is not int or steps < 1 or lower > upper or len(values) % 2 != 1:
        raise InvalidArgument("it takes an odd number of values, lower no greater than upper, and 1 step or more")
    kept = sorted(min(max(value, lower), upper) for value in values)
    line = [lower] * (steps + 1) + kept + [upper] * (steps + 1)  # the bounds, as far out as it looks
    middle = steps + 1 + len(values) // 2
    return [max(line[middle + t] - line[middle + t - k - 1] for t in range(k + 2)) for k in range(steps)]


def steps_until(sensitivities: Sequence[int], bound: int) -> int:
    """How many units must change until the local sensitivity can exceed a bound; at most how many steps were looked at.

    It moves by at most 1 between neighbours, since A(k) of a table is at most A(k + 1) of its neighbour.

    Args:
        sensitivities: A(0), A(1), …, as `median_sensitivities` gives them.
        bound: on the local sensitivity.

    Examples:
        >>> steps_until([1, 85, 95, 96], 50), steps_until([1, 85, 95, 96], 100)
        (1, 4)
    """
    return next((k for k, most in enumerate(sensitivities) if most > bound), len(sensitivities))
