"""Label sets and drafts over the API."""

from __future__ import annotations

from typing import cast

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.models import Draft, LabelSet
from evaluation.release import services
from evaluation.release.exports import FORMATS, file_stem
from evaluation.release.exports.training import TrainingMoments, training_rows
from evaluation.release.exports.training import file_name as training_file_name
from evaluation.release.selectors import (
    ConfirmOptions,
    benchmark_outcomes,
    find_label_set,
    get_label_set,
    latest_draft,
    positives_to_confirm,
)
from evaluation.release.selectors.diffs import compare_label_sets
from evaluation.release.serializers import ExportSerializer, read_options
from hearth.accounts.models import User
from hearth.accounts.permissions import IsLead, IsResearcher
from hearth.jobs.api import JobSerializer, accepted
from hearth.shared.downloads import CSV, attachment
from hearth.shared.errors import NotFound
from hearth.shared.option_fields import serializer_of
from hearth.shared.options import as_params
from pooling.api.base import OfBenchmark
from pooling.paragraphs.selectors import paragraphs_of
from pooling.relevant_pairs.models import RelevantPairs
from pooling.selectors.runs import get_run

TrainingMomentsSerializer = serializer_of(TrainingMoments, "TrainingMoments")
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
        fields = ("version", "notes", "judgments_sha256", *SUMMARY)


class DraftSerializer(serializers.ModelSerializer[Draft]):
    class Meta:
        model = Draft
        fields = SUMMARY


PublishSerializer = serializer_of(services.PublishOptions, "Publish")


