"""SQL: from a question's text, or an Ibis expression, to what it means, from public facts alone.

parse → scopes and FROM → bind → type → check. Nothing here has a handle on data, so any error may say all it knows:
cause, place, fix.
"""

from discreet.query.sql.explain_prefix import explained
from discreet.query.sql.ibis_expressions import frame_of, written
from discreet.query.sql.options_clause import Options, Strategy
from discreet.query.sql.parsing import options, parse
from discreet.query.sql.placeholders import filled_in
from discreet.query.sql.select import question
from discreet.query.sql.summarize import summarized

__all__ = [
    "Options",
    "Strategy",
    "explained",
    "filled_in",
    "frame_of",
    "options",
    "parse",
    "question",
    "summarized",
    "written",
]
