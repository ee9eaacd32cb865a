"""Keys: the public list of groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from discreet.arguments import taking_known
from discreet.errors import InvalidArgument
from discreet.hints import Hint

KeyValue = str | int | bool | date | None


@taking_known
@dataclass(frozen=True, slots=True, init=False)
class Keys:
    """The values a column may take, known in public.

    Every key is answered, with or without rows, so the list of groups in an answer says nothing about anyone.
    A value that isn't listed is read as NULL; NULL is a group only if None is listed.

    Args:
        values: one or more different strings, integers, booleans or dates of one kind, and None for NULL.

    Raises:
        InvalidArgument: no keys, a repeated one, or keys of different kinds.

    Examples:
        >>> list(Keys(["Female", "Male"]))
        ['Female', 'Male']
    """

    values: tuple[KeyValue, ...]

    def __init__(self, values: Iterable[KeyValue]) -> None:
        if isinstance(values, str):
            raise InvalidArgument(
                "keys must be a list of values, not one string",
                hint=Hint(f"Keys([{values!r}])", cli=f"keys = [{values!r}]"),
            )
        if not isinstance(values, Iterable):
            raise InvalidArgument(
                f"keys must be a list of values, not {type(values).__name__}",
                hint=Hint('Keys(["a", "b"])', cli='keys = ["a", "b"]'),
            )
        listed = tuple(values)
        if not listed:
            raise InvalidArgument("keys must not be empty")
        kinds = {type(value) for value in listed if value is not None}
        if len(kinds) > 1 or not kinds <= {str, int, bool, date}:
            raise InvalidArgument(
                "keys must be of one kind: strings, integers, booleans or dates",
                hint="a real number makes no group; CAST or FLOOR it in the question",
            )
        if len(set(listed)) < len(listed):
            twice = next(value for n, value in enumerate(listed) if value in listed[:n])
            raise InvalidArgument(f"the key {twice!r} is listed twice")
        object.__setattr__(self, "values", listed)

    def __iter__(self) -> Iterator[KeyValue]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __str__(self) -> str:
        head = ", ".join("NULL" if value is None else repr(value) for value in self.values[:4])
        return f"{head}, … ({len(self)} keys)" if len(self) > 4 else head  # noqa: PLR2004 — what fits a line
