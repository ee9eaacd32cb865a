"""Attacks over PostgreSQL's protocol: on tokens, answers, ceilings, probes, messages and connections."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from discreet.errors import NotTried
from discreet.interfaces.conformance.approvals import limited
from discreet.interfaces.conformance.postgres_session import (
    PostgresSession,
    Said,
    come_in,
    message,
    prepared,
    query,
    text,
    ways,
)
from discreet.interfaces.conformance.target import OK, Holder, Target
from discreet.interfaces.conformance.trial import Trial

_CONNECTIONS = 16
_QUICK = 10.0
_UNKNOWN = "dsc_" + "A" * 43


def _address(target: Target) -> str:
    """Where the protocol is spoken.

    Raises:
        NotTried: nobody said.
    """
    if not target.postgres:
        raise NotTried("this needs the address of the server's port for PostgreSQL's protocol")
    return target.postgres


def _said(target: Target, content: bytes, who: Holder | None = None, replies: int = 1, options: str = "") -> Said:
    """What a new connection is told, after its greeting."""
    token = (who or target.analyst).token
    with come_in(_address(target), target.patience, token, options=options) as (session, greeted):
        found = session.send(content, replies) if not greeted.ended else greeted
    target.look("PostgreSQL's protocol", found.raw)
    return found


def tokens(target: Target, trial: Trial) -> None:
    """Tokens that aren't valid get what an unknown one gets, wherever a valid one stands beside."""
    address, own = _address(target), target.analyst.token
    greet = partial(_greeted, target, address)
    trial.check(b"Z" in {kind for kind, _ in greet(own).messages()}, "a valid token isn't let in")
    unknown = greet(_UNKNOWN)
    trial.check(unknown.states == ["28P01"] and unknown.ended, "an unknown token isn't refused as such")
    forged = [own[:-1], own[:20], f"{own}A", own.swapcase(), f" {own}", own.replace("dsc_", ""), "", own.encode().hex()]
    for token in (*forged, *target.dead):
        trial.check(greet(token).raw == unknown.raw, "a token that isn't one gets another reply than an unknown one")
    for said in (
        {"user": own},
        {"database": own},
        {"application_name": own},
        {"options": f"-c application_name={own}"},
    ):
        trial.check(greet(_UNKNOWN, **said).raw == unknown.raw, "a token beside an unknown password is let in")
    with PostgresSession(address, _QUICK) as session:
        found = session.send(struct.pack("!II", 8, 196_608) + query("SELECT 1"))
    trial.check(b"D" not in {kind for kind, _ in found.messages()}, "a question is answered before a token was shown")


def _greeted(target: Target, address: str, token: str, **said: str) -> Said:
    """What somebody is told who shows a token."""
    with come_in(address, target.patience, token, **said) as (_, found):
        target.look("PostgreSQL's protocol, at its start", found.raw)
        return found


def answers(target: Target, trial: Trial) -> None:
    """One question in every way that the protocol has: one value, and one debit, over both doors."""
    _address(target)
    (question,) = target.questions(1)
    before = len(target.debits())
    values = set[str | None]()
    for name, content, replies in ways(question, str(target.offer)):
        target.purse.take(target.offer)
        found = _said(target, content, replies=replies)
        if any(state in {"53300", "57P03", "XX000"} for state in found.states):
            continue  # too busy, or it missed its time
        trial.check(not found.states, f"a question asked as {name} is refused with {found.states[:1]}")
        values |= {found.value} - {None}
        paid = len(target.debits()) - before
        trial.check(len(values) <= paid, f"a new value was given for nothing to a question asked as {name}")
        trial.check(paid <= 1, f"a question was charged again when asked as {name}")
    if not values:
        raise NotTried("no question got an answer over PostgreSQL's protocol")
    over_http = target.ask(question)
    if over_http.status == OK:
        trial.check(str(next(iter(over_http.data["rows"][0].values()))) in values, "the doors give two values")
    target.purse.take(target.offer * _CONNECTIONS)
    at_once = query(f"/* discreet.epsilon = {target.offer} */ {target.questions(1)[0]}")
    before = len(target.debits())
    given = {each.value for each in target.at_once([partial(_said, target, at_once)] * _CONNECTIONS)} - {None}
    trial.check(len(given) <= 1, f"{_CONNECTIONS} connections at once got {len(given)} answers to one question")
    trial.check(len(target.debits()) - before <= 1, "one question was charged for each connection")


