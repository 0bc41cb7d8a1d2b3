"""Requests made up from the OpenAPI document: whatever comes, the answer is no fault of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.web.served import TOKEN, Served, environment, make_shop, serving

SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much)
STREAMS = {"/api/events", "/api/runs/{run}/events"}
TEXT = st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from(
    ["", ".", "..", "../..", "/", "last", "step-1", "%", "\0", "<script>", "é", "a" * 5_000, "-1"]
)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("fuzz")
    shop, _ = make_shop(place)
    with serving(environment(place), shop) as found:
        yield found


def values(schema: dict[str, Any], parts: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that fit a schema mostly, and sometimes do not."""
    if "$ref" in schema:
        schema = parts[schema["$ref"].rpartition("/")[2]]
    if "enum" in schema:
        return st.sampled_from(schema["enum"]) | TEXT
    kinds = {"string": TEXT, "integer": st.integers(-5, 10**7), "boolean": st.booleans()}
    if schema.get("type") == "object" and schema.get("properties"):
        inner = {name: values(each, parts) for name, each in schema["properties"].items()}
        wanted = {name: inner[name] for name in schema.get("required", ())}
        rest = {name: each for name, each in inner.items() if name not in wanted}
        return st.fixed_dictionaries(wanted, optional=rest) | ANY
    if schema.get("type") == "array":
        return st.lists(TEXT, max_size=3)
    return kinds.get(str(schema.get("type")), ANY)


@st.composite
def requests(draw: st.DrawFn, schema: dict[str, Any]) -> tuple[str, str, Any]:
    """A route, and everything that it is asked with."""
    parts = schema["components"]["schemas"]
    routes = sorted((p, m) for p, each in schema["paths"].items() for m in each if p not in STREAMS)
    path, method = draw(st.sampled_from(routes))
    about = schema["paths"][path][method]
    query: dict[str, str] = {}
    for each in about.get("parameters", ()):
        value = str(draw(values(each["schema"], parts)))
        if each["in"] == "path":
            path = path.replace(f"{{{each['name']}}}", quote(value, safe="") or "x")
        elif draw(st.booleans()) or each.get("required"):
            query[each["name"]] = value
    body = None
    if "requestBody" in about:
        body = draw(values(about["requestBody"]["content"]["application/json"]["schema"], parts))
        if isinstance(body, dict) and path == "/api/runs":
            # Nothing is to be started here; that has tests of its own.
            body["project"] = "nowhere"
    return method.upper(), f"{path}?{urlencode(query)}", body


def check(served: Served, count: int) -> None:
    schema = served.get("/api/schema/openapi.json")

    @settings(max_examples=count, derandomize=True)
    @given(requests(schema))
    def ask(made: tuple[str, str, Any]) -> None:
        method, path, body = made
        answer = served.ask(method, path, body if method == "POST" else None)
        assert answer.status < 500, (made, answer.body)
        if answer.status >= 400 and not (answer.status == 422 and "ok" in answer.json):
            assert set(answer.json) == {"code", "message", "hint"}, (made, answer.body)

    ask()


def test_a_sample_of_made_up_requests_finds_no_fault(served: Served):
    check(served, 25)


@pytest.mark.exhaustive
def test_thousands_of_made_up_requests_find_no_fault(served: Served):
    check(served, 2_000)


@pytest.mark.exhaustive
def test_schemathesis_finds_no_fault_and_every_answer_as_promised(served: Served):
    import schemathesis
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    document = served.get("/api/schema/openapi.json")
    for path in STREAMS:
        del document["paths"][path]
    headers = {"Authorization": f"Bearer {TOKEN}"}
    wanted = [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
    ]
    found = [each.ok() for each in schemathesis.openapi.from_dict(document).get_all_operations()]
    assert len(found) > 25
    for operation in found:

        @settings(max_examples=15, derandomize=True, database=None, suppress_health_check=[*SLOW])
        @given(operation.as_strategy())
        def ask(case: Any) -> None:
            if case.path == "/api/runs" and isinstance(case.body, dict):
                # Nothing is to be started here; that has tests of its own.
                case.body["project"] = "nowhere"
            answer = case.call(base_url=f"http://127.0.0.1:{served.port}", headers=headers)
            case.validate_response(answer, checks=wanted)

        ask()
