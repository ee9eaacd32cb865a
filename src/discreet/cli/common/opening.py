"""Opening what a configuration protects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.gateway import Protected


def opened(config: Path, *, create_ledger: bool = False) -> Protected:
    """The tables of a configuration behind their account.

    Args:
        config: path of the configuration.
        create_ledger: whether to begin a fresh account where there is none.

    Raises:
        ConfigError: it is missing, or can't be read as a configuration.
        LedgerError: the account can't be used.
    """
    from discreet.gateway import load

    return load(config, create_ledger=create_ledger)
