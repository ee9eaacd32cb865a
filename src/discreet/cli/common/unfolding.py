"""Commands that take many options in the place of one parameter."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from inspect import Parameter, signature
from typing import Any, get_type_hints


def unfolded(
    place: str, made: Callable[..., Any], options: Iterable[tuple[str, Any, Any]]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give commands options in the place of one parameter, in which they get what is made of them.

    Typer reads the options of a command off its signature, so this writes one.

    Args:
        place: the parameter; it is keyword-only.
        made: makes its value of the options, by their names.
        options: the name of each, its type as Typer takes it, and its default.
    """
    offered = [Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=each) for name, kind, each in options]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(*args: object, **kwargs: Any) -> None:  # noqa: ANN401 — what Typer read of options
            value = made(**{option.name: kwargs.pop(option.name) for option in offered})
            command(*args, **{place: value}, **kwargs)

        own, taken = signature(command, eval_str=True), list[Parameter]()
        for each in own.parameters.values():
            taken += offered if each.name == place else [each]
        vars(run)["__signature__"] = own.replace(parameters=taken)
        run.__annotations__ = {each.name: each.annotation for each in taken}
        return run

    return decorate


def unfolded_as(place: str, kind: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give commands an option for each field of a dataclass, in the place of one parameter.

    Args:
        place: the parameter; it is keyword-only.
        kind: the dataclass; each field is annotated as Typer takes it, and has a default.
    """
    hints, defaults = get_type_hints(kind, include_extras=True), kind()
    return unfolded(place, kind, [(name, hint, getattr(defaults, name)) for name, hint in hints.items()])
