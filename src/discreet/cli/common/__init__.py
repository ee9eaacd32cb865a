"""Shared parts of commands: options and how they are read, help texts, errors and exit codes, files, Ctrl-C."""
