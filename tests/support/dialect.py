"""The dialect of SQLAlchemy, as `pyproject.toml` has it: an older installation knows nothing of it."""

from __future__ import annotations

import tomllib

from sqlalchemy.dialects import registry

from support.project import ROOT


def register() -> dict[str, str]:
    """Make it known to SQLAlchemy; where each of its names leads."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: dict[str, str] = project["entry-points"]["sqlalchemy.dialects"]
    for name, place in found.items():
        registry.register(name, *place.split(":"))
    return found
