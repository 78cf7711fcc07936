"""The base of API views of one benchmark."""

from __future__ import annotations

from typing import Any, cast

from rest_framework import generics
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from hearth.accounts.models import User
from hearth.accounts.permissions import IsResearcher
from hearth.idempotency.api import Idempotent
from hearth.jobs.api import accepted
from hearth.jobs.services import enqueue_job
from hearth.shared.errors import NotFound
from hearth.shared.option_fields import OptionsSerializer
from hearth.shared.options import as_params
from hearth.shared.uploads import stored_with
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

    def enqueue_upload(
        self,
        request: Request,
        shape: type[OptionsSerializer],
        kind: str,
        title: str,
    ) -> Response:
        """Start the job that reads an uploaded file."""
        wanted, files = shape.read_with_files(request.data)
        file = files.pop("file")
        _ = self.benchmark  # looked up before the files are stored
        with stored_with(file, files) as stored:
            return self.enqueue(
                request, kind, f"{title} {file.name}", {**stored, **as_params(wanted)}
            )
