"""Sign-in at a provider by a redirect: who comes in, and what others have done to such sign-ins."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import Event as ThreadEvent
from threading import Semaphore
from time import monotonic
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from discreet.errors import ConfigError, ProviderBusy, Unauthenticated
from discreet.interfaces.http import make_app
from discreet.service import OpenID, Role, sign_in
from discreet.service.openid import ProviderKeys
from discreet.service.sign_in import SignIn
from support.identity_provider import KEY, OTHERS, Provider, provider_at_port
from support.served import PATIENCE, in_threads
from support.visited import COUNT, Visited, form_of, visited

HERE = "http://localhost"
RETURN = "/sign-in/openid/return"
SESSION, ATTEMPT = "discreet", "discreet-openid"


@pytest.fixture(scope="module")
def sound() -> Iterator[Provider]:
    """One provider for all tests."""
    with provider_at_port() as found:
        yield found


@pytest.fixture
def provider(sound: Provider) -> Provider:
    """The same, as careful as it should be."""
    sound.__dict__.update(vars(Provider(sound.address)))
    return sound


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, sound: Provider) -> Iterator[Visited]:
    """A service that sends people there."""
    folder = tmp_path_factory.mktemp("openid")
    with in_threads(), visited(folder, seconds=0.4) as found:
        found.service.settings = replace(found.service.settings, openid=sound.configured(folder / "provider", HERE))
        yield found


def browser(running: Visited, *, secure: bool = False) -> TestClient:
    """Somebody's browser, which has signed in nowhere."""
    base = HERE.replace("http:", "https:") if secure else HERE
    return TestClient(
        make_app(running.service, secure=secure),
        base_url=base,
        headers={"Accept": "text/html"},
        follow_redirects=False,
        raise_server_exceptions=False,
    )


def sent(client: TestClient, provider: Provider) -> dict[str, str]:
    """Go to the provider and sign in there; what the address says to which it sends one back."""
    place = urlsplit(client.get("/sign-in/openid").headers["location"])
    return dict(parse_qsl(urlsplit(provider.authorize(dict(parse_qsl(place.query)))).query))


def back(client: TestClient, said: dict[str, str]) -> Response:
    """Come back from there."""
    return client.get(f"{RETURN}?{urlencode(said)}")


def is_in(client: TestClient) -> bool:
    """Whether a browser's session holds."""
    return client.get("/ask").status_code == 200


def test_whoever_signs_in_at_the_provider_is_who_they_are_there(running: Visited, provider: Provider) -> None:
    """Name, role and ceiling are those that the provider and the configuration say; the session is one of ours."""
    client = browser(running)
    shown = client.get("/sign-in").text
    assert "Sign in at the agency &lt;b&gt;" in shown
    asked = client.get("/sign-in/openid")
    cookie = next(each for each in asked.headers.get_list("set-cookie") if each.startswith(ATTEMPT))
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    reply = back(client, sent(client, provider))
    session = next(each for each in reply.headers.get_list("set-cookie") if each.startswith(f"{SESSION}="))
    assert (reply.status_code, reply.headers["refresh"]) == (200, "0; url=/")
    assert "SameSite=strict" in session
    assert ATTEMPT not in client.cookies
    page = client.get("/ask", params={"question": COUNT, "offer": "epsilon", "amount": "1"})
    assert f"{provider.address}|ann" in page.text
    assert "each of yours may cost at most ε = 0.5" in page.text
    client.post("/sign-out", data={"form": form_of(page)})
    assert not is_in(client)
    safe = browser(running, secure=True)
    safe.get("/sign-in/openid")
    assert set(safe.cookies) == {"__Host-discreet-openid"}


def test_what_is_asked_of_the_provider_is_pinned_and_new_each_time(running: Visited, provider: Provider) -> None:
    """Where to come back to isn't what a request says of the host; state, nonce and challenge are never the same."""
    evil = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "Referer": "https://evil.example/"}
    client = browser(running)
    asked = [client.get("/sign-in/openid?next=https://evil.example", headers=evil).headers["location"] for _ in "12"]
    found = [dict(parse_qsl(urlsplit(each).query)) for each in asked]
    assert all(each.startswith(f"{provider.address}/authorize?") for each in asked)
    assert {each["redirect_uri"] for each in found} == {HERE + RETURN}
    assert all(found[0][name] != found[1][name] for name in ("state", "nonce", "code_challenge"))
    assert [len(found[0][name]) for name in ("state", "nonce", "code_challenge")] == [64, 64, 43]
    assert "evil" not in "".join(asked)


