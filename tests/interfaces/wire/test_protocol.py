"""The protocol, byte by byte: without sockets, and without tables."""

from __future__ import annotations

import random
import struct
from contextlib import suppress
from datetime import date
from decimal import Decimal
from time import monotonic, process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, TypeMismatch
from discreet.interfaces.wire import messages
from discreet.interfaces.wire.held_rows import HeldRows
from discreet.interfaces.wire.messages import Malformed
from discreet.interfaces.wire.parameters import as_asked
from discreet.interfaces.wire.statements import statements
from discreet.interfaces.wire.unanswered_probes import UnansweredProbes, form_of
from discreet.interfaces.wire.values import (
    ARRAY_OF,
    DATE,
    FLOAT8,
    INT8,
    NUMERIC,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    as_text,
    encoded,
    literal,
)
from discreet.service import Metrics
from support.wire import (
    FLUSH,
    LEAVE,
    SYNC,
    TOKEN,
    Flawless,
    NoTables,
    bind,
    cells,
    describe,
    execute,
    message,
    parse,
    parts,
    query,
    replies,
    spoken,
    startup,
    text,
)

ASKED = "/* discreet.epsilon = 0.5 */ SELECT COUNT(*) FROM people WHERE id < "


def kinds(data: bytes) -> str:
    """The types of what was sent after the greeting."""
    every = "".join(kind for kind, _ in replies(data))
    return every.partition("Z")[2]


def states(data: bytes) -> list[str]:
    """The SQLSTATEs of errors."""
    return [parts(body)["C"] for kind, body in replies(data) if kind == "E"]


def test_a_portal_is_asked_once_and_its_rows_come_in_parts() -> None:
    """Describe says the columns and asks nothing; each Execute gives its rows, and the last says that it is done."""
    service = NoTables()
    steps = parse(ASKED + "$1") + bind([b"7"]) + describe() + execute(2) + execute(2) + execute() + SYNC
    found = spoken(parse(ASKED + "$1", "s") + describe(b"S", "s") + SYNC + steps, service)
    assert kinds(found) == "1tTZ12TNDDsDCCZ"
    assert [cells(body) for kind, body in replies(found) if kind == "D"] == [[b"one"], [b"two"], [b"three"]]
    assert [each.question.split()[-1] for each in service.asked if isinstance(each.question, str)] == ["7"]
    assert struct.unpack("!HI", next(body for kind, body in replies(found) if kind == "t")) == (1, 20)


def test_after_an_error_what_follows_is_passed_over_until_sync() -> None:
    """So nothing is asked that was sent before its client knew of the error."""
    service = NoTables()
    found = spoken(bind(name="gone") + execute() + parse(ASKED + "1") + bind() + execute() + SYNC + SYNC, service)
    assert (kinds(found), states(found), service.asked) == ("EZZ", ["26000"], [])


def test_within_a_transaction_an_error_stops_all_but_its_end() -> None:
    """25P02 until ROLLBACK, and COMMIT of a transaction that failed is one; settings of it are taken back."""
    service = NoTables()
    said = (
        "BEGIN; SET discreet.epsilon = 1; SET discreet.delta = '1e-6'",
        "SELECT COUNT(*) FROM people",
        "SET discreet.nothing = 1",
        "SELECT COUNT(*) FROM people",
        "COMMIT",
        "SHOW discreet.epsilon",
        "ROLLBACK",
    )
    found = spoken(b"".join(map(query, said)), service)
    assert states(found) == ["0A000", "25P02"]
    assert "".join(body.decode() for kind, body in replies(found) if kind == "Z") == "ITTEEIII"
    assert [body for kind, body in replies(found) if kind == "C"][4] == b"ROLLBACK\0"
    (asked,) = service.asked
    assert asked.terms == {"epsilon": "1", "delta": "1e-6", "dialect": "postgres"}
    shown = [cells(body) for kind, body in replies(found) if kind == "D"]
    assert shown[-1] == [b""]


