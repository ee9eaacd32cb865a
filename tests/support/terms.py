"""Something to say of each term: in the forms that Python has, and as it is typed."""

from __future__ import annotations

from typing import Any

import discreet as dp

SAID: dict[str, Any] = {
    "epsilon": "1/3",
    "delta": 1e-6,
    "rho": 0.5,
    "within": {"n": ("5%", 1000), "m": "2%", "*": 50},
    "weights": {"n": 2, "*": "1/2"},
    "confidence": 0.9,
    "expecting": 20_000,
    "limits": dp.Limits(rows=50, groups=8),
    "bounds": {"age": dp.Bounds(0, "110.5"), "pay": "auto"},
    "consistent": True,
    "cut_off": True,
    "dialect": "bigquery",
    "parameters": [40, "f", None, True, 0.5],
    "analyst": "ada",
}
"""By the name of the term."""

TYPED = {
    "epsilon": "1/3",
    "delta": "0.000001",
    "rho": "5e-1",
    "within": "n = 5% @ 1000; m=2%; 50",
    "weights": "n=2; 1/2",
    "confidence": "0.90",
    "expecting": "20,000",
    "limits": "50in8",
    "bounds": "age = 0..110.5; pay=AUTO",
    "consistent": "on",
    "cut_off": "Yes",
    "dialect": "bigquery",
    "parameters": "40; f; null; true; 0.5",
    "analyst": "ada",
}
"""Texts that say the same."""
