"""How much an action does, whatever the machine and whatever else that does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def calls(action: Callable[[], object]) -> int:
    """How often functions written in Python are called meanwhile; not a time, which is another on each machine."""
    count = 0

    def profile(_frame: FrameType, what: str, _argument: Any) -> None:
        nonlocal count
        count += what == "call"

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count
