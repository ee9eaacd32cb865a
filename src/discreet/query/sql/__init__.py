"""SQL: from a question's text to what it means, from public facts alone.

parse → scopes and sources → bind → type → check. Nothing here has a handle on data, so any error may say all it
knows: cause, place, fix.
"""

from discreet.query.sql.explained import explained
from discreet.query.sql.names import meant
from discreet.query.sql.options import Options, Strategy
from discreet.query.sql.parse import FAULTS, options, parse
from discreet.query.sql.reading import question

__all__ = [
    "FAULTS",
    "Options",
    "Strategy",
    "explained",
    "meant",
    "options",
    "parse",
    "question",
]
