"""The API of public benchmarks, for visitors, and of uploads with their scores."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.public.selectors import UploadRow, public_view, upload_rows
from evaluation.release.api import LabelSetSerializer
from evaluation.scores.tables import ResultRow, results_json
from hearth.accounts.permissions import HasAccount, OpenToVisitors
from hearth.shared.errors import NotFound
from pooling.models import Benchmark, RunUpload
from pooling.policies import public_benchmarks_seen_by, run_uploads_seen_by
from pooling.serializers import UploadSerializer


class PublicBenchmarkSerializer(serializers.ModelSerializer[Benchmark]):
    class Meta:
        model = Benchmark
        fields = ["key", "name", "licence", "description", "n_queries", "n_videos"]


class PublicBenchmarks(generics.ListAPIView[Benchmark]):
    """List the public benchmarks, by key.

    No account is needed. A benchmark that you judge is left out, unless you are its researcher.
    """

    permission_classes = [OpenToVisitors]
    serializer_class = PublicBenchmarkSerializer

    def get_queryset(self) -> QuerySet[Benchmark]:
        return public_benchmarks_seen_by(self.request.user)


class PublicBenchmark(generics.GenericAPIView[Any]):
    """Return what visitors see of a public benchmark.

    No account is needed. A benchmark that you judge is not found, unless you are its researcher.
    `results` has the scores of the runs by the original positives and, if there is a label set, by
    the newest one. For each run, it also has `bounds` and `unjudged`, as in `GET
    /benchmarks/{key}/scores/`. `label_sets` are all published label sets. `results` and
    `label_sets` are null while annotators judge, unless the benchmark shows them during that time.
    """

    permission_classes = [OpenToVisitors]

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, key: str) -> Response:
        seen = public_benchmarks_seen_by(request.user).select_related("public_page")
        found = seen.filter(key=key).first()
        if found is None:
            raise NotFound("There is no such public benchmark.")
        shown = public_view(found)
        body: dict[str, Any] = {
            **PublicBenchmarkSerializer(found).data,
            "contact": shown.page.contact,
            "citation": shown.page.citation,
            "runs_per_day": shown.page.runs_per_day,
            "results": None,
            "label_sets": None,
        }
        if not shown.is_blind:
            body["results"] = {
                **results_json(found, shown.rows, shown.label_set, False),
                "bounds": {row.run.name: _bounds(row) for row in shown.rows},
                "unjudged": {row.run.name: _unjudged(row) for row in shown.rows},
            }
            body["label_sets"] = LabelSetSerializer(shown.label_sets, many=True).data
        return Response(body)


def _bounds(row: ResultRow | None) -> dict[str, list[float | None]] | None:
    return row.evaluation.bounds if row and row.evaluation else None


def _unjudged(row: ResultRow | None) -> int | None:
    return row.evaluation.unjudged if row and row.evaluation else None


class ScoredUploadSerializer(UploadSerializer):
    labels = serializers.SerializerMethodField(
        help_text="Version of the label set that the scores use, or `original`. While the public "
        "page hides labels, all uploads are scored by the original positives."
    )
    scores = serializers.SerializerMethodField(
        help_text="Scores by measure; null if there are none."
    )
    judged = serializers.SerializerMethodField(help_text="Judged share of the top k, for each k.")
    unjudged = serializers.SerializerMethodField(
        help_text="The number of unjudged pairs in the top ten."
    )
    bounds = serializers.SerializerMethodField(
        help_text="Lowest and highest score that the unjudged pairs allow if all labels are right, "
        "by measure."
    )

    class Meta(UploadSerializer.Meta):
        fields = [
            *UploadSerializer.Meta.fields,
            *("labels", "scores", "judged", "unjudged", "bounds"),
        ]

    def _row(self, upload: RunUpload) -> UploadRow:
        rows: dict[Any, UploadRow] = self.context["rows"]
        return rows[upload.pk]

    def get_labels(self, upload: RunUpload) -> str:
        label_set = self._row(upload).label_set
        return label_set.version if label_set else "original"

    def get_scores(self, upload: RunUpload) -> dict[str, Any] | None:
        evaluation = self._row(upload).evaluation
        return evaluation.scores if evaluation else None

    def get_judged(self, upload: RunUpload) -> dict[str, Any] | None:
        evaluation = self._row(upload).evaluation
        return evaluation.judged if evaluation else None

    def get_unjudged(self, upload: RunUpload) -> int | None:
        return _unjudged(self._row(upload).row)

    def get_bounds(self, upload: RunUpload) -> dict[str, list[float | None]] | None:
        return _bounds(self._row(upload).row)


class OwnUploads(generics.GenericAPIView[RunUpload]):
    """List your uploads, and the uploads to benchmarks that you lead, newest first."""

    permission_classes = [HasAccount]
    serializer_class = ScoredUploadSerializer

    def get_queryset(self) -> QuerySet[RunUpload]:
        uploads = run_uploads_seen_by(self.request.user)
        return uploads.select_related("benchmark", "run__system", "run__benchmark")

    @extend_schema(responses=ScoredUploadSerializer(many=True))
    def get(self, request: Request) -> Response:
        page = list(self.paginate_queryset(self.get_queryset()) or ())
        return self.get_paginated_response(_scored(page, many=True))


class UploadDetail(OwnUploads):
    """Return an upload with its state and scores."""

    pagination_class = None

    @extend_schema(responses=ScoredUploadSerializer)
    def get(self, request: Request, pk: uuid.UUID) -> Response:  # type: ignore[override]
        found = self.get_queryset().filter(pk=pk).first()
        if found is None:
            raise NotFound("There is no such upload.")
        return Response(_scored([found], many=False))


def _scored(uploads: list[RunUpload], *, many: bool) -> Any:
    rows = {row.upload.pk: row for row in upload_rows(uploads)}
    shown: Any = uploads if many else uploads[0]
    return ScoredUploadSerializer(shown, many=many, context={"rows": rows}).data
