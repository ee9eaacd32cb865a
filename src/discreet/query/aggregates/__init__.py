"""Aggregates: each an object that says all there is to say of it, in the file of its family.

It says what it takes, which type it has, what is measured for it, how it is estimated from that, and what SQL calls it.
A new one goes into the file of its family; a new family is listed here.
"""

import copyreg
from collections.abc import Mapping
from types import MappingProxyType

from discreet.query import ir
from discreet.query.aggregates import associations, counts, modes, moments, quantiles, regressions, sums, truths
from discreet.query.aggregates.arguments import range_of
from discreet.query.aggregates.counts import COUNT, DISTINCT, UNITS
from discreet.query.aggregates.measures import Measures, Moment
from discreet.query.aggregates.middles import centred
from discreet.query.aggregates.modes import MODE
from discreet.query.aggregates.moments import AVG
from discreet.query.aggregates.quantiles import QUANTILE
from discreet.query.aggregates.spelling import Form, Spelling
from discreet.query.aggregates.sums import SUM

_FAMILIES = (counts, sums, moments, associations, regressions, quantiles, modes, truths)

AGGREGATES: Mapping[str, ir.AggregateFunction] = MappingProxyType(
    {function.name: function for family in _FAMILIES for function in family.FUNCTIONS}
)
"""All that are offered, by name."""

SPELLINGS: Mapping[str, Spelling] = MappingProxyType(
    {name: spelling for family in _FAMILIES for name, spelling in family.SPELLINGS.items()}
)
"""What SQL calls them: by the name of the parser's class or, where it has none, of the function, in small letters."""


def _named(name: str) -> ir.AggregateFunction:
    """The aggregate of a name: answers hold some, and are pickled with these names."""
    return AGGREGATES[name]


copyreg.pickle(ir.AggregateFunction, lambda function: (_named, (function.name,)))

__all__ = [
    "AGGREGATES",
    "AVG",
    "COUNT",
    "DISTINCT",
    "MODE",
    "QUANTILE",
    "SPELLINGS",
    "SUM",
    "UNITS",
    "Form",
    "Measures",
    "Moment",
    "Spelling",
    "centred",
    "range_of",
]
