"""Tuning: what is asked privately so that limits and bounds can be chosen."""
