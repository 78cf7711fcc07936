"""Reading proxies, and the captions that they are computed from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from hearth.shared.errors import InvalidInput
from hearth.shared.options import OptionFault
from pooling.core.arrays import Int64s
from pooling.core.proxies.distribution import Distribution, distribution_of, highest_and_lowest
from pooling.core.proxies.options import Method
from pooling.core.proxies.proxy_file import open_matrix
from pooling.core.proxies.request import ProxyRequest
from pooling.core.proxies.training import positive_pairs
from pooling.core.proxies.word_sets import Matrix
from pooling.core.proxies.wordnet import DEBIAN
from pooling.core.sentences import is_installed
from pooling.enums import ProxyMethod
from pooling.models import Benchmark, OriginalPositive, Proxy, Query, Video
from pooling.selectors.arrays import original_positives, query_texts

# More candidate pairs of a pool would fill the memory.
CANDIDATES_MAX = 20_000_000


def find_proxies(benchmark: Benchmark, names: Sequence[str] = ()) -> list[Proxy]:
    """Return the named proxies in the order of `names`, or all in the order of their names."""
    if names:
        return [get_proxy(benchmark, name) for name in dict.fromkeys(names)]
    return sorted(benchmark.proxies.all(), key=lambda proxy: proxy.name)


def get_proxy(benchmark: Benchmark, name: str) -> Proxy:
    """Return the proxy of this name.

    If there is none, raises `InvalidInput` with the known names.
    """
    proxies = {proxy.name: proxy for proxy in benchmark.proxies.all()}
    if name not in proxies:
        known = ", ".join(sorted(proxies)) or "none"
        raise InvalidInput(
            f"There is no proxy {name!r} in {benchmark.key}. The proxies are: {known}."
        )
    return proxies[name]


def get_ordering_proxy(benchmark: Benchmark, name: str) -> Proxy:
    """Return the proxy by which annotators get pairs or captions.

    Raises `InvalidInput` if there is none, or if it is a machine judge: an order by its answers
    would tell annotators what it answered.
    """
    proxy = get_proxy(benchmark, name)
    if proxy.method == ProxyMethod.JUDGE:
        raise InvalidInput(
            f"{name} is a machine judge. Its answers must not order what annotators judge. Choose "
            "another proxy."
        )
    return proxy


def values_of_proxy(proxy: Proxy) -> Matrix:
    """Return the values by caption and video number, float16 [n_queries, n_videos].

    The file is mapped into memory.
    """
    return open_matrix(Path(proxy.file.path))


def captions_of_videos(benchmark: Benchmark) -> list[list[str]]:
    """Return for each video number the captions that have the video as an original positive."""
    texts = query_texts(benchmark)
    groups: list[list[str]] = [[] for _ in range(benchmark.n_videos)]
    for query, video in zip(*(a.tolist() for a in original_positives(benchmark)), strict=True):
        groups[video].append(texts[query])
    return groups


NEEDS_WORDNET = (
    "This method needs WordNet, which is not installed here. Upload it in the field WordNet below, "
    "or install it: on Debian or Ubuntu, run apt-get install wordnet-base."
)


NEEDS_EMBEDDINGS = (
    "Sentence embeddings are not installed here. Ask the operator to run make install-embeddings, "
    "or upload embeddings of another program."
)


def has_wordnet() -> bool:
    """Return whether WordNet is installed on this machine."""
    return (DEBIAN / "index.noun").is_file()


def check_installed(request: ProxyRequest) -> None:
    """Raise `OptionFault` if the method needs WordNet or sentence embeddings that are missing."""
    if request.method is Method.EMBEDDING and not is_installed():
        raise OptionFault("method", NEEDS_EMBEDDINGS)
    if request.needs_wordnet and request.lexicon is None and not has_wordnet():
        raise OptionFault("method", NEEDS_WORDNET)


def distribution_of_proxy(proxy: Proxy) -> Distribution:
    """Return the stored distribution, or compute it if an older version stored the proxy."""
    if proxy.distribution:
        return cast(Distribution, proxy.distribution)
    return distribution_of(values_of_proxy(proxy))


def candidate_pairs(proxy: Proxy, lowest: float) -> Int64s:
    """Return the codes of the pairs with at least this value, int64 [n], ascending.

    Raises `InvalidInput` if there are too many.
    """
    values, space = values_of_proxy(proxy), proxy.benchmark.pair_space
    found, number = [np.empty(0, np.int64)], 0
    for captions, videos, _ in positive_pairs(values, lowest):
        number += len(captions)
        if number > CANDIDATES_MAX:
            raise InvalidInput(
                f"More than {CANDIDATES_MAX:,} pairs have a value of {lowest:g} or more by the "
                f"proxy {proxy.name}. Choose a higher minimum."
            )
        found.append(space.encode(captions, videos))
    return np.concatenate(found)


@dataclass(frozen=True, slots=True)
class Valued:
    """A caption or a video with its value. is_own: whether the pair is an original positive."""

    item: Query | Video
    value: float
    is_own: bool


@dataclass(frozen=True, slots=True)
class Extremes:
    """The items with the highest and the lowest values of a caption or a video.

    zeros: the number of items with the value 0.
    """

    highest: list[Valued]
    lowest: list[Valued]
    zeros: int


def extremes_of_video(proxy: Proxy, video: Video, count: int) -> Extremes:
    """Return the captions with the highest and the lowest values of a video."""
    positives = OriginalPositive.objects.filter(video=video)
    own = set(positives.values_list("query__number", flat=True))
    values = np.asarray(values_of_proxy(proxy)[:, video.number])
    captions = proxy.benchmark.queries
    return _extremes(values, count, own, lambda numbers: captions.filter(number__in=numbers))


def extremes_of_caption(proxy: Proxy, caption: Query, count: int) -> Extremes:
    """Return the videos with the highest and the lowest values of a caption."""
    positives = OriginalPositive.objects.filter(query=caption)
    own = set(positives.values_list("video__number", flat=True))
    values = np.asarray(values_of_proxy(proxy)[caption.number])
    videos = proxy.benchmark.videos
    return _extremes(values, count, own, lambda numbers: videos.filter(number__in=numbers))


def _extremes(
    values: Matrix, count: int, own: set[int], find: Callable[[list[int]], Iterable[Query | Video]]
) -> Extremes:
    places = highest_and_lowest(values, count)
    items = {item.number: item for item in find(np.concatenate(places).tolist())}
    highest, lowest = (
        [Valued(items[n], float(values[n]), n in own) for n in found.tolist()] for found in places
    )
    return Extremes(highest, lowest, int((values == 0).sum()))
