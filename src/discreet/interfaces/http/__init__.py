"""The HTTP interface: the API under `/v1`. It needs `discreet[server]`."""

from discreet.interfaces.http.app import make_app

__all__ = ["make_app"]
