"""Engines: they run the exact part of a plan, and know nothing of privacy's price."""
