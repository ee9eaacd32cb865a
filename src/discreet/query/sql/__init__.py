"""SQL: from a question's text to what it means, from public facts alone.

parse → scopes and sources → bind → type → check. Nothing here has a handle on data, so any error may say all it
knows: cause, place, fix.
"""

from discreet.query.sql.explained import explained
from discreet.query.sql.parse import options
from discreet.query.sql.reading import question

__all__ = ["explained", "options", "question"]
