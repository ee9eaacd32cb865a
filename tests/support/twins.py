"""How many draws a likelihood ratio takes to find out that they are of a wrong twin."""

from __future__ import annotations

from math import ceil, log, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.exact.rational import Rationalizable
from discreet.stats import likelihood_ratio_critical

MISS = 1e-10
"""With which probability a twin is let through, at the most."""


def enough(claimed: NDArray[np.float64], twin: NDArray[np.float64], alarm: Rationalizable) -> int:
    """So many draws that a twin with these probabilities is found out, but for `MISS`.

    The statistic n·KL(observed/n ‖ claimed) is the largest of Σ observed·log(q/claimed) over all laws q, hence at least
    what the twin's own law gives. That is a sum of n independent terms, whose mean is KL(twin ‖ claimed). It is above
    the critical value by Bernstein's inequality: no limit theorem.

    Args:
        claimed: the probabilities of all categories.
        twin: what they are in truth; above 0 only where what is claimed is.
        alarm: the false alarm of the test.

    Examples:
        >>> enough(np.array([0.5, 0.5]), np.array([0.515, 0.485]), 1e-9)
        307104
    """
    seen = twin > 0
    chances, terms = twin[seen], np.log(twin[seen] / claimed[seen])
    mean = float(chances @ terms)
    variance, below = float(chances @ (terms - mean) ** 2), float(mean - terms.min())
    critical, doubt = likelihood_ratio_critical(len(claimed), alarm), log(1 / MISS)
    # n·mean − critical ≥ √(2·n·variance·doubt) + (2/3)·below·doubt, solved for √n
    root, rest = sqrt(2 * variance * doubt), critical + 2 / 3 * below * doubt
    return ceil(((root + sqrt(root**2 + 4 * mean * rest)) / (2 * mean)) ** 2)
