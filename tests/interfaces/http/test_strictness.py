"""What standards and scanners ask of replies, and numbers that can be read in one way alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from discreet.interfaces.http import make_app
from support.served import COUNT, Served, bearer, served_in_threads


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One service for all tests."""
    with served_in_threads(tmp_path_factory.mktemp("strictness")) as found:
        yield found


@pytest.fixture
def client(running: Served) -> TestClient:
    """A client of its API, for an analyst."""
    return TestClient(make_app(running.service), headers=bearer(running, "analyst"))


def test_browsers_that_came_by_tls_come_by_nothing_else(running: Served) -> None:
    """Each reply says so, errors and refusals too; without TLS none does, for then nobody could come any more."""
    for secure in (True, False):
        client = TestClient(make_app(running.service, secure=secure))
        for path in ("/healthz", "/sign-in", "/v1/me", "/nowhere", "/v1//me", "/static/none"):
            assert ("strict-transport-security" in client.get(path).headers) == secure, path


def test_a_method_that_is_not_allowed_hears_which_are(running: Served, client: TestClient) -> None:
    """On every path of the API and the console, whichever methods it has."""
    app = make_app(running.service)
    for path, declared in app.openapi()["paths"].items():
        place = path.replace("{name}", "x").replace("{entry}", "1")
        expected = {method.upper() for method in declared}
        for method in {"DELETE", "GET", "PATCH", "POST", "PUT"} - expected:
            reply = client.request(method, place)
            assert (reply.status_code, set(reply.headers["allow"].split(", "))) == (405, expected), (method, path)
    for place, methods in (("/ask", "GET, POST"), ("/sign-out", "POST"), ("/static/x", "GET, HEAD")):
        for accept in ("text/html", "*/*"):
            reply = client.put(place, headers={"Accept": accept})
            assert (reply.status_code, reply.headers["allow"]) == (405, methods), place
    assert "allow" not in client.get("/nowhere").headers


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e400"])
@pytest.mark.parametrize("place", ["epsilon", "within", "confidence", "nowhere"])
def test_numbers_that_json_has_not_are_refused(client: TestClient, number: str, place: str) -> None:
    """Wherever they stand, before anybody looks for what is asked."""
    body = f'{{"question": "{COUNT}", "epsilon": 1, "{place}": {number}}}'
    if place == "epsilon":
        body = f'{{"question": "{COUNT}", "epsilon": {number}}}'
    reply = client.post("/v1/plans", content=body, headers={"Content-Type": "application/json"})
    assert (reply.status_code, reply.json()["code"]) == (422, "invalid_argument")
    assert "isn't one that JSON has" in reply.json()["title"]


NO_EPSILON = ("NaN", "inf", "1e-400000000", "0x1p-3", "1_0", "1/1_0", "１", "1/0", "-0", "True", "1,5", "٣", "", "1 /2")


@pytest.mark.parametrize("epsilon", [*NO_EPSILON, True, [1], {}])
def test_epsilon_as_a_text_is_a_decimal_or_a_fraction(client: TestClient, epsilon: object) -> None:
    """In ASCII digits, and above 0; anything else is refused, and nothing is planned."""
    reply = client.post("/v1/plans", json={"question": COUNT, "epsilon": epsilon})
    assert reply.status_code == 422, (epsilon, reply.json())


@pytest.mark.parametrize(
    ("epsilon", "exact"),
    [("1/10", "1/10"), ("0.1", "1/10"), (0.1, "1/10"), ("1e-1", "1/10"), (1, "1"), ("1", "1")],
)
def test_epsilon_is_what_it_says_exactly(client: TestClient, epsilon: object, exact: str) -> None:
    """As a number of JSON or a text."""
    reply = client.post("/v1/plans", json={"question": COUNT, "epsilon": epsilon})
    assert reply.json()["cost"]["exact"]["epsilon"] == exact


def test_what_an_address_says_twice_is_refused(client: TestClient) -> None:
    """Readers take the first or the last; however its name is escaped."""
    for query in ("raw=true&raw=false", "raw=1&r%61w=0", "a=1&b=2&a=1", "a&a"):
        reply = client.get(f"/v1/answers/x?{query}")
        assert (reply.status_code, reply.json()["code"]) == (400, "ambiguous"), query
    assert client.get("/v1/answers/x?raw=true&b=1").status_code == 404


@pytest.mark.parametrize("entry", ["+1", "1.0", "1_0", "-1", "0", "１", "1e0", "9" * 20, "01", "true"])
def test_an_entry_is_a_whole_number(running: Served, entry: str) -> None:
    """As it is written in the history, and in no other way."""
    client = TestClient(make_app(running.service), headers=bearer(running, "auditor"))
    assert client.get(f"/v1/history/{entry}/certificate").status_code in {400, 422}
