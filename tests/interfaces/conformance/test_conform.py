"""The conformance suite: the real server holds, and each family catches a server that is broken in its way."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client import generate_latest

import support.attacked
from discreet.errors import InvalidArgument, NotTried
from discreet.interfaces.conformance import FAMILIES, Finding, Report, Verdict, answers, conform, protocol
from discreet.interfaces.conformance.trial import Purse
from discreet.interfaces.http import make_app
from discreet.interfaces.http.middleware import bodies
from discreet.interfaces.http.middleware.safe_headers import SafeHeaders
from discreet.interfaces.http.request_heads import PromptHeads
from support.attacked import (
    CANARY,
    QUICK,
    App,
    Edited,
    Exchange,
    Hasty,
    Keyed,
    Lenient,
    attacked,
    listening,
    until_found,
    with_rows,
)  # fmt: skip
from support.protocol_twins import (
    READ_BY_H11,
    any_encoding,
    chunks_are_read,
    defects,
    endless,
    last_of_a_name,
    lenient,
    letters_decoded,
    one_at_a_time,
    packed_or_not,
    real_app,
    simplified,
    slow_on_values,
    unlooked_at,
)
from support.small_console import with_console

pytestmark = pytest.mark.long

OF_CONSOLE = ["forged forms", "scripts", "frames"]
OF_KEYS = ["idempotency keys", "plan swaps"]
OF_TWINS = ["bytes of twins", "times of twins"]
OF_CHECKS = ["approvals", "noise", "bombs", "size", "sessions", "formulas"]
"""Those that `test_without_checks.py` tries: of the real server, and of it with a check left out."""
OF_POSTGRES = [f"postgres {each}" for each in ("messages", "tokens", "probes", "answers", "cuts", "ceilings")]
"""Those that `test_postgres_families.py` tries."""


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The real server, its address, and everybody's tokens."""
    folder = tmp_path_factory.mktemp("real")
    log = folder / "log"
    with (
        pytest.MonkeyPatch.context() as patch,
        log.open("w", encoding="utf-8") as stream,
        attacked(folder, log=stream, settings=QUICK) as (service, tokens),
        listening(make_app(service)) as url,
    ):
        patch.setattr(bodies, "_MOST_SECONDS", 2)
        patch.setattr(answers, "CONNECTIONS", 12)  # as many as lose a race, which those without a check do
        yield SimpleNamespace(service=service, url=url, tokens=tokens, log=log, other=folder / "other")


def tried(
    real: Any, app: App | None, families: Sequence[str], read_by: type[PromptHeads] = Hasty, **said: Any
) -> dict[str, Finding]:
    """What families find, of an app or of the real server."""
    with listening(real_app(real) if app is None else app, read_by) as url:
        report = conform(url, list(real.tokens.values()), families=families, **said)
    return {each.family: each for each in report.findings}


def test_the_real_server_holds(real: Any) -> None:
    """Every family that isn't tried elsewhere; what it hasn't is said; no more is spent than was allowed."""
    elsewhere = {*OF_TWINS, *OF_CHECKS, *OF_POSTGRES}
    families = [name for name in FAMILIES if name not in elsewhere]
    report = conform(
        real.url, list(real.tokens.values()), spend="0.5", canaries=[CANARY], families=families, written=[real.log]
    )
    found = {each.family: each for each in report.findings}
    assert [(each.family, each.evidence) for each in report.findings if each.verdict is Verdict.BROKEN] == []
    left_out = {name: each.evidence for name, each in found.items() if each.verdict is Verdict.NOT_TRIED}
    assert all(left_out.values())
    late = {name for name, reasons in left_out.items() if "question_failed" in reasons[0]}  # the machine is too busy
    assert set(left_out) <= late
    assert sum(each.offered for each in report.findings) <= Fraction(1, 2)
    assert real.service.verify(real.service.caller(real.tokens["auditor"])).problems == ()
    assert "second" in report.spent
    assert not report.is_broken
    metrics = generate_latest(real.service.metrics.registry()).decode()
    real.service.log.flush()
    logged = real.log.read_text(encoding="utf-8")
    for text in (CANARY, *real.tokens.values(), "SELECT", "conform-", "evil.example", "<script>"):
        assert text not in logged
        assert text not in metrics
    assert len(logged.splitlines()) > 100
    assert "discreet_" in metrics


