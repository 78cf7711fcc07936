"""Analyses and the comparison of ranked lists over the API."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, cast

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from config.accounts.models import User
from config.jobs.api import JobSerializer, accepted
from config.shared.errors import InvalidInput, NotFound
from config.shared.paging import BoundedPages
from evaluation.lab.analyses import ANALYSES, Analysis, get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.comparison.captions import Comparison, compare_lists, look_up_caption
from evaluation.lab.comparison.form import CompareForm
from evaluation.lab.comparison.lists import DESCRIPTIONS, caption_as_json
from evaluation.lab.services import begin_analysis
from pooling.api import OfBenchmark
from pooling.models import Benchmark

_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


class Analyses(OfBenchmark):
    """What can be analysed, and what may be chosen: fields with what they are."""

    @extend_schema(operation_id="benchmarks_analyses_list", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, key: str) -> Response:
        _ = self.benchmark
        return Response([_described(analysis) for analysis in ANALYSES.values()])


class AnalysisDetail(OfBenchmark):
    """One analysis. What is chosen goes into the query string, or into the body of a POST."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, key: str, name: str) -> Response:
        """The computed result with what it was computed from; 404 where a POST must come first."""
        data: dict[str, Any] = request.query_params.dict()
        if "runs" in data:
            data["runs"] = request.query_params.getlist("runs")
        found = build_question(get_analysis(name), self.benchmark, data).stored_result()
        if found is None:
            raise NotFound("This has not been computed yet; POST the same to begin.")
        return Response({**found.result, "inputs": found.inputs})

    @extend_schema(request=OpenApiTypes.OBJECT, responses={202: JobSerializer})
    def post(self, request: Request, key: str, name: str) -> Response:
        """Compute it as a job; what is computed already is found and not computed again."""
        analysis = get_analysis(name)
        data = query_data(request.data)
        question = build_question(analysis, self.benchmark, data)
        by = cast(User, request.user)
        return accepted(begin_analysis(question=question, data=data, created_by=by))


class FirstRankSerializer(serializers.Serializer[dict[str, Any]]):
    rank = serializers.IntegerField(
        allow_null=True, help_text="of the first positive; null where the list holds none"
    )
    right = serializers.BooleanField(help_text="whether it is within the cut-off")


class RankedVideoSerializer(serializers.Serializer[dict[str, Any]]):
    rank = serializers.IntegerField()
    video_id = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(DESCRIPTIONS))
    label = serializers.IntegerField(  # type: ignore[assignment]
        allow_null=True, help_text="null where nobody judged it, or people are in conflict"
    )
    counts = serializers.BooleanField(help_text="whether it is a positive")
    also = serializers.DictField(
        child=serializers.IntegerField(), help_text="its rank in the other lists"
    )


class FirstRanksSerializer(serializers.Serializer[dict[str, Any]]):
    original = FirstRankSerializer(help_text="by the original positives")
    labelled = FirstRankSerializer(allow_null=True, help_text="by the labels")


class ListSerializer(FirstRanksSerializer):
    videos = RankedVideoSerializer(many=True)


class ComparedSerializer(serializers.Serializer[dict[str, Any]]):
    caption_id = serializers.CharField()
    caption = serializers.CharField()
    words = serializers.IntegerField()
    new = serializers.IntegerField(
        help_text="places in the tops of all runs that hold positives which the labels brought"
    )
    runs = serializers.DictField(child=FirstRanksSerializer())


class ComparedPageSerializer(serializers.Serializer[dict[str, Any]]):
    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = ComparedSerializer(many=True)
    inputs = serializers.JSONField(help_text="label set, runs by sha256, choice, code version")


class ComparedCaptionSerializer(ComparedSerializer):
    runs = serializers.DictField(child=ListSerializer())
    place = serializers.IntegerField(
        allow_null=True, help_text="among the captions chosen; null where it is not one of them"
    )
    count = serializers.IntegerField(help_text="captions chosen")
    inputs = serializers.JSONField(help_text="label set, runs by sha256, choice, code version")


PAGING = ("limit", "offset")
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
    """Ranked lists side by side: the captions that a choice selects."""

    @extend_schema(
        parameters=[
            *COMPARE_PARAMETERS,
            *(OpenApiParameter(name, int, description="paging") for name in PAGING),
        ],
        responses=ComparedPageSerializer,
    )
    def get(self, request: Request, key: str) -> Response:
        """By default all captions of the benchmark, and all runs by the latest labels."""
        comparison = comparison_from_request(self.benchmark, request)
        pages = BoundedPages()
        # Of a list DRF takes a part as of a queryset.
        queries: Any = comparison.queries.tolist()
        page: list[int] = pages.paginate_queryset(queries, request) or []
        rows = [comparison.row(query) for query in page]
        found = pages.get_paginated_response(rows).data
        return Response({**found, "inputs": comparison.provenance})


class CompareCaption(OfBenchmark):
    """The ranked lists of one caption, the one named or the one at a place among those chosen."""

    @extend_schema(parameters=COMPARE_PARAMETERS, responses=ComparedCaptionSerializer)
    def get(self, request: Request, key: str) -> Response:
        comparison = comparison_from_request(self.benchmark, request)
        return Response(caption_as_json(comparison, look_up_caption(comparison)))


def comparison_from_request(benchmark: Benchmark, request: Request) -> Comparison:
    sent = request.query_params
    data: dict[str, Any] = {name: sent[name] for name in sent if name not in PAGING}
    if "runs" in data:
        data["runs"] = sent.getlist("runs")
    return compare_lists(benchmark, data)


def _described(analysis: Analysis) -> dict[str, Any]:
    return {
        "name": analysis.name,
        "title": analysis.title,
        "question": analysis.question,
        "source": analysis.source,
        "fields": {
            name: {"label": field.label, "initial": field.initial, "help": field.help_text}
            for name, field in analysis.form.base_fields.items()
        },
    }


def query_data(data: Any) -> dict[str, Any]:
    """Texts and lists of texts by name, as a form takes them."""
    if not isinstance(data, Mapping):
        raise InvalidInput("what is chosen is given as an object of names and values")
    data = {str(name): value for name, value in data.items()}
    for name, value in data.items():
        values = value if isinstance(value, list) else [value]
        if not all(map(_can_be_typed, (name, *values))):
            raise InvalidInput(
                "a choice is a text or number that can be written, or a list of these"
            )
    return data


def _can_be_typed(value: Any) -> bool:
    """Whether a form could have sent it: a job keeps it, and PostgreSQL keeps no NUL."""
    if isinstance(value, str):
        return not _UNWRITABLE.search(value)
    return isinstance(value, int | None) or (isinstance(value, float) and math.isfinite(value))
