"""After closing: what stands in the place of an account, so that whatever is asked of it is refused."""

from __future__ import annotations

from typing import Any, NoReturn

from discreet.errors import AccountClosed


class _AfterClose:
    def __getattr__(self, name: str) -> NoReturn:
        """Refuse it.

        Raises:
            AccountClosed: always, but for what Python itself looks for.
        """
        raise AttributeError(name) if name.startswith("__") else AccountClosed


AFTER_CLOSE: Any = _AfterClose()
"""Takes the place of a closed account, ledger or index."""
