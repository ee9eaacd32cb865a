"""The client: tables behind a server, for analysts who hold an address and a token. It needs `discreet[client]`.

It knows answers and errors, and neither engine, gateway nor ledger.
"""

from discreet.interfaces.client.remote import Remote, connect, fresh_key
from discreet.interfaces.client.replies import (
    ExpectedError,
    Left,
    RemoteAccount,
    RemoteEntry,
    RemotePlan,
    RemoteRequest,
)

__all__ = [
    "ExpectedError",
    "Left",
    "Remote",
    "RemoteAccount",
    "RemoteEntry",
    "RemotePlan",
    "RemoteRequest",
    "connect",
    "fresh_key",
]
