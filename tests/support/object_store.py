"""An object store on this machine: what S3's protocol has for reading, spoken from memory by a thread.

It serves what is signed by the one key that it knows and nothing else, lists in pages, and misbehaves as it is told.
"""

from __future__ import annotations

import atexit
import hashlib
import hmac
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import cache, cached_property
from http.server import BaseHTTPRequestHandler
from itertools import count
from pathlib import Path
from time import gmtime, sleep, strftime, time
from typing import TypeAlias
from urllib.parse import parse_qsl, quote, unquote
from xml.sax.saxutils import escape

from support.http_server import listening

ACCESS_KEY = "AKIDEXAMPLE"
SECRET = "SECRET-5d1c/of+the=store"  # noqa: S105 — nobody's
"""Is in no error, and in no request."""
REGION = "eu-west-1"
ENVIRONMENT: Mapping[str, str] = {
    "AWS_ACCESS_KEY_ID": ACCESS_KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    "AWS_CONFIG_FILE": "/dev/null",
}
"""By which a client knows the key, and looks for no other."""
_VERSIONS = count(1)
_NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"


@dataclass(frozen=True)
class Stored:
    """A version of an object.

    Args:
        body: of it.
        modified: when it was written, in seconds since 1970.
        version: of it, in a bucket that keeps versions.
    """

    body: bytes
    modified: float = field(default_factory=time)
    version: str | None = None

    @cached_property
    def tag(self) -> str:
        """Its ETag."""
        return f'"{hashlib.md5(self.body).hexdigest()}"'  # noqa: S324 — the protocol's own


@dataclass(frozen=True)
class Heard:
    """A request.

    Args:
        method: of HTTP.
        bucket: that it is about; empty if none.
        key: of the object; empty if it is about the bucket.
        query: its parameters.
        headers: by their names in small letters.
    """

    method: str
    bucket: str
    key: str
    query: Mapping[str, str]
    headers: Mapping[str, str]

    @property
    def is_listing(self) -> bool:
        """Whether it asks for what a bucket holds."""
        return self.method == "GET" and not self.key


