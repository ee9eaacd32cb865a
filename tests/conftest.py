"""What all tests share: how Hypothesis runs, and where the larger tables for trials lie."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import sys
import tempfile
import time
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture import providers

from support.examples import EVERYDAY

# No deadline: cores are shared and a slow example isn't a wrong one. `make test` takes the same examples on every
# machine: whether a change may land must not depend on luck. It takes 30, or 30 % of those a test asks for.
settings.register_profile(
    "discreet", deadline=None, derandomize=True, max_examples=EVERYDAY, suppress_health_check=[HealthCheck.too_slow]
)
# `make soak` looks for new ones, round after round, each the first on a fresh machine. What it finds becomes a test.
settings.register_profile(
    "forgetful", settings.get_profile("discreet"), derandomize=False, database=None, max_examples=100
)
# `make quick` takes fewer, where a test doesn't say how many.
settings.register_profile("quick", settings.get_profile("discreet"), max_examples=20)
# A mutant is found by any example that fails; the least one isn't looked for.
settings.register_profile("mutants", settings.get_profile("discreet"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("discreet")

# Compiled modules are kept, whatever the environment says: tests start hundreds of interpreters, which would otherwise
# compile all of discreet again, each for itself.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# One thread for matrices, which are small here: others would only wait for their turn, and burn a core while they do.
# Read by NumPy when it is imported, hence before any test is.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Workers keep what millions of draws took, for the next ones: the system would have to clear each page of it again.
# Read by glibc when a process starts, hence by those that are started from here.
os.environ.setdefault("MALLOC_MMAP_THRESHOLD_", str(32 * 2**20))  # the most that it takes
os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", str(256 * 2**20))


# Files of tests lie in memory where the system offers that: each account syncs its ledger several times a question, and
# no test can tell whether a disk did, since none pulls the plug. What passed leaves none (see pyproject.toml).
_MEMORY = Path("/dev/shm")  # noqa: S108 — pytest makes a folder of its own there, for its user alone
if os.access(_MEMORY, os.W_OK | os.X_OK) and shutil.disk_usage(_MEMORY).free > 4 * 2**30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))
    tempfile.tempdir = os.environ.setdefault("TMPDIR", str(_MEMORY))  # what libraries and engines put aside

_NEEDED = 2**30
"""Bytes that a worker comes to take."""
_MOST = 9
"""Each worker collects all tests for itself, so that more of them gain less and less."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """One more than there are cores, for those who ask a server mostly wait; fewer where memory is short."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None  # xdist reads it
    from discreet.machine import usable_cores, usable_memory

    return max(1, min(len(usable_cores()) + 1, usable_memory() // _NEEDED, _MOST))


# Tests make and drop many small trees. Looking through the youngest after every 700 objects takes a tenth of all time.
gc.set_threshold(50_000, 20, 50)
gc.disable()  # until all is collected, for most of that stays


def pytest_sessionstart() -> None:
    """Take the same examples whatever was loaded before, and so on every machine, where they aren't to be new ones.

    Hypothesis draws constants of the modules that a process has loaded so far, too. Which these are depends on which
    tests a worker was given first.
    """
    if settings.default is not None and settings.default.derandomize:
        providers._get_local_constants = lambda: providers._local_constants


_START = time.monotonic()


def pytest_addoption(parser: pytest.Parser) -> None:
    """What `make quick` asks for."""
    parser.addoption("--seconds", type=float, help="skip the tests that haven't begun by then")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what doesn't fit into the time that was given."""
    seconds = item.config.getoption("seconds")
    if seconds is not None and time.monotonic() - _START > seconds:
        pytest.skip("the time is up; make test runs all")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes long, so that no worker is left alone with it at the end.

    Each worker is given its part of the list in order, and takes from the end of others' parts when it is through. So
    each part begins with some of the long ones; those of one file stay together, for they may share what it sets up.
    """
    if config.getoption("seconds") is not None:
        return  # what doesn't fit into the time is skipped
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    long = [item for item in items if item.get_closest_marker("long")]
    files = [list(group) for _, group in groupby(long, key=lambda item: item.path)]
    others = iter([item for item in items if not item.get_closest_marker("long")])
    parts = [list(chain.from_iterable(files[worker::workers])) for worker in range(workers)]
    for part in parts:
        part.extend(islice(others, max(len(items) // workers - len(part), 0)))
    items[:] = [*chain.from_iterable(parts), *others]


def pytest_collection_finish() -> None:
    """What was collected stays: the garbage collector needn't go through it again and again."""
    gc.freeze()
    gc.enable()


def pytest_sessionfinish() -> None:
    """Nor when pytest looks for garbage at the end, several times. Once the process ends, all goes, as DuckDB wants."""
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)


@pytest.fixture
def running(serving: Any) -> Any:
    """The service of a file's tests, which it has as `serving`, once nothing of earlier tests is pending."""
    return serving.settled()


@pytest.fixture
def kept_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start DuckDB once for many accounts, where its sessions aren't what is tested."""
    from support.engines import keep_sessions

    keep_sessions(monkeypatch)


@pytest.fixture(scope="session")
def trial_data() -> Path:
    """The folder of tables too large or too foreign to keep in the project: DISCREET_DATA, or `../shared/data`."""
    folder = Path(os.environ.get("DISCREET_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the tables for trials aren't here; DISCREET_DATA names their folder")
    return folder
