"""The API of machine judges."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.machines.calling import get_endpoint
from evaluation.machines.models import MachineJudge
from evaluation.machines.request import MachineRequest
from evaluation.machines.tasks import KIND
from hearth.accounts.roles import is_researcher
from hearth.jobs.api import JobSerializer
from hearth.requests.files import receives_files
from hearth.shared.addresses import addresses
from hearth.shared.errors import InvalidInput
from hearth.shared.option_fields import serializer_of
from hearth.shared.options import as_params
from hearth.shared.uploads import stored_uploads
from pooling.api.base import OfBenchmark
from pooling.policies import check_can_add_proxy

MachineRequestSerializer = serializer_of(MachineRequest, "MachineRequest")


class MachineJudgeSerializer(serializers.ModelSerializer[MachineJudge]):
    id = serializers.IntegerField(source="pk", help_text="The id of the proxy.")
    name = serializers.CharField(source="proxy.name", help_text="The name of the proxy.")

    class Meta:
        model = MachineJudge
        fields = [
            "id",
            "name",
            "machine",
            "version",
            "family",
            "judge",
            "n_pairs",
            "n_errors",
            "sha256",
        ]


@receives_files(is_researcher)
class Machines(OfBenchmark, generics.ListAPIView[Any]):
    """List the machine judges of a benchmark, by the name of their proxies.

    A machine judge gives pairs a probability of relevance. It never becomes a label.
    """

    serializer_class = MachineJudgeSerializer

    def get_queryset(self) -> QuerySet[MachineJudge]:
        found = MachineJudge.objects.filter(proxy__benchmark=self.benchmark)
        return found.select_related("proxy").order_by("proxy__name")

    @extend_schema(request=MachineRequestSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Ask a machine judge about pairs, or upload its answers.

        A job asks in batches of 64 pairs and stores each batch, so the same request continues after
        an interruption. The `result` of the job has `pk` (the id), `proxy` (the name), `machine`,
        `version`, `family`, `pairs`, `errors`, `sha256` and `created` (false if the same answers
        were already stored).
        """
        check_can_add_proxy(request.user, self.benchmark)
        wanted, files = MachineRequestSerializer.read_with_files(request.data)
        if wanted.file is None:
            get_endpoint(wanted.judge)
        elif not files:
            raise InvalidInput("The file is empty.")
        with stored_uploads(files) as stored:
            title = f"Machine judge {wanted.judge or wanted.machine}"
            return self.enqueue(request, KIND, title, {**as_params(wanted), **stored})


urlpatterns = addresses("benchmarks/<str:key>/machines/", [("", Machines, "api-machines")])
