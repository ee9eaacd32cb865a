"""Object URLs: which objects of which store, reached how. An access key never stands in one.

`s3://clinic/visits/?region=eu-west-1` is PyArrow's form, with its parameters. It is taken apart here, and PyArrow is
given the parts, so that what was checked is what is connected to. What isn't said in it is looked for in the
environment, as other programs do that read from S3.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Self
from urllib.parse import quote, unquote

from discreet.errors import InvalidArgument, SourceUnsupported
from discreet.loopback import is_loopback
from discreet.tables.schema.url_parameters import check_known, parameters_in

_SCHEME = re.compile("s3://", re.IGNORECASE)
_ANY_SCHEME = re.compile("([A-Za-z][A-Za-z0-9+.-]*)://")
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")
_REGION = re.compile("[A-Za-z0-9-]{1,50}")
_ADDRESS = re.compile(r"(?:(https?)://)?((?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?)/?")
_PARAMETERS = frozenset({"region", "endpoint_override", "scheme", "tls_ca_file_path"})
_SECRET = re.compile("access.?key|secret|token|password|credential|signature", re.IGNORECASE)
_SIGNS = "*["
"""Signs that make a name in a URL a pattern. A `?` begins its parameters, so it is none here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a store is, and how it is reached; None for what PyArrow finds itself.

    Args:
        region: of the bucket.
        address: the store's host and port; None for the one of AWS in that region.
        scheme: `https`, or `http` to this machine.
        authorities: a file with the certificates of those who vouch for the store.
    """

    region: str | None = None
    address: str | None = None
    scheme: str = "https"
    authorities: str | None = None


@dataclass(frozen=True)
class ObjectUrl:
    """Objects of a store.

    Args:
        bucket: that they are in.
        path: as the URL spells it: a key, the folder of several, or a pattern of them.
        parameters: PyArrow's, as the URL says them.

    Raises:
        InvalidArgument: an access key or a parameter that isn't known stands in it; or rows would cross a network in
            the open.
    """

    bucket: str
    path: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what would tell a secret, or rows to everyone on the way."""
        if _SECRET.search(min(self.parameters.keys() - _PARAMETERS, default="")):
            raise _has_key()
        check_known(self.parameters, _PARAMETERS, "an object's URL", hint=f"known are {', '.join(sorted(_PARAMETERS))}")
        if "\0" in unquote(self.path) or any("\0" in each for each in self.parameters.values()):
            raise InvalidArgument("an object's URL holds no NUL")
        if not all(self.names[:-1]):
            raise InvalidArgument(
                "a name in an object's URL is empty", hint="s3://bucket/folder/key, with single slashes between names"
            )
        if any("/" in name for name in self.names):  # in the store it is one all the same, and would hide folders here
            raise InvalidArgument("a slash in an object's URL is encoded", hint="write / for %2F")
        if not _REGION.fullmatch(self.parameters.get("region", "none")):
            raise InvalidArgument("a region is a name such as eu-west-1")
        self.endpoint(_NOTHING_WRONG)  # whatever the environment says later

    @classmethod
    def read(cls, text: str) -> Self:
        """A URL, as PyArrow writes it; names in it may be percent-encoded, and must be where they have `%` or `?`.

        Raises:
            InvalidArgument: it isn't one, or mustn't be used.

        Examples:
            >>> ObjectUrl.read("s3://clinic/visits/year=2024/a%20b.parquet?region=eu-west-1").names
            ['visits', 'year=2024', 'a b.parquet']
            >>> ObjectUrl.read("s3://AKIDEXAMPLE:secret@clinic/visits.parquet")
            Traceback (most recent call last):
                ...
            discreet.errors.InvalidArgument: an access key stands in the object's URL (keep it in ...)
        """
        scheme = _SCHEME.match(text)
        place, _, query = text[scheme.end() if scheme else 0 :].partition("?")
        bucket, _, path = place.partition("/")
        if "@" in bucket or ":" in bucket:  # nothing is quoted: what stands before an @ may be a key with slashes in it
            raise _has_key()
        if scheme is None or not _BUCKET.fullmatch(bucket):
            raise InvalidArgument("the object's URL can't be read", hint="s3://bucket/folder/key.parquet")
        return cls(bucket, path, parameters_in(query, "an object's URL"))

    @cached_property
    def names(self) -> list[str]:
        """The names in the path, decoded; the last is empty if it ends with a slash."""
        return [unquote(each) for each in self.path.split("/")] if self.path else []

    @property
    def is_folder(self) -> bool:
        """Whether it says itself that it means a folder."""
        return not self.path or self.path.endswith("/")

    @property
    def is_pattern(self) -> bool:
        """Whether it means all objects of a pattern."""
        return any(sign in self.path for sign in _SIGNS)

    @property
    def stem(self) -> str:
        """The last name, or the bucket's."""
        return next((name for name in reversed(self.names) if name), self.bucket)

    @property
    def shown(self) -> str:
        """The URL without its parameters, as errors name it."""
        return f"s3://{self.bucket}/{self.path}"

    def pattern(self) -> tuple[list[str], list[str]]:
        """The names before the first that is a pattern; and the others, in which only what isn't encoded is a sign."""
        spelled = self.path.rstrip("/").split("/")
        first = next(place for place, each in enumerate(spelled) if any(sign in each for sign in _SIGNS))
        return self.names[:first], [_as_pattern(each) for each in spelled[first:]]

    def at(self, key: str) -> str:
        """The URL of another object in the same bucket, reached in the same way.

        Examples:
            >>> ObjectUrl.read("s3://clinic/visits/?region=eu-west-1").at("visits/50% off?.parquet")
            's3://clinic/visits/50%25%20off%3F.parquet?region=eu-west-1'
        """
        said = "&".join(f"{name}={quote(text, safe='/:')}" for name, text in self.parameters.items())
        return f"s3://{self.bucket}/{quote(key, safe='/=')}" + (f"?{said}" if said else "")

    def endpoint(self, environment: Mapping[str, str] = os.environ) -> Endpoint:
        """Where the store is: as the URL says, or else the environment.

        Args:
            environment: AWS's variables are looked for in it.

        Raises:
            InvalidArgument: the address isn't one; or rows would cross a network in the open.

        Examples:
            >>> ObjectUrl.read("s3://clinic/visits.parquet").endpoint({"AWS_ENDPOINT_URL": "https://minio:9000"}).address
            'minio:9000'
        """
        address = self.parameters.get("endpoint_override") or _first(environment, _ADDRESSES)
        found = _ADDRESS.fullmatch(address or "none")
        if found is None:
            raise InvalidArgument(
                "the store's address can't be read",
                hint="write host and port, minio.example.org:9000, as endpoint_override or in AWS_ENDPOINT_URL",
            )
        said = {each for each in (self.parameters.get("scheme"), found[1]) if each}
        if not said <= {"http", "https"} or len(said) > 1:
            raise InvalidArgument("a store is reached by scheme=https, or on this machine by scheme=http")
        scheme = next(iter(said), "https")
        if scheme == "http" and not (address and is_loopback(re.sub(r":[0-9]+$", "", found[2]).strip("[]"))):
            raise InvalidArgument(
                "over http, nothing makes sure that the right machine answers, and everyone on the way reads the rows",
                hint="leave scheme out: other machines are always reached by https. tls_ca_file_path, or "
                "AWS_CA_BUNDLE, names the file of the authority that vouches for them",
            )
        return Endpoint(
            region=self.parameters.get("region") or _first(environment, _REGIONS),
            address=None if address is None else found[2],
            scheme=scheme,
            authorities=self.parameters.get("tls_ca_file_path") or _first(environment, ["AWS_CA_BUNDLE"]),
        )


