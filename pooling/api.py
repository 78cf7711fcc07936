"""The API of benchmarks, runs, train splits, tags and pools."""

from __future__ import annotations

from typing import Any, cast

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from config.accounts.models import User
from config.accounts.permissions import IsLead, IsResearcher
from config.accounts.roles import is_lead, is_researcher
from config.jobs.api import JobSerializer, accepted
from config.jobs.services import enqueue_job
from config.requests.files import receives_files
from config.shared.errors import NotFound
from config.shared.limits import DEPTH_MAX, SEED_MAX
from config.shared.uploads import stored_upload
from pooling.core.run_file import FORMATS
from pooling.models import Benchmark, Pool, Run, Tag, TrainSplit
from pooling.policies import benchmarks_seen_by, check_can_pool
from pooling.selectors import tags_of, train_splits_of


class BenchmarkSerializer(serializers.ModelSerializer[Benchmark]):
    class Meta:
        model = Benchmark
        fields = [
            "key",
            "name",
            "licence",
            "description",
            "equal_texts",
            "n_queries",
            "n_videos",
        ]
        extra_kwargs = {
            "key": {"help_text": "The identifier in addresses."},
            "name": {"help_text": "The name on pages."},
            "licence": {"help_text": "The licence of the data; empty if unknown."},
            "equal_texts": {
                "help_text": "The rule by which captions count as the same text and share their "
                "judgments: `folded`, `exact` or `off`."
            },
            "n_queries": {"help_text": "The number of captions."},
            "n_videos": {"help_text": "The number of videos."},
        }


class RunSerializer(serializers.ModelSerializer[Run]):
    system = serializers.CharField(
        source="system.key", help_text="The key of the retrieval model that produced the run."
    )

    class Meta:
        model = Run
        fields = [
            "name",
            "system",
            "sha256",
            "format",
            "depth",
            "n_queries",
            "warnings",
            "created_at",
        ]
        extra_kwargs = {
            "name": {"help_text": "The name, unique in the benchmark."},
            "sha256": {"help_text": "The SHA-256 of the content of the file."},
            "format": {"help_text": "The format of the file: `trec`, `json` or `npy`."},
            "depth": {"help_text": "The length of the longest ranked list."},
            "n_queries": {"help_text": "The number of captions with a ranked list."},
            "warnings": {
                "help_text": "Problems of the file that did not prevent the import, one sentence "
                "each."
            },
        }


class RunUploadSerializer(serializers.Serializer[dict[str, Any]]):
    file = serializers.FileField(
        help_text="A run in TREC or JSON format, plain or gzip, or a .npy matrix of captions x "
        "videos."
    )
    system = serializers.CharField(
        max_length=100, help_text="The retrieval model that produced the run."
    )
    name = serializers.CharField(
        max_length=100,
        required=False,
        default="",
        allow_blank=True,
        help_text="The name of the run; by default, the name of the system.",
    )
    format = serializers.ChoiceField(
        choices=["auto", *FORMATS],
        default="auto",
        help_text="The format of the file; by default, it is detected from the content.",
    )
    depth = serializers.IntegerField(
        min_value=1,
        max_value=DEPTH_MAX,
        required=False,
        allow_null=True,
        default=None,
        help_text="The number of videos to keep per caption; by default, the whole list or the "
        "top 100 of a matrix.",
    )


class TrainSplitSerializer(serializers.ModelSerializer[TrainSplit]):
    class Meta:
        model = TrainSplit
        fields = ["name", "sha256", "n_captions", "created_at"]
        extra_kwargs = {
            "name": {"help_text": "The name, unique in the benchmark."},
            "sha256": {"help_text": "The SHA-256 of the content of the file."},
            "n_captions": {"help_text": "The number of captions, with repetitions."},
        }


class TrainCaptionsUploadSerializer(serializers.Serializer[dict[str, Any]]):
    file = serializers.FileField(
        help_text="A CSV file, plain or gzip, with the column `caption` and one row per caption."
    )
    name = serializers.CharField(
        max_length=100,
        required=False,
        default="",
        allow_blank=True,
        help_text="The name of the split; by default, `train`.",
    )


