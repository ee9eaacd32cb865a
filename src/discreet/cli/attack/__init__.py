"""`discreet attack`: what rows, anonymised rows and private answers give away to those who try."""

from discreet.cli.attack.command import attack

__all__ = ["attack"]
