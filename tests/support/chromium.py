"""Chromium, for tests in a browser and for pictures of the console."""

from __future__ import annotations

import shutil

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Commands, the best first: the headless shell draws the same pages for little more than half the processor's time."""

CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), None)
"""Where it is, if there is one."""

PATIENCE = 300_000
"""Milliseconds: only what never comes is missed, however busy the machine is."""

MISSING = "no Chromium here; apt-get install chromium-headless-shell, or run `make test` as root"
"""Why a test is skipped."""
