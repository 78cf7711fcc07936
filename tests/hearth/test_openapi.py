"""The OpenAPI schema: summaries, errors and parameters that all operations share."""

from __future__ import annotations

import json
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator
from openapi_spec_validator import OpenAPIV30SpecValidator
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from hearth.shared.openapi import SharedSchemaGenerator
from tests.factories import make_user

BENCHMARK = "/api/v1/benchmarks/{key}/"


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return SchemaGenerator().get_schema(request=None, public=True)


def test_the_document_is_valid_openapi(schema: dict[str, Any]) -> None:
    """The validator also checks defaults and examples, which the checks of Django do not."""
    document = json.loads(json.dumps(schema))
    found = OpenAPIV30SpecValidator(document).iter_errors()
    assert [(list(error.absolute_path), error.message) for error in found] == []


def test_the_first_paragraph_of_a_description_is_the_summary(schema: dict[str, Any]) -> None:
    summaries = {
        (path, method): operation["summary"]
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
        if path.endswith(("benchmarks/", "{key}/", "runs/", "splits/", "tags/", "pools/"))
    }
    assert summaries == {
        ("/api/v1/benchmarks/", "get"): "List the benchmarks that you may see, by key",
        (BENCHMARK, "get"): "Return one benchmark",
        (BENCHMARK, "patch"): "Change a benchmark, archive it, or restore it",
        (BENCHMARK, "delete"): "Delete a benchmark that has no judgments and no label sets",
        ("/api/v1/public/{key}/", "get"): "Return what visitors see of a public benchmark",
        (BENCHMARK + "runs/", "get"): "List the runs of a benchmark, newest first",
        (BENCHMARK + "runs/", "post"): "Upload a run",
        (BENCHMARK + "train-splits/", "get"): "List the train splits of a benchmark, by name",
        (BENCHMARK + "train-splits/", "post"): "Upload the captions that systems were trained on",
        (BENCHMARK + "tags/", "get"): "List the tags of a benchmark, the most frequent first",
        (BENCHMARK + "tags/", "post"): "Upload tags of captions or videos",
        (BENCHMARK + "pools/", "get"): "List the pools of a benchmark, newest first",
        (BENCHMARK + "pools/", "post"): "Build a pool from the top k of runs",
    }


@pytest.mark.parametrize(
    ("path", "method", "statuses"),
    [
        ("/api/v1/benchmarks/", "get", ["200", "400", "401", "403", "429"]),
        (BENCHMARK, "get", ["200", "400", "401", "403", "404", "429"]),
        (
            BENCHMARK + "pools/",
            "post",
            ["202", "400", "401", "403", "404", "409", "413", "422", "429"],
        ),
        ("/api/v1/jobs/{id}/cancel/", "post", ["200", "400", "401", "403", "404", "409", "429"]),
    ],
)
def test_operations_describe_their_errors(
    schema: dict[str, Any], path: str, method: str, statuses: list[str]
) -> None:
    responses = schema["paths"][path][method]["responses"]
    assert sorted(responses) == statuses
    assert responses["403"] == {
        "description": "Your role or the rights of the token do not permit this.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }


def test_the_key_of_the_benchmark_is_described_everywhere(schema: dict[str, Any]) -> None:
    described = [
        parameter["description"]
        for path, operations in schema["paths"].items()
        for operation in operations.values()
        for parameter in operation.get("parameters", [])
        if "{key}" in path and parameter["name"] == "key"
    ]
    assert set(described) == {"The key of the benchmark."}
    assert len(described) == sum(
        len(operations) for path, operations in schema["paths"].items() if "{key}" in path
    )


def test_every_field_of_a_request_of_the_pooling_app_is_described(schema: dict[str, Any]) -> None:
    requests = ["RunUpload", "TrainCaptionsUpload", "TagsUpload", "PoolBuild"]
    undescribed = [
        (name, field)
        for name in requests
        for field, shape in schema["components"]["schemas"][name]["properties"].items()
        if "description" not in shape
    ]
    assert undescribed == []


def test_the_stored_schema_equals_the_schema_built_for_each_request(db: None) -> None:
    request = Request(APIRequestFactory().get("/api/v1/schema/"))
    request.user, request.auth = make_user("anna"), None
    built = SchemaGenerator().get_schema(request=request, public=True)
    for version in (None, "2", None):
        generator = SharedSchemaGenerator(api_version=version)
        served = generator.get_schema(request=request, public=True)
        title = "1" if version is None else f"1 ({version})"
        assert served == built | {"info": built["info"] | {"version": title}}
