"""What the system holds the processes of a service to."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

SPINNING = """
from time import process_time
from discreet.service.shares import Share
from discreet.service.workers import _limited
with _limited(Share(cores=(), memory=1 << 30, slot=1 << 30, planning=0.1), 0, 0):
    pass
end = process_time() + 0.2
while process_time() < end:
    pass
with _limited(Share(cores=(), memory=1 << 30, slot=1 << 30, planning=0.1), 0, 0):
    while True:
        pass
"""

GROWING = """
from discreet.service.workers import limit_memory
limit_memory(1 << 28)
kept = bytearray(1 << 27)
try:
    bytearray(1 << 29)
except MemoryError:
    print("refused")
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system limits no processor time")
def test_the_system_ends_who_plans_too_long() -> None:
    """By processor time, whatever the process does; what it takes while it doesn't plan isn't counted."""
    assert subprocess.run([sys.executable, "-c", SPINNING], check=False).returncode == -signal.SIGPROF


@pytest.mark.skipif(sys.platform != "linux", reason="this system limits no process's memory")
def test_the_system_refuses_more_memory() -> None:
    """What the process has already doesn't count."""
    assert subprocess.run([sys.executable, "-c", GROWING], check=True, capture_output=True).stdout == b"refused\n"