class TagSerializer(serializers.ModelSerializer[Tag]):
    class Meta:
        model = Tag
        fields = ["name", "sha256", "n_queries", "created_at"]
        extra_kwargs = {
            "sha256": {"help_text": "The SHA-256 of the numbers of the captions with the tag."},
            "n_queries": {"help_text": "The number of captions with the tag."},
        }


class TagsUploadSerializer(serializers.Serializer[dict[str, Any]]):
    file = serializers.FileField(
        help_text="A CSV file, plain or gzip, with the columns `caption_id,tag` or "
        "`video_id,tag`, and one row per tag of a caption or video."
    )


class PoolSerializer(serializers.ModelSerializer[Pool]):
    runs: serializers.SlugRelatedField[Run] = serializers.SlugRelatedField(
        slug_field="name", many=True, read_only=True, help_text="The names of the pooled runs."
    )

    class Meta:
        model = Pool
        fields = [
            "id",
            "strategy",
            "depth",
            "runs",
            "sample_size",
            "seed",
            "n_pairs",
            "n_new_pairs",
            "n_tasks",
            "created_at",
        ]
        extra_kwargs = {
            "strategy": {
                "help_text": "How the pairs were selected: `depth-k` for the top k of each run, "
                "`judged` for the pairs of imported judgments."
            },
            "depth": {"help_text": "The k of the pooled top k; null for imported judgments."},
            "sample_size": {"help_text": "The number of sampled captions; null for all captions."},
            "seed": {"help_text": "The seed of the sample."},
            "n_pairs": {"help_text": "The number of pairs in the pool."},
            "n_new_pairs": {"help_text": "The number of pairs that no earlier pool contains."},
            "n_tasks": {
                "help_text": "The number of pairs to judge if captions with equal texts share "
                "judgments; null for some pools of older versions."
            },
        }


class PoolRequestSerializer(serializers.Serializer[dict[str, Any]]):
    depth = serializers.IntegerField(
        min_value=1,
        max_value=DEPTH_MAX,
        help_text="The number of videos that each run adds per caption.",
    )
    runs = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        help_text="The names of the runs to pool; by default, all runs.",
    )
    sample = serializers.IntegerField(
        min_value=1,
        required=False,
        allow_null=True,
        default=None,
        help_text="The number of captions to pool; by default, all captions.",
    )
    seed = serializers.IntegerField(
        min_value=-SEED_MAX,
        max_value=SEED_MAX,
        default=0,
        help_text="The seed with which the captions are sampled.",
    )


class BenchmarkList(generics.ListAPIView[Benchmark]):
    """List the benchmarks that you may see, by key."""

    permission_classes = [IsResearcher]
    serializer_class = BenchmarkSerializer

    def get_queryset(self) -> QuerySet[Benchmark]:
        return benchmarks_seen_by(self.request.user)


class BenchmarkDetail(generics.RetrieveAPIView[Benchmark]):
    """Return one benchmark."""

    permission_classes = [IsResearcher]
    serializer_class = BenchmarkSerializer
    queryset = Benchmark.objects.all()
    lookup_field = "key"


# The base of views below /benchmarks/KEY/. It has no docstring, because the schema would use it as
# the description of views that have none.
class OfBenchmark(generics.GenericAPIView[Any]):
    permission_classes: list[type[BasePermission]] = [IsResearcher]

    @property
    def benchmark(self) -> Benchmark:
        found = Benchmark.objects.filter(key=self.kwargs["key"]).first()
        if found is None:
            raise NotFound("There is no such benchmark.")
        return found

    def enqueue(self, request: Request, kind: str, title: str, params: dict[str, Any]) -> Response:
        benchmark = self.benchmark
        job = enqueue_job(
            kind=kind,
            title=f"{title} ({benchmark.key})",
            params={"benchmark": benchmark.key, **params},
            benchmark_key=benchmark.key,
            by=cast(User, request.user),
        )
        return accepted(job)


