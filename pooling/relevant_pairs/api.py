"""The API of potentially relevant pairs."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from hearth.accounts.roles import is_researcher
from hearth.jobs.api import JobSerializer
from hearth.requests.files import receives_files
from hearth.shared.addresses import addresses
from hearth.shared.option_fields import serializer_of
from hearth.shared.options import as_params
from hearth.shared.uploads import stored_uploads
from pooling.api.base import OfBenchmark
from pooling.policies import check_can_add_proxy
from pooling.relevant_pairs.core.request import PartsRequest, RelevantPairsRequest
from pooling.relevant_pairs.models import RelevantPairs
from pooling.relevant_pairs.selectors import parts_of_benchmark
from pooling.relevant_pairs.tasks import KIND

RelevantPairsRequestSerializer = serializer_of(RelevantPairsRequest, "RelevantPairsRequest")
PartsSerializer = serializer_of(PartsRequest, "PartsRequest")
PARTS = inline_serializer("Parts", {"parts": serializers.ListField(child=serializers.CharField())})


class RelevantPairsSerializer(serializers.ModelSerializer[RelevantPairs]):
    id = serializers.IntegerField(source="pk", help_text="The id of the proxy.")
    name = serializers.CharField(source="proxy.name", help_text="The name of the proxy.")

    class Meta:
        model = RelevantPairs
        fields = [
            "id",
            "name",
            "detector",
            "threshold",
            "n_parts",
            "n_pairs",
            "n_candidates",
            "sha256",
        ]


@receives_files(is_researcher)
class RelevantPairsList(OfBenchmark, generics.ListAPIView[Any]):
    """List the potentially relevant pairs of a benchmark.

    If two captions share an action, the moment of one is a candidate for the other. The proxy with
    the same id has the highest confidence of a candidate for each caption and video.
    """

    serializer_class = RelevantPairsSerializer

    def get_queryset(self) -> QuerySet[RelevantPairs]:
        found = RelevantPairs.objects.filter(proxy__benchmark=self.benchmark)
        return found.select_related("proxy").order_by("proxy__name")

    @extend_schema(request=RelevantPairsRequestSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Find potentially relevant pairs.

        A job compares the parts of all captions, and stores the pairs and their proxy. The same
        pairs are stored once. The `result` of the job has `pk` (the id), `proxy` (the name),
        `detector`, `threshold`, `captions`, `parts`, `pairs`, `candidates`, `sha256` and `created`.
        """
        check_can_add_proxy(request.user, self.benchmark)
        wanted, files = RelevantPairsRequestSerializer.read_with_files(request.data)
        with stored_uploads(files) as stored:
            title = f"Relevant pairs {wanted.name or wanted.detector}"
            return self.enqueue(request, KIND, title, {**as_params(wanted), **stored})


class RelevantPairsParts(OfBenchmark):
    @extend_schema(parameters=[PartsSerializer], responses=PARTS)
    def get(self, request: Request, key: str) -> Response:
        """Return the different parts of the captions, to compute embeddings of them."""
        wanted = PartsSerializer.read(request.query_params)
        parts, _ = parts_of_benchmark(self.benchmark, wanted.detector)
        return Response({"parts": parts.texts})


urlpatterns = addresses(
    "benchmarks/<str:key>/relevant-pairs/",
    [
        ("", RelevantPairsList, "api-relevant-pairs"),
        ("parts/", RelevantPairsParts, "api-relevant-pairs-parts"),
    ],
)
