"""URLs of databases: what libpq is given of them; no secret stands in one, and rows go to no wrong machine."""

from __future__ import annotations

import pytest

from discreet.errors import ConfigError, InvalidArgument
from discreet.tables import Source
from discreet.tables.schema.config import loads
from discreet.tables.schema.database_url import DatabaseUrl

SECRET = "pass-7f3a"  # noqa: S105 — nobody's


def given(url: str, environment: dict[str, str] | None = None) -> dict[str, str]:
    """What libpq is given of a URL, by name."""
    pairs = (each.partition("=") for each in DatabaseUrl.read(url).conninfo(environment or {}).split(" "))
    return {name: value.strip("'") for name, _, value in pairs}


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("postgresql://", {}),
        ("postgres:///clinic", {"dbname": "clinic"}),
        ("postgresql://ann@h/a%20b", {"user": "ann", "host": "h", "dbname": "a b"}),
        ("postgresql://[::1]:5433/x", {"host": "::1", "port": "5433", "dbname": "x"}),
        ("postgresql://a:1,b/x", {"host": "a,b", "port": "1,", "dbname": "x"}),
        ("postgresql:///x?host=/run/pg&user=ann", {"host": "/run/pg", "user": "ann", "dbname": "x"}),
        ("postgresql://%2Frun%2Fpg/x?service=s", {"host": "/run/pg", "dbname": "x", "service": "s"}),
    ],
)
def test_a_url_is_read_as_libpq_reads_it(url: str, meant: dict[str, str]) -> None:
    """Its parts, and the parameters behind it."""
    assert DatabaseUrl.read(url).parameters == meant


def test_signs_of_a_list_are_no_end_of_a_value() -> None:
    """A name with a quotation mark can't say another host."""
    quoted = DatabaseUrl.read("postgresql://h/it's%5C' host='evil").conninfo({})
    assert r"dbname='it\'s\\\' host=\'evil'" in quoted


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ann:{SECRET}@h/x",
        f"postgresql://ann:{SECRET}@/x",
        f"postgresql://h/x?password={SECRET}",
        f"postgresql://h/x?sslpassword={SECRET}",
        f"postgresql://ann:a/{SECRET}@h/x",
        f"postgresql://ann:1/{SECRET}@h/x",
        f"postgresql://ann:1?{SECRET}@h/x",
        f"postgresql://ann:a?{SECRET}@h/x",
    ],
)
def test_a_password_is_refused_and_told_nobody(url: str) -> None:
    """Also where a sign in it makes it look like something else; and in a configuration, which names the place."""
    with pytest.raises(InvalidArgument) as refusal:
        Source.of(url, table="visits")
    assert SECRET not in f"{refusal.value} {refusal.value.hint}"
    config = f"""
        name = "clinic"
        ledger = "clinic.ledger"
        adjacency = "add_remove"
        budget = {{ epsilon = 3 }}
        [tables.visits]
        source = {{ path = "{url}", table = "visits" }}
        unit = "row"
        columns = {{ age = {{ kind = "integer" }} }}
    """
    with pytest.raises(ConfigError, match=r"tables\.visits\.source") as named:
        loads(config)
    assert SECRET not in f"{named.value} {named.value.hint}"


def test_a_password_hints_at_where_it_belongs() -> None:
    """Libpq's own places."""
    with pytest.raises(InvalidArgument) as refusal:
        DatabaseUrl.read("postgresql://ann:secret@h/x")
    assert all(place in refusal.value.hint for place in ("PGPASSFILE", "PGPASSWORD", "service file"))


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("postgresql://h/x?sslmod=verify-full", "sslmode"),
        ("postgresql://h/x?options=-crow_security=on", ""),
        ("postgresql://h/x?dbname=y", ""),
        ("postgresql://h:port/x", "postgresql://"),
        ("mysql://h/x", "postgresql://"),
        ("postgresql://h/x/y", "postgresql://"),
        ("postgresql://h/a%00b", ""),
    ],
)
def test_what_is_unknown_is_refused(url: str, hint: str) -> None:
    """Parameters that change what a query finds, too; and what says one thing twice."""
    with pytest.raises(InvalidArgument) as refusal:
        DatabaseUrl.read(url)
    assert hint in (refusal.value.hint or "")


@pytest.mark.parametrize("mode", ["disable", "allow", "prefer", "require", "verify-ca", "Verify-Full"])
@pytest.mark.parametrize("place", ["h", "10.0.0.1", "localhost,h", "[2001:db8::1]", "", "localhost.example.org"])
def test_less_than_verified_is_refused_of_other_machines(mode: str, place: str) -> None:
    """Whatever their address; of a service nobody knows where it is."""
    with pytest.raises(InvalidArgument) as refusal:
        Source.of(f"postgresql://{place}/x?sslmode={mode}")
    assert "sslrootcert" in (refusal.value.hint or "")


@pytest.mark.parametrize("place", ["localhost", "127.0.0.1", "[::1]", "%2Frun%2Fpg", "localhost,127.0.0.2"])
def test_this_machine_is_reached_in_any_way(place: str) -> None:
    """By loopback or by a socket; and no address that the environment names is taken beside that."""
    said = given(f"postgresql://{place}/x?sslmode=disable", {"PGHOSTADDR": "10.0.0.1", "PGSERVICE": "elsewhere"})
    assert (said["sslmode"], said["hostaddr"]) == ("disable", "")


@pytest.mark.parametrize(
    ("url", "environment"),
    [
        ("postgresql://h/x", {}),
        ("postgresql://localhost/x?hostaddr=10.0.0.1", {}),
        ("postgresql://localhost,h/x", {}),
        ("postgresql:///x?service=clinic", {}),
        ("postgresql:///x", {"PGSERVICE": "clinic"}),
        ("postgresql:///x", {"PGSERVICE": "clinic", "PGHOST": "localhost"}),
        ("postgresql:///x", {"PGHOST": "h"}),
        ("postgresql:///x", {"PGHOST": "localhost", "PGHOSTADDR": "10.0.0.1"}),
        ("postgresql:///x", {"PGHOSTADDR": "10.0.0.1"}),
    ],
)
def test_other_machines_are_verified_whatever_the_environment_says(url: str, environment: dict[str, str]) -> None:
    """What is given counts before it: that is libpq's own rule."""
    said = given(url, environment | {"PGSSLMODE": "disable"})
    assert (said["sslmode"], said["gssencmode"]) == ("verify-full", "disable")


@pytest.mark.parametrize(
    "environment", [{}, {"PGHOST": "localhost"}, {"PGHOST": "/run/pg"}, {"PGHOSTADDR": "127.0.0.1"}]
)
def test_the_environment_may_name_this_machine(environment: dict[str, str]) -> None:
    """Without a host libpq takes a socket."""
    assert "sslmode" not in given("postgresql:///x", environment)
