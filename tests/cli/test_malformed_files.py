"""Files that aren't as RFC 4180 has them: who does what `init` says of one loses nobody."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

ROWS = [f"{number},{20 + number % 50},C{number % 3}" for number in range(60)]
PLAIN = "".join(f"{row}\n" for row in ROWS)
HEADER = "id,age,city\n"
FILES = {
    "a title": f"Report of 2024\n{HEADER}{PLAIN}",
    "comments": f"# made on Monday\n# by us\n{HEADER}{PLAIN}",
    "a separator line": f"sep=;\n{(HEADER + PLAIN).replace(',', ';')}",
    "trailing delimiters": HEADER + "".join(f"{row},\n" for row in ROWS),
    "backslashes": HEADER + "".join(f'{row[:-2]}"a \\"b\\""\n' for row in ROWS),
    "single quotes": HEADER + "".join(f"{row[:-2]}'C, 1'\n" for row in ROWS),
    "stray quotes": HEADER + "".join(f'{row}6" tall\n' for row in ROWS),
    "a footer": f"{HEADER}{PLAIN}Source: the registry\n",
    "another encoding": HEADER + "".join(f"{row}é\n" for row in ROWS),
}
OPTION = re.compile(
    "--(?:header-line|comment|trailing-delimiter|escape|quote|footer-lines|encoding)(?: (?:'[^']*'|\"[^\"]*\"|[^ ]+))?"
)


@pytest.mark.parametrize("name", FILES)
def test_who_does_what_is_said_loses_nobody(here: Path, run: Any, name: str) -> None:
    """Until nothing is said any more; then all 60 rows are admitted, as the first question says."""
    (here / "t.csv").write_bytes(FILES[name].encode("cp1252"))
    said: list[str] = []
    for _ in range(3):
        done = run("init", "t.csv", "--unit", "id", *said)
        if done.exit_code == 0:
            break
        assert "--skip-malformed" not in done.stderr
        found = OPTION.search(" ".join(done.stderr.split()))
        assert found is not None, done.stderr
        said += [word.rstrip(":;,.") if len(word) > 1 else word for word in shlex.split(found[0])]
    assert done.exit_code == 0, done.stderr
    report = run("admit", "--report").stdout
    assert "t: 60 rows; 0 records left out" in report
    answer = run("ask", "SELECT COUNT(*) AS n FROM t", "--epsilon", "3", "--format", "json").stdout
    assert abs(json.loads(answer)["rows"][0]["n"] - 60) <= 12  # false alarm: e⁻³⁶


def test_leaving_lines_out_of_a_file_that_is_written_otherwise_is_refused(here: Path, run: Any) -> None:
    """Though it is asked for: nothing is put in force, the exit code says so, and no question is paid for."""
    for name in ("trailing delimiters", "another encoding", "single quotes"):
        (here / "t.csv").write_bytes(FILES[name].encode("cp1252"))
        assert run("init", "t.csv", "--unit", "id", "--skip-malformed", "--force").exit_code == 0
        for command in (["admit"], ["ask", "SELECT COUNT(*) AS n FROM t", "--epsilon", "1", "--limits", "1"]):
            refused = run(*command)
            assert refused.exit_code == 1
            assert "60 of 60 records would be left out: 60 malformed" in " ".join(refused.stderr.split())
    assert '"kind": "commit"' not in run("history", "--format", "json").stdout