def test_what_takes_a_console_or_keys_holds_where_they_are_sound(real: Any) -> None:
    """The servers that the twins of these families are made of: sound, and found so."""
    found = {
        **tried(real, with_console(real_app(real)), OF_CONSOLE),
        **tried(real, Keyed(real_app(real)).app, OF_KEYS),
    }
    assert [(each.family, each.verdict, each.evidence) for each in found.values()] == [
        (name, Verdict.HELD, ()) for name in (*OF_CONSOLE, *OF_KEYS)
    ]


# ── Broken twins: each is the real server, with one thing wrong ──────────────────────────────────────────────────────


def let_in_again(real: Any) -> App:
    """Whoever came in once comes in for ever: revoking does nothing."""
    known, own = set[str](), set(real.tokens.values())

    def before(exchange: Exchange) -> None:
        if exchange.header("authorization") in known:
            exchange.become(real.tokens["analyst"])

    def after(exchange: Exchange) -> None:
        if exchange.status == 200 and exchange.header("authorization").removeprefix("Bearer ") not in own:
            known.add(exchange.header("authorization"))

    return Edited(real_app(real), before, after)


def expired_is_said(real: Any) -> App:
    """A token that has expired is told so: who finds one knows that it was one."""

    def after(exchange: Exchange) -> None:
        if exchange.header("authorization").endswith(real.tokens["late"]):
            exchange.answer(401, {"code": "expired"})

    return Edited(real_app(real), after=after)


def begins_alike(real: Any) -> App:
    """Only the beginning of a token is compared."""

    def before(exchange: Exchange) -> None:
        if exchange.header("authorization").startswith(f"Bearer {real.tokens['analyst'][:40]}"):
            exchange.become(real.tokens["analyst"])

    return Edited(real_app(real), before)


def no_role_on_one_path(real: Any) -> App:
    """On one path nobody's role is looked at."""

    def before(exchange: Exchange) -> None:
        if exchange.call == "GET /v1/verification" and exchange.header("authorization"):
            exchange.become(real.tokens["auditor"])

    return Edited(real_app(real), before)


def everybodys_answers(real: Any) -> App:
    """An answer is told of by its address, whoever asks."""

    def after(exchange: Exchange) -> None:
        if exchange.call.startswith("GET /v1/answers/") and exchange.status == 404:
            place = exchange.call.rpartition("/")[2]
            if place.strip("0"):
                exchange.answer(403, {"code": "forbidden"})

    return Edited(real_app(real), after=after)


def named_by_a_header(real: Any) -> App:
    """A proxy's header says who somebody is, whoever sent it."""

    def before(exchange: Exchange) -> None:
        if exchange.header("x-forwarded-user"):
            exchange.become(real.tokens["custodian"])

    return Edited(real_app(real), before)


def unknown_fields(real: Any) -> App:
    """What stands beside a question, and isn't known, is passed over."""

    def before(exchange: Exchange) -> None:
        if exchange.call.startswith("POST") and isinstance(exchange.asked, dict):
            exchange.body = json.dumps(
                {k: v for k, v in exchange.asked.items() if k in {"question", "epsilon"}}
            ).encode()

    return Edited(real_app(real), before)


def drawn_anew(real: Any) -> App:
    """Noise is drawn anew each time, and paid for once."""
    numbers = count()
    return Edited(real_app(real), after=lambda exchange: with_rows(exchange, next(numbers)))


def drawn_once(real: Any) -> App:
    """All questions have the same noise."""
    return Edited(real_app(real), after=lambda exchange: with_rows(exchange, 1017))


def few_are_refused(real: Any) -> App:
    """Questions about few people are refused, as others do who don't add noise."""

    def before(exchange: Exchange) -> None:
        if exchange.call == "POST /v1/answers" and b" = " in exchange.body:
            exchange.answer(403, {"code": "too_few"})

    return Edited(real_app(real), before)


def unlocked(real: Any) -> App:
    """What is left of a share is looked at by all at once, before anybody has paid."""
    paid: list[Any] = []

    def before(exchange: Exchange) -> None:
        if exchange.header("authorization").endswith(real.tokens["second"]):
            if exchange.call == "POST /v1/answers":
                paid.append(exchange.asked)
                exchange.answer(200, {"id": "x", "rows": [{"n": 1}]})
            elif exchange.call == "GET /v1/history":
                cost = [{"epsilon": each["epsilon"], "rho": "0", "delta": "0"} for each in paid]
                exchange.answer(200, [{"kind": "question", "analyst": "second", "cost": each} for each in cost])

    return Edited(real_app(real), before)


def key_alone(real: Any) -> App:
    """Whose idempotency key it is isn't looked at."""
    return Keyed(real_app(real), by_key_alone=True).app


def any_plan(real: Any) -> App:
    """Neither a key's question nor the digest that was named is compared."""
    return Keyed(real_app(real), any_plan=True).app


