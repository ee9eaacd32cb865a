"""The command line: a file or a folder for each command, named as the command is."""

from discreet.cli.app import app, main

__all__ = ["app", "main"]
