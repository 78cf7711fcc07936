"""Label sets and drafts over the API."""

from __future__ import annotations

from typing import Any, cast

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from config.accounts.models import User
from config.accounts.permissions import IsLead, IsResearcher
from config.jobs.api import JobSerializer, accepted
from config.shared.downloads import attachment
from config.shared.errors import NotFound
from evaluation.models import Draft, LabelSet
from evaluation.release.exports import FORMATS, file_stem
from evaluation.release.selectors import benchmark_outcomes, latest_draft
from evaluation.release.serializers import ExportSerializer, read_options
from evaluation.release.services import begin_draft, check_settled, export_label_set
from pooling.api import OfBenchmark

# The media types of the formats, without their encodings.
CONTENT_TYPES = sorted({kind.content_type.partition(";")[0] for kind in FORMATS.values()})

SUMMARY = (
    "sha256",
    "n_pairs",
    "n_relevant",
    "n_conflicted",
    "n_pending",
    "n_judgments",
    "code_version",
    "created_at",
)


class LabelSetSerializer(serializers.ModelSerializer[LabelSet]):
    class Meta:
        model = LabelSet
        fields = ("version", "judgments_sha256", *SUMMARY)


class DraftSerializer(serializers.ModelSerializer[Draft]):
    class Meta:
        model = Draft
        fields = SUMMARY


class PublishSerializer(serializers.Serializer[dict[str, Any]]):
    allow_pending = serializers.BooleanField(
        default=False,
        help_text="Publish pairs that are pending or in conflict without a label.",
    )


class LabelSets(OfBenchmark, generics.ListAPIView[LabelSet]):
    """List the label sets of a benchmark, newest first."""

    serializer_class = LabelSetSerializer

    def get_permissions(self) -> list[BasePermission]:
        return [IsLead()] if self.request.method == "POST" else [IsResearcher()]

    def get_queryset(self) -> QuerySet[LabelSet]:
        return LabelSet.objects.filter(benchmark=self.benchmark)

    @extend_schema(request=PublishSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Publish the current labels as the next label set.

        Only leads and admins may do this. A job writes the label set and then scores all runs by
        it. If pairs are pending or in conflict and `allow_pending` is not set, the response
        has the status 409 and no job is started.

        The `result` of the job contains `version`, `sha256` and `pairs`.
        """
        shape = PublishSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        if not shape.validated_data["allow_pending"]:
            check_settled(benchmark_outcomes(self.benchmark).counts)
        return self.enqueue(request, "publish_labels", "Publish labels", shape.validated_data)


class DraftOfLabels(OfBenchmark):
    """Return the latest draft: the label set that publishing would have created at that time."""

    @extend_schema(responses=DraftSerializer)
    def get(self, request: Request, key: str) -> Response:
        draft = latest_draft(self.benchmark)
        if draft is None:
            raise NotFound("There is no draft yet. A POST request to this address creates one.")
        return Response(DraftSerializer(draft).data)

    @extend_schema(request=None, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Draft the current labels.

        A job makes the draft and then recomputes the analyses of the previous draft. Its `result`
        contains `sha256`, `pairs`, and `analyses` (the number of recomputed analyses).
        """
        return accepted(begin_draft(benchmark=self.benchmark, by=cast(User, request.user)))


class LabelSetFile(OfBenchmark):
    """Download a label set in a format.

    `csv`: one line per pair, exact. `judgments`: the single judgments, under pseudonyms. `qrels`:
    TREC qrels. `fire`: FIRE JSON. `spreadsheet`: CSV without formulas. `jsonl`: JSON lines.
    `parquet`: Parquet. `release`: a zip archive with data, data set card, datasheet and metadata.
    The file is sent while it is written.
    """

    @extend_schema(
        parameters=[ExportSerializer],
        responses={(200, kind): OpenApiTypes.BINARY for kind in CONTENT_TYPES},
    )
    def get(self, request: Request, key: str, version: int, export: str) -> StreamingHttpResponse:
        label_set = LabelSet.objects.filter(benchmark=self.benchmark, version=version).first()
        if label_set is None or export not in FORMATS:
            raise NotFound("There is no such label set or format.")
        kind = FORMATS[export]
        pieces = export_label_set(
            label_set=label_set,
            format=export,
            options=read_options(request.query_params),
            by=cast(User, request.user),
        )
        return StreamingHttpResponse(
            pieces,
            content_type=kind.content_type,
            headers={"Content-Disposition": attachment(f"{file_stem(label_set)}{kind.suffix}")},
        )
