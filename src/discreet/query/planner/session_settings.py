"""Session settings: what is offered for every question of a session, unless something else is said beside one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import InvalidArgument
from discreet.query.planner.request import Request, unknown_term
from discreet.query.planner.terms import FORMS, OFFERED

if TYPE_CHECKING:
    from discreet.query.sql import Options


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Defaults for terms, by name, each as it was typed.

    What a question says in its own OPTIONS, and what is said beside it, wins: over the setting of that name, and over
    settings that contradict it, such as an ε where ρ is offered. An ε that is set stays beside an accuracy that a
    question asks for, as the most that it may cost. Settings that contradict each other are refused, since one of them
    would be ignored. Who asks is settled when a session begins, and is no setting.

    Args:
        said: the texts, by the names of terms. They have been checked; `of` does that.

    Examples:
        >>> session = SessionSettings().set("epsilon", "0.5").set("confidence", "0.9")
        >>> session.beside({"confidence": 0.99})
        {'epsilon': '0.5', 'confidence': 0.99}
        >>> session.beside({"rho": "0.01"})
        {'confidence': '0.9', 'rho': '0.01'}
        >>> session.reset("epsilon").show("epsilon"), session.reset().show("confidence")
        ('', '0.95')
    """

    said: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, said: Mapping[str, str]) -> Self:
        """All of these; raises as `set` does."""
        found = cls()
        for name, text in said.items():
            found = found.set(name, text)
        return found

    @property
    def terms(self) -> dict[str, Any]:
        """The settings, as terms beside a question."""
        return {name: FORMS[name].typed(text) for name, text in self.said.items()}

    def set(self, name: str, text: str) -> Self:
        """These, and one that is set to what this text says.

        Raises:
            InvalidArgument: there is no such term, or it can't be that, or not beside what is set already.
        """
        _check_name(name)
        FORMS[name].read(FORMS[name].typed(text), name)
        changed = replace(self, said={**self.said, name: text.strip()})
        if (wrong := Request.read(changed.terms).contradiction()) is not None:
            raise InvalidArgument(wrong.message, hint="reset the other one first")
        return changed

    def reset(self, name: str | None = None) -> Self:
        """These without one that was set; without a name, none of them.

        Raises:
            InvalidArgument: there is no such term.
        """
        if name is None:
            return type(self)()
        _check_name(name)
        return replace(self, said={each: text for each, text in self.said.items() if each != name})

    def show(self, name: str) -> str:
        """A setting as it was typed; else the default, or an empty text if there is none.

        Raises:
            InvalidArgument: there is no such term.
        """
        _check_name(name)
        usual = getattr(Request(), name)
        return self.said.get(name, str(float(usual)) if isinstance(usual, Fraction) else _USUAL.get(usual, str(usual)))

    def beside(self, terms: Mapping[str, Any], options: Options | None = None) -> dict[str, Any]:
        """The terms of one question: those given beside it, and the settings that don't contradict them.

        Args:
            terms: as a server takes them; None says nothing.
            options: of the question, which win as terms do; they aren't among what this returns.

        Raises:
            InvalidArgument: a term can't be read.
        """
        said = {name: value for name, value in terms.items() if value is not None}
        asked, settings = Request.read(said, as_sent=True), self.terms
        own = set(said)
        if options is not None:
            asked = replace(asked, epsilon=options.epsilon or asked.epsilon, rho=options.rho or asked.rho)
            own |= {name for name in ("epsilon", "delta", "rho") if getattr(options, name) is not None}
            own |= {"limits"} if options.max_rows_contributed or options.max_groups_contributed else set()
        usual = Request.read(settings)

        def stands(name: str) -> bool:
            return name not in own and replace(asked, **{name: getattr(usual, name)}).contradiction() is None

        return {**{name: each for name, each in settings.items() if stands(name)}, **said}


_USUAL: Mapping[object, str] = {None: "", (): "", False: "off"}
"""How defaults are shown that have no text of their own."""


def _check_name(name: str) -> None:
    """Refuse what is no setting.

    Raises:
        InvalidArgument: it isn't.
    """
    if name == "analyst":
        raise InvalidArgument("who asks is settled when a session begins", hint="leave the analyst out")
    if name not in OFFERED:
        raise unknown_term(name, list(OFFERED))
