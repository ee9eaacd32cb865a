"""What all tests share: how Hypothesis runs, and where the larger tables for trials lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No deadline: cores are shared and a slow example isn't a wrong one. Never derandomised: new examples each run, in
# continuous integration too, where Hypothesis would otherwise take the same ones again and again.
settings.register_profile("discreet", deadline=None, derandomize=False, suppress_health_check=[HealthCheck.too_slow])
# `make soak` forgets which examples failed before, so that each of its rounds is the first on a fresh machine.
settings.register_profile("forgetful", settings.get_profile("discreet"), database=None)
settings.load_profile("discreet")


@pytest.fixture(scope="session")
def trial_data() -> Path:
    """The folder of tables too large or too foreign to keep in the project: DISCREET_DATA, or `../shared/data`."""
    folder = Path(os.environ.get("DISCREET_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the tables for trials aren't here; DISCREET_DATA names their folder")
    return folder
