"""The API of proxies."""

from __future__ import annotations

from typing import Any, cast

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from hearth.accounts.models import User
from hearth.accounts.roles import is_researcher
from hearth.jobs.api import JobSerializer
from hearth.jobs.deleting import delete
from hearth.requests.files import receives_files
from hearth.shared.downloads import attachment
from hearth.shared.errors import NotFound
from hearth.shared.option_fields import fault_of_request, serializer_of
from hearth.shared.options import OptionFault, as_params
from hearth.shared.uploads import stored_uploads
from pooling.api.base import OfBenchmark
from pooling.core.proxies.request import ProxyRequest, ProxyUpload
from pooling.exports import EXPORTS, TrainingOptions, file_name
from pooling.models import Proxy
from pooling.policies import check_can_add_proxy
from pooling.selectors.proxies import check_installed, distribution_of_proxy

CONTENT_TYPES = sorted({kind.content_type.partition(";")[0] for kind in EXPORTS.values()})


class ProxySerializer(serializers.ModelSerializer[Proxy]):
    distribution = serializers.SerializerMethodField(
        help_text="`mean`; `zeros`, the number of pairs with the value 0; `bins`, the number of "
        "pairs in each of 20 bins of equal width; `at_least`, the number of pairs at or above "
        "0.1, 0.2, … 1."
    )
    captions_changed = serializers.BooleanField(
        source="is_of_other_captions",
        read_only=True,
        help_text="Whether captions have changed since the proxy was stored.",
    )
    caution = serializers.CharField(
        read_only=True, help_text="A warning about the method; empty for most methods."
    )

    class Meta:
        model = Proxy
        fields = [
            "id",
            "name",
            "method",
            "options",
            "source",
            "sha256",
            "captions_sha256",
            "captions_changed",
            "caution",
            "distribution",
            "code_version",
            "created_at",
        ]
        extra_kwargs = {
            "id": {"help_text": "The id of the proxy, for its address."},
            "name": {"help_text": "The name, unique in the benchmark."},
            "method": {"help_text": "How the values were computed; `imported` for a matrix."},
            "options": {"help_text": "The options of the method, as text."},
            "source": {"help_text": "The names of uploaded files; empty if there were none."},
            "sha256": {"help_text": "The SHA-256 of the matrix."},
            "captions_sha256": {"help_text": "The hash of the captions when the proxy was stored."},
        }

    def get_distribution(self, proxy: Proxy) -> dict[str, Any]:
        return {**distribution_of_proxy(proxy)}


ProxyRequestSerializer = serializer_of(ProxyRequest, "ProxyRequest")
MatrixSerializer = serializer_of(ProxyUpload, "Matrix")
TrainingSerializer = serializer_of(TrainingOptions, "Training")


@receives_files(is_researcher)
class Proxies(OfBenchmark, generics.ListAPIView[Proxy]):
    """List the proxies of a benchmark, by name.

    A proxy is a number from 0 to 1 that a machine computed for each caption and video.
    """

    serializer_class = ProxySerializer

    def get_queryset(self) -> QuerySet[Proxy]:
        return Proxy.objects.filter(benchmark=self.benchmark).select_related("benchmark")

    @extend_schema(request=ProxyRequestSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Compute a proxy from the captions.

        A job compares each caption with the captions of each video. The same proxy is stored once.
        If the name is in use for another proxy, the new one is called `NAME@2`.

        The `result` of the job has `pk` (the id), `proxy` (the name), `method`, `options`,
        `captions`, `videos`, `mean`, `sha256` and `created` (false if the proxy was already
        stored).
        """
        check_can_add_proxy(request.user, self.benchmark)
        wanted, files = ProxyRequestSerializer.read_with_files(request.data)
        try:
            check_installed(wanted)
        except OptionFault as fault:
            raise fault_of_request(fault) from fault
        with stored_uploads(wanted.used(files)) as stored:
            title = f"Proxy {wanted.name or wanted.method}"
            return self.enqueue(request, "compute_proxy", title, {**as_params(wanted), **stored})


@receives_files(is_researcher)
class ProxyUploads(OfBenchmark):
    @extend_schema(request=MatrixSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Upload a proxy: a matrix, or embeddings of captions, of videos, or of both.

        A job checks the whole file and stores the values as float16. For embeddings, it stores the
        cosines. Negative cosines become 0. Files with Python objects are refused. The `result` of
        the job has the same fields as for a computed proxy.
        """
        check_can_add_proxy(request.user, self.benchmark)
        wanted, files = MatrixSerializer.read_with_files(request.data)
        kind = "import_embeddings" if wanted.file is None else "import_proxy"
        with stored_uploads(files) as stored:
            title = f"Proxy {next(iter(files.values())).name}"
            return self.enqueue(request, kind, title, {**as_params(wanted), **stored})


# The base of views of one proxy.
class OfProxy(OfBenchmark):
    @property
    def proxy(self) -> Proxy:
        proxies = Proxy.objects.select_related("benchmark")
        found = proxies.filter(benchmark=self.benchmark, pk=self.kwargs["pk"]).first()
        if found is None:
            raise NotFound("There is no such proxy.")
        return found


class ProxyDetail(OfProxy):
    """Return a proxy."""

    @extend_schema(responses=ProxySerializer)
    def get(self, request: Request, key: str, pk: int) -> Response:
        return Response(ProxySerializer(self.proxy).data)

    @extend_schema(
        request=None,
        responses={
            204: OpenApiResponse(description="The proxy is deleted."),
            409: OpenApiResponse(description="A pool or a campaign uses the proxy."),
        },
    )
    def delete(self, request: Request, key: str, pk: int) -> Response:
        """Delete a proxy with its file.

        The person who added the proxy, leads and admins may do this. A proxy that a pool, a
        campaign or a study uses cannot be deleted.
        """
        delete(self.proxy, by=cast(User, request.user))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ProxyFile(OfProxy):
    @extend_schema(
        operation_id="benchmarks_proxies_files_retrieve",
        parameters=[TrainingSerializer],
        responses={(200, kind): OpenApiTypes.BINARY for kind in CONTENT_TYPES},
    )
    def get(self, request: Request, key: str, pk: int, export: str) -> StreamingHttpResponse:
        """Download a proxy as a file.

        `matrix`: a .npy matrix of float16, captions x videos. `keys`: JSON with the keys of its
        rows and columns, and its provenance. `positives`: CSV with `caption_id`, `video_id` and
        `value` of the pairs at or above the threshold. `triplets`: CSV with an anchor, a positive
        at or above the threshold, and a negative below it. The file is sent while it is written.
        """
        proxy = self.proxy
        if export not in EXPORTS:
            raise NotFound("There is no such file.")
        options = TrainingSerializer.read(request.query_params)
        kind = EXPORTS[export]
        return StreamingHttpResponse(
            kind.pieces(proxy, options),
            content_type=kind.content_type,
            headers={"Content-Disposition": attachment(file_name(proxy, export, options))},
        )
