"""The place where a command finds its tables: beside a configuration, or on a server."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.common.options import CONFIG, Config, Fingerprint, PublicKeyOption, Server, TokenFile
from discreet.cli.common.unfolding import unfolded_as
from discreet.errors import ConfigError, InvalidArgument

if TYPE_CHECKING:
    from discreet.gateway import Protected
    from discreet.interfaces.client import Remote


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The destination of questions: the tables of a configuration, or a server.

    Args:
        config: path of the configuration.
        server: address of the server, if there is one.
        token_file: that holds the token for it.
        key: that its answers must be signed by; None to take its word for it.
        fingerprint: of the TLS certificate that it must have; None to trust those that authorities vouch for.
    """

    config: Config = CONFIG
    server: Server = None
    token_file: TokenFile = None
    key: PublicKeyOption = None
    fingerprint: Fingerprint = None

    def opened(self) -> Protected | Remote:
        """The tables behind their account, here or behind the server.

        Raises:
            ConfigError, LedgerError: as for `opened`.
            InvalidArgument: the address or the token is of no use, or both places are named.
        """
        if self.server is None:
            return opened(self.config)
        if self.config != CONFIG:
            raise InvalidArgument(
                "a question goes to a server or to a configuration, not to both",
                hint="leave out --config, or --server and the variable DISCREET_SERVER",
            )
        return reached(self.server, self.token_file, self.key, self.fingerprint)


def private_tables(tables: Protected | Remote) -> list[str]:
    """The names of the tables that may be asked about, but for public ones."""
    from discreet.interfaces.client import Remote

    if isinstance(tables, Remote):
        return [each["name"] for each in tables.schema["tables"] if not each["public"]]
    return [each.name for each in tables.dataset.private]


def reached(server: str, token_file: Path | None, key: str | None, fingerprint: str | None) -> Remote:
    """The tables behind a server. The client draws nothing while it waits: the command does.

    Raises:
        InvalidArgument: the address, the token, the key or the fingerprint is of no use.
    """
    from discreet.interfaces.client import connect

    return connect(server, token_file, key=key, fingerprint=fingerprint, progress=lambda _: None)


somewhere = unfolded_as("where", Where)
"""Gives a command the options that say where questions go, in place of its parameter `where`."""


def opened(config: Path) -> Protected:
    """The tables of a configuration behind their account.

    Args:
        config: path of the configuration.

    Raises:
        ConfigError: it is missing, or can't be read as a configuration.
        LedgerError: the account can't be used.
    """
    from discreet.gateway import load

    if config == CONFIG and "DISCREET_SERVER" in os.environ and not config.exists():
        raise ConfigError(
            f"there is no file {str(config)!r}, and this command asks no server",
            hint="run it where the ledger is, beside its discreet.toml; DISCREET_SERVER is for questions",
        )
    return load(config)
