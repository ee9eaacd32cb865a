"""Extras: what isn't installed with discreet itself, and what a command can't do without."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal

from discreet.errors import ExtraMissing

_MODULES = {
    "server": ("fastapi", "jinja2", "joserfc", "prometheus_client", "uvicorn"),
    "client": ("urllib3",),
    "shell": ("prompt_toolkit",),
}


def require_extras(*names: Literal["server", "client", "shell"], doing: str = "serving") -> None:
    """Refuse to begin where a part is missing.

    Args:
        names: of the extras.
        doing: what they are needed for.

    Raises:
        ExtraMissing: an extra isn't installed, or not all of it.
    """
    if not all(find_spec(module) for name in names for module in _MODULES[name]):
        raise ExtraMissing(
            f"{doing} needs packages that aren't installed", hint=f"pip install 'discreet[{','.join(names)}]'"
        )