@pytest.mark.parametrize("changed", [{"state": "x"}, {"state": None}, {"state": ""}, {"code": None}, {"code": ""}])
def test_forged_and_missing_states_and_codes(
    running: Visited, provider: Provider, changed: dict[str, str | None]
) -> None:
    """Nobody comes in, and the provider isn't asked. With its state an attempt is over; without, nobody came back."""
    client = browser(running)
    said = sent(client, provider)
    wrong = {name: value for name, value in (said | changed).items() if value is not None}
    name = client.cookies[ATTEMPT]
    assert back(client, wrong).status_code == 401
    client.cookies.set(ATTEMPT, name, domain="localhost.local")
    assert provider.exchanged == []
    assert not is_in(client)
    assert back(client, said).status_code == (200 if "state" in changed else 401)
    assert is_in(client) is ("state" in changed)


def test_nobody_is_signed_in_as_somebody_else(running: Visited, provider: Provider) -> None:
    """An address that signs the attacker in does nothing in a browser that didn't begin it, or began another."""
    attacker, victim, stranger = (browser(running) for _ in range(3))
    provider.who = "eve"
    said = sent(attacker, provider)
    assert back(stranger, said).status_code == 401
    victim.get("/sign-in/openid")
    assert back(victim, said).status_code == 401
    assert provider.exchanged == []
    assert not is_in(victim)
    assert not is_in(stranger)


@pytest.mark.parametrize("checks_verifier", [True, False])
def test_a_stolen_code_is_of_no_use(running: Visited, provider: Provider, *, checks_verifier: bool) -> None:
    """Put into the thief's own attempt it has another verifier; where the provider doesn't look, another nonce."""
    provider.checks_verifier = checks_verifier
    victim, thief = browser(running), browser(running)
    stolen = sent(victim, provider)["code"]
    provider.who = "eve"
    own = sent(thief, provider)
    assert back(thief, {**own, "code": stolen}).status_code == 401
    assert provider.exchanged == [stolen]
    assert not is_in(thief)


def test_a_code_is_good_once(running: Visited, provider: Provider) -> None:
    """Also where the provider would take it twice, and the browser kept all it had."""
    provider.once = False
    client = browser(running)
    said = sent(client, provider)
    name = client.cookies[ATTEMPT]
    assert back(client, said).status_code == 200
    client.cookies.clear()
    client.cookies.set(ATTEMPT, name, domain="localhost.local")
    assert back(client, said).status_code == 401
    assert provider.exchanged == [said["code"]]
    assert not is_in(client)


@pytest.mark.parametrize("issuer", ["https://evil.example", "", "HTTP://LOCALHOST"])
def test_another_provider_sends_nobody_back(running: Visited, provider: Provider, issuer: str) -> None:
    """Where it says who it is, and isn't the one that was asked, the code goes nowhere; where it doesn't, it may."""
    client = browser(running)
    assert back(client, {**sent(client, provider), "iss": issuer}).status_code == 401
    assert provider.exchanged == []
    said = sent(client, provider)
    del said["iss"]
    assert back(client, said).status_code == 200


WRONG: dict[str, dict[str, Any]] = {
    "of another attempt": {"nonce": "x"},
    "of no attempt": {"nonce": None},
    "with a list of nonces": {"nonce": ["x"]},
    "expired": {"exp": 1_700_000_000},
    "never ends": {"exp": None},
    "for the API": {"aud": "discreet-api"},
    "for somebody else": {"aud": "other"},
    "given to somebody else": {"aud": ["discreet-console", "other"], "azp": "other"},
    "from somebody else": {"iss": "https://evil.example"},
    "about nobody": {"sub": None},
    "about a line break": {"sub": "ann\nbob"},
    "made in the future": {"iat": 4_000_000_000},
}


@pytest.mark.parametrize("kind", WRONG)
def test_id_tokens_that_are_not_for_this_sign_in(running: Visited, provider: Provider, kind: str) -> None:
    """Whatever is wrong with one, nobody comes in, in the same words."""
    provider.said = WRONG[kind]
    client = browser(running)
    reply = back(client, sent(client, provider))
    assert (reply.status_code, is_in(client)) == (401, False)
    assert "wasn’t completed" in reply.text