def ceilings(target: Target, trial: Trial) -> None:
    """A token's ceiling holds however an offer is made; without an offer nothing is paid."""
    _address(target)
    custodian = target.one("custodian")
    (question,) = target.questions(1)
    with ExitStack() as made:
        bound = limited(target, custodian, target.analyst.subject, made)
        before, offer = len(target.debits(bound)), str(target.offer)
        for _, content, replies in ways(question, offer):
            target.purse.take(target.offer)
            found = _said(target, content, bound, replies)
            trial.check(not found.rows or bool(found.states), "a question above a ceiling is answered")
        target.purse.take(target.offer)
        found = _said(target, query(question), bound, options=f"-c discreet.epsilon={offer}")
        trial.check(not found.rows, "options of a connection pass a ceiling")
        for said in (
            f"SET ROLE {custodian.subject}",
            f"SET SESSION AUTHORIZATION {custodian.subject}",
            f"SET discreet.most_epsilon = {offer}",
            "SET session_authorization = custodian",
            "SET is_superuser = on",
        ):
            trial.check(bool(_said(target, query(said), bound).states), "a session makes itself someone else")
        trial.check(not _said(target, query(question), bound).rows, "a question is answered without an offer")
        trial.check(len(target.debits(bound)) == before, "a question above a ceiling was charged")
    for each in target.holders:
        if each.role != "analyst":
            target.purse.take(target.offer)
            found = _said(target, query(f"/* discreet.epsilon = {offer} */ {question}"), each)
            trial.check(not found.rows, f"a token of role {each.role} asks questions")


def probes(target: Target, trial: Trial) -> None:
    """What tools look for comes from declarations: no row, no number of rows, no file, no charge."""
    _address(target)
    before = len(target.paid())
    for table in target.send("GET", "/v1/dataset", target.analyst).data["tables"]:
        if not table["public"]:
            _probe(target, trial, table)
    for said in _FORBIDDEN:
        found = _said(target, query(said))
        trial.check(bool(found.states) and not found.rows, f"this is answered: {said[:60]}")
    trial.check(len(target.paid()) == before, "a probe was charged")


def _probe(target: Target, trial: Trial, table: Mapping[str, Any]) -> None:
    """Look for what a private table holds."""
    name = str(table["name"]).replace('"', '""')
    of = f'public."{name}"'
    for said in _OF_ROWS:
        asked = said.format(of)
        trial.check(not _said(target, query(asked)).rows, f"rows are shown, or counted for nothing: {asked[:60]}")
    for said in _OF_SIZES:
        asked = said.format(name, of)
        cells = [each for row in _said(target, query(asked)).rows for each in row]
        trial.check(set(cells) <= {None, "", "0", "-1"}, f"a number of rows, or a size, is told: {asked[:60]}")
    _told_bounds(target, trial, of, table["columns"])


def _told_bounds(target: Target, trial: Trial, of: str, columns: Sequence[Mapping[str, Any]]) -> None:
    """MIN and MAX without an offer are refused, or are what is declared."""
    for column in columns:
        name = str(column["name"]).replace('"', '""')
        asked = _ENDS.format(name, of)
        trial.check(not _said(target, query(asked)).rows, "MIN and MAX are told without an offer")
        rows = _said(target, query(f"SET discreet.metadata_probes = on; {asked}")).rows
        if rows:
            declared = [str(each).replace("T", " ") for each in column["bounds"] or ()]
            trial.check(rows == [declared], "MIN and MAX of a metadata probe aren't the declared bounds")


_OF_ROWS = (
    "SELECT * FROM {} LIMIT 0",
    "SELECT * FROM {} WHERE 1=0",
    "SELECT * FROM {}",
    "SELECT * FROM {} LIMIT 1",
    "TABLE {}",
    "SELECT * FROM {0} UNION ALL SELECT * FROM {0} WHERE 1=0",
    "(SELECT * FROM {0}) UNION ALL SELECT * FROM {0} LIMIT 0",
    "SELECT * FROM (SELECT * FROM {} LIMIT 1) AS t",
    "CREATE TEMP VIEW v AS SELECT * FROM {}; SELECT * FROM v",
    "BEGIN; DECLARE c CURSOR FOR SELECT * FROM {}; FETCH 1 FROM c",
    "COPY (SELECT * FROM {}) TO STDOUT",
    "COPY {} TO STDOUT",
    "SELECT (SELECT COUNT(*) FROM {}) FROM pg_class LIMIT 1",
)
"""What shows rows, or would if the table had none."""

