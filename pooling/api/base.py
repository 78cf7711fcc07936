"""The base of API views of one benchmark."""

from __future__ import annotations

from typing import Any, cast

from rest_framework import generics, serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from hearth.accounts.models import User
from hearth.accounts.permissions import IsResearcher
from hearth.idempotency.api import Idempotent
from hearth.jobs.api import accepted
from hearth.jobs.services import enqueue_job
from hearth.shared.errors import NotFound
from pooling.core.readers.registry import AUTO, Formats
from pooling.models import Benchmark


# The base of views below /benchmarks/KEY/. It has no docstring, because the schema would use it as
# the description of views that have none.
class OfBenchmark(Idempotent, generics.GenericAPIView[Any]):
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


class FormatField(serializers.ChoiceField):
    """The format of a file, one of those that have a reader."""

    def __init__(self, formats: Formats[Any]) -> None:
        super().__init__(
            choices=[AUTO, *formats.names()],
            default=AUTO,
            help_text="The format of the file; by default, it is detected from the content.",
        )
