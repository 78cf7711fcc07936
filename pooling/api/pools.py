"""The API of pools."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from hearth.jobs.api import JobSerializer
from hearth.shared.option_fields import serializer_of
from pooling.api.base import OfBenchmark
from pooling.core.pool_options import PoolRequest
from pooling.models import Pool, Run
from pooling.policies import check_can_pool
from pooling.selectors.runs import build_params

ORIGINALS_HELP = (
    "`ranked`: original positives are pooled like other pairs; `added`: all of them are pooled; "
    "`left-out`: none of them is pooled."
)


class PoolSerializer(serializers.ModelSerializer[Pool]):
    runs: serializers.SlugRelatedField[Run] = serializers.SlugRelatedField(
        slug_field="name", many=True, read_only=True, help_text="The names of the pooled runs."
    )
    proxy = serializers.CharField(
        source="proxy.name",
        default=None,
        help_text="The proxy whose pairs were candidates; null if there was none.",
    )
    withdrawn_runs = serializers.SerializerMethodField(
        help_text="The names of the pooled runs that have been withdrawn since."
    )

    class Meta:
        model = Pool
        fields = [
            "id",
            "strategy",
            "depth",
            "runs",
            "withdrawn_runs",
            "sample_size",
            "video_sample",
            "seed",
            "originals",
            "similar",
            "similar_from",
            "proxy",
            "proxy_from",
            "budget",
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
            "video_sample": {"help_text": "The number of sampled videos; null for all videos."},
            "seed": {
                "help_text": "The seed of the samples and of the order of pairs with equal "
                "priority."
            },
            "originals": {"help_text": ORIGINALS_HELP},
            "similar": {
                "help_text": "The number of similar texts per caption whose original positives "
                "were candidates; null for none."
            },
            "similar_from": {"help_text": "The minimum similarity of a similar text."},
            "proxy_from": {"help_text": "The minimum value of the pairs that the proxy added."},
            "budget": {"help_text": "The maximum number of new pairs; null for all."},
            "n_pairs": {"help_text": "The number of pairs in the pool."},
            "n_new_pairs": {"help_text": "The number of pairs that no earlier pool contains."},
            "n_tasks": {
                "help_text": "The number of pairs to judge if captions with equal texts share "
                "judgments; null for some pools of older versions."
            },
        }

    def get_withdrawn_runs(self, pool: Pool) -> list[str]:
        return [run.name for run in pool.runs.all() if run.is_withdrawn]


PoolBuildSerializer = serializer_of(PoolRequest, "PoolBuild", without=("rate", "seconds"))


class Pools(OfBenchmark, generics.ListAPIView[Pool]):
    """List the pools of a benchmark, newest first."""

    serializer_class = PoolSerializer

    def get_queryset(self) -> QuerySet[Pool]:
        return (
            Pool.objects.filter(benchmark=self.benchmark)
            .select_related("proxy")
            .prefetch_related("runs")
        )

    @extend_schema(request=PoolBuildSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Build a pool from the top k of runs.

        Leads and admins may build any pool. Researchers may pool only a single run, to a depth of
        10 or less and without other options. A job computes the pairs and stores those that no
        earlier pool contains. The same request does not store a second pool.

        The `result` of the job has `pool` (the id), `pairs`, `new_pairs`, `tasks`, and `to_judge`
        with the numbers of `tasks` and `pairs` that the next campaign would have.
        """
        wanted = PoolBuildSerializer.read(request.data)
        check_can_pool(request.user, self.benchmark, wanted.pool)
        params = build_params(self.benchmark, wanted)
        return self.enqueue(request, "build_pool", f"Pool of depth {wanted.pool.depth}", params)
