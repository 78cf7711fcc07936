"""The API of pools."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from hearth.jobs.api import JobSerializer
from hearth.shared.limits import DEPTH_MAX, SEED_MAX
from pooling.api.base import OfBenchmark
from pooling.core.pool_options import PROXY_FROM, SIMILARITY, PoolOptions
from pooling.enums import Originals
from pooling.models import Pool, Run
from pooling.policies import check_can_pool
from pooling.selectors.pool_plan import SIMILAR_MAX
from pooling.selectors.runs import run_ids

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


class PoolRequestSerializer(serializers.Serializer[dict[str, Any]]):
    depth = serializers.IntegerField(
        min_value=1,
        max_value=DEPTH_MAX,
        help_text="The number of items to pool from the top of each ranked list.",
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
        help_text="The seed with which captions and videos are sampled.",
    )
    video_sample = serializers.IntegerField(
        min_value=1,
        required=False,
        allow_null=True,
        default=None,
        help_text="The number of videos to pool; by default, all videos.",
    )
    originals = serializers.ChoiceField(
        choices=Originals.choices, default=Originals.RANKED, help_text=ORIGINALS_HELP
    )
    similar = serializers.IntegerField(
        min_value=1,
        max_value=SIMILAR_MAX,
        required=False,
        allow_null=True,
        default=None,
        help_text="The number of similar texts per caption whose original positives are pooled; "
        "by default, none.",
    )
    similar_from = serializers.FloatField(
        min_value=0.01,
        max_value=1,
        default=SIMILARITY,
        help_text="The minimum similarity of a similar text.",
    )
    proxy = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        help_text="The name of a proxy whose pairs with a high value are pooled, even if no run "
        "ranks them; by default, none.",
    )
    proxy_from = serializers.FloatField(
        min_value=0.01,
        max_value=1,
        default=PROXY_FROM,
        help_text="The minimum value of the pairs that `proxy` adds.",
    )
    budget = serializers.IntegerField(
        min_value=1,
        max_value=2**31 - 1,
        required=False,
        allow_null=True,
        default=None,
        help_text="The maximum number of new pairs. Pairs that more systems rank come first, then "
        "pairs with a better rank in any run, then pairs with a higher value by the proxy. Ties "
        "are broken at random, by the seed.",
    )


class PoolBuildSerializer(PoolRequestSerializer):
    expected = serializers.RegexField(
        r"\A([0-9a-f]{64})?\Z",
        required=False,
        default="",
        allow_blank=True,
        help_text="The `sha256` of a plan. The job fails if the new pairs have changed since then.",
    )


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
        shape = PoolBuildSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        options = shape.validated_data
        check_can_pool(request.user, self.benchmark, PoolOptions.of(options))
        ids = {"runs": run_ids(self.benchmark, options["runs"])}
        return self.enqueue(
            request, "build_pool", f"Pool of depth {options['depth']}", options | ids
        )
