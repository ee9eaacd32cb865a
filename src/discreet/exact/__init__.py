"""Exact and directed arithmetic: the numbers that carry privacy."""

from discreet.exact.rational import Rationalizable, rational

__all__ = ["Rationalizable", "rational"]
