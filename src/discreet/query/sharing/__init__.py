"""Sharing: what part of an offer each measure gets, and what errors follow from it, told before anything is spent."""