_ADDRESSES = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_NOTHING_WRONG = {"AWS_ENDPOINT_URL": "localhost"}
"""An environment with which a URL can be used, unless it can be with none."""


def is_object_url(location: str) -> bool:
    """Whether a location is an object, or several, of a store, and no path.

    Examples:
        >>> is_object_url("s3://clinic/visits.parquet"), is_object_url("visits.parquet")
        (True, False)
    """
    return _SCHEME.match(location) is not None


def last_name(location: str) -> str:
    """The last name of a path, or of an object's URL.

    Examples:
        >>> last_name("visits/a.parquet"), last_name("s3://clinic/visits/b%20c.parquet?region=eu-west-1")
        ('a.parquet', 'b c.parquet')
    """
    return ObjectUrl.read(location).stem if is_object_url(location) else Path(location).name


def refuse_elsewhere(location: str) -> None:
    """Refuse a location on another machine of which nothing here reads.

    Raises:
        SourceUnsupported: its scheme is neither `s3` nor one of a database.

    Examples:
        >>> refuse_elsewhere("visits.parquet")
        >>> refuse_elsewhere("gs://clinic/visits.parquet")
        Traceback (most recent call last):
            ...
        discreet.errors.SourceUnsupported: nothing is read by gs:// (Google's buckets speak S3's protocol, too: ...)
    """
    scheme = _ANY_SCHEME.match(location)
    if scheme is None or is_object_url(location):
        return
    name = scheme[1].casefold()
    raise SourceUnsupported(f"nothing is read by {name[:20]}://", hint=_INSTEAD.get(name, _COPY))


_COPY = "read are files by their path, objects by s3:// and databases by postgresql://. Copy it to one of these"
_INSTEAD = {
    **dict.fromkeys(
        ("gs", "gcs"),
        "Google's buckets speak S3's protocol, too: write s3://bucket/key, with storage.googleapis.com as its "
        "endpoint_override, and keep an HMAC key in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    ),
    **dict.fromkeys(("s3a", "s3n"), "write s3://"),
    "file": "write the path alone",
    **dict.fromkeys(("http", "https"), "download it, and name the file; a bucket of S3 is named by s3://bucket/key"),
}
"""The way to read what another scheme names."""


def _has_key() -> InvalidArgument:
    """The refusal of a secret where others read it."""
    return InvalidArgument(
        "an access key stands in the object's URL",
        hint="keep it in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in a profile (AWS_PROFILE) or in the machine's "
        "role, and out of the URL, which is s3://bucket/key. A store's host and port are its endpoint_override",
    )


def _first(environment: Mapping[str, str], names: Sequence[str]) -> str | None:
    """The first of some variables that says something."""
    return next((environment[name] for name in names if environment.get(name)), None)


def _as_pattern(spelled: str) -> str:
    """A name of a URL as `fnmatch` reads it."""
    signs = {"[": "[[]", "*": "[*]", "?": "[?]"}
    return re.sub(
        "(?:%[0-9A-Fa-f]{2})+", lambda found: "".join(signs.get(each, each) for each in unquote(found[0])), spelled
    )
