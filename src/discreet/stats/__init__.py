"""Exact intervals and tests, shared by audits, plots and the test suite."""