def without_headers(real: Any) -> Any:
    """The real app without the headers that tell browsers what not to do."""
    app = real_app(real)
    app.user_middleware = [each for each in app.user_middleware if each.cls is not SafeHeaders]
    return app


def led_elsewhere(real: Any) -> App:
    """The same, with redirects to where the request says that it is."""
    app = lenient(real)
    app.router.redirect_slashes = True
    return app


def charged_again(real: Any) -> App:
    """A retry after a connection was cut is charged again."""
    asked: Counter[str] = Counter()

    def after(exchange: Exchange) -> None:
        if exchange.call == "POST /v1/answers" and isinstance(exchange.asked, dict):
            asked[exchange.asked.get("question", "")] += 1
        elif exchange.call == "GET /v1/history" and exchange.status == 200:
            entries = [each for each in exchange.said for _ in range(max(1, asked[each["text"]]))]
            exchange.reply = json.dumps(entries).encode()

    return Edited(real_app(real), after=after)


def read_by_other_sites(real: Any) -> App:
    """Every site's pages may read every reply."""

    def after(exchange: Exchange) -> None:
        exchange.headers.append((b"access-control-allow-origin", b"*"))

    return Edited(real_app(real), after=after)


def quotes_a_row(real: Any) -> App:
    """An error quotes a row."""

    def after(exchange: Exchange) -> None:
        if exchange.status == 422:
            exchange.answer(422, {"title": f"could not convert {CANARY}-7"})

    return Edited(real_app(real), after=after)


def written_too(real: Any, text: str) -> None:
    """Have something else stand where the log is; for one twin."""
    real.other.write_text(text, encoding="utf-8")


def writes_tracebacks(real: Any) -> App:
    """What goes wrong is written down with its traceback."""

    def after(exchange: Exchange) -> None:
        if exchange.status == 422:
            written_too(real, f"Traceback (most recent call last):\nValueError: could not convert {CANARY}-7\n")

    return Edited(real_app(real), after=after)


def writes_addresses(real: Any) -> App:
    """The web server's own log is on, and has the address of each request."""

    def after(exchange: Exchange) -> None:
        if exchange.status == 404:
            query = exchange.scope["query_string"].decode()
            written_too(real, f'127.0.0.1:1 - "{exchange.call}?{query} HTTP/1.1" 404 Not Found\n')

    return Edited(real_app(real), after=after)


def counts_addresses(real: Any) -> App:
    """Metrics have the address of each request as a label."""
    seen: list[str] = []

    def after(exchange: Exchange) -> None:
        seen.append(exchange.call)
        if exchange.call == "GET /v1/metrics":
            exchange.reply += "".join(f'requests{{path="{each}"}} 1\n' for each in seen).encode()

    return Edited(real_app(real), after=after)


def forms_unchecked(real: Any) -> App:
    """A form may come from anywhere."""
    return with_console(real_app(real), checks_forms=False)


def unescaped(real: Any) -> App:
    """A question stands in its page as it was typed."""
    return with_console(real_app(real), escapes=False)


def framed(real: Any) -> App:
    """Other sites may show its pages."""
    return with_console(real_app(real), framed=True)


TWINS: list[tuple[str, Callable[[Any], App], str | tuple[str, ...]]] = [
    ("tokens", let_in_again, "revoked"),
    ("tokens", expired_is_said, "another reply than an unknown one"),
    ("tokens", begins_alike, "another reply than an unknown one"),
    ("roles", no_role_on_one_path, "/v1/verification with a token of role"),
    ("roles", everybodys_answers, "another's answer"),
    ("assumed names", named_by_a_header, "X-Forwarded-User"),
    ("assumed names", unknown_fields, "taken beside a question"),
    ("averaging", drawn_anew, "another answer"),
    ("differencing", drawn_once, "the same noise"),
    ("tracker", few_are_refused, "about few"),
    ("idempotency keys", key_alone, "another's answer"),
    ("idempotency keys", any_plan, "another plan"),
    ("plan swaps", any_plan, "another plan's digest"),
    ("smuggling", lenient, "one request got 2 replies"),
    (
        "smuggling",
        unlooked_at,
        (
            "a line that goes on in the next: got 200",
            "lines that end in a line feed alone: got 200",
            "a length said as a list: got 200",
            "the same length twice: got 200",
            "chunks in HTTP/1.0: got 200",
        ),
    ),
    ("paths", lenient, "is taken for another path"),
    ("paths", letters_decoded, "/v1/%6De is taken for another path"),
    ("paths", simplified, "is taken for another path"),
    ("bodies", last_of_a_name, "a name twice"),
    ("bodies", defects, "got 500"),
    ("bodies", any_encoding, "a body in UTF-16 got 200"),
    ("bodies", packed_or_not, "a body that only says to be packed got 200"),
    ("bodies", slow_on_values, "bodies of many values keep others from being answered"),
    ("bodies", chunks_are_read, "bodies in chunks of one byte keep others from being answered"),
    ("slow requests", one_at_a_time, "keep others from being answered"),
    ("slow requests", endless, "held open"),
    ("cut connections", charged_again, "was charged"),
    ("API replies", without_headers, "may guess"),
    ("API replies", read_by_other_sites, "another site"),
    ("redirects", led_elsewhere, "leads to another site"),
    ("forged forms", forms_unchecked, "from another site"),
    ("scripts", unescaped, "stranger's script"),
    ("frames", framed, "within another site's"),
    ("races", drawn_anew, "answers to one question"),
    ("races", unlocked, "was spent"),
    ("traces", writes_tracebacks, ("there is a traceback", "a token or a marked value")),
    ("traces", writes_addresses, "the web server's own log"),
    ("traces", counts_addresses, "the metrics have a question, or an address"),
    ("canaries", quotes_a_row, "a marked value"),
]


