"""The API that changes, withdraws, archives and deletes runs, pools and benchmarks."""

from __future__ import annotations

from typing import cast

from django.db.models import Model
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from hearth.accounts.models import User
from hearth.accounts.permissions import IsLead, IsResearcher
from hearth.jobs.api import JobSerializer, accepted
from hearth.jobs.deleting import delete_or_enqueue
from hearth.shared.errors import InvalidInput, NotFound
from hearth.shared.option_fields import serializer_of
from pooling import policies, services
from pooling.api.base import OfBenchmark
from pooling.api.benchmarks import BenchmarkSerializer
from pooling.api.runs import RunSerializer
from pooling.models import Benchmark, Pool, Run
from pooling.services.changing_benchmarks import BenchmarkFields
from pooling.services.changing_runs import RunFields

DELETED = {
    202: JobSerializer,
    204: OpenApiResponse(description="The object is deleted."),
    409: OpenApiResponse(description="Something that must stay depends on the object."),
}


def delete(request: Request, instance: Model) -> Response:
    """Delete an object. If it has many rows, return the job that deletes it."""
    job = delete_or_enqueue(instance, cast(User, request.user))
    return accepted(job) if job else Response(status=status.HTTP_204_NO_CONTENT)


RunFieldsSerializer = serializer_of(RunFields, "RunFields", is_partial=True)


class RunChangeSerializer(RunFieldsSerializer):  # type: ignore[misc, valid-type]
    withdrawn = serializers.BooleanField(
        required=False, help_text="True withdraws the run, and false restores it."
    )
    reason = serializers.CharField(
        required=False, allow_blank=True, max_length=500, help_text="Why the run is withdrawn."
    )


class RunDetail(OfBenchmark):
    """Return a run, even if it is withdrawn."""

    @property
    def run(self) -> Run:
        runs = Run.objects.select_related("benchmark", "system")
        found = runs.filter(benchmark=self.benchmark, pk=self.kwargs["pk"]).first()
        if found is None:
            raise NotFound("There is no such run.")
        return found

    @extend_schema(responses=RunSerializer)
    def get(self, request: Request, key: str, pk: int) -> Response:
        return Response(RunSerializer(self.run).data)

    @extend_schema(request=RunChangeSerializer, responses=RunSerializer)
    def patch(self, request: Request, key: str, pk: int) -> Response:
        """Change a run, withdraw it, or restore it.

        The person who imported the run, leads and admins may do this. The name and the metadata
        can change. The ranked lists never change. A withdrawn run is kept, but lists, the
        leaderboard and new pools leave it out.
        """
        run, by = self.run, cast(User, request.user)
        policies.check_can_change_run(by, run)
        changes = RunChangeSerializer.read_changes(request.data)
        withdrawn, reason = changes.pop("withdrawn", None), changes.pop("reason", "")
        services.change_run(run=run, changes=changes, by=by)
        if withdrawn is True and not run.is_withdrawn:
            services.withdraw_run(run=run, by=by, reason=reason)
        elif withdrawn is False and run.is_withdrawn:
            services.restore_run(run=run, by=by)
        return Response(RunSerializer(run).data)

    @extend_schema(request=None, responses=DELETED)
    def delete(self, request: Request, key: str, pk: int) -> Response:
        """Delete a run that no pool contains, with its ranked lists and scores.

        The person who imported the run, leads and admins may do this.
        """
        run = self.run
        policies.check_can_delete_run(request.user, run)
        return delete(request, run)


class PoolDetail(OfBenchmark):
    @extend_schema(request=None, responses=DELETED)
    def delete(self, request: Request, key: str, pk: int) -> Response:
        """Delete a pool that no campaign uses, with its pairs.

        Only leads and admins may do this.
        """
        pools = Pool.objects.select_related("benchmark")
        pool = pools.filter(benchmark=self.benchmark, pk=pk).first()
        if pool is None:
            raise NotFound("There is no such pool.")
        policies.check_can_build_pool(request.user, pool.benchmark)
        return delete(request, pool)


BenchmarkFieldsSerializer = serializer_of(BenchmarkFields, "BenchmarkFields", is_partial=True)


class BenchmarkChangeSerializer(BenchmarkFieldsSerializer):  # type: ignore[misc, valid-type]
    archived = serializers.BooleanField(
        required=False, help_text="True archives the benchmark, and false restores it."
    )


class BenchmarkDetail(OfBenchmark):
    """Return one benchmark."""

    def get_permissions(self) -> list[BasePermission]:
        return [IsResearcher()] if self.request.method == "GET" else [IsLead()]

    @extend_schema(responses=BenchmarkSerializer)
    def get(self, request: Request, key: str) -> Response:
        return Response(BenchmarkSerializer(self.benchmark).data)

    @extend_schema(request=BenchmarkChangeSerializer, responses=BenchmarkSerializer)
    def patch(self, request: Request, key: str) -> Response:
        """Change a benchmark, archive it, or restore it.

        Only leads and admins may do this. The name, the licence and the description can change.
        The key stays, because addresses, roles, scripts and exported files contain it. An archived
        benchmark can be read but not changed, and lists leave it out. A request with `archived`
        must not contain other fields.
        """
        benchmark, by = self.benchmark, cast(User, request.user)
        policies.check_can_manage_benchmark(by, benchmark)
        changes = BenchmarkChangeSerializer.read_changes(request.data)
        archived = changes.pop("archived", None)
        if archived is not None and changes:
            raise InvalidInput("A request with `archived` must not contain other fields.")
        if archived is True and not benchmark.is_archived:
            services.archive_benchmark(benchmark=benchmark, by=by)
        elif archived is False and benchmark.is_archived:
            services.restore_benchmark(benchmark=benchmark, by=by)
        elif changes:
            services.change_benchmark(benchmark=benchmark, changes=changes, by=by)
        return Response(BenchmarkSerializer(benchmark).data)

    @extend_schema(request=None, responses=DELETED)
    def delete(self, request: Request, key: str) -> Response:
        """Delete a benchmark that has no judgments and no label sets.

        Its captions, videos, runs, proxies, pools, gold items and campaigns without judgments are
        deleted, too. Only leads and admins may do this.
        """
        benchmark: Benchmark = self.benchmark
        policies.check_can_manage_benchmark(request.user, benchmark)
        return delete(request, benchmark)
