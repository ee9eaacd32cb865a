"""Binding, as it is handed to readers of a syntax node's parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from discreet.query import ir

Bind: TypeAlias = Callable[[Any], ir.Expr]
"""From a syntax node to the expression that it means."""
