"""The API of imports: upload the files of a benchmark, read the plan, and accept it."""

from __future__ import annotations

import uuid
from typing import Any, cast

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hearth.accounts.models import User
from hearth.accounts.permissions import IsLead
from hearth.accounts.roles import leads_somewhere
from hearth.jobs.api import JobSerializer, accepted
from hearth.requests.files import receives_files
from hearth.shared.http import validated
from pooling import services
from pooling.core.readers.benchmarks import BENCHMARKS
from pooling.core.readers.benchmarks.table import KEY, TEXT, VIDEO
from pooling.core.readers.registry import AUTO
from pooling.models import BENCHMARK_KEY, BenchmarkImport
from pooling.policies import imports_seen_by
from pooling.services.imports import FILES


class ImportUploadSerializer(serializers.Serializer[dict[str, Any]]):
    key = serializers.CharField(
        max_length=100, validators=[BENCHMARK_KEY], help_text="The key of the benchmark."
    )
    name = serializers.CharField(
        max_length=200,
        required=False,
        default="",
        allow_blank=True,
        help_text="The name of a new benchmark; by default, the key.",
    )
    licence = serializers.CharField(
        max_length=300,
        required=False,
        default="",
        allow_blank=True,
        help_text="The licence of the data of a new benchmark.",
    )
    is_update = serializers.BooleanField(
        default=False, help_text="Whether to change the captions of an existing benchmark."
    )
    captions = serializers.FileField(
        help_text="A table of captions (CSV, TSV, JSON or Parquet) or a file of another format, "
        "plain or gzip. The format is detected from the content."
    )
    companion = serializers.FileField(
        required=False,
        help_text="The file that belongs to the captions: the test table or a list of videos for "
        "MSR-VTT and MSVD, qrels for TREC topics and BEIR.",
    )
    second_companion = serializers.FileField(
        required=False, help_text="A third file that belongs to them, such as the corpus of BEIR."
    )
    videos = serializers.FileField(
        required=False,
        help_text="A CSV file with the columns `video_id,file,url,duration`. Only the first column "
        "is needed.",
    )
    format = serializers.ChoiceField(
        choices=[AUTO, *BENCHMARKS.names()],
        default=AUTO,
        help_text="The format of the files; by default, it is detected from the content.",
    )
    caption_id = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text="The name of the column of caption ids in a table, or several names joined by "
        "`+`. If it is empty, ids are made from the videos.",
    )
    caption = serializers.CharField(
        required=False, help_text="The name of the column of texts in a table."
    )
    video_id = serializers.CharField(
        required=False,
        help_text="The name of the column of video ids in a table, or several names joined by `+`, "
        "such as `video_id+start+end` for clips. The values are joined by `_`.",
    )


class CountsSerializer(serializers.Serializer[dict[str, Any]]):
    captions = serializers.IntegerField()
    videos = serializers.IntegerField()
    original_positives = serializers.IntegerField()


class FileReportSerializer(serializers.Serializer[dict[str, Any]]):
    file = serializers.CharField()
    format = serializers.CharField(help_text="The detected format, as text.")


class TextReportSerializer(serializers.Serializer[dict[str, Any]]):
    line = serializers.IntegerField(allow_null=True)
    caption_id = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()


class FirstRowSerializer(serializers.Serializer[dict[str, Any]]):
    caption_id = serializers.CharField()
    caption = serializers.CharField()
    video_ids = serializers.ListField(child=serializers.CharField())


class ProblemSerializer(serializers.Serializer[dict[str, Any]]):
    file = serializers.CharField()
    line = serializers.IntegerField(allow_null=True, help_text="Null if the error has no line.")
    reason = serializers.CharField()


