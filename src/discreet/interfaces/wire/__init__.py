"""The wire: PostgreSQL's protocol (version 3), for psql and the tools that speak it.

    listener ──▶ connection: start-up, TLS, token ──▶ messages ──▶ statements ──▶ service: the same face as HTTP's

It decides nothing: who may ask, what it costs and when an answer leaves are the service's. The codec is our own. Twenty
messages are all it takes, and each has a most length of its own before anything is read, which no library offers.

Source: PostgreSQL 15, chapter 55, "Frontend/Backend Protocol".
"""

from discreet.interfaces.wire.listener import Listener

__all__ = ["Listener"]
