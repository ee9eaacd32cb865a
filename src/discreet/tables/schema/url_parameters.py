"""Parameters of URLs: what stands behind the `?`, of databases and of objects, each said once and known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from urllib.parse import unquote

from discreet.errors import InvalidArgument
from discreet.suggestions import nearest


def parameters_in(query: str, url: str, said: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """The parameters of a query, decoded.

    Args:
        query: behind the `?`.
        url: whose it is, in an error.
        said: by other parts of the URL.

    Raises:
        InvalidArgument: two of them differ.
    """
    found = dict(said)
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        if found.setdefault(unquote(name), unquote(value)) != unquote(value):
            raise InvalidArgument(f"{url} says something twice, and differently")
    return found


def check_known(parameters: Mapping[str, str], known: Collection[str], url: str, *, hint: str = "") -> None:
    """Refuse a parameter that isn't known.

    Args:
        parameters: by name.
        known: all names that there are.
        url: whose they are, in an error.
        hint: what to do if none of these was probably meant.

    Raises:
        InvalidArgument: there is one. Its name isn't quoted: it may be what a `?` in a secret cut off.
    """
    unknown = sorted(parameters.keys() - set(known))
    if unknown:
        close = nearest(unknown[0], known)
        hint = f"did you mean {close}?" if close else hint
        raise InvalidArgument(f"{url} has a parameter that isn't known", hint=hint)
