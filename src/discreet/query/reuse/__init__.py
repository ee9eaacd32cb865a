"""Reuse: answering a question from what was released for others, for nothing."""
