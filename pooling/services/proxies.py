"""Computing and importing proxies."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

import numpy as np
from django.core.files import File

from hearth.accounts.actors import Actor, account_of
from hearth.audit.services import record
from hearth.shared.bulk import lock_row, long_transaction
from hearth.shared.errors import InvalidInput, Outdated
from hearth.shared.progress import Progress, no_progress
from hearth.shared.version import code_version
from pooling.core.arrays import Float32s
from pooling.core.lines import SourceFile, sha256_of_file
from pooling.core.proxies.distribution import distribution_of
from pooling.core.proxies.embeddings import fill_cosine, group_vectors, read_vectors
from pooling.core.proxies.options import Method, ProxyOptions, compute_from_captions
from pooling.core.proxies.proxy_file import new_matrix, open_matrix
from pooling.core.proxies.request import ProxyRequest, ProxyUpload
from pooling.core.proxies.wordnet import DEBIAN
from pooling.core.readers.proxies import PROXIES
from pooling.enums import PoolingAct, ProxyMethod
from pooling.models import Benchmark, Proxy, proxy_storage
from pooling.policies import check_can_add_proxy
from pooling.selectors import arrays
from pooling.selectors.proxies import captions_of_videos, distribution_of_proxy
from pooling.services.lexicons import unpacked_wordnet
from pooling.services.names import check_name, free_name

NOUN = "proxy"


class ProxyReport(TypedDict):
    """A proxy in the output of `--json`."""

    proxy: str
    method: str
    options: dict[str, str]
    captions: int
    videos: int
    mean: float
    sha256: str
    created: bool


@dataclass(frozen=True, slots=True)
class AddedProxy:
    """A proxy. created: False if it was already stored with the same method, options and values."""

    proxy: Proxy
    created: bool

    def report(self) -> ProxyReport:
        return {
            "proxy": self.proxy.name,
            "method": self.proxy.method,
            "options": self.proxy.options,
            "captions": self.proxy.benchmark.n_queries,
            "videos": self.proxy.benchmark.n_videos,
            "mean": distribution_of_proxy(self.proxy)["mean"],
            "sha256": self.proxy.sha256,
            "created": self.created,
        }


def compute_proxy(
    *,
    benchmark: Benchmark,
    options: ProxyOptions,
    by: Actor,
    name: str = "",
    progress: Progress = no_progress,
) -> AddedProxy:
    """Compute a proxy from the texts of the captions. A video is represented by its own captions.

    Raises `NotPermitted` if `by` may not add proxies, `InvalidInput` if the name is invalid or
    WordNet or a sentence model is needed but missing, and `Outdated` if the captions have changed
    in the meantime.
    """
    check_can_add_proxy(by, benchmark)
    proxy = new_proxy(benchmark, method_of(options.method), name or options.method, by)
    queries, videos = arrays.original_positives(benchmark)
    with new_matrix(benchmark.n_queries, benchmark.n_videos) as (path, matrix):
        proxy.options = dict(
            compute_from_captions(
                options,
                captions_of_videos(benchmark),
                [[text] for text in arrays.query_texts(benchmark)],
                (videos, queries),
                matrix.T,
                progress,
            )
        )
        return store_proxy(proxy, path, PoolingAct.PROXY_COMPUTED, by, progress)


def compute_requested(
    *,
    benchmark: Benchmark,
    request: ProxyRequest,
    by: Actor,
    model: Path | None = None,
    progress: Progress = no_progress,
) -> AddedProxy:
    """Compute a proxy as `compute_proxy` does, with the files that came with the request.

    A lexicon is an archive or a folder. model: the folder of a sentence model; only the operator
    names one. Raises `InvalidInput` if a file is missing or has an error.
    """
    check_can_add_proxy(by, benchmark)
    with ExitStack() as stack:
        wordnet = DEBIAN
        if request.lexicon is not None:
            wordnet = stack.enter_context(unpacked_wordnet(request.lexicon))
        return compute_proxy(
            benchmark=benchmark,
            options=replace(request.options(wordnet), model=model),
            by=by,
            name=request.name,
            progress=progress,
        )


def add_proxy(
    *,
    benchmark: Benchmark,
    sent: ProxyUpload,
    by: Actor,
    progress: Progress = no_progress,
) -> AddedProxy:
    """Import a matrix, or compute a proxy from embeddings. Raises what these functions raise."""
    sent.check()
    if sent.file is not None:
        return import_proxy(
            benchmark=benchmark,
            path=sent.file.path,
            source=sent.file.source,
            keys=sent.keys,
            name=sent.name,
            by=by,
            progress=progress,
        )
    return import_embeddings(
        benchmark=benchmark,
        captions=sent.caption_embeddings,
        videos=sent.video_embeddings,
        own_is_one=not sent.own_as_computed,
        name=sent.name,
        by=by,
        progress=progress,
    )


def import_proxy(
    *,
    benchmark: Benchmark,
    path: Path,
    by: Actor,
    name: str = "",
    source: str | None = None,
    keys: SourceFile | None = None,
    progress: Progress = no_progress,
) -> AddedProxy:
    """Store the values of a `.npy` matrix, [n_queries, n_videos], as float16.

    keys: a JSON file with the keys of the rows and columns, as `export_proxy` writes it. Without
    it, rows and columns are in the order of the numbers of captions and videos. Raises
    `NotPermitted` if `by` may not add proxies, `InvalidInput` if a file or the name is invalid, and
    `Outdated` if the captions have changed in the meantime.
    """
    check_can_add_proxy(by, benchmark)
    source = source or str(path)
    proxy = new_proxy(benchmark, ProxyMethod.IMPORTED, name or Path(source).stem, by)
    proxy.source = Path(source).name[:255]
    places = None if keys is None else arrays.places_in_file(benchmark, keys)
    with new_matrix(benchmark.n_queries, benchmark.n_videos) as (copied, matrix):
        file = SourceFile(path, source)
        PROXIES.choose(file).read(file, matrix, progress, places)
        return store_proxy(proxy, copied, PoolingAct.PROXY_IMPORTED, by, progress)


def import_embeddings(
    *,
    benchmark: Benchmark,
    captions: SourceFile | None,
    videos: SourceFile | None,
    by: Actor,
    name: str = "",
    own_is_one: bool = True,
    progress: Progress = no_progress,
) -> AddedProxy:
    """Store the cosine of each caption and each video, from embeddings of another program.

    captions, videos: `.npy` matrices with a row for each caption or video, in the order of their
    numbers. If `videos` is None, the embedding of a video is the mean embedding of its own
    captions. If `captions` is None, the embedding of a caption is the mean embedding of its own
    videos. Negative cosines become 0. own_is_one: whether a video has the value 1 with its own
    captions. Raises what `import_proxy` raises, and `InvalidInput` if there are no embeddings.
    """
    check_can_add_proxy(by, benchmark)
    sent = [file for file in (captions, videos) if file is not None]
    if not sent:
        raise InvalidInput("Add embeddings of captions, of videos, or of both.")
    proxy = new_proxy(benchmark, ProxyMethod.EMBEDDINGS, name or Path(sent[0].source).stem, by)
    proxy.source = ", ".join(Path(file.source).name for file in sent)[:255]
    queries, of_videos = arrays.original_positives(benchmark)
    progress(0, None, "reading embeddings")
    rows, columns = _vectors(benchmark, captions, videos, (queries, of_videos))
    proxy.options = {
        "method": "cosine of embeddings",
        "captions": "embeddings" if captions else "mean of the embeddings of their own videos",
        "videos": "embeddings" if videos else "mean of the embeddings of their own captions",
        "numbers per embedding": f"{rows.shape[1]:,}",
        "own captions": "1" if own_is_one else "as computed",
    }
    with new_matrix(benchmark.n_queries, benchmark.n_videos) as (path, matrix):
        fill_cosine(matrix, rows, columns, progress)
        if own_is_one:
            matrix[queries, of_videos] = 1
        return store_proxy(proxy, path, PoolingAct.PROXY_IMPORTED, by, progress)


def _vectors(
    benchmark: Benchmark,
    captions: SourceFile | None,
    videos: SourceFile | None,
    own: tuple[arrays.Int64Array, arrays.Int64Array],
) -> tuple[Float32s, Float32s]:
    """Return the vectors of captions and of videos, float32 [n, d] each.

    own: the numbers of the captions and videos of the original positives, int64 [n] each.
    """
    n_queries, n_videos = benchmark.n_queries, benchmark.n_videos
    rows = columns = np.empty((0, 0), np.float32)
    if captions is not None:
        rows = read_vectors(captions.path, n_queries, "captions", captions.source)
    if videos is not None:
        columns = read_vectors(videos.path, n_videos, "videos", videos.source)
    else:
        columns = group_vectors(rows, _groups(own[1], own[0], n_videos))
    if captions is None:
        rows = group_vectors(columns, _groups(own[0], own[1], n_queries))
    return rows, columns


def _groups(
    group_of: arrays.Int64Array, members: arrays.Int64Array, n_groups: int
) -> list[arrays.Int64Array]:
    """Return the members of each group 0..n_groups-1. group_of: the group of each member."""
    order = np.argsort(group_of, kind="stable")
    ends = np.searchsorted(group_of[order], np.arange(1, n_groups))
    return np.split(members[order], ends)


def method_of(method: Method) -> ProxyMethod:
    """Return the stored method. Embeddings are one method, whoever computed them."""
    return ProxyMethod.EMBEDDINGS if method is Method.EMBEDDING else ProxyMethod(method)


def new_proxy(benchmark: Benchmark, method: ProxyMethod, name: str, by: Actor) -> Proxy:
    """Return a proxy that is not stored yet. Raises `InvalidInput` if the name is invalid."""
    check_name(name, NOUN)
    return Proxy(
        benchmark=benchmark,
        name=name,
        method=method,
        captions_sha256=benchmark.captions_sha256,
        code_version=code_version(),
        created_by=account_of(by),
    )


def store_proxy(
    proxy: Proxy,
    path: Path,
    act: PoolingAct,
    by: Actor,
    progress: Progress,
    store_with: Callable[[Proxy], object] = lambda proxy: None,
) -> AddedProxy:
    """Store the file, then its row. Housekeeping removes the file if there is no row.

    store_with: stores rows that belong to the proxy, in the same transaction. Raises `Outdated` if
    the captions or the number of videos have changed since they were read.
    """
    proxy.distribution = dict(distribution_of(open_matrix(path), progress))
    proxy.sha256 = sha256_of_file(path, str(path))
    with path.open("rb") as file:
        proxy.file.name = proxy_storage().save(f"{uuid.uuid4().hex}.npy", File(file))
    with long_transaction():
        lock_row(proxy.benchmark)
        equal = proxy.benchmark.proxies.filter(sha256=proxy.sha256, method=proxy.method)
        for stored in equal.select_related("benchmark"):
            if stored.options == proxy.options:
                return AddedProxy(stored, created=False)
        current = Benchmark.objects.values_list("captions_sha256", "n_videos").get(
            pk=proxy.benchmark_id
        )
        if current != (proxy.captions_sha256, proxy.benchmark.n_videos):
            raise Outdated(
                "The captions or videos have changed. Compute or import the proxy again."
            )
        proxy.name = free_name(proxy.benchmark.proxies.all(), proxy.name)
        proxy.save()
        store_with(proxy)
        after = {"method": proxy.method, "sha256": proxy.sha256}
        record(act, by=by, on=proxy, after=after)
    return AddedProxy(proxy, created=True)
