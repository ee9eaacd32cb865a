"""Spark: questions computed on a cluster that speaks Spark Connect, or by Sail in this process.

A cluster schedules and carries; what is computed there is the embedded engine's own code. It needs
`discreet[spark]`, and for Sail `discreet[sail]` too.
"""

from discreet.engine.spark.engine import Spark

__all__ = ["Spark"]
