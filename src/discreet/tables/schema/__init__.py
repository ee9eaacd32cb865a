"""What is declared of tables: columns, units, links, sources, and `discreet.toml`. All of it is public."""
