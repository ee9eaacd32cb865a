"""A console to visit: a server on a free port, over a table whose names, keys and people are hostile texts."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import sleep

import uvicorn
from fastapi.testclient import TestClient
from httpx2 import Response

from discreet.interfaces.http import make_app
from discreet.service import ReleaseTimes, Role, Service, Settings
from discreet.service.tokens import issue
from support.accounts import declared, founded, of_each_role
from support.served import unhurried

IMAGE = "\"'><img src=x onerror=document.title='owned'>"
SCRIPT = "<script>document.title='owned'</script>"
KEYS = [SCRIPT, IMAGE, "{{7*7}}", "javascript:document.title='owned'", "=1+1"]
MALLORY = f"mallory{SCRIPT}"

COUNT = "SELECT COUNT(*) AS n FROM people"
BY_KEY = "SELECT k, COUNT(*) AS n FROM people GROUP BY k"

COLUMNS = f"""
id = {{ kind = "integer" }}
k = {{ kind = "text", keys = {json.dumps(KEYS)} }}
age = {{ kind = "integer", bounds = [0, 100] }}
{json.dumps(IMAGE)} = {{ kind = "integer", bounds = [0, 10] }}
"""


@dataclass(frozen=True)
class Visited:
    """A service, and those who may come in.

    Args:
        service: itself.
        tokens: the text of each one's token: one of each role, called like it; poor, whose questions may cost ε = 0.1;
            and mallory, an analyst with a hostile name.
    """

    service: Service
    tokens: dict[str, str]


@contextmanager
def visited(folder: Path, *, seconds: float) -> Iterator[Visited]:
    """A service whose answers leave after so many seconds.

    Args:
        folder: for its files.
        seconds: of a question.
    """
    people = {"id": range(1000), "k": KEYS * 200, "age": [20, 30, 40, 50] * 250, IMAGE: [1, 2] * 500}
    with founded(folder, declared("people", COLUMNS, epsilon=1000), people) as tables:
        texts = of_each_role(tables)
        texts["poor"] = issue(tables.tokens, "poor", Role.ANALYST, days=1, most_epsilon="0.1").text
        texts["mallory"] = issue(tables.tokens, MALLORY, Role.ANALYST, days=1).text
    settings = Settings(times=ReleaseTimes(base=seconds / 2, scan=seconds / 2), waiting=4)
    with unhurried(), closing(Service(folder / "discreet.toml", settings)) as service:
        yield Visited(service, texts)


@contextmanager
def at_port(service: Service) -> Iterator[str]:
    """The address of a server for this service, on a free port, as long as it is needed."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(make_app(service), log_level="error", access_log=False))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def browser(running: Visited, *, secure: bool = False) -> TestClient:
    """A browser, more or less: it keeps cookies, and follows where it is sent."""
    base = "https://testserver" if secure else "http://testserver"
    app = make_app(running.service, secure=secure)
    return TestClient(app, base_url=base, headers={"Accept": "text/html"}, raise_server_exceptions=False)


def form_of(page: Response) -> str:
    """What the page's forms bring along."""
    found = re.search(r'name="form" value="([0-9a-f]{64})"', page.text)
    assert found is not None, page.text
    return found[1]


def sign_in(running: Visited, name: str, *, secure: bool = False) -> TestClient:
    """A browser in which somebody has signed in."""
    return with_token(running, running.tokens[name], secure=secure)


def with_token(running: Visited, token: str, *, secure: bool = False) -> TestClient:
    """A browser in which whoever has the token has signed in."""
    client = browser(running, secure=secure)
    sent = {"form": form_of(client.get("/sign-in")), "token": token}
    reply = client.post("/sign-in", data=sent)
    assert (reply.status_code, reply.url.path) == (200, "/")
    return client


def answered(client: TestClient, question: str, epsilon: str = "1") -> Response:
    """The page of an answer, once it is there; or of a refusal."""
    sent = {"form": form_of(client.get("/ask")), "question": question, "offer": "epsilon", "amount": epsilon}
    page = client.post("/ask", data=sent)
    while "refresh" in page.headers:
        sleep(0.1)
        page = client.get(page.url)
    return page
