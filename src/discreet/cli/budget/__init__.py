"""`discreet budget`: what was granted, what was spent and what is left, for everyone and for each analyst."""

from discreet.cli.budget.command import budget

__all__ = ["budget"]
