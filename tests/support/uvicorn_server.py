"""A real server on a free port of this machine, for as long as a test takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import uvicorn


@contextmanager
def listening(app: Any, certificate: Path | None = None, key: Path | None = None) -> Iterator[str]:
    """An ASGI application, served in a thread; its address."""
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            port=0,
            log_config=None,
            access_log=False,
            lifespan="off",
            ssl_certfile=certificate,
            ssl_keyfile=None if key is None else str(key),
        )
    )
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    end = monotonic() + 60
    while not server.started:
        assert monotonic() < end
        assert thread.is_alive()
        sleep(0.01)
    try:
        yield f"{'http' if certificate is None else 'https'}://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
