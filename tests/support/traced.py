"""A real server, of which much goes wrong: its workers' libraries write what they read, fail, and crash."""

from __future__ import annotations

import logging
import os
import sys
import traceback
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any

from discreet.interfaces.http.serving import serve
from discreet.service import EventLog, Service, jobs, workers
from support.attacked import CANARY, SETTINGS

CRASH = "<> -7041"
"""A question that says this crashes the worker that asks it."""

_WORK = workers._work


def fails(*_: object) -> Any:
    """Fail as a library does that quotes what it couldn't read, while it handled something else."""
    try:
        {}[f"{CANARY}-6"]
    except KeyError as error:
        raise ValueError(f"could not convert {CANARY}-7") from error


def asked(_: object, job: jobs.Job, __: object) -> Any:
    """Say a row in every way that a library has, and crash or fail."""
    sys.stdout.write(f"{CANARY}-1\n")
    sys.stdout.flush()
    os.write(2, f"{CANARY}-2\n".encode())
    warnings.warn(f"{CANARY}-3", stacklevel=1)
    logging.getLogger("anything").error("%s", f"{CANARY}-4")
    try:
        fails()
    except ValueError:
        traceback.print_exc()
    if CRASH in job.question:
        os.abort()
    return fails()


def work(*arguments: Any) -> None:
    """What such a worker does."""
    jobs._asked = asked
    _WORK(*arguments)


def work_untamed(*arguments: Any) -> None:
    """The same, of a worker that nobody told to say nothing."""
    workers.keep_quiet = lambda: None
    work(*arguments)


def main(folder: str, port: str, *untamed: str) -> None:
    """Serve until a signal comes."""
    workers._work = work_untamed if untamed else work
    Service.verify = fails  # type: ignore[method-assign]  # so that a request fails inside
    if untamed:
        EventLog.tame = lambda _: None  # type: ignore[method-assign]  # the wrong twin
    with closing(Service(Path(folder) / "discreet.toml", SETTINGS, EventLog(sys.stderr))) as service:
        serve(service, host="127.0.0.1", port=int(port))
