"""Exact samplers of integer noise. No seeds: randomness comes from the operating system.

Guarantee: each sampler's distribution is exactly the one its docstring states, given uniform bits. Floats only decide
how fast a draw is settled, never what it is.
"""

from discreet.noise.bernoulli import bernoulli, bernoulli_exp, bernoulli_odds
from discreet.noise.bounded_laplace import bounded_laplace, truncated_laplace
from discreet.noise.categorical import categorical
from discreet.noise.finite import finite
from discreet.noise.gaussian import discrete_gaussian
from discreet.noise.geometric import geometric
from discreet.noise.laplace import discrete_laplace
from discreet.noise.staircase import staircase
from discreet.noise.uniform import uniform

__all__ = [
    "bernoulli",
    "bernoulli_exp",
    "bernoulli_odds",
    "bounded_laplace",
    "categorical",
    "discrete_gaussian",
    "discrete_laplace",
    "finite",
    "geometric",
    "staircase",
    "truncated_laplace",
    "uniform",
]