def test_an_error_in_a_text_ends_that_text_alone() -> None:
    """A message of the extended protocol that follows it is answered; one in Describe fails the transaction."""
    found = spoken(query("SHOW nothing") + parse("SELECT version()") + bind() + execute() + SYNC)
    assert kinds(found) == "EZ12DCZ"
    found = spoken(query("BEGIN") + parse("SHOW nothing") + describe(b"S") + SYNC)
    assert [body for kind, body in replies(found) if kind == "Z"][-1] == b"E"


def test_a_statement_within_another_one_has_its_parameters() -> None:
    """A cursor's, COPY's and EXPLAIN's; COPY gives all of its lines at once, and once."""
    service = NoTables()
    said = (f"DECLARE c CURSOR FOR {ASKED} $1", f"COPY ({ASKED} $1) TO STDOUT")
    steps = (parse(each) + bind([b"7"]) + execute(1) + SYNC for each in said)
    explained = parse(f"EXPLAIN {ASKED} $1") + bind([b"7"]) + SYNC
    found = spoken(query("BEGIN") + b"".join(steps) + explained, service)
    assert kinds(found) == "CZ12NCZ12NHdddcCZ12Z"
    assert [str(each.question).split()[-1] for each in service.asked] == ["7", "7"]


def test_going_back_to_a_savepoint_takes_back_what_was_set_since() -> None:
    """So no question costs what was unsaid; and a later offer takes the place of one for the transaction."""
    service = NoTables()
    said = (
        "BEGIN; SET discreet.epsilon = 1; SAVEPOINT a; SET discreet.epsilon = 9; ROLLBACK TO a",
        "SELECT COUNT(*) FROM people",
        "SET LOCAL discreet.rho = 1; SET discreet.epsilon = 2; SELECT COUNT(*) FROM people",
    )
    spoken(b"".join(map(query, said)), service)
    assert [each.terms for each in service.asked] == [
        {"epsilon": "1", "dialect": "postgres"},
        {"epsilon": "2", "dialect": "postgres"},
    ]


def test_what_drivers_take_for_granted_stays() -> None:
    """A cursor WITH HOLD after its transaction, and settings where something else is discarded."""
    said = (
        "BEGIN; DECLARE a CURSOR WITH HOLD FOR SELECT 1; DECLARE b CURSOR WITHOUT HOLD FOR SELECT 1; COMMIT; FETCH a",
        "FETCH b",
        "SET client_encoding = SQL_ASCII; SET discreet.epsilon = 1; DISCARD TEMP; SHOW discreet.epsilon",
    )
    found = spoken(b"".join(map(query, said)))
    assert states(found) == ["34000"]
    assert [cells(body) for kind, body in replies(found) if kind == "D"] == [[b"1"], [b"1"]]


def test_a_client_can_make_the_server_keep_little() -> None:
    """A value may stand in a text as often as it likes, and a short text may say many parameters."""
    service = NoTables()
    long, many = b"x" * 100_000, "SELECT COUNT(*) FROM people WHERE k IN ($1" + ",$1" * 5000 + ")"
    found = spoken(parse(many) + bind([long]) + execute() + SYNC, service)
    assert states(found) == ["0A000"]
    found = spoken(parse("SELECT $1", "s") + b"".join(bind([long], name="s", portal=str(n)) for n in range(9)) + SYNC)
    assert (kinds(found), states(found)) == ("1222EZ", ["54000"])
    found = spoken(b"".join(parse("SELECT $9999", str(n)) for n in range(9)) + SYNC)
    assert (kinds(found), states(found)) == ("1111EZ", ["53400"])
    assert service.asked == []


