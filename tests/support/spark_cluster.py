"""A real cluster of Spark on this machine: a master, workers of one core, and a Spark Connect server.

The package `pyspark` holds all of it, and can't be installed beside its client. So it lies somewhere else, and
`SPARK_HOME` says where: `pip install --target … pyspark`, and its folder `pyspark`. It needs Java 17.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

HOME = os.environ.get("SPARK_HOME", "")
_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"
_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
_PATIENCE = 180


class SparkCluster:
    """A cluster whose processes write into a folder.

    Args:
        folder: for logs and what workers keep.
        workers: how many there are.
    """

    def __init__(self, folder: Path, *, workers: int = 2) -> None:
        self._folder = folder
        self.port, master = _free_port(), _free_port()
        self._workers: list[subprocess.Popen[bytes]] = []
        url = f"spark://127.0.0.1:{master}"
        where = ["--host", "127.0.0.1", "--webui-port", "0"]
        self._others = [self._started("master", "spark-class", _MASTER, *where, "--port", str(master))]
        _wait_for(master)
        for number in range(workers):
            sized = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"worker{number}")]
            self._workers.append(self._started(f"worker{number}", "spark-class", _WORKER, *where, *sized, url))
        settings = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(self.port),
            "spark.executor.memory": "512m",
            "spark.driver.memory": "512m",
            "spark.shuffle.io.retryWait": "1s",  # of what an executor had that is gone
            "spark.ui.enabled": "false",
        }
        stated = [each for name, value in settings.items() for each in ("--conf", f"{name}={value}")]
        server = [
            "--class",
            _SERVER,
            "--master",
            url,
            *stated,
            "spark-internal",
        ]
        self._others.append(self._started("connect", "spark-submit", *server))
        _wait_for(self.port)

    @property
    def address(self) -> str:
        """Of the Spark Connect server."""
        return f"sc://127.0.0.1:{self.port}"

    @property
    def logs(self) -> str:
        """All that it has written, on this machine's disk."""
        written = (path for path in self._folder.rglob("*") if path.is_file() and path.suffix != ".jar")
        return "".join(path.read_text(encoding="utf-8", errors="replace") for path in written)

    def kill_a_worker(self) -> None:
        """End one at once, with its executor and what that runs."""
        _end(self._workers.pop())

    def stop(self) -> None:
        """End all."""
        for process in [*self._workers, *self._others]:
            _end(process)

    def _started(self, name: str, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        """One of its programs, in a process group of its own; Python is what this process has."""
        environment = {
            **os.environ,
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        with (self._folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [str(Path(HOME) / "bin" / program), *arguments],
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=self._folder,
            )


@contextmanager
def spark_cluster(folder: Path) -> Iterator[SparkCluster]:
    """A cluster that is stopped afterwards."""
    cluster = SparkCluster(folder)
    try:
        yield cluster
    finally:
        cluster.stop()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process with all that it started."""
    for child in _children(process.pid):
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _children(parent: int) -> Sequence[int]:
    """What a process started, and what these did."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(path.read_text(encoding="utf-8").rpartition(")")[2].split()[1]) == parent:
                found += [int(path.parent.name), *_children(int(path.parent.name))]
    return found


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _wait_for(port: int) -> None:
    """Wait until somebody listens."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.2)
    raise TimeoutError(f"nobody listens at port {port}")
