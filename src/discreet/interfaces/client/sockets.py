"""Sockets: how a server is reached, and which certificates are trusted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from discreet.errors import AnswerContradicted, ExtraMissing, InvalidArgument, ServerError, ServerUnreachable
from discreet.hints import Hint
from discreet.interfaces.client.credentials import Address

if TYPE_CHECKING:
    import ssl

    import urllib3


_AUTHORITY = (
    "as its custodian told you, if it is self-signed; or set SSL_CERT_FILE to a file with the certificate of your own "
    "authority"
)

_CONNECTING = 10.0
_SILENCE = 60.0
"""How many seconds a server may be silent before it counts as gone."""


def pool_of(address: Address, fingerprint: str | None = None) -> urllib3.PoolManager:
    """The pool of sockets. It goes by the proxy that the environment names, but never in the clear.

    Args:
        address: of the server.
        fingerprint: of the one certificate that is trusted; None for those that authorities vouch for. It is compared
            as soon as the server has proved to have its key, before anything is sent.

    Raises:
        ExtraMissing: urllib3 isn't installed.
        InvalidArgument: the proxy is of no kind that is known, or `SSL_CERT_FILE` is of no use.
    """
    from urllib.request import getproxies, proxy_bypass

    try:
        import urllib3
    except ImportError as error:
        raise ExtraMissing("asking a server needs urllib3", hint="pip install 'discreet[client]'") from error
    patience = urllib3.Timeout(connect=_CONNECTING, read=_SILENCE)
    proxy = getproxies().get("https")
    if address.scheme == "http":
        return urllib3.PoolManager(timeout=patience)
    trusted: dict[str, Any] = {"ssl_context": _trusted()} if fingerprint is None else _pinned(fingerprint)
    if not proxy or proxy_bypass(address.host):
        return urllib3.PoolManager(timeout=patience, **trusted)
    try:
        return urllib3.ProxyManager(proxy, timeout=patience, **trusted)
    except (urllib3.exceptions.HTTPError, ValueError):
        raise InvalidArgument("HTTPS_PROXY doesn't name a proxy", hint="http://proxy:3128") from None


def without_tls(address: Address, error: Exception) -> ServerError:
    """The error where no safe connection came about: the certificate isn't trusted, or there is no TLS at all."""
    import ssl

    if error.args and isinstance(error.args[0], ssl.SSLCertVerificationError):
        return ServerUnreachable(
            f"{address} has no TLS certificate that this machine trusts",
            hint=Hint(
                f"connect(…, fingerprint=…), {_AUTHORITY}",
                cli=f"--fingerprint SHA256, {_AUTHORITY}",
            ),
        )
    if error.args and str(error.args[0]).startswith("Fingerprints"):
        return AnswerContradicted(
            f"{address} has another TLS certificate than the one you named; nothing was sent",
            hint="ask its custodian for the fingerprint: it may have been renewed",
        )
    return ServerUnreachable(
        f"{address} doesn't speak TLS, or no version that this machine speaks",
        hint="check the address and the port; the address of a server without TLS begins with http://",
    )


def _pinned(fingerprint: str) -> dict[str, Any]:
    """Trust one certificate, whoever signed it and whatever names are in it.

    The handshake proves that the server has its key; urllib3 compares the fingerprint right after it.
    """
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return {"ssl_context": context, "cert_reqs": "CERT_NONE", "assert_fingerprint": fingerprint}


def _trusted() -> ssl.SSLContext:
    """Trust the system's authorities and those that `SSL_CERT_FILE` names.

    Raises:
        InvalidArgument: that file can't be read, or holds no certificate; OpenSSL would trust nobody, and not say why.
    """
    import ssl

    context, named = ssl.create_default_context(), os.environ.get("SSL_CERT_FILE")
    if named:
        try:
            context.load_verify_locations(named)
        except ssl.SSLError:
            raise InvalidArgument(
                f"the file {named!r}, which SSL_CERT_FILE names, holds no certificate", hint="it is in PEM"
            ) from None
        except OSError as error:
            raise InvalidArgument(
                f"the file {named!r}, which SSL_CERT_FILE names, can't be read: {error.strerror}",
                hint="name the authority's certificate, or unset SSL_CERT_FILE",
            ) from None
    return context
