"""Engines: they run the exact part of a plan, and know nothing of privacy's price.

Here is what all engines share: they check that they can carry a plan out, rewrite it so that it costs less, and compile
its relations with Ibis. What is particular to one engine is in the package of its name, such as `duckdb`.

An engine is opened on a snapshot of the tables and answers an `ir.Exact` with integers. Its result is private: an
`ExactResult` shows nothing of itself, and only a mechanism may read it.
"""

from discreet.engine.interface import Engine, ExactResult, chosen_by, open_engine

__all__ = ["Engine", "ExactResult", "chosen_by", "open_engine"]
