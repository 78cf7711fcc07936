"""The API of analyses and of the comparison of ranked lists."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypedDict, cast

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.lab.analyses import ANALYSES, Analysis, get_analysis
from evaluation.lab.analyses.inputs import Provenance
from evaluation.lab.analyses.question import build_question, is_list
from evaluation.lab.analyses.schema import options_schema, result_schema, schema_of
from evaluation.lab.comparison.captions import (
    CaptionRow,
    Comparison,
    compare_lists,
    look_up_caption,
)
from evaluation.lab.comparison.form import CompareForm
from evaluation.lab.comparison.lists import CaptionLists, caption_as_json
from evaluation.lab.paper.paper import plan_paper, write_paper
from evaluation.lab.services import begin_analysis, begin_paper
from evaluation.release.selectors import get_label_set
from hearth.accounts.models import User
from hearth.jobs.api import JobSerializer, accepted
from hearth.shared.errors import InvalidInput, NotFound
from hearth.shared.paging import BoundedPages
from pooling.api.base import OfBenchmark
from pooling.models import Benchmark

JSON = "application/json"
# The results and the options of all analyses, each with the name of its analysis as title.
RESULT = {"anyOf": [result_schema(analysis) for analysis in ANALYSES.values()]}
OPTIONS = {"anyOf": [options_schema(analysis) for analysis in ANALYSES.values()]}


class Analyses(OfBenchmark):
    """List the analyses with their form fields."""

    @extend_schema(operation_id="benchmarks_analyses_list", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, key: str) -> Response:
        _ = self.benchmark
        return Response([described(analysis) for analysis in ANALYSES.values()])


class AnalysisDetail(OfBenchmark):
    """Return or compute the result of one analysis.

    Options are query parameters of a GET request, or members of the JSON body of a POST request.
    """

    @extend_schema(responses={(200, JSON): RESULT})
    def get(self, request: Request, key: str, name: str) -> Response:
        """Return the stored result with its inputs, or 404 if it has not been computed yet."""
        analysis, sent = get_analysis(name), request.query_params
        fields = analysis.form.base_fields
        data: dict[str, Any] = {
            key: sent.getlist(key) if key in fields and is_list(fields[key]) else sent[key]
            for key in sent
        }
        found = build_question(analysis, self.benchmark, data).stored_result()
        if found is None:
            raise NotFound(
                "This has not been computed yet. Send the same options in a POST "
                "request to compute it."
            )
        return Response({**found.result, "inputs": found.inputs})

    @extend_schema(request={JSON: OPTIONS}, responses={202: JobSerializer})
    def post(self, request: Request, key: str, name: str) -> Response:
        """Begin a job that computes the analysis, or return the unfinished one."""
        analysis = get_analysis(name)
        data = query_data(request.data)
        question = build_question(analysis, self.benchmark, data)
        by = cast(User, request.user)
        return accepted(begin_analysis(question=question, data=data, created_by=by))


class PaperSerializer(serializers.Serializer[dict[str, Any]]):
    tables = serializers.CharField(help_text="tables like tables 1 to 4 of the FIRE study, LaTeX")
    methods = serializers.CharField(help_text="paragraph about the methods, LaTeX")
    references = serializers.CharField(help_text="entries that tables and methods cite, BibTeX")
    figures = serializers.JSONField(help_text="the unrounded results with their inputs")


class PaperDetail(OfBenchmark):
    """Tables and texts for a paper about one label set."""

    @extend_schema(responses=PaperSerializer)
    def get(self, request: Request, key: str, version: str) -> Response:
        """Return the files, or 404 if their figures have not been computed yet."""
        plan = plan_paper(get_label_set(self.benchmark, version))
        stored = plan.stored_results()
        if stored is None:
            raise NotFound("The figures are not computed yet. A POST request computes them.")
        paper = write_paper(plan, stored)
        texts = {"tables": paper.tables, "methods": paper.methods, "references": paper.references}
        return Response({**texts, "figures": json.loads(paper.figures)})

    @extend_schema(request=None, responses={202: JobSerializer})
    def post(self, request: Request, key: str, version: str) -> Response:
        """Begin a job that computes the figures, or return the unfinished one."""
        by = cast(User, request.user)
        return accepted(begin_paper(label_set=get_label_set(self.benchmark, version), by=by))


class ComparedPage(TypedDict):
    """A page of the captions of a comparison."""

    count: int
    next: str | None
    previous: str | None
    results: list[CaptionRow]
    inputs: Provenance


PAGING = {"limit": "maximum number of captions", "offset": "number of captions to skip"}
COMPARE_PARAMETERS = [
    OpenApiParameter(
        name,
        str,
        many=name == "runs",
        enum=[value for value, _ in getattr(field, "choices", [])] or None,
        description=f"{field.label}. {field.help_text}".strip(),
    )
    for name, field in CompareForm.base_fields.items()
]


class Compare(OfBenchmark):
    """The captions that a comparison of ranked lists selects."""

    @extend_schema(
        parameters=[
            *COMPARE_PARAMETERS,
            *(OpenApiParameter(name, int, description=text) for name, text in PAGING.items()),
        ],
        responses={(200, JSON): schema_of(ComparedPage)},
    )
    def get(self, request: Request, key: str) -> Response:
        """List captions with the ranks of their first positives.

        By default, all captions are listed, with the best runs and the newest label set.
        """
        comparison = comparison_from_request(self.benchmark, request)
        pages = BoundedPages()
        # DRF slices a list like a queryset.
        queries: Any = comparison.queries.tolist()
        page: list[int] = pages.paginate_queryset(queries, request) or []
        rows = [comparison.row(query) for query in page]
        found = pages.get_paginated_response(rows).data
        return Response({**found, "inputs": comparison.provenance})


class CompareCaption(OfBenchmark):
    """The ranked lists of one caption, which is selected by its identifier or its position."""

    @extend_schema(parameters=COMPARE_PARAMETERS, responses={(200, JSON): schema_of(CaptionLists)})
    def get(self, request: Request, key: str) -> Response:
        comparison = comparison_from_request(self.benchmark, request)
        return Response(caption_as_json(comparison, look_up_caption(comparison)))


def comparison_from_request(benchmark: Benchmark, request: Request) -> Comparison:
    sent = request.query_params
    data: dict[str, Any] = {name: sent[name] for name in sent if name not in PAGING}
    if "runs" in data:
        data["runs"] = sent.getlist("runs")
    return compare_lists(benchmark, data)


def described(analysis: Analysis[Any, Any]) -> dict[str, Any]:
    return {
        "name": analysis.name,
        "title": analysis.title,
        "question": analysis.question,
        "source": analysis.source,
        "direction": analysis.direction_note,
        "fields": {
            name: {"label": field.label, "initial": field.initial, "help": field.help_text}
            for name, field in analysis.form.base_fields.items()
        },
    }


def query_data(body: Any) -> dict[str, Any]:
    """Return the options of a request body, in the form that `build_question` expects."""
    if not isinstance(body, Mapping):
        raise InvalidInput("Send the options as a JSON object of names and values.")
    data = {str(name): value for name, value in body.items()}
    for name, value in data.items():
        values = value if isinstance(value, list) else [value]
        if not all(map(_is_form_value, (name, *values))):
            raise InvalidInput("An option must be a text, a finite number, or a list of these.")
    return data


def _is_form_value(value: Any) -> bool:
    """Return whether the value is a text, a finite number or null."""
    return isinstance(value, str | int | None) or (
        isinstance(value, float) and math.isfinite(value)
    )
