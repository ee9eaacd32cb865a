"""`discreet shell`: question after question in one process, at a prompt or from a script."""

from discreet.cli.shell.command import shell

__all__ = ["shell"]