REPLIES = {
    "an error": (400, b'{"error": "invalid_grant"}'),
    "elsewhere": (302, b""),
    "no JSON": (200, b"<p>"),
    "a list": (200, b"[]"),
    "no token": (200, b'{"access_token": "x"}'),
    "a number": (200, b'{"id_token": 7}'),
    "no signature": (200, b'{"id_token": "e30.e30."}'),
    "too much": (200, b'{"id_token": "' + b"x" * 100_000 + b'"}'),
    "deep": (200, b"[" * 50_000),
}


@pytest.mark.parametrize("kind", REPLIES)
def test_replies_that_are_no_id_token(running: Visited, provider: Provider, kind: str) -> None:
    """The server says the same of each, follows none, and asks once."""
    provider.reply = REPLIES[kind]
    client = browser(running)
    assert back(client, sent(client, provider)).status_code == 401
    assert len(provider.exchanged) == 1


def test_an_id_token_that_somebody_else_signed(running: Visited, provider: Provider) -> None:
    """Nobody comes in by it, though it came from the right place."""
    provider.key = OTHERS
    client = browser(running)
    assert back(client, sent(client, provider)).status_code == 401


def test_who_has_no_role_or_was_refused_there_reads_so(running: Visited, provider: Provider) -> None:
    """As a page with the way in, which repeats nothing that the address said."""
    client = browser(running)
    provider.said = {"roles": ["nobody"]}
    reply = back(client, sent(client, provider))
    assert reply.status_code == 403
    assert "gives no role on this server" in reply.text
    said = {"error": "access_denied", "error_description": "<b>evil", "state": sent(client, provider)["state"]}
    reply = back(client, said)
    assert reply.status_code == 401
    assert "evil" not in reply.text
    assert not is_in(client)


def test_a_session_that_was_there_before_is_over(running: Visited, provider: Provider) -> None:
    """A name that somebody fixed beforehand isn't the session's, and one's own session of before ends."""
    client = browser(running)
    client.cookies.set(SESSION, "0" * 64, domain="localhost.local")
    back(client, sent(client, provider))
    first = client.cookies[SESSION]
    assert first != "0" * 64
    back(client, sent(client, provider))
    assert client.cookies[SESSION] != first
    thief = browser(running)
    for name in (first, "0" * 64):
        thief.cookies.set(SESSION, name, domain="localhost.local")
        assert not is_in(thief)


def test_it_leads_to_the_start_and_nowhere_else(running: Visited, provider: Provider) -> None:
    """No address that came along is followed or shown."""
    client = browser(running)
    evil = {"next": "https://evil.example", "redirect_uri": "//evil.example", "target_link_uri": "//evil.example"}
    reply = back(client, {**sent(client, provider), **evil})
    assert reply.headers["refresh"] == "0; url=/"
    assert "evil" not in reply.text
    assert re.findall(r'<a [^>]*href="([^"]*)">Go on', reply.text) == ["/"]
    assert client.get(f"{RETURN}?state=a&state=b&code=c").status_code == 422


