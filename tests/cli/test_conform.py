"""`discreet conform`: the table, the exit code, and where tokens come from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from discreet.cli.common.exit_codes import ExitCode
from discreet.interfaces.http import make_app
from support.attacked import Edited, Exchange, attacked, listening


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, dict[str, str]]]:
    """A service, and its tokens."""
    with attacked(tmp_path_factory.mktemp("conform")) as found:
        yield found


def test_what_held_is_shown_and_what_broke_ends_with_1(
    real: tuple[Any, dict[str, str]], run: Any, tmp_path: Path
) -> None:
    """As a table and as JSON; tokens come from a file that nobody else can read, and are shown nowhere."""
    service, tokens = real
    kept = tmp_path / "accounts.token"
    kept.write_text("\n".join(tokens.values()), encoding="utf-8")
    kept.chmod(0o600)
    with listening(make_app(service)) as url:
        said = ["conform", url, "--token", str(kept), "--family", "paths", "--family", "times of twins"]
        shown = run(*said)
        assert shown.exit_code == 0, shown.output
        assert "paths" in shown.stdout
        assert "not tried" in shown.stdout
        assert "a second server" in shown.stdout
        found = json.loads(run(*said, "--format", "json").stdout)
        assert [each["verdict"] for each in found["families"]] == ["held", "not tried"]
        assert (found["offered"], found["spent"], found["broken"]) == ("0", "nothing", False)
        kept.chmod(0o644)
        refused = run(*said)
        assert (refused.exit_code, "other users can read" in refused.output) == (ExitCode.REFUSED, True)
        assert run("conform", url, "--token", "nowhere").exit_code == ExitCode.REFUSED

    def lets_in(exchange: Exchange) -> None:
        exchange.become(tokens["analyst"])

    with listening(Edited(make_app(service), lets_in)) as url:
        broken = run("conform", url, "--token", tokens["analyst"], "--family", "tokens")
    assert broken.exit_code == 1
    assert "a token that nobody made got 200" in " ".join(broken.stdout.split())
    assert all(text not in shown.output + broken.output for text in tokens.values())