class PlanSerializer(serializers.Serializer[dict[str, Any]]):
    key = serializers.CharField()
    created = serializers.BooleanField(help_text="Whether the benchmark is new.")
    files = FileReportSerializer(many=True)
    queries = serializers.IntegerField(help_text="The number of captions after the import.")
    videos = serializers.IntegerField(help_text="The number of videos after the import.")
    original_positives = serializers.IntegerField(
        help_text="The number of original positives after the import."
    )
    new = CountsSerializer(help_text="The numbers of new captions, videos and original positives.")
    removed = CountsSerializer(
        help_text="The numbers of removed captions, videos and original positives."
    )
    changed = serializers.IntegerField(help_text="The number of captions with another text.")
    changes = TextReportSerializer(many=True, help_text="The first hundred of these captions.")
    first_rows = FirstRowSerializer(many=True)
    refused = serializers.IntegerField(
        help_text="The number of errors. A plan with errors cannot be accepted."
    )
    problems = ProblemSerializer(many=True, help_text="The first hundred errors.")
    notes = serializers.ListField(child=serializers.CharField())
    plan = serializers.CharField(
        help_text="The hash of the plan. A request that accepts the plan needs it."
    )
    question = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="The formats that the files fit, if there are several. Upload the files again "
        "with one of them as `format`.",
    )


class ImportSerializer(serializers.ModelSerializer[BenchmarkImport]):
    plan = serializers.SerializerMethodField(help_text="Null until the files have been read.")

    class Meta:
        model = BenchmarkImport
        fields = [
            "id",
            "benchmark_key",
            "is_update",
            "name",
            "licence",
            "format",
            "columns",
            "plan",
            "created_at",
            "imported_at",
        ]
        extra_kwargs = {
            "imported_at": {"help_text": "The time of the import; null before the import."}
        }

    @extend_schema_field(PlanSerializer(allow_null=True))
    def get_plan(self, found: BenchmarkImport) -> Any:
        return found.plan


class AcceptSerializer(serializers.Serializer[dict[str, Any]]):
    plan = serializers.CharField(help_text="The hash of the plan, from its field `plan`.")


@receives_files(lambda user, _: leads_somewhere(user))
class Imports(generics.ListAPIView[BenchmarkImport]):
    """List the imports of the benchmarks that you lead, newest first."""

    permission_classes = [IsLead]
    serializer_class = ImportSerializer

    def get_queryset(self) -> QuerySet[BenchmarkImport]:
        return imports_seen_by(self.request.user)

    @extend_schema(
        request=ImportUploadSerializer,
        responses={
            202: JobSerializer,
            404: OpenApiResponse(description="There is no benchmark with this key to update."),
            409: OpenApiResponse(description="A benchmark has this key, and `is_update` is false."),
        },
    )
    def post(self, request: Request) -> Response:
        """Upload the files of a new benchmark, or other captions of an existing one.

        Only leads and admins may do this. A job reads the files and makes a plan. Nothing is
        written before you accept the plan at `/imports/{id}/accept/`.

        The `result` of the job has the fields of the plan, and the id of the import as `import`.
        """
        values = validated(ImportUploadSerializer, request)
        _, job = services.begin_import(
            key=values["key"],
            uploads={name: values.get(name) for name in FILES},
            details=services.Details(name=values["name"], licence=values["licence"]),
            columns={c: values[c] for c in (KEY, TEXT, VIDEO) if c in values},
            format=values["format"],
            update=values["is_update"],
            by=cast(User, request.user),
        )
        return accepted(job)


class ImportDetail(generics.RetrieveAPIView[BenchmarkImport]):
    """Return one import with its plan."""

    permission_classes = [IsLead]
    serializer_class = ImportSerializer

    def get_queryset(self) -> QuerySet[BenchmarkImport]:
        return imports_seen_by(self.request.user)


class ImportAccept(APIView):
    """Accept the plan of an import."""

    permission_classes = [IsLead]

    @extend_schema(
        request=AcceptSerializer,
        responses={
            202: JobSerializer,
            409: OpenApiResponse(description="The plan has errors, or has been imported."),
            412: OpenApiResponse(description="The plan has changed."),
        },
    )
    def post(self, request: Request, pk: uuid.UUID) -> Response:
        """Carry out the plan of an import.

        A job imports the files. It fails if the benchmark has changed since the plan was made. If
        another plan has been made since, the response has the status 412.

        The `result` of the job has `benchmark` (the key), `queries`, `videos`,
        `original_positives`, `created`, `changed`, `without_media` (videos that have neither
        a file nor a URL) and `notes`.
        """
        found = get_object_or_404(imports_seen_by(request.user), pk=pk)
        plan = validated(AcceptSerializer, request)["plan"]
        job = services.accept_import(found=found, plan=plan, by=cast(User, request.user))
        return accepted(job)