@pytest.mark.parametrize(("family", "twin", "words"), TWINS, ids=[f"{each[0]}: {each[1].__name__}" for each in TWINS])
def test_a_broken_twin_is_caught(
    real: Any,
    family: str,
    twin: Callable[[Any], App],
    words: str | tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By its family, for what is wrong with it."""
    if twin in {slow_on_values, chunks_are_read}:
        monkeypatch.setattr(protocol, "_PROMPT", 0.2)  # each keeps others waiting for longer by one body
        monkeypatch.setattr(protocol, "FLOODS", 1)
    families = ["API replies", "canaries"] if family == "canaries" else [family]
    patience = 5.0 if twin is endless else 1.0 if family == "slow requests" else 30.0
    real.other.write_text("", encoding="utf-8")
    read_by = Lenient if twin in READ_BY_H11 else Hasty
    terms = {"canaries": [CANARY], "patience": patience, "written": [real.other]}
    expected = (words,) if isinstance(words, str) else words
    with until_found(*expected):
        found = tried(real, twin(real), families, read_by, **terms)[family]
    assert found.verdict is Verdict.BROKEN
    for said in expected:
        assert any(said in each for each in found.evidence), found.evidence


def test_every_family_has_a_twin() -> None:
    """None is there that nothing ever failed."""
    assert {family for family, _, _ in TWINS} | {*OF_TWINS, *OF_CHECKS, *OF_POSTGRES} == set(FAMILIES)


KEYED = """
id = { kind = "integer", bounds = [0, 10000] }
k = { kind = "text", keys = ["a", "b"] }
"""


def test_a_sound_server_whose_texts_all_have_keys_is_not_called_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That no key is like what is looked for is known in public: the answer is exact and free, and nothing is told."""
    monkeypatch.setattr(support.attacked, "COLUMNS", KEYED)
    with attacked(tmp_path) as (service, tokens), listening(make_app(service)) as url:
        (found,) = conform(url, list(tokens.values()), families=["tracker"]).findings
    assert found.verdict is Verdict.NOT_TRIED
    assert "no table has a column" in found.evidence[0]


def test_what_is_not_given_is_not_tried(real: Any) -> None:
    """With one analyst's token alone, what takes others is said, and isn't held."""
    with pytest.raises(InvalidArgument, match="analyst"):
        conform(real.url, [real.tokens["auditor"]])
    with pytest.raises(InvalidArgument, match="no family"):
        conform(real.url, [real.tokens["analyst"]], families=["nope"])
    with pytest.raises(InvalidArgument, match="no server answers"):
        conform("http://127.0.0.1:9", [real.tokens["analyst"]], patience=1)
    with pytest.raises(InvalidArgument, match="address"):
        conform("ftp://127.0.0.1", [real.tokens["analyst"]])
    report = conform(real.url, [real.tokens["analyst"]], families=["bytes of twins", "traces"])
    assert [each.verdict for each in report.findings] == [Verdict.NOT_TRIED] * 2
    for each, missing in zip(report.findings, ("second server", "operator's token"), strict=True):
        assert missing in each.evidence[0]
    with pytest.raises(NotTried, match="isn't enough"):
        Purse("1").take(Fraction(2))
    assert report.to_dict()["broken"] is False
    assert isinstance(report, Report)