class LabelSets(OfBenchmark, generics.ListAPIView[LabelSet]):
    """List the label sets of a benchmark, newest first."""

    serializer_class = LabelSetSerializer

    def get_permissions(self) -> list[BasePermission]:
        return [IsLead()] if self.request.method == "POST" else [IsResearcher()]

    def get_queryset(self) -> QuerySet[LabelSet]:
        return LabelSet.objects.filter(benchmark=self.benchmark)

    @extend_schema(request=PublishSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Publish the current labels as the next label set, numbered MAJOR.MINOR.PATCH.

        Only leads and admins may do this. A job writes the label set and then scores all runs by
        it. If pairs are pending or in conflict and `allow_pending` is not set, the response
        has the status 409 and no job is started.

        The `result` of the job contains `version`, `sha256` and `pairs`.
        """
        wanted = PublishSerializer.read(request.data)
        if not wanted.allow_pending:
            services.check_settled(benchmark_outcomes(self.benchmark).counts)
        return self.enqueue(request, "publish_labels", "Publish labels", as_params(wanted))


class LabelSetDiff(OfBenchmark):
    """Count the pairs that differ between two label sets.

    Each version can be `draft`. `counts` contains the number of pairs by change: `new`, `removed`,
    `changed` (another label), `gained` (a label only in the new set), `lost` (a label only in the
    old set), `support` (the same label with other judgments) and `same`.
    """

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, key: str, version: str, other: str) -> Response:
        found = compare_label_sets(self.benchmark, other, version)
        return Response(
            {"old": found.old.reference, "new": found.new.reference, "counts": found.counts}
        )


class LabelSetDiffFile(OfBenchmark):
    """Download the pairs that differ between two label sets as CSV."""

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def get(self, request: Request, key: str, version: str, other: str) -> StreamingHttpResponse:
        found = compare_label_sets(self.benchmark, other, version)
        name = f"{key}-labels-{found.old.reference}-to-{found.new.reference}.csv"
        headers = {"Content-Disposition": attachment(name)}
        return StreamingHttpResponse(found.csv(), content_type=CSV, headers=headers)


ConfirmationSerializer = serializer_of(ConfirmOptions, "Confirmation")


class Confirmations(OfBenchmark):
    """Request second labels for positives that have one label."""

    def get_permissions(self) -> list[BasePermission]:
        return [IsLead()]

    @extend_schema(request=ConfirmationSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Open a campaign that requests a second label for each positive with one label.

        Only leads and admins may do this. The positives are the sole positives in the top `cutoff`
        of a run, or all positives. Original positives are certain and are left out. If the two
        labels of a pair differ, a third annotator judges the pair.

        The `result` of the job contains `campaign` (its id) and `tasks`.
        """
        wanted = ConfirmationSerializer.read(request.data)
        run = None if wanted.all else get_run(self.benchmark, wanted.run)
        label_set = find_label_set(self.benchmark, wanted.labels)
        _, codes = positives_to_confirm(label_set, run, wanted.cutoff or 10)
        params = {"seed": wanted.seed, "name": wanted.name}
        return self.enqueue(
            request, "open_confirmation", "Confirm positives", {"codes": codes.tolist(), **params}
        )


class ParagraphLabels(OfBenchmark):
    """Store the labels of paragraphs that follow from those of their sentences."""

    def get_permissions(self) -> list[BasePermission]:
        return [IsLead()]

    @extend_schema(request=None, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Store the labels of paragraphs.

        Only leads and admins may do this. The `result` of the job has `pairs`, `relevant`,
        `not_relevant`, `pending`, `new`, `changed` and `campaign`.
        """
        paragraphs_of(self.benchmark)
        return self.enqueue(request, "settle_paragraphs", "Labels of paragraphs", {})


class LabelSetVerification(OfBenchmark):
    """Rebuild a label set from the log and compare its bytes."""

    @extend_schema(request=None, responses={202: JobSerializer})
    def post(self, request: Request, key: str, version: str) -> Response:
        """Start a job that verifies a label set.

        Its `result` contains `same`, `rebuilt` and `problems`.
        """
        found = get_label_set(self.benchmark, version)
        title = f"Verify label set {found.version}"
        return self.enqueue(request, "verify_labels", title, {"version": found.version})


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
        return accepted(services.begin_draft(benchmark=self.benchmark, by=cast(User, request.user)))


class LabelSetFile(OfBenchmark):
    """Download a label set in a format.

    `csv`: the published label file, one line per pair. `judgments`: the single judgments, under
    pseudonyms. In its newer files, `position` is the order in which the answers to a pair arrived
    in one campaign (`queue`), and `is_planned` marks the labels on which agreement is computed.
    `comments`: the texts that annotators wrote when they escalated pairs, and leads
    when they ruled on them; only leads may download them. `qrels`: TREC qrels. `fire`: FIRE JSON.
    `spreadsheet`: CSV in which no cell is read as a formula. `jsonl`: JSON lines. `parquet`:
    Parquet. `release`: a zip archive with data, data set card, datasheet and metadata. All
    files except `release` are sent while they are written.
    """

    @extend_schema(
        parameters=[ExportSerializer],
        responses={(200, kind): OpenApiTypes.BINARY for kind in CONTENT_TYPES},
    )
    def get(self, request: Request, key: str, version: str, export: str) -> StreamingHttpResponse:
        label_set = get_label_set(self.benchmark, version)
        if export not in FORMATS:
            raise NotFound("There is no such format.")
        kind = FORMATS[export]
        pieces = services.export_label_set(
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


class TrainingMomentsFile(OfBenchmark):
    """Download moments for training."""

    @extend_schema(
        operation_id="benchmarks_relevant_pairs_training_retrieve",
        parameters=[TrainingMomentsSerializer],
        responses={(200, "text/csv"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, key: str, pk: int) -> StreamingHttpResponse:
        """Download the moments of all captions in three levels, as CSV.

        Its columns are `caption_id`, `video_id`, `start`, `end`, `level` (positive, potentially
        relevant or negative), `confidence` and `source`. Where people judged a pair, their label
        decides the level, and their spans are its moments.
        """
        options = TrainingMomentsSerializer.read(request.query_params)
        found = RelevantPairs.objects.filter(pk=pk, proxy__benchmark=self.benchmark)
        pairs = found.select_related("proxy__benchmark").first()
        if pairs is None:
            raise NotFound("There are no such relevant pairs.")
        headers = {"Content-Disposition": attachment(training_file_name(pairs))}
        rows = training_rows(pairs, options)
        return StreamingHttpResponse(rows, content_type=CSV, headers=headers)
