"""Private answers from sensitive tables.

A custodian protects a table; an analyst asks SQL; the answer is differentially private, with error bars, from a
durable budget.

* Put tables behind an account: `protect`, `table`, `load`. Ask tables behind a server: `connect`.
* Say whose presence is hidden and what is public: `Unit`, `Bounds`, `Keys`, `Limits`, `Column`, `Kind`, `ADD_REMOVE`,
  `SUBSTITUTION`.
* Say what may be spent, and read what was: `Budget`, `MonthlyShare`, `PureDP`, `ApproxDP`, `ZCDP`.
* Release a number of your own: `laplace`, `gaussian`; choose by scores of your own: `exponential`. How far an
  expression can move: `sensitivity`.
* Catch what goes wrong: `DiscreetError`, and its tree in `discreet.errors`.
"""

from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.errors import DiscreetError
    from discreet.gateway import AdmissionReport, DeclaredTable, Protected, load, protect, table
    from discreet.gateway.answers import Workload
    from discreet.interfaces.client import Remote, connect
    from discreet.mechanisms import Choice, Release, exponential, gaussian, laplace
    from discreet.privacy import (
        ADD_REMOVE,
        SUBSTITUTION,
        ZCDP,
        Adjacency,
        ApproxDP,
        Bounds,
        Budget,
        Keys,
        Limits,
        MonthlyShare,
        PureDP,
        Unit,
    )
    from discreet.query.planner import Plan, sensitivity
    from discreet.results import Answer, Explanation, Summary
    from discreet.tables import Column, Kind
    from discreet.version import __version__ as __version__

__all__ = [
    "ADD_REMOVE",
    "SUBSTITUTION",
    "ZCDP",
    "Adjacency",
    "AdmissionReport",
    "Answer",
    "ApproxDP",
    "Bounds",
    "Budget",
    "Choice",
    "Column",
    "DeclaredTable",
    "DiscreetError",
    "Explanation",
    "Keys",
    "Kind",
    "Limits",
    "MonthlyShare",
    "Plan",
    "Protected",
    "PureDP",
    "Release",
    "Remote",
    "Summary",
    "Unit",
    "Workload",
    "connect",
    "exponential",
    "gaussian",
    "laplace",
    "load",
    "protect",
    "sensitivity",
    "table",
]

_HOMES = {
    "errors": ["DiscreetError"],
    "gateway": [
        "AdmissionReport",
        "DeclaredTable",
        "Protected",
        "load",
        "protect",
        "table",
    ],
    "gateway.answers": ["Workload"],
    "interfaces.client": ["Remote", "connect"],
    "mechanisms": ["Choice", "Release", "exponential", "gaussian", "laplace"],
    "privacy": [
        "ADD_REMOVE",
        "SUBSTITUTION",
        "ZCDP",
        "Adjacency",
        "ApproxDP",
        "Bounds",
        "Budget",
        "Keys",
        "Limits",
        "MonthlyShare",
        "PureDP",
        "Unit",
    ],
    "query.planner": ["Plan", "sensitivity"],
    "results": ["Answer", "Explanation", "Summary"],
    "tables": ["Column", "Kind"],
    "version": ["__version__"],
}
"""The module that defines each name. It is imported on first use, because importing all of them takes some tenths of a
second.
"""

_LOADING = RLock()
"""Held while a name is loaded: two threads that entered a package from different ends would deadlock."""


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            with _LOADING:
                globals()[name] = getattr(import_module(f"discreet.{home}"), name)
            return globals()[name]
    try:
        if name.isidentifier() and not name.startswith("_"):
            return import_module(f"discreet.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"discreet.{name}":
            raise
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
