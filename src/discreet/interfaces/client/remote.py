"""Tables behind a server: what an analyst has who holds an address and a token, with the face of protected tables."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from time import monotonic, sleep
from types import MappingProxyType
from typing import Any, Self, cast, overload
from urllib.parse import urlsplit

from discreet.arguments import taking_known
from discreet.entropy import fresh_bytes
from discreet.errors import (
    AccessError,
    AnswerContradicted,
    DiscreetError,
    InvalidArgument,
    ReplyMalformed,
    ServerError,
    ServerUnreachable,
)
from discreet.hints import Hint
from discreet.idempotency_key import check_key
from discreet.interfaces.client.connection import Connection, Reply, malformed
from discreet.interfaces.client.credentials import Address, fingerprint_of, token_of
from discreet.interfaces.client.declared import Frame, Schema, frame_of, read_schema
from discreet.interfaces.client.dummy import DummyRows, made_up
from discreet.interfaces.client.questions import body_of, written
from discreet.interfaces.client.replies import (
    Left,
    RemoteAccount,
    RemoteEntry,
    RemotePlan,
    RemoteRequest,
)
from discreet.results import (
    Answer,
    Cost,
    Explanation,
    PublicKey,
    Summary,
    is_summary,
    left_in_words,
    summarize,
    verify_certificate,
    with_left,
)

_NAME = re.compile(r"[\w-]{1,200}", re.ASCII)
_EXPLAIN = re.compile(r"\s*EXPLAIN\b(\s*\(\s*DP\s*\))?", re.IGNORECASE)
_PENDING = 202
_FIRST_LOOK, _LONGEST_LOOK = 0.1, 0.4
"""After how many seconds a server is first asked whether an answer is there, and the longest pause before asking
again.
"""

_FIRST_AGAIN, _LONGEST_AGAIN = 5.0, 60.0
"""After how many seconds a question that still waits is sent again under its key, and the longest pause between
attempts.
"""

_LONGEST = 3600.0
"""How many seconds the client waits for an answer."""

_SILENT = 1.0
"""After how many seconds the screen says that it is waiting."""


@taking_known
def connect(  # noqa: PLR0913 — what a caller may say, each by name
    url: str,
    token: str | Path | None = None,
    *,
    key: str | None = None,
    fingerprint: str | None = None,
    patience: float = 30.0,
    in_the_clear: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Remote:
    """Tables behind a server, by its address and a token. Needs `discreet[client]`.

    Guarantee: the token is sent to that server alone, never in the clear to another machine, and is in no text. What
    a server says is checked before it is believed. A question whose reply was lost is sent again under its own key, by
    which it is paid for once.

    Args:
        url: of the server: `https://gate.example.org`. A proxy that `HTTPS_PROXY` names is used; an authority of your
            own is trusted where `SSL_CERT_FILE` names its certificate.
        token: its text, or the path of a file that nobody else can read, as `"~/discreet.token"`; None takes either
            from `DISCREET_TOKEN`.
        key: the public key by which answers must be signed, as it was learnt from the custodian: base64, or what
            `/v1/key` replies. None takes the server's word for it, and holds the server to it as long as this lasts.
        fingerprint: the SHA-256 of the server's TLS certificate, as its custodian told you, where no authority vouches
            for it. Then that certificate alone is trusted, whatever names are in it.
        patience: for how many seconds a server is tried again that can't be reached, or can't answer now.
        in_the_clear: whether `http://` may be spoken with another machine than this, because the way there is safe.
        progress: called now and then with the seconds that an answer was waited for; None: a line on a terminal.

    Raises:
        InvalidArgument: this is no address, key or fingerprint; or there is no token, or others can read its file.
        ExtraMissing: urllib3 isn't installed.

    Examples:
        >>> connect("http://gate.example.org", "dsc_0000")
        Traceback (most recent call last):
        ...
        discreet.errors.InvalidArgument: the token would travel to gate.example.org in the clear (use https://…; ...)
        >>> connect("https://gate.example.org", "dsc_0000")
        Remote('https://gate.example.org')
    """
    address = Address.read(url, in_the_clear=in_the_clear)
    pinned = None if key is None else PublicKey.read(key)
    certificate = None if fingerprint is None else fingerprint_of(fingerprint, address)
    connection = Connection(address, token_of(token), patience=patience, fingerprint=certificate)
    return Remote(connection, pinned, progress)


@taking_known
class Remote:
    """Tables behind a server, with the face of `Protected`: made by `connect`. Use it in a `with` statement.

    Args:
        connection: with the server.
        key: by which answers must be signed; None to take the server's word for it.
        progress: called now and then with the seconds that an answer was waited for; None: a line on a terminal.
    """

    def __init__(
        self,
        connection: Connection,
        key: PublicKey | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        self._connection, self._named, self._progress = connection, key, progress

    def __repr__(self) -> str:
        """The address without the token."""
        return f"Remote({str(self._connection.address)!r})"

    def __enter__(self) -> Self:
        """Use it in a `with` statement, to close it at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection's sockets."""
        self._connection.close()

    @cached_property
    def schema(self) -> Schema:
        """The declarations of everything that may be asked about: tables, columns, units, bounds and keys."""
        return read_schema(self._connection.get("dataset").fields())

    @property
    def tables(self) -> Mapping[str, Frame]:
        """The tables as Ibis expressions, by name: names and kinds of columns, without data.

        Raises:
            ExtraMissing: Ibis isn't installed; questions in SQL don't need it.
        """
        return MappingProxyType({table["name"]: frame_of(table) for table in self.schema.tables})

    @property
    def table(self) -> Frame:
        """The only table, as an Ibis expression.

        Raises:
            InvalidArgument: there are several.
            ExtraMissing: Ibis isn't installed.
        """
        names = [table["name"] for table in self.schema.tables]
        if len(names) > 1:
            raise InvalidArgument("there are several tables here", hint=f"tables[{names[0]!r}], for example")
        return self.tables[names[0]]

    def dummy(self, rows: int = 100) -> DummyRows:
        """Rows that are made up from the declarations alone, by table, to write code against.

        They have the columns, the kinds, the keys and the bounds of the real tables, and ids that fit each other. They
        have nothing else of them: what is computed from them says nothing about anyone. The same rows each time.

        Args:
            rows: of each table; 1 to a million.

        Returns:
            An Arrow table each; where PyArrow isn't installed, a dict of lists.
        """
        return made_up(self.schema, rows)

    @cached_property
    def key(self) -> PublicKey:
        """The public key of the account, by which its answers are signed: that which was named, or the server's word.

        Its `text` is what `connect(…, key=…)` takes. If you have it from the custodian, you needn't trust the server.

        Raises:
            AnswerContradicted: the server signs by another key than the one that was named.
        """
        try:
            said = PublicKey.read(json.dumps(self._connection.get("key").fields()))
        except InvalidArgument:
            malformed("a public key was expected")
        if self._named not in (None, said):
            raise AnswerContradicted(
                "the server signs with another key than the one you named; nothing was asked",
                hint=f"ask the custodian whether {said.text} is the key: it may have been renewed",
            )
        return said

    def me(self) -> Mapping[str, Any]:
        """The token's holder and rights: `subject`, `role`, `most_epsilon`, `expires`."""
        return self._connection.get("me").fields()

    def plan(self, question: str | Frame | list[str | Frame], **terms: Any) -> RemotePlan:  # noqa: ANN401 — as `Terms` says
        """Plan a question: what it would cost, and how accurate the answer would be. Spends nothing.

        A list of questions is planned together: what they share is measured once, and what is offered is for all.

        Args:
            question: one SELECT, or an Ibis expression made of `tables`; or a list of them.
            terms: what is offered for it, as for `Protected.plan`, but for `analyst`: that is the token's holder.

        Raises:
            QueryError: the question is refused; the message says why, where, and what would do.
            InvalidArgument: a number out of range, or an unknown term.
            AccessError: the token may not plan, or not now.
            ServerError: the server can't be used.
        """
        asked, said = written(question, terms)
        path = "plans" if isinstance(asked, str) else "workloads/plans"
        with _placed_in(asked):
            reply = self._connection.post(path, body_of(asked, said), key=fresh_key())
        return RemotePlan.read(reply.fields(), asked, said)

    @overload
    def ask(
        self,
        question: list[str | Frame],
        *,
        approval: str | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
        **terms: Any,  # noqa: ANN401 — as `Terms` says
    ) -> list[Answer]: ...

    @overload
    def ask(
        self,
        question: str | Frame | RemotePlan,
        *,
        approval: str | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
        **terms: Any,  # noqa: ANN401 — as `Terms` says
    ) -> Answer: ...

    def ask(
        self,
        question: str | Frame | RemotePlan | list[str | Frame],
        *,
        approval: str | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
        **terms: Any,
    ) -> Answer | list[Answer]:
        """Ask a question, or carry out a plan; it returns when the answer leaves.

        The same question, at the same cost, of the same data gives the same answer and costs nothing again. A question
        that begins with EXPLAIN gives an `Explanation`: an answer that holds the plan in words, and costs nothing.

        Args:
            question: one SELECT, an Ibis expression made of `tables`, a list of these, or what `plan` made of them. A
                plan is carried out as it is, or not at all. Of a list, and of its plan, all are answered, or none; one
                debit pays for them.
            approval: the `id` of a request that was approved for this question.
            version: of the tables: an earlier one, the `data_version` of certificates, whose stored answers can still
                be read, for nothing.
            idempotency_key: by which the question is known again, whoever sends it, after this program has ended, too:
                1 to 200 printable ASCII characters, for each question others. A random one if left out.
            terms: what is offered for it, as for `plan`. A plan has its own.

        Raises:
            QueryError, BudgetError, AccessError, InvalidArgument: it is refused; nothing is charged.
            QuestionFailed: something went wrong after it was paid for; the cost stays spent.
            ServerUnreachable: the server is gone; whether it was paid for shows `history`. The hint names the key under
                which it is asked again without paying twice.
            ReplyMalformed, AnswerContradicted: what came isn't to be believed.
        """
        sent_under = fresh_key() if idempotency_key is None else idempotency_key
        check_key(sent_under)
        if isinstance(question, RemotePlan):
            if terms:
                raise InvalidArgument("a plan has its own terms, so others would change nothing", hint="plan again")
            asked, said = question.question, {**question.terms, "digest": question.digest}
        else:
            if isinstance(question, str) and (found := _EXPLAIN.match(question)):
                plan = self.plan(re.sub(r"\S", " ", found[0]) + question[found.end() :], **terms)
                return Explanation.of(plan.explain(), plan.cost)
            asked, said = written(question, terms)
        beside = {"approval": approval, "version": version}
        body = body_of(asked, said | {name: value for name, value in beside.items() if value is not None})
        key = self.key  # before anything is paid
        with _saying(sent_under), _placed_in(asked):
            if isinstance(asked, str):
                answer = _believed(self._answered("answers", body, sent_under).fields(), key)
                return with_left(answer, self._left())
            answers = self._answered("workloads", body, sent_under).among("answers")
            several = any(map(is_summary, asked))  # which stands for more
            if len(answers) < len(asked) or (len(answers) > len(asked) and not several):
                malformed(f"{len(asked)} answers were expected")
            return with_left(self._together(asked, [_believed(each, key) for each in answers]), self._left())

    def summary(
        self,
        table: str | None = None,
        *,
        columns: Sequence[str] | None = None,
        **terms: Any,  # noqa: ANN401 — as `Terms` says
    ) -> Summary:
        """Summarize a table: its rows and units, and of each column what is missing, usual and frequent, in one table.

        Args:
            table: which one; it may be left out where there is one private table.
            columns: those to summarize; all of them if they are left out. The fewer, the more accurate.
            terms: what is offered for all of it, as for `ask`, which also says what may go wrong.
        """
        names = [each["name"] for each in self.schema.tables if not each["public"]]
        return cast("Summary", self.ask(summarize(names, table, columns), **terms))

    def _together(self, asked: Sequence[str], answers: list[Answer]) -> list[Answer]:
        """The answers to a workload; as one table, where all of it summarizes one."""
        is_one = len(asked) == 1 and is_summary(asked[0])
        return (Summary.of(answers, self.schema.tables) if is_one else None) or answers

    def request(self, question: str | Frame, *, purpose: str, **terms: Any) -> RemoteRequest:  # noqa: ANN401 — as `Terms` says
        """Ask the custodian to approve a question that costs more than one of yours may.

        Args:
            question: as for `plan`.
            purpose: what it is for, in words that the custodian reads.
            terms: as for `plan`.

        Raises:
            QueryError, AccessError, InvalidArgument, ServerError: as for `plan`.
        """
        asked, said = written(question, terms)
        with _placed_in(asked):
            reply = self._connection.post("requests", {**body_of(asked, said), "purpose": purpose})
        return RemoteRequest.read(reply.fields())

    def requests(self) -> Sequence[RemoteRequest]:
        """The requests that one has made, and what became of them."""
        return [RemoteRequest.read(each) for each in self._connection.get("requests").objects()]

    @property
    def budget(self) -> RemoteAccount:
        """The account's standing: what may be spent, was spent and is left, for all together and for you."""
        return RemoteAccount.read(self._connection.get("budget").fields())

    def _left(self) -> str:
        """What may still be spent, in words; empty if the server doesn't say, for which no answer is lost."""
        try:
            account = self.budget
        except (AccessError, ServerError):
            return ""
        return left_in_words(account.remaining, account.words, account.own_remaining or "")

    @property
    def spent(self) -> Cost:
        """The cost of all questions together."""
        return self.budget.spent

    @property
    def remaining(self) -> Left:
        """The most that your next question may cost: the lesser of what your share and the budget have left."""
        account = self.budget
        return account.own_remaining or account.remaining

    def history(self) -> Sequence[RemoteEntry]:
        """Your own questions, oldest first; for a custodian or an auditor, all entries of the account."""
        return [RemoteEntry.read(each) for each in self._connection.get("history").objects()]

    def _answered(self, path: str, body: Mapping[str, Any], key: str) -> Reply:
        """Wait for a question's answer: look at its address, and send it again under its key.

        Where several servers share a ledger, the one that is asked may not be the one that knows it. Under the same key
        it isn't asked twice, whichever server is asked.

        Raises:
            ServerUnreachable: it isn't there after the longest wait.
        """
        begun = monotonic()
        look, again, asked = _FIRST_LOOK, _FIRST_AGAIN, begun
        with _Waiting(self._progress) as waiting:
            reply: Reply | None = self._connection.post(path, body, key=key, prefer="respond-async")
            while reply is None or reply.status == _PENDING:
                name = "" if reply is None else _name_of(reply)
                waiting.tell(monotonic() - begun)
                if monotonic() > begun + _LONGEST:
                    raise ServerUnreachable(f"there was no answer within {_LONGEST:.0f} seconds")
                sleep(max(look, (reply and reply.pause) or 0.0))
                look = min(_LONGEST_LOOK, 2 * look)
                if name and monotonic() < asked + again:
                    reply = self._connection.find(f"answers/{name}")
                    if reply is not None and reply.fields().get("id") != name:
                        malformed("it is about another question")
                else:
                    reply = self._connection.post(path, body, key=key, prefer="respond-async")
                    asked, again = monotonic(), min(_LONGEST_AGAIN, 2 * again)
        return reply


@contextmanager
def _saying(key: str) -> Iterator[None]:
    """Say of replies that were lost under which key the question is asked again: under another it is paid again."""
    try:
        yield
    except (ServerUnreachable, ReplyMalformed) as error:
        begin = f"{error.hint}; it" if error.hint else "it"
        why = f"{begin} may have been paid for; under the same key it is paid for only once: ask again with"
        quoted = shlex.quote(key)
        error.hint = Hint(f"{why} idempotency_key={key!r}", cli=f"{why} --idempotency-key {quoted}")
        raise


@contextmanager
def _placed_in(asked: str | list[str]) -> Iterator[None]:
    """Let an error keep the question that its place lies in."""
    try:
        yield
    except DiscreetError as error:
        error.text = asked if isinstance(asked, str) else ""
        raise


class _Waiting:
    """Tells the user that an answer is being waited for."""

    def __init__(self, progress: Callable[[float], None] | None) -> None:
        self._progress, self._is_shown = progress, False

    def __enter__(self) -> Self:
        return self

    def tell(self, seconds: float) -> None:
        """Say for how long it was waited."""
        if self._progress is not None:
            self._progress(seconds)
        elif seconds >= _SILENT and sys.stderr.isatty():
            sys.stderr.write(f"\rwaiting for the answer: {seconds:.0f} s ")
            sys.stderr.flush()
            self._is_shown = True

    def __exit__(self, *_: object) -> None:
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def fresh_key() -> str:
    """A key by which a server knows a question again: 128 random bits."""
    return fresh_bytes(16).hex()


def _name_of(reply: Reply) -> str:
    """The name of a question that waits or runs, whose address must be on the server that was asked.

    Raises:
        ReplyMalformed: the place lies elsewhere, or belongs to another question.
    """
    name = reply.fields().get("id")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        malformed("it doesn't say where the answer will be")
    if reply.place is not None:
        parts = urlsplit(reply.place)
        if parts.scheme or parts.netloc or not parts.path.endswith(f"/v1/answers/{name}"):
            malformed("the answer would be somewhere else")
    return name


def _believed(data: Mapping[str, Any], key: PublicKey) -> Answer:
    """An answer, if it has the form of one, its certificate is its own, and the account has signed all of it.

    Raises:
        ReplyMalformed: it has another form.
        AnswerContradicted: it isn't what its certificate and its signature vouch for.
    """
    try:
        answer = Answer.from_json(data)
    except (InvalidArgument, RecursionError):
        malformed("an answer was expected")
    found = verify_certificate(data, key)
    if not found.holds:
        raise AnswerContradicted(
            f"the answer can't be believed: {'; '.join(found.problems)[:500]}",
            hint="tell the custodian, and don't use it",
        )
    return answer
