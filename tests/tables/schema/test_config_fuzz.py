"""No file, however broken, does anything to the reader but make it say so."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import ConfigError
from discreet.tables import Dataset, load_config, loads
from discreet.tables.schema.config import decode
from discreet.tables.schema.toml import MOST_BYTES, parse

FULL = Path(__file__).with_name("clinic.toml").read_text(encoding="utf-8")

LONGEST_ERROR = 1000
FRAGMENTS = [*"\"[]{}=.,#01-\n\\'", "e9", "[[", "]]", '"""', "1e999999999", "nan", "\0", "é", "1979-05-27", "true"]


def outcome(data: bytes) -> Dataset | ConfigError:
    """What reading gives: a dataset or a `ConfigError` that can be shown; anything else is raised."""
    try:
        return decode(parse(data))
    except ConfigError as caught:
        error = caught
    assert len(str(error)) < LONGEST_ERROR
    assert str(error).isprintable()
    return error


def test_the_seed_of_the_fuzzer_is_a_right_configuration() -> None:
    """Mutations start from what is accepted, or they'd never get past the first key."""
    assert isinstance(outcome(FULL.encode()), Dataset)


@given(st.binary())
def test_any_bytes(data: bytes) -> None:
    """Bytes of any kind are refused."""
    assert isinstance(outcome(data), ConfigError)


@given(st.text())
@example('name = "\udc80"')
def test_any_text(text: str) -> None:
    """Texts of any kind are refused."""
    with pytest.raises(ConfigError):
        loads(text)


@given(
    st.lists(
        st.tuples(
            st.integers(0, len(FULL)),
            st.integers(0, 12),
            st.sampled_from(FRAGMENTS) | st.text(max_size=3),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_a_right_file_that_was_damaged(damages: list[tuple[int, int, str]]) -> None:
    """A few signs lost or put in anywhere: refused, or still a dataset."""
    text = FULL
    for place, lost, put in damages:
        text = text[:place] + put + text[place + lost :]
    outcome(text.encode())


@given(st.integers(0, len(FULL.encode())))
def test_a_right_file_that_was_cut_short(length: int) -> None:
    """A file whose end is lost is refused, or lacks nothing but whole entries."""
    read = outcome(FULL.encode()[:length])
    if isinstance(read, Dataset):
        assert set(FULL.encode()[:length].splitlines()) <= {*FULL.encode().splitlines(), b"[tables.people"}


@given(st.permutations(FULL.splitlines()))
def test_a_right_file_whose_lines_were_shuffled(lines: list[str]) -> None:
    """Lines in any order: refused, or still a dataset."""
    outcome("\n".join(lines).encode())


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 50_000,
        "a = " + "[" * 50_000 + "]" * 50_000,
        "a = " + "{a=" * 50_000,
        "a = " + "{a=" * 50_000 + "1" + "}" * 50_000,
        "a." * 5_000 + "a = 1",
        "[" + "a." * 20_000 + "a]",
        "[[" * 50_000,
        "a = " + "9" * 10_000,
        "a = 0x" + "f" * 10_000,
        "a = 1." + "9" * 10_000,
        "a = 1e" + "9" * 10_000,
        f'a = "{"x" * 10**6}"',
        "a" * 10**6 + " = 1",
        "\n" * 10**6,
        "# " * 10**6,
    ],
    ids=lambda text: text[:12],
)
def test_files_made_to_exhaust_the_reader(text: str) -> None:
    """Deep nesting and endless numbers, names and texts are refused, and soon."""
    assert isinstance(outcome(text.encode()), ConfigError)


@pytest.mark.parametrize(
    "number", ["9" * 4_000, "0x" + "f" * 10_000, "1e400", "1e-500", "9" * 500 + ".5", '"1e99999999"']
)
@pytest.mark.parametrize("key", ["epsilon = 3", "delta = 1e-6", "row_ceiling = 1_000_000", "groups = 5", "[0, 110]"])
def test_endless_numbers_in_every_place(key: str, number: str) -> None:
    """A number too long to compute with is refused wherever one stands, before anything is computed with it."""
    assert key in FULL
    damaged = f"[0, {number}]" if key.startswith("[") else f"{key.split(' = ', maxsplit=1)[0]} = {number}"
    assert isinstance(outcome(FULL.replace(key, damaged).encode()), ConfigError)


def test_many_tables_with_many_links() -> None:
    """Thousands of tables, each linked to the one before, are refused soon: nobody follows them all."""
    tables = "".join(
        f'[tables.t{n}]\nsource = "t.csv"\nlimits.rows = 1\nlinks.up = "t{n - 1}.up"\ncolumns.up.kind = "text"\n'
        for n in range(3_000)
    )
    error = outcome(f'name = "n"\nledger = "l"\nadjacency = "add_remove"\nbudget.epsilon = 1\n{tables}'.encode())
    assert isinstance(error, ConfigError)
    assert error.message.startswith("tables.t0.links.up: ")


def file_error(path: Path) -> ConfigError:
    """The error that a file causes."""
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    return caught.value


def test_files_that_are_not_there_or_cannot_be_read(tmp_path: Path) -> None:
    """A missing file, a folder, a name no file can have, an empty and an endless file."""
    assert "discreet init" in file_error(tmp_path / "discreet.toml").hint
    assert "can't be read" in file_error(tmp_path).message
    assert "can't be read" in file_error(tmp_path / "nul\0").message
    assert "can't be read" in file_error(tmp_path / ("x" * 5000)).message
    assert "longer than 16 MiB" in file_error(Path("/dev/zero")).message
    (tmp_path / "empty.toml").touch()
    assert file_error(tmp_path / "empty.toml").message == "name is missing"
    with (tmp_path / "long.toml").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    assert "longer than 16 MiB" in file_error(tmp_path / "long.toml").message


def test_encodings(tmp_path: Path) -> None:
    """UTF-8 is read with or without its mark; another encoding is refused with the place of the first wrong byte."""
    file = tmp_path / "discreet.toml"
    file.write_text(FULL, encoding="utf-8-sig")
    assert load_config(file).name == "clinic"
    for encoding in ("utf-16", "utf-32", "utf-16-le"):
        file.write_text(FULL, encoding=encoding)
        assert isinstance(file_error(file), ConfigError)
    file.write_bytes(b'name = "ok"\nledger = "caf\xe9"\n')
    assert file_error(file).place == (2, 14)
    assert "UTF-8" in file_error(file).hint
    file.write_bytes(FULL.replace("\n", "\r\n").encode())
    assert load_config(file).name == "clinic"