def test_sessions_and_attempts_end(running: Visited, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session after its hour, an attempt after ten minutes."""
    client, late = browser(running), browser(running)
    back(client, sent(client, provider))
    assert is_in(client)
    said = sent(late, provider)
    with monkeypatch.context() as patch:
        patch.setattr("discreet.service.sign_in.monotonic", lambda: monotonic() + 601)
        assert back(late, said).status_code == 401
    monkeypatch.setattr("discreet.service.sessions.monotonic", lambda: monotonic() + 3601)
    assert not is_in(client)


def test_strangers_push_out_nobodys_attempt(running: Visited, provider: Provider) -> None:
    """However many they begin: nothing is remembered of an attempt until it comes back."""
    client = browser(running)
    said = sent(client, provider)
    assert running.service.settings.openid is not None
    begun = running.service.settings.openid.sign_in
    assert begun is not None
    for _ in range(20_000):
        begun.begin()
    assert back(client, said).status_code == 200
    assert is_in(client)


PLACES = dict.fromkeys(("client_id", "authorize", "token", "address", "name"), "https://provider.example")


def test_only_attempts_that_came_back_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until they would have ended; and if too many did, no other is taken meanwhile, rather than one taken twice."""
    now = [100.0]
    monkeypatch.setattr(sign_in, "monotonic", lambda: now[0])
    monkeypatch.setattr(sign_in, "_MOST_USED", 3)
    monkeypatch.setattr(SignIn, "_exchanged", lambda _, code, verifier: f"{code} {verifier}")
    way = SignIn(**PLACES)

    def begun() -> tuple[str, dict[str, str]]:
        name, address = way.begin()
        return name, {"code": "x", "state": dict(parse_qsl(urlsplit(address).query))["state"]}

    names = [begun() for _ in range(5)]
    for name, said in names[:3]:
        way.finish("i", name, said)
    for name, said in names:  # used before, and too many
        with pytest.raises(Unauthenticated):
            way.finish("i", name, said)
    now[0] += 599
    later = begun()
    now[0] += 1
    for name, said in names:
        with pytest.raises(Unauthenticated):
            way.finish("i", name, said)
    way.finish("i", *later)
    assert len(way._used) == 1


@pytest.mark.parametrize("change", ["later", "another", "longer", "nothing", "no number"])
def test_an_attempt_cannot_be_made_or_changed(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its end, least of all; nor is one of another process good here."""
    monkeypatch.setattr(SignIn, "_exchanged", lambda _, code, verifier: f"{code} {verifier}")
    way, other = SignIn(**PLACES), SignIn(**PLACES)
    name, address = way.begin()
    asked = dict(parse_qsl(urlsplit(address).query))
    word, ends = name.split(".")
    changed = {
        "later": f"{word}.{int(ends) + 1}",
        "another": f"{word[::-1]}.{ends}",
        "longer": f"{name}0",
        "nothing": "",
        "no number": f"{word}.\udcff",
    }[change]
    said = {"code": "x", "state": asked["state"]}
    for found, shown in ((way, changed), (other, name)):
        with pytest.raises(Unauthenticated):
            found.finish("i", shown, said)
    token, nonce = way.finish("i", name, said)
    assert nonce == asked["nonce"]
    verifier = token.removeprefix("x ")
    assert urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=") == asked["code_challenge"]
    assert not {asked["state"], nonce, verifier} & {*name.split(".")}


def test_without_a_provider_there_is_no_such_way(running: Visited, provider: Provider) -> None:
    """Nothing is offered, and the addresses lead nowhere; so where people only show tokens of the provider's."""
    told = running.service.settings
    assert told.openid is not None
    for openid in (None, replace(told.openid, sign_in=None)):
        running.service.settings = replace(told, openid=openid)
        try:
            client = browser(running)
            assert "Sign in at" not in client.get("/sign-in").text
            assert client.get("/sign-in/openid").status_code == 422
            assert back(client, {"code": "x", "state": "x"}).status_code == 401
        finally:
            running.service.settings = told
    assert provider.exchanged == []


def test_an_id_token_opens_no_api(running: Visited, provider: Provider) -> None:
    """It is for this sign-in, and the API believes what is for the API."""
    taken: list[str] = []
    exchange: Callable[..., tuple[int, bytes]] = provider.exchange
    client = browser(running)
    said = sent(client, provider)
    provider.__dict__["exchange"] = lambda *given: (taken.append(exchange(*given)[1].decode()), exchange(*given))[1]
    back(client, said)
    del provider.__dict__["exchange"]
    found = re.search(r'"id_token": "([^"]+)"', taken[0])
    assert found is not None
    assert client.get("/v1/me", headers={"Authorization": f"Bearer {found[1]}"}).status_code == 401
    with pytest.raises(Unauthenticated):
        running.service.caller(found[1])


def test_custodians_come_in_so_too(running: Visited, provider: Provider) -> None:
    """With their role, and without an analyst's ceiling."""
    provider.said = {"roles": ["data-office"]}
    client = browser(running)
    back(client, sent(client, provider))
    assert client.get("/tokens").status_code == 200
    _, caller = running.service.sessions.resume(client.cookies[SESSION])
    assert (caller.role, caller.most_epsilon) == (Role.CUSTODIAN, None)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('/token"', '/token"\nunknown = 1'),
        ("client_id =", "client ="),
        (f'address = "{HERE}"', 'address = "http://discreet.example.org"'),
        ('authorize = "http://localhost', 'authorize = "http://evil.example'),
        ('token = "http://localhost', 'token = "file://localhost'),
        ('name = "', 'hours = 0\nname = "'),
        ('name = "', 'hours = 9\nname = "'),
        ('name = "', 'hours = true\nname = "'),
        ('"client.secret"', '"nowhere.secret"'),
        ('"client.secret"', '"open.secret"'),
    ],
)
def test_what_is_no_configuration_is_refused(tmp_path: Path, provider: Provider, old: str, new: str) -> None:
    """Addresses that anybody could answer at, a secret that anybody can read, and whatever isn't known."""
    provider.configured(tmp_path, HERE)
    (tmp_path / "open.secret").write_text("x", encoding="utf-8")
    (tmp_path / "open.secret").chmod(0o644)
    config = provider.config(HERE)
    assert old in config
    (tmp_path / "openid.toml").write_text(config.replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigError):
        OpenID.read(tmp_path / "openid.toml")


