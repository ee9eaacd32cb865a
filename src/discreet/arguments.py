"""Arguments by name: what a public function or class doesn't take is refused as everything else is, not by Python."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any, TypeVar

from discreet.errors import InvalidArgument
from discreet.suggestions import nearest

_C = TypeVar("_C", bound=Callable[..., Any])

_LONGEST = 70

_NEEDED: Mapping[str, str] = {
    "name": 'name="census"',
    "budget": "budget=Budget(epsilon=3, delta=1e-6); a number alone is its ε",
}
"""How a missing argument is written, where its name doesn't say it."""


def taking_known(face: _C) -> _C:
    """Let a function refuse arguments that it doesn't know, or needs and isn't given, as it refuses wrong ones.

    Of a class, what makes it and its public methods do. Nothing is looked at unless a call fails: then Python's own
    error has no further frame, while one from within has.

    Args:
        face: a function, or a class, which is changed itself.

    Raises:
        InvalidArgument: from the function, with the argument that was probably meant.

    Examples:
        >>> from discreet.privacy import Limits
        >>> Limits(row=3)
        Traceback (most recent call last):
        discreet.errors.InvalidArgument: Limits takes no argument 'row' (did you mean rows?)
    """
    if not isinstance(face, type):
        return _checked(face, face.__name__)
    for name, method in list(vars(face).items()):
        if name == "__init__" or (type(method) is type(_checked) and not name.startswith("_")):
            setattr(face, name, _checked(method, face.__name__ if name == "__init__" else name, is_method=True))
    return face


def _checked(function: _C, called: str, *, is_method: bool = False) -> _C:
    """The function, with refusals of its own."""

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 — whatever the function takes and gives
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            refused = _refusal(function, called, args[is_method:], kwargs, is_method=is_method)
        raise refused

    return checked  # type: ignore[return-value]  # it is called alike


def _refusal(
    function: Callable[..., Any], called: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], *, is_method: bool
) -> InvalidArgument:
    """The flaw in a call; values are never shown."""
    from inspect import signature

    known = list(signature(function).parameters.values())[is_method:]
    names = [each.name for each in known]
    placed = [each.name for each in known if each.kind is not each.KEYWORD_ONLY]
    for name in kwargs:
        if name not in names:
            begun = min((each for each in names if each.startswith(name)), key=len, default=None)
            close = begun or nearest(name, names)
            hint = f"did you mean {close}?" if close else f"there are: {', '.join(names)}" if names else ""
            return InvalidArgument(f"{called} takes no argument {name[:_LONGEST]!r}", hint=hint)
    if len(args) > len(placed):
        hint = f"by name: {', '.join(names)}" if names else ""
        return InvalidArgument(f"{called} takes {len(placed)} arguments without a name, not {len(args)}", hint=hint)
    twice = next((name for name in placed[: len(args)] if name in kwargs), None)
    if twice is not None:
        return InvalidArgument(f"{called} is given {twice} twice")
    given = {*placed[: len(args)], *kwargs}
    needed = next(each.name for each in known if each.default is each.empty and each.name not in given)
    return InvalidArgument(f"{called} needs {needed}", hint=_NEEDED.get(needed, ""))


def check_one_of(what: str, word: str, words: Collection[str]) -> None:
    """Refuse a word that isn't one of those there are.

    Examples:
        >>> check_one_of("decimal mark", ";", [".", ","])
        Traceback (most recent call last):
        discreet.errors.InvalidArgument: unknown decimal mark ';' (one of ., ,)
    """
    if word not in words:
        raise InvalidArgument(f"unknown {what} {word!r}", hint="one of " + ", ".join(words))