@dataclass(frozen=True)
class Said:
    """A reply.

    Args:
        status: of HTTP.
        body: of it; of the reply to a HEAD, what it would be.
        headers: beside its length.
        cut: after how many bytes of the body the connection is cut; None to send all of it.
        wait: seconds before anything is said.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    wait: float = 0


Objects: TypeAlias = dict[str, Stored]


@dataclass
class ObjectStore:
    """An object store.

    Args:
        address: host and port.
        buckets: what they hold, by key.
        page: how many keys one reply lists.
        behave: called with each request that is signed, before it is answered, and told the answer; gives another.
        heard: the requests.
    """

    address: str = ""
    buckets: dict[str, Objects] = field(default_factory=dict)
    page: int = 1_000
    behave: Callable[[Heard, Said], Said] = field(default=lambda _, said: said)
    heard: list[Heard] = field(default_factory=list)

    def put(self, bucket: str, key: str, body: bytes, *, modified: float | None = None, version: bool = False) -> None:
        """Write an object."""
        made = Stored(body, time() if modified is None else modified, f"v{next(_VERSIONS)}" if version else None)
        self.buckets.setdefault(bucket, {})[key] = made

    def put_folder(self, bucket: str, prefix: str, folder: Path) -> None:
        """Write each file of a folder as an object."""
        for file in folder.rglob("*"):
            if file.is_file():
                self.put(bucket, prefix + file.relative_to(folder).as_posix(), file.read_bytes())

    def url(self, bucket: str, key: str = "", **more: str) -> str:
        """Where an object is, or a pattern leads; how the store is reached stands in it."""
        said = {"endpoint_override": self.address, "scheme": "http", "region": REGION, **more}
        parameters = "&".join(f"{name}={quote(text, safe='')}" for name, text in said.items() if text)
        return f"s3://{bucket}/{key}" + (f"?{parameters}" if parameters else "")

    def reply(self, heard: Heard) -> Said:
        """The answer to a request that is signed."""
        objects = self.buckets.get(heard.bucket)
        if objects is None:
            return _failed(404, "NoSuchBucket")
        if heard.is_listing:
            return self._listed(heard, objects)
        if not heard.key:
            return Said()
        if heard.key not in objects:
            return _failed(404, "NoSuchKey")
        return _sent(heard, objects[heard.key])

    def _listed(self, heard: Heard, objects: Objects) -> Said:
        """A page of what a bucket holds: keys in the order of their bytes, those below a delimiter as one prefix."""
        prefix, delimiter = heard.query.get("prefix", ""), heard.query.get("delimiter", "")
        after = heard.query.get("continuation-token", heard.query.get("start-after", ""))
        entries: dict[str, Stored | None] = {}
        for key in sorted(objects, key=str.encode):
            if not key.startswith(prefix):
                continue
            first, sign, _ = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
            entries.setdefault(prefix + first + sign if sign else key, None if sign else objects[key])
        left = [(name, found) for name, found in entries.items() if name.encode() > after.encode()]
        most = min(self.page, int(heard.query.get("max-keys", "1000")))
        page = left[:most]
        parts = [f"<Name>{escape(heard.bucket)}</Name><Prefix>{_xml(prefix)}</Prefix><KeyCount>{len(page)}</KeyCount>"]
        parts.append(f"<MaxKeys>{most}</MaxKeys><IsTruncated>{str(len(left) > len(page)).lower()}</IsTruncated>")
        if len(left) > len(page):
            parts.append(f"<NextContinuationToken>{_xml(page[-1][0])}</NextContinuationToken>")
        for name, found in page:
            if found is None:
                parts.append(f"<CommonPrefixes><Prefix>{_xml(name)}</Prefix></CommonPrefixes>")
                continue
            at = strftime("%Y-%m-%dT%H:%M:%S.000Z", gmtime(found.modified))
            parts.append(
                f"<Contents><Key>{_xml(name)}</Key><LastModified>{at}</LastModified><ETag>{_xml(found.tag)}</ETag>"
                f"<Size>{len(found.body)}</Size><StorageClass>STANDARD</StorageClass></Contents>"
            )
        body = f'<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="{_NAMESPACE}">{"".join(parts)}'
        return Said(200, f"{body}</ListBucketResult>".encode(), {"Content-Type": "application/xml"})


def _xml(text: str) -> str:
    """A text in XML, in which line ends would be lost otherwise."""
    return escape(text, {"\r": "&#13;", "\n": "&#10;"})


def _failed(status: int, code: str, **headers: str) -> Said:
    """An error, as the protocol writes it."""
    body = f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>{code}</Message></Error>'
    return Said(status, body.encode(), {"Content-Type": "application/xml", **headers})


def failed(status: int, code: str, **headers: str) -> Callable[[Heard, Said], Said]:
    """A behaviour: every request fails."""
    return lambda _heard, _said: _failed(
        status, code, **{name.replace("_", "-"): text for name, text in headers.items()}
    )


def _sent(heard: Heard, found: Stored) -> Said:
    """An object, or the part of it that is asked for."""
    headers = {
        "ETag": found.tag,
        "Last-Modified": formatdate(found.modified, usegmt=True),
        "Accept-Ranges": "bytes",
        "Content-Type": "application/octet-stream",
        **({} if found.version is None else {"x-amz-version-id": found.version}),
    }
    if heard.method == "HEAD" or "range" not in heard.headers:
        return Said(200, found.body, headers)
    first, _, last = heard.headers["range"].removeprefix("bytes=").partition("-")
    start, end = int(first), min(int(last or len(found.body)), len(found.body) - 1)
    if start > end:
        return _failed(416, "InvalidRange")
    headers["Content-Range"] = f"bytes {start}-{end}/{len(found.body)}"
    return Said(206, found.body[start : end + 1], headers)


def _refusal(method: str, target: str, headers: Mapping[str, str]) -> Said | None:
    """The refusal of a request that isn't signed, or not by the one key; None of one that is. Signature Version 4."""
    scheme, _, said = headers.get("authorization", "").partition(" ")
    if scheme != "AWS4-HMAC-SHA256":
        return _failed(403, "AccessDenied")
    parts = dict(each.strip().split("=", 1) for each in said.split(","))
    access_key, day, region, service, last = parts["Credential"].split("/")
    if access_key != ACCESS_KEY:
        return _failed(403, "InvalidAccessKeyId")
    path, _, query = target.partition("?")
    named = parts["SignedHeaders"].split(";")
    canonical = [
        method,
        path,
        "&".join(sorted(each if "=" in each else f"{each}=" for each in query.split("&") if each)),
        *(f"{name}:{' '.join(headers[name].split())}" for name in named),
        "",
        parts["SignedHeaders"],
        headers["x-amz-content-sha256"],
    ]
    digest = hashlib.sha256("\n".join(canonical).encode()).hexdigest()
    signed = "\n".join([scheme, headers["x-amz-date"], f"{day}/{region}/{service}/{last}", digest])
    key = f"AWS4{SECRET}".encode()
    for each in (day, region, service, last):
        key = hmac.digest(key, each.encode(), "sha256")
    if not hmac.compare_digest(hmac.new(key, signed.encode(), "sha256").hexdigest(), parts["Signature"]):
        return _failed(403, "SignatureDoesNotMatch")
    if region != REGION:
        return _failed(301, "PermanentRedirect", **{"x-amz-bucket-region": REGION})
    return None


def _handler(store: ObjectStore) -> type[BaseHTTPRequestHandler]:
    """What speaks for a store."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # so that a head and its body travel together, and no acknowledgement is waited for

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            bucket, _, key = unquote(path).removeprefix("/").partition("/")
            headers = {name.casefold(): text for name, text in self.headers.items()}
            heard = Heard(self.command, bucket, key, dict(parse_qsl(query, keep_blank_values=True)), headers)
            store.heard.append(heard)
            said = _refusal(self.command, self.path, headers)
            self.say(store.behave(heard, store.reply(heard)) if said is None else said)

        do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815 — the standard library's names

        def say(self, said: Said) -> None:
            sleep(said.wait)
            with suppress(OSError):  # a client that has had enough
                self.send_response(said.status)
                for name, text in {"Content-Length": str(len(said.body)), **said.headers}.items():
                    self.send_header(name, text)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(said.body[: said.cut])
                self.wfile.flush()
            self.close_connection = self.close_connection or said.cut is not None

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    return Handler


@contextmanager
def object_store(certified: tuple[Path, Path] | None = None) -> Iterator[ObjectStore]:
    """It listens on a free port of this machine; with TLS, if there are files of a key and its certificate."""
    store = ObjectStore()
    key, certificate = (None, None) if certified is None else certified
    with listening(_handler(store), certificate, key) as port:
        store.address = f"localhost:{port}"
        yield store


@cache
def store() -> ObjectStore:
    """The store of this process, which ends with it; its key is in the environment from then on."""
    stack = ExitStack()
    atexit.register(stack.close)
    os.environ.update(ENVIRONMENT)
    return stack.enter_context(object_store())
