"""The proxies of a question, for the analyses that have the field `PROXIES`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evaluation.core.graded.rankings import Matrix
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.rows import Ends
from hearth.shared.errors import InvalidInput
from hearth.shared.numbers import with_percent
from pooling.core.pair_space import PairSpace
from pooling.models import Proxy
from pooling.selectors.proxies import values_of_proxy


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


def compare_with_best(differences: Mapping[str, Ends | None]) -> list[str]:
    """Return which proxies are clearly worse than the best one, and which are not.

    differences: the interval of the difference of each other proxy from the best one, by its name.
    """
    worse = [name for name, ends in differences.items() if ends is not None and ends[1] < 0]
    equal = [name for name in differences if name not in worse]
    found = {"Clearly worse": worse, "Not clearly worse": equal}
    return [
        f"{how} than the best proxy: {', '.join(names)}." for how, names in found.items() if names
    ]


def guessing_warnings(
    intervals: Mapping[str, Ends | None], figure: str, guessing: str
) -> list[str]:
    """Return a warning if a figure of some proxies, which is 0.5 by guessing, is not clearly above.

    intervals: by the name of the proxy. guessing: 0.5 as a text.
    """
    names = [name for name, interval in intervals.items() if interval and interval[0] <= 0.5]
    if not names:
        return []
    return [
        "Some proxies are not clearly better than guessing, because the interval of their "
        f"{figure} contains {guessing} or is below it: {', '.join(names)}."
    ]


def share_text(value: float | None, interval: Ends | None) -> str:
    """Return a share with its interval, if it has one."""
    if interval is None:
        return with_percent(value)
    low, high = (f"{100 * end:.1f}" for end in interval)
    return f"{with_percent(value)} ({low} to {high})"
