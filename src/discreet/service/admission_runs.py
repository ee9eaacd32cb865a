"""Admission runs: the tables are admitted again, in a process of its own, while questions go on.

Questions are asked of snapshots, so none has to wait. What was read and what couldn't be is for the custodian alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError, EngineUnavailable, TooManyWaiting
from discreet.service import workers

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from discreet.gateway import AdmissionReport

_NICE = 10
"""How far the process gives way to those that answer questions, on systems that have such a setting."""


class AdmissionRuns:
    """The admissions that one server was told to make, one at a time.

    Args:
        config: the path of `discreet.toml`.
    """

    def __init__(self, config: Path) -> None:
        self._config = config
        self._lock = Lock()
        self._process: Any = None
        self._last: Mapping[str, Any] | None = None

    @property
    def last(self) -> Mapping[str, Any] | None:
        """The run that was begun last: its `state`, and then its report, or the error why there is none."""
        return self._last

    def start(self, *, group: str | None, scheduled: bool, at_most_unreadable: Fraction | None) -> Mapping[str, Any]:
        """Begin one.

        Args:
            group: the refresh group to admit; None for all.
            scheduled: whether the version goes up whatever happens.
            at_most_unreadable: the part of a table's records, or of a column's values, that may be unreadable
                this time; None for what each table declares.

        Raises:
            TooManyWaiting: one runs already.
        """
        with self._lock:
            if self._last is not None and self._last["state"] == "running":
                raise TooManyWaiting("the tables are already being admitted", hint="ask again when that has finished")
            begun = {"state": "running", "at": datetime.now(UTC).isoformat(timespec="seconds")}
            self._last = begun
            ours, theirs = workers.CONTEXT.Pipe()
            arguments = (theirs, self._config, group, scheduled, at_most_unreadable)
            self._process = workers.CONTEXT.Process(target=_admit, args=arguments, daemon=True)
            self._process.start()
            theirs.close()
        Thread(target=self._wait, args=(ours, begun), daemon=True).start()
        return begun

    def close(self) -> None:
        """Kill the process, if one runs. A version is in force whole or not at all."""
        with self._lock:
            if self._process is not None:
                self._process.kill()
                self._process.join()

    def _wait(self, ours: Connection, begun: Mapping[str, Any]) -> None:
        """Note what became of a run."""
        try:
            found: Mapping[str, Any] = ours.recv()
        except (EOFError, OSError):
            found = {"error": EngineUnavailable("the process that was admitting the tables ended").to_dict()}
        ours.close()
        self._last = {**begun, "state": "failed" if "error" in found else "done", **found}


def report_to_json(report: AdmissionReport) -> dict[str, object]:
    """The report of an admission as JSON-ready data; it isn't private."""
    return {
        "version": report.version,
        "groups": dict(report.groups),
        "private": False,
        "problem": report.problem,
        "tables": {name: dict(found) for name, found in report.tables.items()},
    }


def _admit(connection: Connection, config: Path, group: str | None, scheduled: bool, most: Fraction | None) -> None:
    """Admit the tables, in a process of its own, and say what was done."""
    from discreet.gateway import admissions_of
    from discreet.tables import load_config

    workers.keep_quiet()
    with suppress(AttributeError, OSError):
        os.nice(_NICE)
    try:
        with admissions_of(load_config(config)) as admissions:
            act = admissions.admit_on_schedule if scheduled else admissions.admit
            report = act(group=group, at_most_unreadable=most)
        found: dict[str, object] = {"report": report_to_json(report)}
    except DiscreetError as error:
        found = {"error": error.to_dict()}
    except Exception:  # noqa: BLE001 — it may quote a row, and what this process writes isn't the custodian's alone
        found = {"error": EngineUnavailable("the tables can't be admitted here").to_dict()}
    connection.send(found)
