"""Kinds of attributes: guessed with reasons, confirmed by the user."""

from discreet.anonymity.attributes.guess import (
    AttributeGuess,
    Attributes,
    Repeated,
    confirm,
    guess_attributes,
    repeated,
    rows_counted,
    say_whose,
)
from discreet.anonymity.attributes.kind import AttributeKind

__all__ = [
    "AttributeGuess",
    "AttributeKind",
    "Attributes",
    "Repeated",
    "confirm",
    "guess_attributes",
    "repeated",
    "rows_counted",
    "say_whose",
]
