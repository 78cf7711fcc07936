"""The API of the previews of pools."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.selectors.effort import PoolPlanReport, preview_pool
from config.jobs.api import JobSerializer
from pooling.api.base import OfBenchmark
from pooling.api.pools import PoolRequestSerializer
from pooling.core.pool_options import PoolOptions
from pooling.policies import check_can_pool
from pooling.selectors.pool_plan import takes_long


class PoolPlanSerializer(serializers.Serializer[PoolPlanReport]):
    pairs = serializers.IntegerField(help_text="The number of pairs in the pool.")
    new_pairs = serializers.IntegerField(
        help_text="The number of pairs that no earlier pool contains."
    )
    left_out = serializers.IntegerField(
        help_text="The number of new pairs that the budget leaves out."
    )
    unranked = serializers.IntegerField(
        help_text="The number of new pairs that are not in the top `depth` of any pooled run, such "
        "as pairs that a proxy added."
    )
    tasks = serializers.IntegerField(
        help_text="The number of pairs to judge if captions with equal texts share judgments."
    )
    new_tasks = serializers.IntegerField(
        help_text="The number of the `tasks` that no earlier pool contains."
    )
    labels = serializers.IntegerField(
        help_text="The number of labels that the new tasks need under the policy of the newest "
        "judging campaign, without those that are needed after a disagreement."
    )
    seconds = serializers.FloatField(
        allow_null=True, help_text="The median time of an answer; null if no time is known."
    )
    answers = serializers.IntegerField(
        help_text="The number of answers from which `seconds` is computed."
    )
    is_of_benchmark = serializers.BooleanField(
        help_text="Whether `seconds` is computed from answers of this benchmark (true) or of all "
        "benchmarks (false)."
    )
    hours = serializers.FloatField(
        allow_null=True, help_text="The hours that all `labels` need; null if no time is known."
    )
    cost = serializers.FloatField(allow_null=True, help_text="The product of `hours` and `rate`.")
    sha256 = serializers.CharField(
        help_text="A value to send as `expected` when the pool is built, so that the job fails if "
        "the new pairs have changed."
    )


class PoolPlanRequestSerializer(PoolRequestSerializer):
    rate = serializers.FloatField(
        min_value=0,
        required=False,
        allow_null=True,
        default=None,
        help_text="The cost of an hour of judging, in any currency.",
    )


class PoolPlans(OfBenchmark):
    """Preview a pool."""

    serializer_class = PoolPlanSerializer

    @extend_schema(
        request=PoolPlanRequestSerializer,
        responses={200: PoolPlanSerializer, 202: JobSerializer},
    )
    def post(self, request: Request, key: str) -> Response:
        """Compute what a pool would contain and how long its judging would take.

        Nothing is stored. A person may preview the pools that they may build. With `similar`, or
        with a `proxy` of a large benchmark, the preview takes longer. Then the response is a job
        with status 202, and the preview is the `result` of the job.
        """
        shape = PoolPlanRequestSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        options = PoolOptions.of(shape.validated_data)
        check_can_pool(request.user, self.benchmark, options)
        if takes_long(self.benchmark, options):
            title = f"Preview a pool of {self.benchmark.name}"
            return self.enqueue(request, "preview_pool", title, shape.validated_data)
        planned = preview_pool(self.benchmark, options, shape.validated_data["rate"])
        return Response(planned.report())
