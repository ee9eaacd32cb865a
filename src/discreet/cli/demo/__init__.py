"""`discreet demo`: the whole story, on people who don't exist."""

from discreet.cli.demo.command import demo

__all__ = ["demo"]
