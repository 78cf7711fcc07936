"""The proxies of a question, for the analyses that have the field `PROXIES`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from evaluation.core.graded.rankings import Matrix
from evaluation.lab.analyses.inputs import Inputs
from hearth.shared.errors import InvalidInput
from pooling.core.pair_space import PairSpace
from pooling.models import Proxy
from pooling.selectors.proxies import values_of_proxy


class ProxyOptions(TypedDict):
    """The options of the field `PROXIES`. proxies: their names, at least one."""

    proxies: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class LoadedProxy:
    """A proxy with its values.

    values: float16 [n_queries, n_videos], mapped into memory; read it in blocks of rows.
    space: the pairs of its rows and columns.
    """

    proxy: Proxy
    values: Matrix
    space: PairSpace

    @property
    def name(self) -> str:
        return self.proxy.name

    @property
    def transposed(self) -> LoadedProxy:
        """The same values with a row for each video and a column for each caption."""
        return LoadedProxy(self.proxy, self.values.T, self.space.transposed)


def load_proxies(inputs: Inputs) -> list[LoadedProxy]:
    """Return the proxies of a question with their values, in the order of the question.

    Raises `InvalidInput` if the captions or videos have changed since a proxy was computed.
    """
    benchmark, space = inputs.benchmark, inputs.benchmark.pair_space
    found = []
    for proxy in inputs.proxies:
        values = values_of_proxy(proxy)
        is_outdated = proxy.captions_sha256 != benchmark.captions_sha256
        if is_outdated or values.shape != (space.n_queries, space.n_videos):
            raise InvalidInput(
                f"The captions have changed since the proxy {proxy.name!r} was added. "
                "Compute or import it again."
            )
        found.append(LoadedProxy(proxy, values, space))
    return found
