"""What can go wrong between here and an object store, in words of ours: PyArrow's may quote what the store wrote."""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.errors import SourceError, SourceMissing, SourceUnsupported
from discreet.tables.schema.object_url import ObjectUrl

_ERROR = re.compile(r"AWS Error ([A-Z_]+)(?: \(HTTP status ([0-9]{3})\))?")
_CURL = re.compile("curlCode: ([0-9]+)")
_REGION = re.compile("bucket is located in '([a-z0-9-]{1,50})'")


@dataclass(frozen=True, slots=True)
class _Cause:
    """Something that goes wrong.

    Args:
        codes: by which PyArrow tells it: a word, a status of HTTP where there is none, or one of libcurl's numbers.
        kind: of the error.
        message: of the place that was asked for.
        hint: what to do.
    """

    codes: frozenset[str]
    kind: type[SourceError]
    message: str
    hint: str

    def error(self, url: ObjectUrl, called: str, region: str) -> SourceError:
        """The error."""
        said = {"place": called, "bucket": repr(url.bucket), "region": region}
        return self.kind(self.message.format(**said), hint=self.hint.format(**said))


_ADDRESS = "endpoint_override, or AWS_ENDPOINT_URL"
_DENIED = frozenset(
    {
        "ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH", "INVALID_CLIENT_TOKEN_ID",
        "UNRECOGNIZED_CLIENT", "MISSING_AUTHENTICATION_TOKEN", "INVALID_SIGNATURE", "INCOMPLETE_SIGNATURE",
        "REQUEST_TIME_TOO_SKEWED", "REQUEST_EXPIRED", "401", "403",
    }
)  # fmt: skip
_UNKNOWN = frozenset(f"curl {number}" for number in (35, 51, 58, 60, 77, 83, 90, 91))
_SILENT = frozenset(
    {
        "NETWORK_CONNECTION", "REQUEST_TIMEOUT", "SERVICE_UNAVAILABLE", "SLOW_DOWN", "THROTTLING", "INTERNAL_FAILURE",
        "500", "502", "503", "504",
    }
)  # fmt: skip
_CAUSES = (
    _Cause(
        frozenset({"NO_SUCH_BUCKET"}),
        SourceMissing,
        "there is no bucket {bucket}",
        f"check the URL, s3://bucket/key, and where the store is: {_ADDRESS}",
    ),
    _Cause(
        frozenset({"NO_SUCH_KEY", "RESOURCE_NOT_FOUND", "404"}),
        SourceMissing,
        "there is no object {place}",
        "check the URL: s3://bucket/folder/key.parquet",
    ),
    _Cause(
        _DENIED,
        SourceUnsupported,
        "{place} can't be read with the credentials that were found",
        "they are looked for in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in the profile (AWS_PROFILE) and in the "
        "machine's role. They need s3:GetObject, and s3:ListBucket for folders and patterns; the clock must be right",
    ),
    _Cause(
        frozenset({"301", "307", "308", "400"}),
        SourceUnsupported,
        "the store refuses to read {place}: the bucket is in another region, or a session has expired",
        "name the bucket's region, such as {region}, as region or in AWS_REGION; or renew AWS_SESSION_TOKEN",
    ),
    _Cause(
        _UNKNOWN,
        SourceUnsupported,
        "nobody who is trusted here vouches for the machine that answers for {place}",
        "tls_ca_file_path, or AWS_CA_BUNDLE, names the file of the authority that does",
    ),
    _Cause(
        _SILENT,
        SourceUnsupported,
        "the store of {place} can't be reached, or doesn't answer",
        f"does it run? It is looked for by {_ADDRESS}",
    ),
)
"""The first that has a code is meant."""


def of_the_store(error: Exception) -> bool:
    """Whether PyArrow's error lies between here and a store, and not in what was read."""
    return isinstance(error, FileNotFoundError) or _ERROR.search(str(error)) is not None


def failure(error: Exception, url: ObjectUrl, called: str | None = None) -> SourceError:
    """The error to raise for one of PyArrow's; to be raised where none is being handled.

    Args:
        error: of which `of_the_store` says that it is one, or any other of asking for an object.
        url: of what was asked for.
        called: what that is called; its URL if it is left out.
    """
    called = called or repr(url.shown)
    said = str(error)
    found, curl, there = _ERROR.search(said), _CURL.search(said), _REGION.search(said)
    codes = {f"curl {curl[1]}"} if curl else set()
    codes |= {found[2] or found[1]} if found else set()
    codes |= {"404"} if isinstance(error, FileNotFoundError) else set()
    for cause in _CAUSES:
        if cause.codes & codes:
            return cause.error(url, called, there[1] if there else "eu-west-1")
    return SourceUnsupported(f"the store refuses to read {called}", hint="does it speak S3's protocol?")
