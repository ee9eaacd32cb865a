"""Exact samplers of integer noise. No seeds: randomness comes from the operating system.

Guarantee: each sampler's distribution is exactly the one its docstring states, given uniform bits. Floats only decide
how fast a draw is settled, never what it is.
"""

from discreet.noise.bernoulli import bernoulli, bernoulli_exp, bernoulli_odds
from discreet.noise.categorical import categorical
from discreet.noise.gaussian_sampler import discrete_gaussian
from discreet.noise.laplace_sampler import discrete_laplace, geometric
from discreet.noise.laplace_variants import bounded_laplace, staircase, truncated_laplace
from discreet.noise.sampling import finite, uniform

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
