"""CSV files: strict quoting, nothing guessed from rows."""
