"""Binding, as it is handed to what reads the parts of a syntax node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from discreet.query import ir

Bind: TypeAlias = Callable[[Any], ir.Expr]
"""From a syntax node to the expression that it means."""
