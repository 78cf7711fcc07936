"""The API of pools."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from config.jobs.api import JobSerializer
from config.shared.limits import DEPTH_MAX, SEED_MAX
from pooling.api.base import OfBenchmark
from pooling.models import Pool, Run
from pooling.policies import check_can_pool


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
