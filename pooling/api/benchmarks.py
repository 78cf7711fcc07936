"""The API of benchmarks."""

from __future__ import annotations

from django.db.models import QuerySet
from rest_framework import generics, serializers

from hearth.accounts.permissions import IsResearcher
from pooling.models import Benchmark
from pooling.policies import benchmarks_seen_by


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
            "archived_at",
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
            "archived_at": {"help_text": "When the benchmark was archived; null if it is not."},
        }


class BenchmarkList(generics.ListAPIView[Benchmark]):
    """List the benchmarks that you may see, by key.

    Archived benchmarks are left out.
    """

    permission_classes = [IsResearcher]
    serializer_class = BenchmarkSerializer

    def get_queryset(self) -> QuerySet[Benchmark]:
        return benchmarks_seen_by(self.request.user).filter(archived_at=None)
