"""What is deployed says what the documentation says of it: no root, nothing to write to, options that there are."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from configparser import ConfigParser
from typing import Any

import pytest
import yaml

from support import commandline
from support.project import ROOT

DEPLOY = ROOT / "deploy"
WRITABLE = "/var/lib/discreet"


def instructions(text: str) -> list[tuple[str, str]]:
    """The instructions of a container file, each with its arguments on one line."""
    joined = re.sub(r"\\\n\s*", " ", re.sub(r"(?m)^#.*\n", "", text))
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in joined.splitlines()) if name]


CONTAINER = instructions((DEPLOY / "Containerfile").read_text(encoding="utf-8"))
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
UNITS = sorted(DEPLOY.glob("*.service")) + sorted(DEPLOY.glob("*.timer"))


def unit(name: str) -> ConfigParser:
    """A unit of systemd."""
    found = ConfigParser(interpolation=None, strict=True)
    found.optionxform = str  # type: ignore[method-assign, assignment]  # its keys keep their case
    found.read_string((DEPLOY / name).read_text(encoding="utf-8"))
    return found


def unknown(words: list[str]) -> set[str]:
    """The options of a command line that its command doesn't have; everything, if there is no such command."""
    name = max(
        (each for each in commandline.commands() if words[: len(each.split())] == each.split()), key=len, default=""
    )
    if not name:
        return set(words)
    said = {word.partition("=")[0] for word in words if word.startswith("-")}
    return said - set(commandline.options(commandline.commands()[name]))


def started() -> dict[str, list[str]]:
    """The command lines that are started, by where they stand."""
    last = dict(CONTAINER)
    lines = {"Containerfile": json.loads(last["CMD"]), "compose": COMPOSE["services"]["discreet"]["command"]}
    for name in ("discreet.service", "discreet-backup.service"):
        line = re.search(r"/discreet ([^'$]*)", unit(name)["Service"]["ExecStart"])
        assert line is not None
        lines[name] = shlex.split(line[1])
    return lines


@pytest.mark.parametrize("where", started())
def test_what_is_started_is_a_command_with_options_that_there_are(where: str) -> None:
    """A server by TLS, or a backup."""
    words = started()[where]
    assert unknown(words) == set()
    options = {word.partition("=")[0] for word in words}
    assert words[0] == "ledger" or {"--certificate", "--key"} <= options
    assert "--behind-proxy" not in options


def test_an_option_that_there_is_not_is_noticed() -> None:
    """And a command."""
    assert unknown(["serve", "--nope=1", "--host", "x"]) == {"--nope"}
    assert unknown(["server", "--host"]) == {"server", "--host"}


def test_the_container_runs_without_root_from_a_slim_image() -> None:
    """By number, so that orchestrators can check it; nothing of the checkout but the sources gets in."""
    stages = [rest for name, rest in CONTAINER if name == "FROM"]
    assert dict(CONTAINER)["ARG"] == "BASE=python:3.13-slim"
    assert stages == ["${BASE} AS build", "${BASE}"]
    assert dict(CONTAINER)["USER"] == "10001:10001"
    names = [name for name, _ in CONTAINER]
    assert names.index("USER") > max(place for place, name in enumerate(names) if name == "RUN")
    copied = {source for name, rest in CONTAINER if name == "COPY" for source in rest.split()[:-1]}
    assert copied == {"pyproject.toml", "README.md", "LICENSE", "src", "--from=build", "/build/wheels"}
    assert "/healthz" in dict(CONTAINER)["HEALTHCHECK"]
    assert dict(CONTAINER)["VOLUME"] == WRITABLE
    assert json.loads(dict(CONTAINER)["ENTRYPOINT"]) == ["discreet"]


def test_the_composition_can_write_its_snapshots_and_nothing_else() -> None:
    """What strangers reach has a root file system, a configuration and data that it can only read; so the ledger."""
    services = COMPOSE["services"]
    for name in ("discreet", "custodian"):
        service = services[name]
        assert (service["read_only"], service["user"], service["cap_drop"]) == (True, "10001:10001", ["ALL"])
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["ulimits"]["core"] == 0  # which would hold rows
    mounts = [mount.split(":") for mount in services["discreet"]["volumes"]]
    assert {target for _, target, *mode in mounts if mode != ["ro"]} == {WRITABLE}
    assert services["discreet"]["ports"] == ["8443:8443", "127.0.0.1:9464:9464"]
    assert "ports" not in services["ledger"]
    assert "ports" not in services["custodian"]
    assert services["custodian"]["profiles"] == ["custodian"]
    assert services["ledger"]["network_mode"] == "none"
    sockets = [name for name, each in services.items() if any(mount.startswith("socket:") for mount in each["volumes"])]
    assert sockets == ["discreet", "custodian", "ledger"]
    assert "password" not in json.dumps(
        [service.get("environment", {}) for service in services.values()]
    ).lower().replace("postgres_password_file", "").replace("ledger_password", "")
    for service in services.values():
        assert "privileged" not in service


def test_the_unit_is_hardened_and_lets_questions_come_to_an_end() -> None:
    """No root, no capability, nothing to write to but its state; SIGTERM for the server alone, and time after it."""
    service = unit("discreet.service")["Service"]
    wanted = {
        "User": "discreet",
        "KillMode": "mixed",
        "NoNewPrivileges": "yes",
        "ProtectSystem": "strict",
        "ProtectHome": "yes",
        "PrivateTmp": "yes",
        "PrivateDevices": "yes",
        "CapabilityBoundingSet": "",
        "StateDirectory": "discreet",
        "UMask": "0077",
        "LimitCORE": "0",
    }
    assert {name: service[name] for name in wanted} == wanted
    assert int(service["TimeoutStopSec"]) >= 300
    assert unit("discreet-backup.service")["Service"]["User"] == "discreet"
    assert unit("discreet-backup.timer")["Timer"]["OnCalendar"]


def test_the_audit_runs_in_continuous_integration() -> None:
    """With each change and weekly; it may only read, and actions are pinned by hash."""
    text = (ROOT / ".github" / "workflows" / "audit.yml").read_text(encoding="utf-8")
    whole = yaml.safe_load(text)
    (job,) = whole["jobs"].values()
    assert (whole["permissions"], job["permissions"]) == ({}, {"contents": "read"})
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/audit"]
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", use) for use in re.findall(r"uses: (.*)", text))
    assert re.search(r"(?m)^    - cron: ", text)
    assert "pip-audit" in (ROOT / ".ci" / "audit").read_text(encoding="utf-8")


def test_the_bill_of_materials_lists_what_users_install() -> None:
    """Each package with version, licence and address; what tests alone need isn't in it, and nothing is twice."""
    run = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "bill"), "server", "postgres"], check=True, capture_output=True, text=True
    )
    found = json.loads(run.stdout)
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    assert found["metadata"]["component"]["name"] == "discreet"
    names = [each["name"] for each in found["components"]]
    assert len(names) == len(set(names))
    assert {"duckdb", "fastapi", "joserfc", "prometheus-client", "psycopg", "h11"} <= set(names)
    assert not {"pytest", "hypothesis", "matplotlib", "discreet"} & set(names)
    refs = {each["bom-ref"] for each in (*found["components"], found["metadata"]["component"])}
    for each in found["components"]:
        assert each["purl"] == f"pkg:pypi/{each['name']}@{each['version']}"
        assert each["licenses"], each["name"]
    assert {each["ref"] for each in found["dependencies"]} == refs
    assert {need for each in found["dependencies"] for need in each["dependsOn"]} <= refs
