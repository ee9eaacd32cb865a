"""Declarations of tables: columns, units, links, sources, and `discreet.toml`. All of them are public."""
