"""The command line: a file for each command, or for those that belong together."""

from discreet.cli.app import app, main

__all__ = ["app", "main"]
