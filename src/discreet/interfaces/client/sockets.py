"""Sockets: how a server is reached, and whose certificates are trusted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from discreet.errors import ExtraMissing, InvalidArgument, ServerUnreachable
from discreet.interfaces.client.credentials import Address

if TYPE_CHECKING:
    import ssl

    import urllib3


_CONNECTING = 10.0
_SILENCE = 60.0
"""How many seconds a server may be silent before it counts as gone."""


def pool_of(address: Address) -> urllib3.PoolManager:
    """The pool of sockets. It goes by the proxy that the environment names, but never in the clear.

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
    trusted = _trusted()
    if not proxy or proxy_bypass(address.host):
        return urllib3.PoolManager(timeout=patience, ssl_context=trusted)
    try:
        return urllib3.ProxyManager(proxy, timeout=patience, ssl_context=trusted)
    except (urllib3.exceptions.HTTPError, ValueError):
        raise InvalidArgument("HTTPS_PROXY doesn't name a proxy", hint="http://proxy:3128") from None


def without_tls(address: Address, error: Exception) -> ServerUnreachable:
    """The error where no safe connection came about: the certificate isn't trusted, or there is no TLS at all."""
    import ssl

    if error.args and isinstance(error.args[0], ssl.SSLCertVerificationError):
        return ServerUnreachable(
            f"{address} has no TLS certificate that this machine trusts",
            hint="if the authority is your own, set SSL_CERT_FILE to a file with its certificate",
        )
    return ServerUnreachable(
        f"{address} doesn't speak TLS, or no version that this machine speaks",
        hint="check the address and the port; the address of a server without TLS begins with http://",
    )


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
