"""Draws results, plans, accounts and errors. It contains no command, so a shell can use it too."""