def test_a_parameter_means_what_it_means_in_postgresql() -> None:
    """A whole `numeric` or `float8` divides as such; no digit is lost; blanks in a list are no text's."""
    whole = 12345678901234567890123456789012345678
    groups = [whole // 10_000**place % 10_000 for place in range(9, -1, -1)]
    assert literal(struct.pack("!HhHH10H", 10, 9, 0, 0, *groups), NUMERIC, 1) == f"{whole}.0"
    assert literal(struct.pack("!d", -2.0), FLOAT8, 1) == "(-2.0)"
    assert [literal(each, NUMERIC, 0) for each in (b"2", b"+2.50", b"1e3")] == ["2.0", "2.50", "1e3"]
    assert literal(b"{ a ,b }", 1009, 0) == "ARRAY['a', 'b']"
    assert literal(b"{ }", 1009, 0) == "ARRAY[]"
    assert encoded(1.5, NUMERIC, 1) == encoded(Decimal("1.5"), NUMERIC, 1)  # where the client was told so


@pytest.mark.parametrize(
    ("said", "day", "time", "instant"),
    [
        (b"2024-06-01", "2024-06-01", "2024-06-01 00:00:00", "2024-06-01 00:00:00"),
        (b"2024-06-01 +02", "2024-06-01", "2024-06-01 00:00:00", "2024-05-31 22:00:00"),
        (b"2024-06-01 23:30:00.5-05:30", "2024-06-01", "2024-06-01 23:30:00.500000", "2024-06-02 05:00:00.500000"),
        (b"2024-06-01T07:00:00.123Z", "2024-06-01", "2024-06-01 07:00:00.123000", "2024-06-01 07:00:00.123000"),
    ],
)
def test_a_day_and_a_time_may_have_a_zone_behind_them(said: bytes, day: str, time: str, instant: str) -> None:
    """As pgjdbc, node-postgres and postgres.js send them; only a type with a zone heeds it, as in PostgreSQL."""
    assert literal(said, DATE, 0) == f"DATE '{day}'"
    assert literal(said, TIMESTAMP, 0) == f"TIMESTAMP '{time}'"
    assert literal(said, TIMESTAMPTZ, 0) == f"TIMESTAMP '{instant}'"


def test_a_list_means_the_same_in_binary() -> None:
    """As pgjdbc and asyncpg send it; one that doesn't end where it says, or has more dimensions, is none."""
    sent = struct.pack("!iiIii", 1, 1, TEXT, 3, 1) + b"\0\0\0\x04it's" + b"\xff" * 4 + b"\0" * 4
    assert literal(sent, ARRAY_OF[TEXT], 1) == "ARRAY['it''s', NULL, '']"
    assert literal(struct.pack("!iiI", 0, 0, TEXT), ARRAY_OF[TEXT], 1) == "ARRAY[]"
    numbers = struct.pack("!iiIiiiq", 1, 0, INT8, 1, 1, 8, -5)
    assert literal(numbers, ARRAY_OF[INT8], 1) == "ARRAY[(-5)]"
    for wrong in (b"", sent[:-1], sent + b"\0", sent[:12], b"\0\0\0\x02" + sent[4:], sent[:12] + b"\x7f" + sent[13:]):
        with pytest.raises(InvalidArgument):
            literal(wrong, ARRAY_OF[TEXT], 1)


def test_a_cast_to_the_type_that_a_value_has_is_left_out() -> None:
    """So that SQL reads a name or a number where it takes one; a cast that changes a value, or might, stays."""
    for sent, value, asked in (
        ("$1::VARCHAR", "'it''s'", "'it''s'"),
        ("$1::integer", "5", "5"),
        ("$1::bigint[]", "ARRAY[1, (-2), NULL]", "ARRAY[1, (-2), NULL]"),
        ("$1::text[]", "ARRAY['a', '']", "ARRAY['a', '']"),
        ("$1::VARCHAR(1)", "'ab'", "'ab' ::VARCHAR(1)"),
        ("$1::int", "2.5", "2.5 ::int"),
        ("$1::int", "'5'", "'5' ::int"),
        ("$1::text", "NULL", "NULL ::text"),
        ("$1::bigint[]", "ARRAY[1.5]", "ARRAY[1.5] ::bigint[]"),
        ("$1::text", "ARRAY['a']", "ARRAY['a'] ::text"),
    ):
        (statement,) = statements(f"SELECT {sent}")
        assert as_asked(statement, [value]).text.split() == f"SELECT {asked}".split(), sent


def test_an_instant_is_compared_where_the_session_is_in_utc() -> None:
    """Elsewhere PostgreSQL would shift the column's times, and nothing does that here."""
    asked = parse("SELECT COUNT(*) FROM people WHERE at >= $1", types=[TIMESTAMPTZ]) + bind([b"2024-06-01"]) + SYNC
    offer = query("SET discreet.epsilon = 1")
    for zone, found in (("Etc/UTC", "12Z"), ("Europe/Berlin", "1EZ")):
        assert kinds(spoken(offer + query(f"SET TimeZone = '{zone}'") + asked)).endswith(found), zone


def test_a_view_is_a_name_for_a_text_until_it_is_dropped_or_rolled_back() -> None:
    """Its text stands before a question that names it, within others too; nobody else has it, and nothing is asked."""
    service = NoTables()
    offer = "/* discreet.epsilon = 1 */ "
    said = (
        'CREATE TEMPORARY VIEW "V 1" AS SELECT k, id FROM people WHERE id < 5 -- some',
        'CREATE OR REPLACE TEMP VIEW w AS WITH a AS (SELECT * FROM "V 1") SELECT * FROM a',
        f"{offer}SELECT COUNT(*) FROM w",
        f"{offer}WITH a AS (SELECT 1) SELECT COUNT(*) FROM w, a",
        f"{offer}WITH w AS (SELECT k FROM people) SELECT COUNT(*) FROM w",
        "BEGIN; CREATE TEMP VIEW x AS SELECT 1; SAVEPOINT a; DROP VIEW w; ROLLBACK TO a; ROLLBACK",
        "DROP VIEW x",
        f"BEGIN; DECLARE c CURSOR FOR {offer}SELECT COUNT(*) FROM w; COMMIT",
        "DROP VIEW IF EXISTS w, x; DROP VIEW IF EXISTS w CASCADE; DROP VIEW IF EXISTS w",
        'DISCARD TEMP; DROP VIEW "V 1"',
    )
    found = spoken(b"".join(map(query, said)), service)
    assert states(found) == ["42P01", "42601", "42P01"]
    v = '"V 1" AS (SELECT k, id FROM people WHERE id < 5)'
    w = f'"w" AS (WITH {v}, a AS (SELECT * FROM "V 1") SELECT * FROM a)'
    asked = [" ".join(str(each.question).split()) for each in service.asked]
    assert asked == [
        f"WITH {w} SELECT COUNT(*) FROM w",
        f"WITH {w}, a AS (SELECT 1) SELECT COUNT(*) FROM w, a",
        "WITH w AS (SELECT k FROM people) SELECT COUNT(*) FROM w",
        f"WITH {w} SELECT COUNT(*) FROM w",
    ]
    assert all(each.terms["epsilon"] == "1" for each in service.asked)


def test_views_are_few_and_short_however_they_name_each_other() -> None:
    """So none doubles another until memory is full; and what isn't a temporary view isn't made."""
    tripled = "".join(
        f"CREATE TEMP VIEW v{n} AS SELECT * FROM {', '.join(f'v{m}' for m in range(n))};" for n in range(1, 10)
    )
    found = spoken(query(f"CREATE TEMP VIEW v0 AS SELECT {'1 ' * 4000}") + query(tripled))
    assert states(found) == ["53400"]
    for said, state in (
        ("".join(f"CREATE TEMP VIEW v{n} AS SELECT 1;" for n in range(11)), "53400"),
        ("CREATE TEMP VIEW v AS SELECT 1; CREATE TEMP VIEW v AS SELECT 2", "42P07"),
        ("CREATE TEMP VIEW People AS SELECT 1", "42P07"),
        ("CREATE TEMP VIEW pg_class AS SELECT 1", "42P07"),
        ("CREATE VIEW v AS SELECT 1", "0A000"),
        ("CREATE TABLE v (x int)", "0A000"),
        ("CREATE LOCAL TEMPORARY TABLE v (x int)", "0A000"),
        ("CREATE TEMP VIEW v (a) AS SELECT 1", "42601"),
        ("CREATE TEMP VIEW v AS", "42601"),
        ("CREATE TEMP VIEW v AS DROP VIEW w", "42601"),
        ("DROP TABLE people", "0A000"),
        ("DROP VIEW", "42601"),
        ("CREATE", "0A000"),
        ("DROP", "0A000"),
    ):
        assert states(spoken(query(said))) == [state], said
    assert states(spoken(parse("CREATE TEMP VIEW v AS SELECT $1") + bind([b"1"]) + execute() + SYNC)) == ["42P02"]


def test_what_nobody_answers_is_counted_by_its_form() -> None:
    """Of no text more than keywords and names of the catalogue; of no more forms than there may be."""
    written: list[tuple[str, int]] = []
    log, metrics = Flawless(), Metrics()
    log.write = lambda _, *, form="", times=0, **__: written.append((form, times))  # type: ignore[method-assign]  # a log that keeps them
    probes = UnansweredProbes(metrics, log)
    for n in range(100):
        probes.count(statements(f"SELECT pg_secret('{n}', {n}) AS alice{n} FROM \"bob\" -- {n}")[0])
    form = "select pg_secret ( ? , … ) as x from x"
    assert written == [(form, 1), (form, 10), (form, 100)]
    assert form_of(statements("SELECT \x1b[2J, \u202e pg_x()")[0]) == "select ? [ ? x , ? pg_x ( )"
    for n in range(300):
        probes.count(statements(f"SELECT f{n}()")[0])
    assert len(probes._counts) == 201
    assert probes._counts["others"] == 101
    service = NoTables(log=Flawless())
    counted = (
        *("SET nothing = 1", "SHOW nothing", "LISTEN x", "CREATE TABLE x (y int)", "EXPLAIN ANALYZE SELECT 1"),
        *("SELECT 1; SELECT version()", "FETCH 1 FROM c", "SET discreet.epsilon = x", "ROLLBACK TO a"),
    )
    spoken(b"".join(map(query, counted)), service)
    assert service.metrics._counts["discreet_probes_unanswered", ()] == 4


def test_rows_that_wait_are_bounded_over_all_connections() -> None:
    """What others leave unfetched is no room for more; what is fetched, closed or gone is."""
    held = HeldRows(most=5)
    declare = f"DECLARE c CURSOR WITH HOLD FOR {ASKED} 1"
    assert states(spoken(query(declare) + query("CLOSE c"), held=held)) == []
    assert held.has_room("another", "eve", 4)
    assert states(spoken(query(declare) + SYNC, held=held)) == ["53400"]
    assert states(spoken(parse(f"{ASKED} 1") + bind() + execute(1) + SYNC, held=held)) == ["53400"]
    assert held.has_room("another", "eve", 2)
    assert (
        states(spoken(query(declare) + query("FETCH ALL c") + query(f"{declare.replace(' c ', ' d ')}"), held=held))
        == []
    )
    assert held.has_room("another", "eve", 5)


def test_nobody_takes_the_room_of_all_others() -> None:
    """Over many connections of theirs; and what is sent at once waits for nobody, so it needs no room."""
    held = HeldRows(most=10, of_one=4)
    assert held.has_room("one", "eve", 4)
    assert not held.has_room("other", "eve", 1)
    assert held.has_room("third", "mallory", 4)
    assert states(spoken(parse(f"{ASKED} 1") + bind() + execute(1) + SYNC, held=held)) == []
    assert held.has_room("fourth", "oscar", 2)
    assert states(spoken(parse(f"{ASKED} 1") + bind() + execute(1) + SYNC, held=held)) == ["53400"]
    assert states(spoken(parse(f"{ASKED} 1") + bind() + execute() + SYNC, held=held)) == []


def test_a_value_without_a_form_is_refused() -> None:
    """Rather than sent as Python writes it."""
    with pytest.raises(TypeMismatch):
        as_text(object())
    assert [as_text(each) for each in (date(2026, 1, 2), 2**70, "é")] == ["2026-01-02", str(2**70), "é"]


def test_a_text_of_statements_ends_at_the_first_that_fails() -> None:
    """What was answered before it stays answered."""
    service = NoTables()
    found = spoken(query(f"{ASKED} 1; SELECT version(); SHOW nothing; {ASKED} 2") + query(" ; -- nothing\n"), service)
    assert (kinds(found), len(service.asked)) == ("NTDDDCTDCEZIZ", 1)


@pytest.mark.parametrize(
    ("sent", "state"),
    [
        (query("SELECT 'a"), "42601"),
        (query("/* a"), "42601"),
        (query("SELECT $1"), "42P02"),
        (query("SET client_encoding = latin1"), "22023"),
        (query("SET server_version = 9"), "22023"),
        (query("SET ROLE custodian"), "22023"),
        (query("SAVEPOINT a"), "25P01"),
        (query("BEGIN; ROLLBACK TO a"), "3B001"),
        (query("FETCH ALL FROM c"), "34000"),
        (query("DECLARE c CURSOR FOR SELECT 1"), "25P01"),
        (query("COPY people TO STDOUT"), "0A000"),
        (query("COPY people FROM STDIN"), "0A000"),
        (query("INSERT INTO people VALUES (1, 'a')"), "25006"),
        (query("DEALLOCATE a"), "26000"),
        (query("EXPLAIN ANALYZE SELECT 1 FROM people"), "0A000"),
        (query("SUMMARIZE people"), "0A000"),
        (query(";".join(["SELECT 1"] * 101)), "0A000"),
        (query("SELECT " + "x" * 300_000), "0A000"),
        (parse("SELECT 1; SELECT 1") + SYNC, "42601"),
        (parse("SELECT 1", "a") + parse("SELECT 1", "a") + SYNC, "42P05"),
        (execute(portal="x") + SYNC, "34000"),
        (parse("SELECT $1") + bind() + SYNC, "08P01"),
        (parse("SELECT $1", types=[20]) + bind([b"1; DROP"]) + SYNC, "22023"),
        (parse("SELECT $1", types=[17]) + bind([b"1"]) + SYNC, "42804"),
        (parse("SELECT $1", types=[20]) + bind([b"12"], binary=True) + SYNC, "22023"),
        (parse("SELECT 1") + bind(results=7) + SYNC, "22023"),
    ],
)
def test_what_cannot_be_done_has_its_sqlstate_and_the_connection_goes_on(sent: bytes, state: str) -> None:
    """Nothing is asked for it."""
    service = NoTables()
    found = spoken(sent + query("ROLLBACK") + query("SELECT 1"), service)
    assert states(found) == [state]
    assert kinds(found).endswith("TDCZ")
    assert service.asked == []


@pytest.mark.parametrize(
    "sent",
    [
        b"Q\xff\xff\xff\xff",
        b"Q\x00\x00\x00\x03",
        b"?\x00\x00\x00\x04",
        message(b"Q", b"SELECT 1"),
        message(b"Q", b"\xff\0"),
        message(b"S", b"more"),
        message(b"D", b"Xname\0"),
        message(b"B", text("") + text("") + b"\x00\x02"),
        message(b"B", text("") + text("") + struct.pack("!HHi", 0, 1, -2)),
        message(b"p", text(TOKEN)),
    ],
)
def test_what_is_no_message_ends_the_connection(sent: bytes) -> None:
    """With an error that says so, and without reading on."""
    found = spoken(sent + query("SELECT 1"))
    assert (kinds(found), states(found)) == ("E", ["08P01"])


def test_whoever_shows_no_token_learns_nothing_and_is_let_go() -> None:
    """A wrong one, none, another message in its place: an error without the token, and the end."""
    for said, state in (
        (message(b"p", text("dsc_" + "x" * 43)), "28P01"),
        (message(b"p", text("")), "28P01"),
        (query("SELECT 1"), "08P01"),
        (message(b"p", b"x" * 40_000), "08P01"),
    ):
        found = spoken(query("SELECT 1"), greet=lambda said=said: startup(user="me") + said)
        assert [kind for kind, _ in replies(found)] == ["R", "E"]
        assert states(found) == [state]
        assert b"xxxx" not in found


def test_a_start_up_is_read_by_its_options_and_by_nothing_else() -> None:
    """GSS and TLS are declined where there is none; a cancel ends without a word; a later version is told of ours."""
    password = message(b"p", text(TOKEN))
    requests = struct.pack("!II", 8, messages.GSS) + struct.pack("!II", 8, messages.TLS)
    greeting = requests + startup(196610, user="me", options=r"-c discreet.epsilon=0.25 --application-name=a\ b")
    found = spoken(query("SHOW discreet.epsilon"), greet=lambda: greeting + password)
    assert found[:2] == b"NN"
    every = list(replies(found[2:]))
    assert every[0][0] == "v"
    assert ("S", b"application_name\0a b\0") in every
    assert cells(next(body for kind, body in every if kind == "D")) == [b"0.25"]
    assert spoken(b"", greet=lambda: struct.pack("!IIII", 16, messages.CANCEL, 1, 2)) == b""
    refused = spoken(b"", greet=lambda: startup(user="me", options="-c discreet.epsilon=no") + password)
    assert states(refused) == ["22023"]
    assert spoken(b"", greet=lambda: b"\x16\x03\x01\x02\x00")[:1] == b"E"  # TLS without a request


def test_cursors_and_copies_give_the_rows_that_were_answered_once() -> None:
    """A cursor asks when it is declared, and FETCH and MOVE ask nothing more."""
    service = NoTables()
    asked = f"{ASKED} 1"
    found = spoken(
        query(f"BEGIN; DECLARE c CURSOR FOR {asked}; FETCH 1 FROM c; MOVE 1 IN c; FETCH ALL c; CLOSE c; COMMIT")
        + describe(b"P", "c")
        + SYNC
        + query(f"COPY ({asked}) TO STDOUT (FORMAT 'csv', HEADER)"),
        service,
    )
    rows = [cells(body) for kind, body in replies(found) if kind == "D"]
    assert rows == [[b"one"], [b"three"]]
    assert b"".join(body for kind, body in replies(found) if kind == "d") == b"plan\none\ntwo\nthree\n"
    assert len(service.asked) == 2


def test_texts_that_are_made_to_take_long_take_no_longer() -> None:
    """Each of some 130,000 characters, and of 15,000 parameters, is read in one pass: in a second, not in hours."""
    most, offer = 130_000, "/* discreet.epsilon = 1 */ SELECT "
    numbers = ", ".join(f"${n}" for n in range(1, 15_000))
    texts = (
        "'" * most,
        "/*" * (most // 2),
        "(FROM " * (most // 7) + ")" * (most // 7),
        offer + "a " + "FROM a " * (most // 7),
        offer + "a " * (most // 2),
        "$a$" * (most // 3),
        "--" + "discreet." * (most // 9) + "\nSELECT 1",
        "E'" + "\\'" * (most // 2),
        "E'a" * (most // 3),
        ";" * most,
        "SELECT $0",
        *("EXPLAIN", "EXPLAIN (", "SET", "SET x TO", "SET = 1", "SET TIME ZONE", "SHOW", "RESET", "COPY", "COPY ("),
        *("DECLARE", "FETCH", "MOVE", "CLOSE", "SAVEPOINT", "RELEASE", "DEALLOCATE", "DISCARD", "(", ")", "WITH"),
    )  # fmt: skip
    sent = b"".join(map(query, texts)) + parse(f"{offer} COUNT(*) FROM people WHERE id IN ({numbers})") + SYNC
    service, begun = NoTables(), process_time()
    found = spoken(sent + query("SELECT 1"), service)
    assert kinds(found).endswith("1ZTDCZ")
    assert process_time() - begun < 60
    assert len(service.asked) <= 2


STREAM = (
    parse(ASKED + "$1 AND k = $2", "s", [20, 25])
    + describe(b"S", "s")
    + bind([b"7", b"a"], name="s", portal="p", results=1)
    + describe(b"P", "p")
    + execute(1, "p")
    + execute(0, "p")
    + FLUSH
    + SYNC
    + query("BEGIN; SET discreet.within = 'n=5, m=5%'; SHOW ALL; DECLARE c CURSOR FOR SELECT version(); FETCH 1 FROM c")
    + query(f"{ASKED} 3; SAVEPOINT a; ROLLBACK TO a; COPY ({ASKED} 4) TO STDOUT; COMMIT; RESET ALL")
    + query(f"CREATE TEMP VIEW v AS SELECT id FROM people; {ASKED.replace('people', 'v')} 5; DROP VIEW v")
    + query(
        "SET discreet.metadata_probes = on; SELECT MIN(id) AS lo, MAX(id) FROM people; SELECT * FROM people LIMIT 0"
    )
    + message(b"C", b"Ss\0")
    + SYNC
    + LEAVE
)


def fuzzed(count: int, seed: int) -> None:
    """So many mutated streams: none crashes, hangs, says the token or asks more than its messages say."""
    draw, whole = random.Random(seed), startup(user="me", options="-c discreet.epsilon=1") + message(b"p", text(TOKEN))  # noqa: S311 — nothing secret
    for _ in range(count):
        data = bytearray(STREAM if draw.random() < 0.9 else whole + STREAM)
        for _ in range(draw.choice((1, 1, 2, 4, 16))):
            at = draw.randrange(len(data))
            match draw.randrange(5):
                case 0:
                    data[at] = draw.randrange(256)
                case 1:
                    del data[at : at + draw.choice((1, 2, 5, 40))]
                case 2:
                    data[at:at] = draw.randbytes(draw.choice((1, 4, 9)))
                case 3:
                    end = min(at + draw.choice((4, 20, 80)), len(data))
                    data[at:at] = data[at:end]
                case _:
                    data[at : at + 4] = struct.pack("!I", draw.choice((0, 3, 4, 5, 2**16, 2**31, 2**32 - 1)))
        service = NoTables()
        begun = monotonic()
        found = spoken(bytes(data), service, greet=(lambda: b"") if data.startswith(whole[:8]) else None)
        assert monotonic() - begun < 30
        assert TOKEN.encode() not in found
        assert len(service.asked) <= sum(map(bytes(data).count, (b"Q\x00", b";", b"E\x00")))  # statements, and portals
        for _ in replies(found.lstrip(b"N") if found[:1] == b"N" else found):
            pass


def test_mutated_streams_never_crash_hang_leak_or_ask_more() -> None:
    """Each has a few bytes changed, left out, put in or doubled, or another length."""
    fuzzed(3000, seed=1)


@pytest.mark.soak
def test_a_million_mutated_streams() -> None:
    """The same at length, with new ones each time."""
    fuzzed(1_000_000, seed=random.SystemRandom().randrange(2**32))


@given(st.binary(max_size=200))
def test_any_body_is_a_message_or_malformed(body: bytes) -> None:
    """Nothing else is raised, whatever the type."""
    for kind in (b"Q", b"P", b"B", b"D", b"C", b"E", b"p", b"S", b"d"):
        with suppress(Malformed):
            messages.read(kind, body)
    if len(body) >= 4:
        with suppress(Malformed):
            messages.read_startup(body)
