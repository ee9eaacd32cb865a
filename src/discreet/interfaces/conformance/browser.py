"""Attacks through browsers: what the API's replies allow them, and forged forms, scripts, frames and redirects."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from html.parser import HTMLParser
from types import MappingProxyType
from urllib.parse import urlencode, urljoin, urlsplit

from discreet.errors import NotTried
from discreet.interfaces.conformance.target import OK, Target
from discreet.interfaces.conformance.trial import Trial
from discreet.interfaces.conformance.wire import Headers, Reply

_EVIL = "https://evil.example"
_SCRIPT = "\"'><script>conform(1)</script><img src=x onerror=conform(1)>"
_RAW = (b"<script>conform", b"<img src=x onerror")
_ERRORS = range(400, 500)
_REDIRECTS = range(300, 400)
_MOST_PAGES = 20
_FORMULAS = ("=1+1", "+1+1", "-1+1", "@A1", "\t=1+1", " =1+1", "＝1+1", "=cmd|' /C calc'!A0")


@dataclass(slots=True)
class Form:
    """A form of a page.

    Args:
        method: the HTTP method, in small letters.
        action: where it is sent to.
        fields: names, and values that they have.
        hidden: the names of those that nobody sees.
        texts: the names of those that are typed.
    """

    method: str
    action: str
    fields: dict[str, str] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)


class _Page(HTMLParser):
    """The links and forms of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[Form] = []
        self.is_inline = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what matters of a tag."""
        said = {name: value or "" for name, value in attrs}
        self.is_inline |= (tag == "script" and "src" not in said) or any(name.startswith("on") for name in said)
        if tag == "a":
            self.links.append(said.get("href", ""))
        elif tag == "form":
            self.forms.append(Form(said.get("method", "get").lower(), said.get("action", "")))
        elif tag in {"input", "textarea", "select"} and self.forms and said.get("name") and "disabled" not in said:
            form, kind = self.forms[-1], said.get("type", "text")
            form.fields.setdefault(said["name"], said.get("value", ""))
            if kind == "hidden":
                form.hidden.add(said["name"])
            elif tag == "textarea" or kind in {"text", "password", "search"}:
                form.texts.add(said["name"])


@dataclass(slots=True)
class _Visitor:
    """A browser that signed in."""

    target: Target
    cookies: dict[str, str] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)

    def get(self, path: str) -> Reply:
        """A page, redirects on the same server followed."""
        for _ in range(5):
            reply = self._sent("GET", path)
            if reply.status not in _REDIRECTS:
                break
            path = urlsplit(urljoin(path, reply.header("location"))).path or "/"
        return reply

    def post(self, path: str, fields: Mapping[str, str], headers: Headers = (), kind: str = "") -> Reply:
        """A form."""
        told = [("Content-Type", kind or "application/x-www-form-urlencoded"), *headers]
        return self._sent("POST", path, urlencode(fields).encode(), told)

    def _sent(self, method: str, path: str, body: bytes | None = None, headers: Headers = ()) -> Reply:
        """A request, with the cookies that there are."""
        jar = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        told = [("Accept", "text/html"), *([("Cookie", jar)] if jar else []), *headers]
        reply = self.target.send(method, path, None, body, told)
        for name, value in reply.headers:
            if name == "set-cookie":
                pair, _, flags = value.partition(";")
                key, _, content = pair.partition("=")
                self.cookies[key] = content
                if content.strip('"'):
                    self.flags.append(flags.lower().replace(" ", ""))
        return reply

    def pages(self) -> dict[str, _Page]:
        """The pages that can be reached from the first, each once."""
        found, ahead = dict[str, _Page](), ["/"]
        while ahead and len(found) < _MOST_PAGES:
            path = ahead.pop(0)
            if path in found:
                continue
            reply = self.get(path)
            if reply.status == OK and reply.header("content-type").startswith("text/html"):
                found[path] = _Page(reply.body.decode("utf-8", "replace"))
                ahead += [each for each in found[path].links if each.startswith("/") and not each.startswith("//")]
        return found


def _signed_in(target: Target, cookies: Mapping[str, str] = MappingProxyType({}), token: str = "") -> _Visitor:
    """Someone who signed in to the console with a token: the analyst's, unless another is given.

    Args:
        target: the server.
        cookies: that the browser has before.
        token: with which they sign in.

    Raises:
        NotTried: there is no console, or no form to sign in by.
    """
    visitor = _Visitor(target, dict(cookies))
    reply = visitor.get("/")
    if not reply.header("content-type").startswith("text/html"):
        raise NotTried("the server has no console")
    for form in _Page(reply.body.decode("utf-8", "replace")).forms:
        if form.method == "post" and form.texts:
            fields = form.fields | dict.fromkeys(form.texts, token or target.analyst.token)
            answer = visitor.post(form.action or "/", fields)
            if answer.status in {OK, *_REDIRECTS} and visitor.cookies:
                return visitor
    raise NotTried("the console has no form by which a token signs in")


def replies(target: Target, trial: Trial) -> None:
    """The API tells browsers to guess no type, keep nothing, and let no other site read it."""
    (question,) = target.questions(1)
    strange = question.replace("COUNT(*) AS n", f'COUNT(*) AS "{_SCRIPT.replace(chr(34), "")}", nope')
    found = [
        target.send(method, path, who, body, [("Origin", _EVIL)])
        for who in (None, target.analyst)
        for method, path, body in (
            ("GET", "/v1/me", None), ("GET", "/v1/budget", None), ("GET", "/v1/history", None),
            ("GET", "/v1/dataset", None), ("GET", "/v1/<script>", None), ("GET", "/v1/answers/<script>", None),
            ("DELETE", "/v1/me", None), ("OPTIONS", "/v1/answers", None),
            ("POST", "/v1/plans", target.body(question, {})), ("POST", "/v1/plans", target.body(strange, {})),
            ("POST", "/v1/plans", target.body(_SCRIPT, {})), ("POST", "/v1/plans", b"<script>conform(1)</script>"),
        )
    ]  # fmt: skip
    for reply in found:
        kind = reply.header("content-type")
        trial.check(
            kind.startswith(("application/json", "application/problem+json")), f"a reply is of kind {kind[:40]}"
        )
        trial.check(reply.header("x-content-type-options") == "nosniff", "browsers may guess what a reply is")
        trial.check("no-store" in reply.header("cache-control"), "browsers and proxies may keep a reply")
        allowed = reply.header("access-control-allow-origin")
        trial.check(allowed not in {"*", _EVIL, "null"}, "a page of another site may read a reply")


def forms(target: Target, trial: Trial) -> None:
    """Forms that another site's page sends along with someone's cookie: nothing is done."""
    visitor = _signed_in(target)
    for flags in visitor.flags:
        trial.check("httponly" in flags, "scripts may read the session's cookie")
        trial.check(
            "samesite=strict" in flags or "samesite=lax" in flags, "other sites' requests bring the cookie along"
        )
        trial.check("secure" in flags or not target.wire.is_tls, "the session's cookie may travel in the clear")
    posted = [form for page in visitor.pages().values() for form in page.forms if form.method == "post" and form.action]
    trial.check(bool(posted), "no page of the console has a form, not even to sign out")
    for form in posted:
        seen = {name: value for name, value in form.fields.items() if name not in form.hidden}
        wrong = {name: "conform" if name in form.hidden else value for name, value in form.fields.items()}
        for what, fields, headers in (
            ("from another site", form.fields, [("Origin", _EVIL), ("Sec-Fetch-Site", "cross-site")]),
            ("without what its page brings along", seen, []),
            ("with another's of what its page brings along", wrong, []),
        ):
            reply = visitor.post(form.action, fields, headers)
            trial.check(reply.status in _ERRORS, f"the form {form.action} {what} got {reply.status}")
        reply = visitor.post(form.action, form.fields, [("Origin", _EVIL)], "text/plain")
        trial.check(reply.status in _ERRORS, f"the form {form.action} as plain text got {reply.status}")
    for path in ("/v1/plans", "/v1/answers", "/v1/tokens"):
        reply = visitor.post(path, {}, [("Origin", _EVIL)], "application/json")
        trial.check(reply.status in _ERRORS, f"{path} takes a cookie for a token")


def sessions(target: Target, trial: Trial) -> None:
    """Sessions that ended, were given beforehand, guessed, cut or of a token that was revoked: they let nobody in."""
    visitor = _signed_in(target)
    pages = visitor.pages()
    if not _is_in(target, visitor.cookies):
        raise NotTried("signing in to the console didn't work")
    cookies = {  # those without which nobody is in
        name: value
        for name, value in visitor.cookies.items()
        if value and not _is_in(target, {**visitor.cookies, name: ""})
    }
    for name, value in cookies.items():
        for other in ("0" * len(value), value[:-1], value.upper(), f"{value}0", target.analyst.token):
            if other != value:
                trial.check(not _is_in(target, {**cookies, name: other}), "another session's name is accepted")
        bearer = target.send("GET", "/v1/me", headers=[("Authorization", f"Bearer {value}")])
        trial.check(bearer.status != OK, "a session's name is taken for a token")
        trial.check(all(value not in path for path in pages), "a session's name stands in an address")
        bearer = target.send("GET", "/v1/me", headers=[("Cookie", f"{name}={value}")])
        trial.check(bearer.status != OK, "the API takes a cookie for a token")
    _signed_in(target, dict.fromkeys(cookies, "f" * 64))
    trial.check(
        not _is_in(target, dict.fromkeys(cookies, "f" * 64)), "a session takes a name that was given beforehand"
    )
    for page in pages.values():
        for form in page.forms:
            if "sign-out" in form.action:
                visitor.post(form.action, form.fields)
    trial.check(not _is_in(target, cookies), "a session goes on after its end")
    for token in (f"{target.analyst.token}A", *target.dead):
        with suppress(NotTried):
            trial.check(
                not _is_in(target, _signed_in(target, token=token).cookies), "something that isn't a token signs in"
            )
    _of_revoked(target, trial)


def _of_revoked(target: Target, trial: Trial) -> None:
    """A session whose token is revoked meanwhile ends with it."""
    custodian = next((each for each in target.holders if each.role == "custodian"), None)
    made = target.send("POST", "/v1/tokens", custodian, {"subject": "conform-session", "days": 1})
    if custodian is None or not isinstance(made.data, dict) or "text" not in made.data:
        return
    visitor = _signed_in(target, token=made.data["text"])
    target.send("DELETE", f"/v1/tokens/{made.data['token']}", custodian)
    trial.check(not _is_in(target, visitor.cookies), "a session goes on after its token was revoked")


def _is_in(target: Target, cookies: Mapping[str, str]) -> bool:
    """Whether someone is signed in with these cookies: the first page has a way out."""
    reply = _Visitor(target, dict(cookies)).get("/")
    return reply.status == OK and any(
        "sign-out" in form.action for form in _Page(reply.body.decode("utf-8", "replace")).forms
    )


def formulas(target: Target, trial: Trial) -> None:
    """Texts that spreadsheets carry out, as names of columns: what is downloaded has none as it was typed."""
    (question,) = target.questions(1)
    target.rows(target.ask(question))
    for text in _FORMULAS:
        named = question.replace(" AS n", f' AS "{text}"')
        reply = target.ask(named, headers=[("Accept", "text/csv")])
        if reply.status != OK or not reply.header("content-type").startswith("text/csv"):
            continue  # it isn't taken for a name, or nothing is written as CSV
        _without_formulas(trial, reply)
    try:
        visitor = _signed_in(target)
    except NotTried:
        return
    for name in re.findall(rb"/answers/[0-9a-f]+", b"".join(each.body for _, each in target.pages))[:_MOST_PAGES]:
        reply = visitor.get(f"{name.decode()}/1/answer.csv")
        if reply.status == OK:
            _without_formulas(trial, reply)


def _without_formulas(trial: Trial, reply: Reply) -> None:
    """Look at the cells of a download: numbers may begin with a sign, texts may not."""
    for row in csv.reader(reply.body.decode("utf-8-sig", "replace").splitlines()):
        for cell in row:
            begins = unicodedata.normalize("NFKC", cell).strip()[:1] in {"=", "+", "-", "@"} or cell[:1] in {"\t", "\r"}
            is_number = re.fullmatch(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?", cell) is not None
            trial.check(is_number or not begins, "a download has a text that spreadsheets carry out")


def scripts(target: Target, trial: Trial) -> None:
    """Scripts in questions, addresses and names: no page runs them."""
    visitor = _signed_in(target)
    names = [
        str(name).encode()
        for table in target.send("GET", "/v1/dataset", target.analyst).data["tables"]
        for column in table["columns"]
        for name in (column["name"], *(column["keys"] or []))
        if "<" in str(name)
    ]
    pages = visitor.pages()
    for path, page in pages.items():
        trial.check(not page.is_inline, f"the page {path} has a script of its own, so strangers' can't be told from it")
        visitor.get(
            f"{path}?{urlencode(dict.fromkeys(('question', 'q', 'name', 'next', 'error', 'message'), _SCRIPT))}"
        )
        for form in page.forms:
            filled = form.fields | dict.fromkeys(form.texts, _SCRIPT)
            if "sign-out" in form.action:
                continue
            if form.method == "get":
                visitor.get(f"{form.action or path}?{urlencode(filled)}")
            else:
                visitor.post(form.action, filled)
    visitor.get("/<script>conform(1)</script>")
    for path, reply in target.pages:
        where = urlsplit(path).path[:40]
        trial.check(not any(raw in reply.body for raw in _RAW), f"the page {where} has a stranger's script in it")
        trial.check(not any(name in reply.body for name in names), f"the page {where} has a name in it that is markup")


def frames(target: Target, trial: Trial) -> None:
    """Pages within other sites' pages, and what they may load: no browser shows or loads it."""
    visitor = _signed_in(target)
    visitor.pages()
    visitor.get("/nothing-of-this-name")
    for path, reply in target.pages:
        policy, where = reply.header("content-security-policy"), urlsplit(path).path[:40]
        parts = dict(part.strip().partition(" ")[::2] for part in policy.split(";") if part.strip())
        ancestors = parts.get("frame-ancestors", "")
        framed = ancestors in {"'none'", "'self'"} or reply.header("x-frame-options").upper() in {"DENY", "SAMEORIGIN"}
        trial.check(framed, f"the page {where} may be shown within another site's")
        sources = parts.get("script-src", parts.get("default-src", "*"))
        trial.check(
            not re.search(r"unsafe-|\*|data:|https?:", sources), f"the page {where} may run scripts from anywhere"
        )
        trial.check(reply.header("x-content-type-options") == "nosniff", f"browsers may guess what the page {where} is")


