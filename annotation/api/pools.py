"""The API of the previews of pools."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.selectors.effort import PoolPlanReport, preview_pool
from annotation.selectors.pool_strata import StratumReport
from hearth.jobs.api import JobSerializer
from hearth.shared.option_fields import serializer_of
from hearth.shared.options import as_params
from pooling.api.base import OfBenchmark
from pooling.core.pool_options import PoolRequest
from pooling.policies import check_can_pool
from pooling.selectors.pool_plan import takes_long


class StratumSerializer(serializers.Serializer[StratumReport]):
    name = serializers.CharField(help_text="Its ranks, or where its pairs come from.")
    rate = serializers.FloatField(
        allow_null=True, help_text="The share to judge; null if all pairs are to be judged."
    )
    pairs = serializers.IntegerField(help_text="The number of pairs in the stratum.")
    drawn = serializers.IntegerField(help_text="The number of pairs to judge.")
    new = serializers.IntegerField(help_text="Those of them that no earlier pool contains.")
    stands_for = serializers.FloatField(help_text="The pairs for which a drawn pair stands.")
    judged = serializers.IntegerField(help_text="Pairs of the stratum that have a label so far.")
    relevant = serializers.IntegerField(help_text="Relevant pairs among these.")
    share = serializers.FloatField(
        allow_null=True, help_text="The share of relevant pairs; null with fewer than 20 labels."
    )
    relevant_expected = serializers.FloatField(
        allow_null=True, help_text="The expected number of relevant pairs in the stratum."
    )
    margin = serializers.FloatField(
        help_text="Half the width of the 95 % interval of the number of relevant pairs in the "
        "stratum, once the drawn pairs are judged; without a `share`, the largest possible one."
    )


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
        help_text="The number of text pairs in the pool. Captions with equal texts share them."
    )
    new_tasks = serializers.IntegerField(
        help_text="The number of tasks to judge that the pool adds to the next campaign."
    )
    task_pairs = serializers.IntegerField(
        help_text="The number of pairs that share the labels of the `new_tasks`."
    )
    waiting_tasks = serializers.IntegerField(
        help_text="The number of tasks to judge that earlier pools give to the next campaign."
    )
    waiting_pairs = serializers.IntegerField(
        help_text="The number of pairs that share the labels of the `waiting_tasks`."
    )
    labels = serializers.IntegerField(
        help_text="The number of labels that the new tasks need under the policy of the newest "
        "judging campaign, without those that are needed after a disagreement."
    )
    has_policy = serializers.BooleanField(
        help_text="Whether there is such a campaign (true) or the default policy applies (false)."
    )
    seconds = serializers.FloatField(
        help_text="The time of an answer: the `seconds` of the request, or the median time, or 8 "
        "if no time is known."
    )
    answers = serializers.IntegerField(
        help_text="The number of answers from which `seconds` is computed; 0 if it is assumed."
    )
    is_of_benchmark = serializers.BooleanField(
        help_text="Whether `seconds` is computed from answers of this benchmark (true) or of all "
        "benchmarks (false)."
    )
    hours = serializers.FloatField(help_text="The hours that all `labels` need.")
    cost = serializers.FloatField(allow_null=True, help_text="The product of `hours` and `rate`.")
    sha256 = serializers.CharField(
        help_text="A value to send as `expected` when the pool is built, so that the job fails if "
        "the new pairs have changed."
    )
    strata = StratumSerializer(
        many=True, required=False, help_text="What judging each stratum gives, if there are any."
    )


PoolPlanRequestSerializer = serializer_of(PoolRequest, "PoolPlanRequest", without=("expected",))


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
        wanted = PoolPlanRequestSerializer.read(request.data)
        check_can_pool(request.user, self.benchmark, wanted.pool)
        if takes_long(self.benchmark, wanted.pool):
            title = f"Preview a pool of {self.benchmark.name}"
            return self.enqueue(request, "preview_pool", title, as_params(wanted))
        planned = preview_pool(self.benchmark, wanted.pool, wanted.rate, wanted.seconds)
        return Response(planned.report())
