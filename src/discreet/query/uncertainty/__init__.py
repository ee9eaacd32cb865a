"""Uncertainty: how far noise may carry what is computed from released numbers."""