@receives_files(is_researcher)
class Runs(OfBenchmark, generics.ListAPIView[Run]):
    """List the runs of a benchmark, by name."""

    serializer_class = RunSerializer

    def get_queryset(self) -> QuerySet[Run]:
        return Run.objects.filter(benchmark=self.benchmark).select_related("system")

    @extend_schema(request=RunUploadSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Upload a run.

        A job checks the whole file, stores the ranked lists, and starts their scoring. If the file
        has an error, the job fails with the line and the reason, and nothing is stored. The same
        content is stored once. If the name is in use for other content, the run is called `NAME@2`.

        The `result` of the job has `run` (the name), `queries` (captions with a list), `depth`,
        `sha256`, `created` (false if the content was already stored) and `warnings`.
        """
        shape = RunUploadSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        values = dict(shape.validated_data)
        file = values.pop("file")
        _ = self.benchmark
        with stored_upload(file) as stored:
            return self.enqueue(request, "import_run", f"Run {file.name}", {**stored, **values})


# The base of views that researchers read and leads write.
class MetadataView(OfBenchmark):
    def get_permissions(self) -> list[BasePermission]:
        return [IsLead()] if self.request.method == "POST" else [IsResearcher()]


@receives_files(is_lead)
class TrainSplits(MetadataView, generics.ListAPIView[TrainSplit]):
    """List the train splits of a benchmark, by name."""

    serializer_class = TrainSplitSerializer

    def get_queryset(self) -> QuerySet[TrainSplit]:
        return train_splits_of(self.benchmark)

    @extend_schema(request=TrainCaptionsUploadSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Upload the captions that systems were trained on.

        Only leads and admins may do this. A job checks the whole file and stores its captions as a
        train split. If the file has an error, the job fails with the line and the reason, and
        nothing is stored. The same content is stored once. If the name is in use for other content,
        the split is called `NAME@2`.

        The `result` of the job has `split` (the name), `captions`, `sha256`, `created` (false if
        the content was already stored) and `notes`.
        """
        shape = TrainCaptionsUploadSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        file, name = shape.validated_data["file"], shape.validated_data["name"]
        title = f"Train captions {file.name}"
        with stored_upload(file) as stored:
            params = {**stored, "name": name}
            return self.enqueue(request, "import_train_captions", title, params)


@receives_files(is_lead)
class Tags(MetadataView, generics.ListAPIView[Tag]):
    """List the tags of a benchmark, the most frequent first."""

    serializer_class = TagSerializer

    def get_queryset(self) -> QuerySet[Tag]:
        return tags_of(self.benchmark)

    @extend_schema(request=TagsUploadSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Upload tags of captions or videos.

        Only leads and admins may do this. A job checks the whole file and then stores its tags. A
        tag replaces the stored tag of the same name. The tag of a video applies to all captions
        that have the video as an original positive. If the file has an error, the job fails with
        the line and the reason, and nothing is stored.

        The `result` of the job has `tags` (in the file), `captions` (with at least one of them) and
        `notes`.
        """
        shape = TagsUploadSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        file = shape.validated_data["file"]
        with stored_upload(file) as stored:
            return self.enqueue(request, "import_tags", f"Tags {file.name}", stored)


class Pools(OfBenchmark, generics.ListAPIView[Pool]):
    """List the pools of a benchmark, newest first."""

    serializer_class = PoolSerializer

    def get_queryset(self) -> QuerySet[Pool]:
        return Pool.objects.filter(benchmark=self.benchmark).prefetch_related("runs")

    @extend_schema(request=PoolRequestSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Build a pool from the top k of runs.

        Leads and admins may build any pool. Researchers may pool only a single run, to a depth of
        10 or less and without a sample. A job computes the pairs and stores those that no earlier
        pool contains. It fails if a run does not exist. The same request does not store a second
        pool.

        The `result` of the job has `pool` (the id), `pairs`, `new_pairs` and `tasks`.
        """
        shape = PoolRequestSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        options = shape.validated_data
        check_can_pool(
            request.user,
            self.benchmark,
            runs=options["runs"],
            depth=options["depth"],
            sample=options["sample"],
        )
        return self.enqueue(request, "build_pool", f"Pool of depth {options['depth']}", options)
