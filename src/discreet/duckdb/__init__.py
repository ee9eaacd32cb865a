"""DuckDB below the engine: sessions that are shut off, their spill folders, and how its SQL is written."""
