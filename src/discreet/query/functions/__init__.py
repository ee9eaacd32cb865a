"""The functions a question may use, in one table."""

from discreet.query.functions.casts import cast
from discreet.query.functions.table import FUNCTIONS, call
from discreet.query.literals import literal

__all__ = ["FUNCTIONS", "call", "cast", "literal"]
