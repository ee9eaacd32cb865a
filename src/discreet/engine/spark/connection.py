"""The connection to a cluster: by address, to Sail in this process, or by the caller's own session.

It is made when it is first needed, and made again before a question where the server has forgotten it. Neither Sail nor
gRPC survives a fork: a child says so.
"""

from __future__ import annotations

import atexit
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import RLock
from typing import TYPE_CHECKING, Any

from discreet.engine.spark.versions import REPORT, check_same, own, reporter
from discreet.errors import DiscreetError, EngineUnavailable, ExtraMissing
from discreet.tables.schema.spark import TOKEN, SparkConnect

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

_SECONDS, _RETRIES = 15, 5
"""After which a server that doesn't answer isn't there: so many seconds at first, and about as many in so many retries
later. PySpark itself would try for ten minutes.
"""

_PAYLOADS = 64
"""How many payloads a task is handed at a time, at most: Spark's own 10,000 may be more bytes than Arrow counts."""

_PROBES = 8
"""How many tasks tell which versions they find. Each task of a question looks again."""


class Connection:
    """A session with a cluster, whose executors were seen to have what they need.

    Safe to use from several threads.

    Args:
        options: where it is.
    """

    def __init__(self, options: SparkConnect) -> None:
        self._options = options
        self._session: Any = options.session
        self._process = os.getpid()
        self._is_checked = False
        self._turn = RLock()

    def ready(self) -> None:
        """See to it that a question can be asked.

        Raises:
            ExtraMissing: PySpark or Sail isn't installed.
            EngineUnavailable: the cluster can't be reached, or its executors lack something.
        """
        with self._turn, _explained():
            self._check_process()
            if not self._is_known():
                self._drop()
                self._session = self._options.session or self._connected()
            if not self._is_checked:
                self._check_executors()
                self._is_checked = True

    def session(self) -> Any:  # noqa: ANN401 — of Spark Connect, or the caller's
        """The session, once `ready` was called.

        Raises:
            EngineUnavailable: it wasn't, or this process was forked since.
        """
        self._check_process()
        if self._session is None:
            raise EngineUnavailable("there is no connection to the cluster", hint="ask again")
        return self._session

    def doubt(self) -> None:
        """Have executors looked at again before the next question: something went wrong there."""
        self._is_checked = False

    def close(self) -> None:
        """End the session, unless it is the caller's."""
        with self._turn:
            if self._process == os.getpid():
                self._drop()

    def _check_process(self) -> None:
        if self._process != os.getpid():
            raise EngineUnavailable(
                "a connection to a cluster doesn't survive a fork", hint="open the tables in the new process"
            )

    def _is_known(self) -> bool:
        """Whether there is a session, and the server still knows it."""
        if self._session is None:
            return False
        try:
            self._session.conf.get("spark.sql.session.timeZone")
        except Exception:  # noqa: BLE001 — whatever it is, another session is tried, which tells
            return False
        return True

    def _connected(self) -> Any:  # noqa: ANN401 — as `session`
        if self._options.is_local:
            return _session_at("127.0.0.1", _sail().port, encrypted=False)
        return _session_at(self._options.host, self._options.port, encrypted=self._options.encrypted)

    def _check_executors(self) -> None:
        """Refuse a cluster whose executors lack something, or would compute something else."""
        tasks = self._session.range(0, _PROBES, 1, _PROBES).mapInArrow(reporter(), REPORT)
        for there in tasks.toArrow().to_pylist():
            check_same(own(), there)

    def _drop(self) -> None:
        """End the session, unless it is the caller's."""
        if self._session is not None and self._options.session is None:
            with suppress(Exception):
                self._session.stop()
        self._session, self._is_checked = None, False


@contextmanager
def _explained() -> Iterator[None]:
    """What goes wrong before any row is read is told: whatever it is, it is about the cluster."""
    try:
        yield
    except DiscreetError:
        raise
    except ImportError as error:
        name = (error.name or "PySpark").partition(".")[0]
        raise ExtraMissing(
            f"asking a cluster needs {name}, which isn't installed",
            hint=f"pip install 'discreet[{'spark,sail' if name == 'pysail' else 'spark'}]'",
        ) from None
    except Exception as error:
        raise EngineUnavailable(
            f"the cluster can't be used: {' '.join(str(error).split())[:_LONGEST]}",
            hint="fix what it says; nothing was charged",
        ) from error


