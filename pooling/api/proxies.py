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
from hearth.requests.files import receives_files
from hearth.shared.downloads import attachment
from hearth.shared.errors import InvalidInput, NotFound
from hearth.shared.options import SEED_MAX
from hearth.shared.uploads import stored_uploads
from pooling import services
from pooling.api.base import OfBenchmark
from pooling.core.proxies.options import Method
from pooling.core.proxies.request import StopList
from pooling.core.proxies.words import PERCENT
from pooling.exports import ANCHORS, CAPTION, EXPORTS, NEGATIVES_MAX, TrainingOptions, file_name
from pooling.forms.proxies import EmbeddingsForm, MatrixForm, ProxyForm
from pooling.models import Proxy
from pooling.policies import check_can_add_proxy
from pooling.selectors.proxies import distribution_of_proxy

CONTENT_TYPES = sorted({kind.content_type.partition(";")[0] for kind in EXPORTS.values()})
OWN_HELP = (
    "False sets the value of a video and its own caption to 1, as in equation 5 of Wray et al. "
    "(2021). True keeps the computed value, as the published code does."
)


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


class ProxyRequestSerializer(serializers.Serializer[dict[str, Any]]):
    method = serializers.ChoiceField(
        choices=[method.value for method in Method],
        help_text="`BoW`: the overlap of the words. `PoS`: the overlap of the verbs and of the "
        "nouns. `SYN`: the overlap of their senses. `METEOR`: equal words, stems and synonyms, and "
        "their order.",
    )
    name = serializers.CharField(
        max_length=100,
        required=False,
        default="",
        allow_blank=True,
        help_text="The name; by default, the name of the method.",
    )
    stop_words = serializers.ChoiceField(
        choices=[kind.value for kind in StopList],
        default=StopList.SPACY.value,
        help_text="For BoW: the words to leave out: spaCy's list of 326 words, none, or those of "
        "`own_words`.",
    )
    own_words = serializers.FileField(
        required=False, help_text="For BoW with `own`: a text file with one word per line."
    )
    white_space = serializers.BooleanField(
        default=False,
        help_text="For BoW: split captions at any white space instead of at single spaces.",
    )
    percent = serializers.IntegerField(
        min_value=1,
        max_value=100,
        default=PERCENT,
        help_text="For BoW, PoS and SYN: use the words that at least this share of a video's "
        "captions contain, in %.",
    )
    commands = serializers.BooleanField(
        default=False, help_text="For PoS and SYN: captions are commands, such as `wash hands`."
    )
    verb_classes = serializers.FileField(
        required=False,
        help_text="For SYN: a CSV file with the columns `id,instances`, as in EPIC-KITCHENS. "
        "Without classes, the simplified Lesk algorithm selects the senses of WordNet.",
    )
    noun_classes = serializers.FileField(required=False, help_text="The same for nouns.")
    lemmas_by_tagger = serializers.BooleanField(
        default=False,
        help_text="For SYN with classes: look up classes by the tagger's lemmas, not WordNet's.",
    )
    synonyms_of_words = serializers.BooleanField(
        default=False,
        help_text="For METEOR: look up the synonyms of words, instead of those of stems, which "
        "NLTK looks up.",
    )
    own_as_computed = serializers.BooleanField(default=False, help_text=OWN_HELP)
    lexicon = serializers.FileField(
        required=False,
        help_text="A .zip or .tar.gz archive with the files of WordNet; by default, the installed "
        "WordNet.",
    )


class MatrixSerializer(serializers.Serializer[dict[str, Any]]):
    file = serializers.FileField(
        required=False, help_text="A .npy matrix of captions x videos with values from 0 to 1."
    )
    keys = serializers.FileField(
        required=False,
        help_text="A JSON file with the lists `captions` and `videos`; by default, rows and "
        "columns are in the order of the numbers of the benchmark.",
    )
    caption_embeddings = serializers.FileField(
        required=False, help_text="Instead of `file`: a .npy matrix with a row for each caption."
    )
    video_embeddings = serializers.FileField(
        required=False, help_text="Instead of `file`: a .npy matrix with a row for each video."
    )
    own_as_computed = serializers.BooleanField(
        default=False, help_text=f"For embeddings. {OWN_HELP}"
    )
    name = serializers.CharField(
        max_length=100,
        required=False,
        default="",
        allow_blank=True,
        help_text="The name; by default, the name of the file.",
    )


class TrainingSerializer(serializers.Serializer[dict[str, Any]]):
    threshold = serializers.FloatField(
        min_value=0.01,
        max_value=1,
        default=0.5,
        help_text="For `positives` and `triplets`: the lowest value of a positive.",
    )
    anchor = serializers.ChoiceField(
        choices=list(ANCHORS),
        default=CAPTION,
        help_text="For `triplets`: whether the anchor is a caption or a video.",
    )
    negatives = serializers.IntegerField(
        min_value=1,
        max_value=NEGATIVES_MAX,
        default=1,
        help_text="For `triplets`: the number of negatives per positive.",
    )
    seed = serializers.IntegerField(
        min_value=0,
        max_value=SEED_MAX,
        default=0,
        help_text="For `triplets`: the seed that draws the negatives.",
    )


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
        shape = ProxyRequestSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        form = ProxyForm(_texts(shape.validated_data), request.FILES)
        _check(form)
        params = {"name": form.cleaned_data["name"], "request": form.request().values()}
        with stored_uploads(form.sent_files()) as stored:
            title = f"Proxy {params['name'] or shape.validated_data['method']}"
            return self.enqueue(request, "compute_proxy", title, {**params, **stored})


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
        shape = MatrixSerializer(data=request.data)
        shape.is_valid(raise_exception=True)
        is_matrix = "file" in request.FILES
        form = (MatrixForm if is_matrix else EmbeddingsForm)(
            _texts(shape.validated_data), request.FILES
        )
        _check(form)
        params = {
            name: value for name, value in form.cleaned_data.items() if name not in form.files_of
        }
        kind = "import_proxy" if is_matrix else "import_embeddings"
        files = form.sent_files()
        with stored_uploads(files) as stored:
            title = f"Proxy {next(iter(files.values())).name}"
            return self.enqueue(request, kind, title, {**params, **stored})


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
        campaign or an ordering study uses cannot be deleted.
        """
        services.delete_proxy(proxy=self.proxy, by=cast(User, request.user))
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
        shape = TrainingSerializer(data=request.query_params)
        shape.is_valid(raise_exception=True)
        options = TrainingOptions(**shape.validated_data)
        kind = EXPORTS[export]
        return StreamingHttpResponse(
            kind.pieces(proxy, options),
            content_type=kind.content_type,
            headers={"Content-Disposition": attachment(file_name(proxy, export, options))},
        )


def _texts(values: dict[str, Any]) -> dict[str, Any]:
    """Return values as a form sends them: a box that is not ticked is missing."""
    return {name: "on" if value is True else value for name, value in values.items() if value}


def _check(form: ProxyForm | MatrixForm | EmbeddingsForm) -> None:
    """Check a request as the page does.

    Raises `InvalidInput` for an error of the whole form, or else `ValidationError` with the errors
    by field.
    """
    if not form.is_valid():
        if "__all__" in form.errors:
            raise InvalidInput(str(form.errors["__all__"][0]))
        errors = {name: list(map(str, problems)) for name, problems in form.errors.items()}
        raise serializers.ValidationError(errors)
