"""The command line: one command per file."""

from discreet.cli.app import app, main

__all__ = ["app", "main"]