def test_few_wait_for_the_provider_and_others_are_told_at_once(
    running: Visited, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it doesn't reply, the ninth exchange is refused, and whatever needs no provider is answered.

    What was refused isn't used up: it is taken once the others had their replies.
    """
    may_reply, waiting = ThreadEvent(), Semaphore(0)
    exchange = provider.exchange

    def slowly(sent: dict[str, str], authorization: str) -> tuple[int, bytes]:
        waiting.release()
        assert may_reply.wait(PATIENCE)
        return exchange(sent, authorization)

    monkeypatch.setattr(provider, "exchange", slowly)
    analyst = {"Authorization": f"Bearer {running.tokens['analyst']}"}
    with browser(running) as client, ThreadPoolExecutor(sign_in.MOST_ASKING) as pool:
        visitors = [browser(running) for _ in range(sign_in.MOST_ASKING)]
        taken = [pool.submit(back, each, sent(each, provider)) for each in visitors]
        for _ in taken:
            assert waiting.acquire(timeout=PATIENCE)
        said = sent(client, provider)
        refused = back(client, said)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert "too many people are signing in" in refused.text
        assert client.get("/v1/budget", headers=analyst).status_code == 200
        assert client.get("/sign-in").status_code == 200
        may_reply.set()
        assert [each.result().status_code for each in taken] == [200] * len(taken)
        assert back(client, said).status_code == 200
        assert is_in(client)


def test_few_wait_for_the_keys_of_the_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While they are fetched, calls with a key that nobody knows are refused at once, and others not."""
    keys = ProviderKeys(str(tmp_path / "keys.json"))
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [KEY.as_dict(private=False)]}), encoding="utf-8")
    known = keys.find("ec")
    assert known.kid == "ec"
    may_read, reading, content = ThreadEvent(), ThreadEvent(), keys._content()

    def slowly(_: ProviderKeys) -> bytes:
        reading.set()
        assert may_read.wait(PATIENCE)
        return content

    monkeypatch.setattr(ProviderKeys, "_content", slowly)
    monkeypatch.setattr(keys, "_tried", -1e9)
    with ThreadPoolExecutor(sign_in.MOST_ASKING) as pool:
        unknown = [pool.submit(keys.find, f"made up {number}") for number in range(sign_in.MOST_ASKING)]
        assert reading.wait(PATIENCE)
        while keys._asking.acquire(blocking=False):  # until all of them wait
            keys._asking.release()
        with pytest.raises(ProviderBusy):
            keys.find("made up")
        assert keys.find("ec") is known
        monkeypatch.setattr(keys, "_read", monotonic() - 3600)  # known, and to be fetched again
        assert keys.find("ec") is known
        may_read.set()
        for each in unknown:
            with pytest.raises(LookupError):
                each.result()


@pytest.mark.parametrize(
    "audience", [{"discreet-console": 1}, [["discreet-console"]], ["discreet-console", 1], None, 1, {}, []]
)
def test_an_audience_is_a_text_or_a_list_of_texts(running: Visited, provider: Provider, audience: object) -> None:
    """An object that has our name as a key is none, nor is a list that holds anything else."""
    provider.said = {"aud": audience}
    client = browser(running)
    assert back(client, sent(client, provider)).status_code == 401


@pytest.mark.parametrize("part", ["claims", "header"])
def test_what_a_token_says_twice_is_refused(running: Visited, provider: Provider, part: str) -> None:
    """Readers take the first or the last; the signature holds for both."""
    provider.twice = part
    client = browser(running)
    assert back(client, sent(client, provider)).status_code == 401
