"""`discreet risk`: who can be singled out in a table, by which columns, and what to do about it."""

from discreet.cli.risk.command import risk

__all__ = ["risk"]
