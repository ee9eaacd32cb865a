"""The families that attack PostgreSQL's protocol: the real server holds, and each catches a twin that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from discreet.errors import InvalidArgument, Unauthenticated
from discreet.interfaces.conformance import FAMILIES, Finding, Verdict, conform
from discreet.interfaces.http import make_app
from discreet.interfaces.wire import Listener, asking, carrying_out, connection, messages
from discreet.interfaces.wire.catalogue import Asked, Found
from discreet.interfaces.wire.catalogue_process import Catalogue
from discreet.service import Ask, Caller
from support.attacked import CANARY, QUICK, attacked, listening, until_found

pytestmark = pytest.mark.long

NAMES = [name for name in FAMILIES if name.startswith("postgres ")]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The real server with both of its doors, and everybody's tokens."""
    folder = tmp_path_factory.mktemp("doors")
    with (
        attacked(folder, settings=QUICK) as (service, tokens),
        listening(make_app(service)) as url,
        closing(Listener(service, host="127.0.0.1", port=0)) as listener,
    ):
        yield SimpleNamespace(service=service, url=url, tokens=tokens, at=f"127.0.0.1:{listener.port}")


def tried(real: Any, families: list[str], at: str = "", **said: Any) -> dict[str, Finding]:
    """What families find."""
    report = conform(real.url, list(real.tokens.values()), families=families, postgres_at=at or real.at, **said)
    return {each.family: each for each in report.findings}


def test_the_real_door_holds(real: Any) -> None:
    """In all families, and with no more than was allowed; without an address, none is tried."""
    found = tried(real, [*NAMES, "canaries"], canaries=[CANARY], spend="0.5")
    assert {name: (each.verdict, each.evidence) for name, each in found.items()} == dict.fromkeys(
        [*NAMES, "canaries"], (Verdict.HELD, ())
    )
    assert all(each.tries > 10 for name, each in found.items() if name != "postgres cuts")
    assert sum(each.offered for each in found.values()) <= Fraction(1, 2)
    report = conform(real.url, list(real.tokens.values()), families=NAMES)
    assert {each.verdict for each in report.findings} == {Verdict.NOT_TRIED}
    with pytest.raises(InvalidArgument, match="host:port"):
        conform(real.url, list(real.tokens.values()), families=NAMES, postgres_at="localhost")


class Twin:
    """The real service with one thing wrong: whatever isn't overridden is the real one's."""

    def __init__(self, real: Any, **wrong: Callable[..., Any]) -> None:
        """Keep it."""
        self._real, self._wrong = real, wrong

    def __getattr__(self, name: str) -> Any:
        """What is wrong, or the real one's."""
        return self._wrong.get(name) or getattr(self._real, name)


def broken(real: Any, family: str, words: str, **wrong: Callable[..., Any]) -> None:
    """A family finds its twin, for the right reason."""
    service: Any = Twin(real.service, **wrong)
    with closing(Listener(service, host="127.0.0.1", port=0)) as listener, until_found(words):
        found = tried(real, [family], f"127.0.0.1:{listener.port}")[family]
    assert found.verdict is Verdict.BROKEN, (found.verdict, found.evidence)
    assert any(words in each for each in found.evidence), found.evidence


def test_tokens_that_are_nearly_right(real: Any) -> None:
    """A twin that looks at a token's beginning alone, and one that takes it in either case."""

    def by_beginning(token: str) -> Caller:
        found = next((each for each in real.tokens.values() if token and each.startswith(token[:20])), token)
        return real.service.caller(found)  # type: ignore[no-any-return]  # of a namespace

    def in_any_case(token: str) -> Caller:
        try:
            return real.service.caller(token)  # type: ignore[no-any-return]  # of a namespace
        except Unauthenticated:
            return real.service.caller(token.swapcase())  # type: ignore[no-any-return]  # of a namespace

    broken(real, "postgres tokens", "another reply than an unknown one", caller=by_beginning)
    broken(real, "postgres tokens", "another reply than an unknown one", caller=in_any_case)


def test_answers_that_are_drawn_anew(real: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin whose stored answers have new noise, and one that charges each way of asking."""
    numbers = count(1)
    ask = asking.Questions.ask

    def anew(self: Any, *args: Any, **more: Any) -> Any:
        found = ask(self, *args, **more)
        return replace(found, rows=[tuple(each + next(numbers) for each in row) for row in found.rows])

    with monkeypatch.context() as patch:
        patch.setattr(asking.Questions, "ask", anew)
        broken(real, "postgres answers", "a new value was given for nothing")

    def again(caller: Caller, asked: Ask) -> Any:
        amount = Fraction(str(asked.terms["epsilon"])) * next(numbers)  # less would follow from what was paid for
        return real.service.ask(caller, replace(asked, terms={**asked.terms, "epsilon": str(amount)}))

    broken(real, "postgres answers", "charged again", ask=again)
    broken(real, "postgres cuts", "another answer", ask=again)


def test_ceilings_that_are_forgotten(real: Any) -> None:
    """A twin that forgets a token's ceiling, and one that lets a custodian ask."""

    def unbound(token: str) -> Caller:
        return replace(real.service.caller(token), most_epsilon=None, most_rho=None)

    def whoever(_: str) -> Caller:
        return real.service.caller(real.tokens["analyst"])  # type: ignore[no-any-return]  # of a namespace

    broken(real, "postgres ceilings", "above a ceiling", caller=unbound)
    broken(real, "postgres ceilings", "role custodian asks", caller=whoever)


def test_probes_that_tell_more_than_declarations(real: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twins whose catalogue knows numbers of rows, whose bounds are data, and that answer an empty table's numbers."""
    look_up = Catalogue.ask

    def counts(self: Any, asked: Asked, subject: str) -> Found:
        found = look_up(self, asked, subject)
        return Found(found.columns, [[1000] * len(row) for row in found.rows]) if "reltuples" in asked.text else found

    with monkeypatch.context() as patch:
        patch.setattr(Catalogue, "ask", counts)
        broken(real, "postgres probes", "number of rows")

    def empty(*_: Any) -> Any:
        return SimpleNamespace(are_of_the_catalogue=False, ask_for_columns=True, declared=True)

    def one_row(self: Any, asked: Asked, subject: str) -> Found:
        return look_up(self, asked, subject) if asked.of_catalogue else Found([("n", "BIGINT")], [[0]])

    with monkeypatch.context() as patch:
        patch.setattr(carrying_out.Relations, "of", empty)
        patch.setattr(Catalogue, "ask", one_row)
        broken(real, "postgres probes", "counted for nothing")


def test_messages_that_are_waited_for(real: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin that waits for as many bytes as a message says that it has."""
    with monkeypatch.context() as patch:
        patch.setattr(messages, "length_of", lambda head, **_: max(int.from_bytes(head[1:]) - 4, 0))
        patch.setattr(connection, "_MESSAGE", 3600.0)
        patch.setattr("discreet.interfaces.conformance.postgres._QUICK", 1.0)
        broken(real, "postgres messages", "without a reply")