def redirects(target: Target, trial: Trial) -> None:
    """Addresses that could lead elsewhere: no reply sends a browser to another site."""
    for path in (
        "/", "/v1/me/", "/v1/", "/v1", "/healthz/", "//evil.example", "//evil.example/", "//evil.example/%2f..",
        "/\\evil.example", "/%5cevil.example", "/%2f%2fevil.example", "/?next=https://evil.example",
        "/sign-in?next=//evil.example", "/.evil.example", "/sign-in?url=https://evil.example",
        "/sign-out?next=https://evil.example", "/v1/answers/", "/static", "/console",
    ):  # fmt: skip
        for host in (target.wire.host, "evil.example"):
            token = f"Authorization: Bearer {target.analyst.token}\r\n" if host != "evil.example" else ""
            more = f"X-Forwarded-Host: evil.example\r\n{token}Connection: close\r\n"
            text = f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n"
            head = target.raw(text.encode("latin-1"), 5.0).raw.partition(b"\r\n\r\n")[0]
            found = re.search(rb"(?im)^(?:location|refresh|content-location):(.*)$", head)
            place = found.group(1).strip().decode("latin-1") if found else ""
            elsewhere = place.startswith(("//", "/\\", "\\")) or "evil.example" in place
            trial.check(not elsewhere, f"{path} leads to another site")
