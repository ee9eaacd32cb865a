"""`discreet key`, `witness`, `verify --certificate`, `ledger backup` and `restore`: what others check and keep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from discreet.cli.common.exit_codes import ExitCode
from discreet.results import PublicKey

COUNT = "SELECT COUNT(*) AS n FROM census"


def asked(run: Any, question: str = COUNT, epsilon: str = "0.5", *others: str) -> dict[str, Any]:
    """An answer as JSON."""
    result = run("ask", question, "--epsilon", epsilon, "--format", "json", *others)
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.fixture
def key(town: Path, run: Any) -> str:
    """The public key of the census."""
    assert (town / "census.ledger.key").stat().st_mode & 0o777 == 0o600
    text: str = run("key").stdout.strip()
    assert json.loads(run("key", "--format", "json").stdout) == PublicKey.read(text).to_json()
    return text


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder without configuration and ledger."""
    return tmp_path_factory.mktemp("elsewhere")


def test_an_answer_is_verified_anywhere(run: Any, key: str, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a key that is typed or in a file, from a file or standard input; in words and as JSON."""
    answers = [
        asked(run),
        asked(run),
        asked(run, f"{COUNT} WHERE 1 = 1", "0.1"),
        asked(run, COUNT, "0.6", "--confidence", "0.9"),
    ]
    monkeypatch.chdir(elsewhere)
    Path("key.json").write_text(json.dumps(PublicKey.read(key).to_json()), encoding="utf-8")
    Path("key").write_text(f"{key}\n", encoding="utf-8")
    for answer in answers:
        Path("answer.json").write_text(json.dumps(answer, indent=2), encoding="utf-8")
        for given in (key, "key", "key.json"):
            result = run("verify", "--certificate", "answer.json", "--key", given)
            assert result.exit_code == 0, result.output
            for words in ("it holds", COUNT, "census", "not that it is right"):
                assert words in result.stdout
    piped = run("verify", "--certificate", "-", "--key", key, "--format", "json", stdin=json.dumps(answers[0]))
    found = json.loads(piped.stdout)
    assert (found["whole"], found["problems"], found["entry"], found["reused"]) == (True, [], 1, False)


def test_what_was_changed_does_not_verify(run: Any, key: str, town: Path) -> None:
    """It is said what doesn't hold, and nothing of it is repeated; the exit code is that of a ledger that doesn't."""
    answer = asked(run)
    for name, changed, words in (
        ("rows", [{"n": 7}], "doesn't match its signature"),
        ("signature", None, "isn't signed"),
        ("signature", {**answer["signature"], "key": "0" * 16}, "another key"),
        ("signature", {**answer["signature"], "question": "SELECT"}, "doesn't match its signature"),
    ):
        (town / "answer.json").write_text(json.dumps({**answer, name: changed}), encoding="utf-8")
        result = run("verify", "--certificate", "answer.json", "--key", key)
        assert result.exit_code == ExitCode.LEDGER
        assert words in result.stdout
        assert "census" not in result.stdout
        as_json = run("verify", "--certificate", "answer.json", "--key", key, "--format", "json")
        assert (as_json.exit_code, json.loads(as_json.stdout)["whole"]) == (ExitCode.LEDGER, False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--certificate", "discreet.toml"], "the key to verify it with"),
        (["--certificate", "discreet.toml", "--head", "discreet.toml", "--key", "x"], "one signed thing"),
        (["--certificate", "discreet.toml", "--key", "x"], "isn't a public key"),
        (["--certificate", "nothing", "--key", "A" * 43 + "="], "can't be read"),
        (["--key", "A" * 43 + "="], "something signed"),
        (["--certificate", "discreet.toml", "--key", "census.ledger.key"], "isn't a public key"),
    ],
)
def test_what_cannot_be_verified_is_refused(run: Any, town: Path, arguments: list[str], words: str) -> None:
    """With its cause; and a private key isn't quoted where a public one was expected."""
    assert town.is_dir()
    result = run("verify", *arguments)
    assert result.exit_code == ExitCode.REFUSED, result.output
    assert words in " ".join(result.output.split())
    assert "PRIVATE" not in result.output


def test_heads_are_witnessed_and_verified(run: Any, key: str, town: Path) -> None:
    """Each on a line; one that was changed among them shows."""
    for _ in range(2):
        assert run("witness", "witnessed").exit_code == 0
        asked(run)
    result = run("verify", "--head", "witnessed", "--key", key)
    assert result.exit_code == 0
    assert "2 heads hold" in result.stdout
    assert "ε = 0.5" in result.stdout
    assert "/" not in result.stdout.partition("spent")[2].splitlines()[0]
    exact = json.loads(run("verify", "--head", "witnessed", "--key", key, "--format", "json").stdout)
    assert "epsilon = 1/2" in exact["spent"]
    kept = (town / "witnessed").read_text(encoding="ascii")
    (town / "witnessed").write_text(kept.replace('"1/2"', '"1/4"'), encoding="ascii")
    result = run("verify", "--head", "witnessed", "--key", key)
    assert (result.exit_code, "head 2 does not hold" in result.stdout) == (ExitCode.LEDGER, True)
    assert run("witness", "nowhere/witnessed").exit_code == ExitCode.REFUSED


def test_a_lost_ledger_comes_back_with_its_key(run: Any, key: str, town: Path) -> None:
    """What was spent since the copy is charged, what was signed before verifies, and no head is no restore."""
    first = asked(run)
    assert run("ledger", "backup", "copy", "--with-key").exit_code == 0
    asked(run, f"{COUNT} WHERE age >= 40", "1")
    assert run("witness", "witnessed").exit_code == 0
    spent = json.loads(run("budget", "--format", "json").stdout)["spent"]
    assert run("ledger", "restore", "copy", "--head", "witnessed").exit_code == ExitCode.REFUSED
    for name in ("census.ledger", "census.ledger.key"):
        (town / name).unlink()
    assert run("ledger", "restore", "copy").exit_code == ExitCode.USAGE
    (town / "empty").touch()
    assert run("ledger", "restore", "copy", "--head", "empty").exit_code == ExitCode.REFUSED
    restored = run("ledger", "restore", "copy", "--head", "witnessed")
    assert restored.exit_code == 0, restored.output
    assert "charged what the copy lacked, ε = 1, ρ = 0." in restored.stdout
    assert json.loads(run("budget", "--format", "json").stdout)["spent"] == spent
    assert run("verify").exit_code == 0
    assert run("key").stdout.strip() == key
    again = asked(run)
    assert (again["rows"], again["reused"]) == (first["rows"], True)
    (town / "answer.json").write_text(json.dumps(again), encoding="utf-8")
    assert run("verify", "--certificate", "answer.json", "--key", key).exit_code == 0


def test_a_ledger_of_before_is_given_a_key(run: Any, town: Path) -> None:
    """Until then nothing is signed; a new key takes the place of one that was lost."""
    asked(run)
    (town / "census.ledger.key").unlink()
    assert "signature" not in asked(run)
    assert run("key").exit_code == ExitCode.LEDGER
    new = run("key", "--new").stdout.strip()
    assert run("key", "--all").stdout.split()[1:] == [new]
    assert json.loads(run("key", "--all", "--format", "json").stdout)[1]["key"] == new
    (town / "answer.json").write_text(json.dumps(asked(run)), encoding="utf-8")
    assert run("verify", "--certificate", "answer.json", "--key", new).exit_code == 0
    assert run("verify").exit_code == 0
