"""Engines: they run the exact part of a plan, and know nothing of privacy's price.

An engine is opened on a snapshot of the tables and answers an `ir.Exact` with integers. What it returns is private: an
`ExactResult` shows nothing of itself, and only a mechanism may read it.
"""

from discreet.engine.base import Engine
from discreet.engine.open import open_engine
from discreet.engine.result import ExactResult

__all__ = ["Engine", "ExactResult", "open_engine"]