_LONGEST = 600


def _session_at(host: str, port: int, *, encrypted: bool) -> SparkSession:
    """A session of our own, which isn't the process's default one.

    Raises:
        EngineUnavailable: there is no token, or nobody answers.
    """
    _quietly_imported()
    import grpc
    from pyspark.sql.connect.client import ChannelBuilder
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession

    token = os.environ.get(TOKEN)
    if encrypted and not token:
        raise EngineUnavailable(
            "a cluster that is reached over a network needs a token",
            hint=f"put it into the environment, as {TOKEN}; the server has it as spark.connect.authenticate.token",
        )
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    class Channel(ChannelBuilder):  # type: ignore[misc]  # — of a library that mypy doesn't read
        """Encrypted where it must be, and by no proxy to this machine."""

        @property
        def host(self) -> str:
            return host

        @property
        def token(self) -> str | None:
            return token

        def toChannel(self) -> Any:  # noqa: ANN401, N802 — as PySpark has it
            if not encrypted:
                self.setChannelOption("grpc.enable_http_proxy", 0)
            if not encrypted and not token:
                return self._insecure_channel(address)
            credentials = grpc.ssl_channel_credentials() if encrypted else grpc.local_channel_credentials()
            if token:
                credentials = grpc.composite_channel_credentials(credentials, grpc.access_token_call_credentials(token))
            return self._secure_channel(address, credentials)

    with Channel().toChannel() as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=_SECONDS)
        except grpc.FutureTimeoutError:
            raise EngineUnavailable(
                f"nobody answers at sc://{address}" + (", or not by TLS" if encrypted else ""),
                hint="is Spark Connect running there? TLS takes the roots in GRPC_DEFAULT_SSL_ROOTS_FILE_PATH, if set",
            ) from None
    session = SparkSession(Channel())
    session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(_PAYLOADS))
    # At the end of the process it would send a message to a server that may be gone, and wait for it.
    atexit.unregister(session.client._on_exit)  # noqa: SLF001 — nothing else stops it
    return session


def _quietly_imported() -> None:
    """Import PySpark, which warns of pandas, though that isn't used here.

    Where the program is in no file, as after `python -c` and in some worker processes, PySpark takes that for its own
    doctests and ends the process. So a file is named meanwhile.
    """
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    program = sys.modules["__main__"]
    with _STARTING:
        is_nameless = program.__spec__ is None and not hasattr(program, "__file__")
        if is_nameless:
            program.__file__ = "<discreet>"
        try:
            import pyspark.sql.connect.session  # noqa: F401 — loaded for those who need it next
        finally:
            if is_nameless:
                del program.__file__


_STARTING = RLock()


class _Sail:
    """Sail in this process, on a port of loopback; one for all who ask.

    Its log would name what is asked, and in a finer level may show more, so it has none.
    """

    def __init__(self) -> None:
        from pysail.spark import SparkConnectServer

        logged = os.environ.get("RUST_LOG")
        os.environ["RUST_LOG"] = "off"
        try:
            self._server = SparkConnectServer("127.0.0.1", 0)
            self._server.start(background=True)
        finally:
            if logged is None:
                del os.environ["RUST_LOG"]
            else:
                os.environ["RUST_LOG"] = logged
        self.process = os.getpid()
        _, self.port = self._server.listening_address

    def stop(self) -> None:
        """Stop it, at the end of the process that started it."""
        if self.process == os.getpid():
            self._server.stop()


_started: _Sail | None = None


def _sail() -> _Sail:
    """The one Sail of this process.

    Raises:
        EngineUnavailable: it was started before this process was forked.
    """
    global _started  # noqa: PLW0603 — a process has one
    with _STARTING:
        if _started is None:
            _started = _Sail()
            atexit.register(_started.stop)
        if _started.process != os.getpid():
            raise EngineUnavailable(
                "Sail was started before this process was forked, and doesn't survive that",
                hint="start processes by spawn or forkserver, or open the tables in them alone",
            )
        return _started
