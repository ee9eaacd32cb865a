"""The functions a question may use, in one table."""

from discreet.query.ir import FUNCTIONS, call, cast, literal

__all__ = ["FUNCTIONS", "call", "cast", "literal"]
