"""Loopback: whether a host is this machine, so that what is sent to it travels over no network."""

from __future__ import annotations

from ipaddress import ip_address


def is_loopback(host: str | None) -> bool:
    """Whether a host is this machine, by its name or its address; what it resolves to isn't asked.

    Args:
        host: of an address, without brackets and port.

    Examples:
        >>> [is_loopback(each) for each in ("localhost", "127.0.0.1", "::1", "localhost.example.org", "10.0.0.1", None)]
        [True, True, True, False, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return False
