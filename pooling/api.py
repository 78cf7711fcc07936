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
from config.jobs.api import JobSerializer, accepted
from config.jobs.services import enqueue_job
from config.shared.errors import NotFound
from config.shared.limits import DEPTH_MAX, SEED_MAX
from config.shared.uploads import store_upload
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


class RunSerializer(serializers.ModelSerializer[Run]):
    system = serializers.CharField(source="system.key")

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


class RunUploadSerializer(serializers.Serializer[dict[str, Any]]):
    file = serializers.FileField()
    system = serializers.CharField(max_length=100)
    name = serializers.CharField(max_length=100, required=False, default="", allow_blank=True)
    format = serializers.ChoiceField(choices=["auto", *FORMATS], default="auto")
    depth = serializers.IntegerField(
        min_value=1, max_value=DEPTH_MAX, required=False, allow_null=True, default=None
    )


class TrainSplitSerializer(serializers.ModelSerializer[TrainSplit]):
    class Meta:
        model = TrainSplit
        fields = ["name", "sha256", "n_captions", "created_at"]


class TrainCaptionsUploadSerializer(serializers.Serializer[dict[str, Any]]):
    file = serializers.FileField()
    name = serializers.CharField(max_length=100, required=False, default="", allow_blank=True)


class TagSerializer(serializers.ModelSerializer[Tag]):
    class Meta:
        model = Tag
        fields = ["name", "sha256", "n_queries", "created_at"]


class TagsUploadSerializer(serializers.Serializer[dict[str, Any]]):
    file = serializers.FileField()


class PoolSerializer(serializers.ModelSerializer[Pool]):
    runs: serializers.SlugRelatedField[Run] = serializers.SlugRelatedField(
        slug_field="name", many=True, read_only=True
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


class PoolRequestSerializer(serializers.Serializer[dict[str, Any]]):
    depth = serializers.IntegerField(min_value=1, max_value=DEPTH_MAX)
    runs = serializers.ListField(child=serializers.CharField(), default=list)
    sample = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    seed = serializers.IntegerField(min_value=-SEED_MAX, max_value=SEED_MAX, default=0)


class BenchmarkList(generics.ListAPIView[Benchmark]):
    permission_classes = [IsResearcher]
    serializer_class = BenchmarkSerializer

    def get_queryset(self) -> QuerySet[Benchmark]:
        return benchmarks_seen_by(self.request.user)


class BenchmarkDetail(generics.RetrieveAPIView[Benchmark]):
    permission_classes = [IsResearcher]
    serializer_class = BenchmarkSerializer
    queryset = Benchmark.objects.all()
    lookup_field = "key"


class OfBenchmark(generics.GenericAPIView[Any]):
    """A view below /benchmarks/KEY/."""

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


class Runs(OfBenchmark, generics.ListAPIView[Run]):
    serializer_class = RunSerializer

    def get_queryset(self) -> QuerySet[Run]:
        return Run.objects.filter(benchmark=self.benchmark).select_related("system")

    @extend_schema(request=RunUploadSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Upload a run.

        A job checks the whole file and then stores it. If the file has an error, nothing is stored.
        """
        shape = RunUploadSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        values = dict(shape.validated_data)
        file = values.pop("file")
        _ = self.benchmark
        params = {"upload": store_upload(file), "source": file.name, **values}
        return self.enqueue(request, "import_run", f"Run {file.name}", params)


class MetadataView(OfBenchmark):
    """A view that researchers read and leads write."""

    def get_permissions(self) -> list[BasePermission]:
        return [IsLead()] if self.request.method == "POST" else [IsResearcher()]


class TrainSplits(MetadataView, generics.ListAPIView[TrainSplit]):
    serializer_class = TrainSplitSerializer

    def get_queryset(self) -> QuerySet[TrainSplit]:
        return train_splits_of(self.benchmark)

    @extend_schema(request=TrainCaptionsUploadSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Upload the captions that systems were trained on.

        A job checks the whole file and then stores it. If the file has an error, nothing is stored.
        """
        shape = TrainCaptionsUploadSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        file, name = shape.validated_data["file"], shape.validated_data["name"]
        params = {"upload": store_upload(file), "source": file.name, "name": name}
        title = f"Train captions {file.name}"
        return self.enqueue(request, "import_train_captions", title, params)


class Tags(MetadataView, generics.ListAPIView[Tag]):
    serializer_class = TagSerializer

    def get_queryset(self) -> QuerySet[Tag]:
        return tags_of(self.benchmark)

    @extend_schema(request=TagsUploadSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Upload tags.

        A job checks the whole file and then stores its tags. A tag replaces the stored tag of the
        same name.
        """
        shape = TagsUploadSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        file = shape.validated_data["file"]
        params = {"upload": store_upload(file), "source": file.name}
        return self.enqueue(request, "import_tags", f"Tags {file.name}", params)


class Pools(OfBenchmark, generics.ListAPIView[Pool]):
    serializer_class = PoolSerializer

    def get_queryset(self) -> QuerySet[Pool]:
        return Pool.objects.filter(benchmark=self.benchmark).prefetch_related("runs")

    @extend_schema(request=PoolRequestSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Start a job that pools the top k of the named runs, or of all runs if none is named.

        Leads may build any pool. Researchers may pool the top 10 of a single run.
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
