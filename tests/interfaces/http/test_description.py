"""The description of the API: from it, the author of a client learns all that there is, and every error."""

from __future__ import annotations

from typing import Any

import pytest

from support.api import description

OPEN = {"/healthz", "/readyz", "/v1/key"}
WHOLE = description()
OPERATIONS = [(path, method) for path, methods in WHOLE["paths"].items() for method in methods]


def test_it_is_openapi_with_one_way_to_come_in() -> None:
    """Version 3.1, bearer tokens, and nothing that only a validation library knows."""
    assert WHOLE["openapi"].startswith("3.1")
    (scheme,) = WHOLE["components"]["securitySchemes"].values()
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    assert not {"HTTPValidationError", "ValidationError"} & WHOLE["components"]["schemas"].keys()


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_each_path_says_what_it_takes_and_replies(path: str, method: str) -> None:
    """Words for all, problems for errors; and no refusal of a token where none is needed."""
    operation: dict[str, Any] = WHOLE["paths"][path][method]
    assert operation["description"]
    assert operation["tags"]
    assert ("security" not in operation) == (path in OPEN)
    for parameter in operation.get("parameters", ()):
        assert parameter.get("description") or parameter["in"] == "path", parameter["name"]
    for status, reply in operation["responses"].items():
        assert reply["description"] != "Successful Response", status
        if int(status) >= 400:
            assert list(reply["content"]) == ["application/problem+json"], status
    declared = {int(status) for status in operation["responses"]}
    assert {401, 403} & declared == (set() if path in OPEN else {401, 403})
    assert 503 in declared or path == "/healthz"
    assert "requestBody" not in operation or {413, 422} <= declared
    assert "{" not in path or method == "post" or 404 in declared


def test_each_field_of_a_body_is_described() -> None:
    """In words."""
    for name, schema in WHOLE["components"]["schemas"].items():
        assert schema["description"], name
        for field, each in schema["properties"].items():
            assert each.get("description"), (name, field)