_OF_SIZES = (
    "SELECT reltuples, relpages FROM pg_class WHERE relname = '{}'",
    "SELECT n_live_tup, seq_scan FROM pg_stat_user_tables WHERE relname = '{}'",
    "SELECT pg_relation_size('{1}'::regclass), pg_total_relation_size('{1}'::regclass)",
    "SELECT n_distinct, most_common_vals FROM pg_stats WHERE tablename = '{}'",
)

_ENDS = 'SELECT MIN("{0}"), MAX("{0}") FROM {1}'

_FORBIDDEN = (
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM glob('/*')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT getenv('HOME')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_tables()",
    "SELECT current_setting('config_file') || 'x' FROM query('SELECT 1')",
    "COPY (SELECT 1) TO PROGRAM 'id'",
    "COPY (SELECT 1) TO '/tmp/x'",
    "ATTACH '/tmp/x.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CREATE TABLE x (y int)",
    "DELETE FROM pg_class",
    "SELECT lo_import('/etc/passwd')",
    "DO $$ BEGIN END $$",
    "EXPLAIN ANALYZE SELECT 1",
)


def messages(target: Target, trial: Trial) -> None:
    """Messages that aren't any end the connection or are refused, quickly; and others don't wait."""
    address = _address(target)
    long = struct.pack("!I", 2**31 - 1)
    for content in (
        b"Q" + long + b"SELECT 1",
        b"Q\xff\xff\xff\xff",
        b"Q\x00\x00\x00\x00",
        b"?" + struct.pack("!I", 4),
        message(b"Q", b"SELECT 1"),
        message(b"Q", b"\xff\xfe\0"),
        message(b"P", text("s") + text("SELECT 1") + b"\xff\xff"),
        message(b"B", text("") + text("") + struct.pack("!HHi", 0, 1, -9)),
        message(b"F", struct.pack("!IHHH", 1, 0, 0, 0)),
        message(b"p", text(target.analyst.token)),
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    ):
        with come_in(address, _QUICK, target.analyst.token) as (session, _):
            found = session.send(content)
        target.look("PostgreSQL's protocol, malformed", found.raw)
        trial.check(found.ended or bool(found.states), "bytes that are no message are left without a reply")
        trial.check(not found.rows, "bytes that are no message are answered")
    for content in (
        query("SELECT 1" + " + 1" * 30_000),
        query("(" * 60_000),
        query("/*" * 60_000),
        query(";" * 120_000),
    ):
        found = _said(target, content)
        trial.check(found.seconds < _QUICK, "a text that means nothing keeps the server busy")
    with ExitStack() as open_:
        for _ in range(_CONNECTIONS):
            session = open_.enter_context(PostgresSession(address, _QUICK))
            session.greet(_UNKNOWN[:9])
        other = _said(target, query("SELECT 1"))
        trial.check(other.value == "1", "others wait for connections that show no token")
    trial.check(_said(target, query("SELECT 1")).value == "1", "the server doesn't answer any more")


def cuts(target: Target, trial: Trial) -> None:
    """Connections that are cut or cancelled at each step: what was paid for is paid once, and answered to a retry."""
    address = _address(target)
    (question,) = target.questions(1)
    asked = f"/* discreet.epsilon = {target.offer} */ {question}"
    before = len(target.paid())
    target.purse.take(11 * target.offer)
    for content in (query(asked), prepared(asked), query(f"BEGIN; {asked}; SAVEPOINT a")):
        for end in (len(content) // 2, len(content) - 1, len(content)):
            with come_in(address, target.patience, target.analyst.token) as (session, _):
                session.drop(content[:end])
    with come_in(address, target.patience, target.analyst.token) as (session, greeted):
        (key,) = (body for kind, body in greeted.messages() if kind == b"K")
        with PostgresSession(address, _QUICK) as other:
            other.drop(struct.pack("!II", 16, 80_877_102) + key)
        first = session.send(query(asked))
    again = _said(target, query(asked))
    if {*first.states, *again.states} & {"53300", "57P03", "XX000"}:
        raise NotTried("the server is too busy to answer a question after connections were cut")
    trial.check(first.value is not None and first.value == again.value, "a retry gets another answer, or none")
    trial.check(len(target.paid()) - before <= 1, "a question was paid for more than once")
