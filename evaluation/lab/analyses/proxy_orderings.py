"""Each proxy compared with the orders in which people put the captions of videos."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from annotation.questions.order.orders import FIRST, SECOND
from evaluation.core.graded import orderings
from evaluation.core.graded.orderings import Agreement
from evaluation.lab.analyses import charts, options, proxy_inputs, results
from evaluation.lab.analyses.analysis import Analysis
from evaluation.lab.analyses.inputs import VIDEOS, Inputs
from evaluation.lab.analyses.proxy_inputs import LoadedProxy, load_proxies, share_text
from evaluation.lab.analyses.results import Tabled
from evaluation.lab.analyses.rows import (
    CoefficientInterval,
    Ends,
    Interval,
    ProxyName,
    Score,
    Shown,
    row_of,
)
from evaluation.lab.analyses.study_inputs import LoadedStudy
from evaluation.lab.analyses.tables import Row
from hearth.shared.numbers import coefficient, ratio, with_percent
from hearth.shared.progress import Progress
from hearth.shared.words import counted

# The captions of a video by their level, from 0.
LEVELS = ("most similar", "first quartile", "median", "third quartile", "least similar")
SHARES = {"share": "Consistent pairs", "by_video": "Mean of the videos", "majority": "Majority"}
PEOPLE = "People with each other"
YES_OR_NO = {True: "yes", False: "no"}

# The values of a proxy for the captions of a study's videos, float16 [n_videos, 5].
Values = npt.NDArray[np.float16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    studies: options.Studies = ()
    proxies: options.Proxies = ()
    confidence: options.Confidence = 0.95
    seed: options.Seed = 0

    @property
    def drawing(self) -> dict[str, Any]:
        return {"rng": np.random.default_rng(self.seed), "confidence": self.confidence}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfStudy:
    """An ordering study: the primary key and the name of its campaign."""

    study: int
    name: Annotated[str, Shown("Study")]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRow(OfStudy):
    """How people agree with each other.

    orders, people: number of orders, and of people who ordered captions. needed: number of orders
    that a video needs. chosen_by: name of the proxy that chose the captions. complete, incomplete:
    number of videos with all orders, and of the others, which are left out. pairs: ten for each
    complete video. expected: the share of consistent pairs among random orders. cycles: number of
    videos whose majorities do not form an order.
    """

    chosen_by: Annotated[str, Shown("Captions chosen by")]
    people: Annotated[int, Shown("People", "count")]
    orders: Annotated[int, Shown("Orders", "count")]
    needed: int
    complete: Annotated[int, Shown("Videos", "count")]
    incomplete: Annotated[int, Shown("Left out", "count")]
    pairs: Annotated[int, Shown("Pairs", "count")]
    consistent: Annotated[int, Shown("Consistent", "count")]
    share: Annotated[Score, Shown("Consistent, %", "percent")]
    share_interval: Interval
    expected: Annotated[Score, Shown("Random orders, %", "percent")]
    tau: Annotated[Score, Shown("Tau of two people", "coefficient")]
    tau_interval: CoefficientInterval
    cycles: Annotated[int, Shown("Videos with a cycle", "count")]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRow(OfStudy):
    """How a proxy agrees with people.

    alike: number of the consistent pairs that it orders like the people. share: `alike` divided by
    the number of all consistent pairs. ties: number of the consistent pairs to which it gives equal
    values. difference: the share minus that of the best proxy. The interval of the difference is
    null for the best proxy.
    """

    proxy: ProxyName
    is_chooser: Annotated[
        bool, Shown("Chose the captions", key="chooser", write=YES_OR_NO.__getitem__)
    ]
    share: Annotated[Score, Shown("Agreement, %", "percent")]
    share_interval: Interval
    difference: Annotated[Score, Shown("Minus the best", "points")]
    difference_interval: Annotated[Ends | None, Shown("Interval of the difference", "points")]
    by_video: Annotated[Score, Shown("Mean of the videos, %", "percent")]
    by_video_interval: Interval
    majority: Annotated[Score, Shown("Majority, %", "percent")]
    majority_interval: Interval
    consistent: Annotated[int, Shown("Consistent pairs", "count")]
    alike: int
    ties: Annotated[int, Shown("Of these, equal values", "count")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow(OfStudy):
    """The agreement of a proxy with people on the captions of two levels.

    levels: places in the order of the proxy, 0 for the most similar caption.
    """

    proxy: ProxyName
    levels: list[int]
    pairs: Annotated[int, Shown("Videos", "count")]
    consistent: Annotated[int, Shown("Consistent", "count")]
    alike: Annotated[int, Shown("Of these, ordered like people", "count")]

    @property
    def first(self) -> Annotated[str, Shown("Caption")]:
        return LEVELS[self.levels[0]]

    @property
    def second(self) -> Annotated[str, Shown("Other caption")]:
        return LEVELS[self.levels[1]]

    @property
    def share(self) -> Annotated[Score, Shown("Agreement, %", "percent")]:
        return _ratio(self.alike, self.consistent)


@dataclass(frozen=True, slots=True)
class Result(results.Result):
    """The proxies in each study, the studies, and the pairs of levels for each proxy."""

    confidence: float
    rows: Annotated[
        list[AgreementRow],
        Tabled(
            "agreement",
            "Agreement of proxies with people",
            "Table 2 of Wray et al. (2021, supplement A). Agreement is the share of the consistent "
            "pairs that the proxy orders like the people.",
            columns="name proxy is_chooser share share_interval difference difference_interval "
            "by_video by_video_interval majority majority_interval consistent ties",
            without="{hidden}",
        ),
    ]
    studies: Annotated[
        list[StudyRow],
        Tabled(
            "studies",
            "Agreement of people with each other",
            "A pair is consistent if all people who ordered it put it in the same order.",
        ),
    ]
    pairs: Annotated[
        list[PairRow],
        Tabled(
            "pairs",
            "By pair of captions",
            "Captions are named by their places in the order of the proxy that chose them.",
            columns="name proxy first second pairs consistent alike share",
            without="{hidden}",
        ),
    ]

    @property
    def hidden(self) -> str:
        return "" if len(self.studies) > 1 else "name"

    def findings(self) -> list[str]:
        return [
            self._prefix(study) + text
            for study in self.studies
            if study.complete
            for text in _findings(study, self._rows_of(study))
        ]

    def warnings(self) -> list[str]:
        return [
            self._prefix(study) + text
            for study in self.studies
            for text in _warnings(study, self._rows_of(study))
        ]

    def _prefix(self, study: StudyRow) -> str:
        return f"{study.name}: " if len(self.studies) > 1 else ""

    def _rows_of(self, study: StudyRow) -> list[AgreementRow]:
        return [row for row in self.rows if row.study == study.study]

    def charts(self) -> list[charts.Chart]:
        if not any(study.consistent for study in self.studies):
            return []
        return [_agreement_chart(self.rows), _distance_chart(self.studies, self.pairs)]


def _findings(study: StudyRow, rows: list[AgreementRow]) -> list[str]:
    found = [
        f"People order {share_text(study.share, study.share_interval)} of the "
        f"{counted(study.pairs, 'pair')} of captions alike; with random orders it would be "
        f"{with_percent(study.expected)}. The mean tau of two people is {coefficient(study.tau)}."
    ]
    if not study.consistent:
        return [*found, "No pair is consistent, so no proxy can be compared with people."]
    best = max(rows, key=lambda row: row.alike)
    found.append(
        f"The proxy that agrees best with people is {best.proxy}: it orders "
        f"{share_text(best.share, best.share_interval)} of the "
        f"{counted(best.consistent, 'consistent pair')} like people."
    )
    others = {row.proxy: row.difference_interval for row in rows if row is not best}
    parts = proxy_inputs.compare_with_best(others)
    if tied := [row for row in rows if row.ties]:
        shares = ", ".join(f"{ratio(row.ties, row.consistent)} for {row.proxy}" for row in tied)
        parts.append(
            "If a proxy has equal values for both captions of a consistent pair, the pair counts "
            f"as wrong. The share of such pairs is {shares}."
        )
    return found + ([" ".join(parts)] if parts else [])


def _warnings(study: StudyRow, rows: list[AgreementRow]) -> list[str]:
    found, total, one = [], study.complete + study.incomplete, study.incomplete == 1
    if study.incomplete:
        found.append(
            f"{study.incomplete:,} of {counted(total, 'video')} {'has' if one else 'have'} fewer "
            f"than {counted(study.needed, 'order')} and {'is' if one else 'are'} left out."
        )
    if study.complete:
        found += results.Resampled(unit=VIDEOS, units=study.complete).few_units_warnings()
    shares = {row.proxy: row.share_interval for row in rows}
    return found + proxy_inputs.guessing_warnings(shares, "agreement", "50 %")


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _agreement_chart(agreements: list[AgreementRow]) -> charts.Chart:
    rows = [
        {
            "measure": row.name,
            "proxy": row.proxy,
            "of": title,
            "share": getattr(row, key),
            **charts.low_high(getattr(row, f"{key}_interval")),
        }
        for row in agreements
        if row.consistent
        for key, title in SHARES.items()
    ]
    share = charts.score_axis("share", "Agreement")
    return charts.Chart(
        "agreement",
        "Agreement of proxies with people",
        "Each proxy has three dots, each on a line that shows its interval: the agreement on all "
        "consistent pairs, its mean over the videos, and the agreement with the majority. Guessing "
        "gives 50 %.",
        _by_study(rows, charts.dots_below_names(rows, share, "proxy", "of")),
    )


def _distance_chart(studies: list[StudyRow], pairs: list[PairRow]) -> charts.Chart:
    rows = [
        {"measure": study.name, "distance": distance, "series": series, "share": share}
        for study in studies
        if study.consistent
        for distance in range(1, len(LEVELS))
        for series, share in _at_distance(pairs, study, distance)
    ]
    view = {
        "height": 240,
        "mark": charts.LINES,
        "encoding": {
            "x": charts.step("distance", "Places between the captions"),
            "y": charts.quantity("share", "Share of pairs", axis={"format": charts.PERCENT}),
            "color": charts.name_of("series"),
        },
    }
    return charts.Chart(
        "distance",
        "Agreement by the distance of two captions",
        "The horizontal axis is the number of places between two captions. One line shows the "
        "share of all pairs that are consistent: all people order them alike. Each proxy has a "
        "line that shows which share of the consistent pairs it orders like people.",
        _by_study(rows, view),
    )


def _at_distance(
    pairs: list[PairRow], study: StudyRow, distance: int
) -> Iterator[tuple[str, Score]]:
    """Yield the shares of people and of each proxy for pairs of levels with this distance."""
    found = [
        row
        for row in pairs
        if row.study == study.study and row.levels[1] - row.levels[0] == distance
    ]
    for number, proxy in enumerate(dict.fromkeys(row.proxy for row in found)):
        own = [row for row in found if row.proxy == proxy]
        consistent = sum(row.consistent for row in own)
        if number == 0:
            yield PEOPLE, _ratio(consistent, sum(row.pairs for row in own))
        yield proxy, _ratio(sum(row.alike for row in own), consistent)


def _by_study(rows: Sequence[Row], view: dict[str, Any]) -> dict[str, Any]:
    """Return a view for each study, or one view if there is only one."""
    if len({row["measure"] for row in rows}) > 1:
        return charts.by_measure(rows, {**view, "width": 280}, same_scale=True)
    return {"data": {"values": rows}, **view}


def _compute(inputs: Inputs, options: Options, progress: Progress) -> Result:
    proxies = load_proxies(inputs)
    studies = [_study_row(study, options) for study in inputs.studies]
    rows: list[AgreementRow] = []
    pairs: list[PairRow] = []
    for number, study in enumerate(inputs.studies):
        progress(number, len(inputs.studies), "comparing orders")
        values = [_values_of(proxy, study) for proxy in proxies]
        found = [orderings.agreement(study.orders, own, **options.drawing) for own in values]
        best = int(np.argmax([one.alike for one in found]))
        joint = _joint_confidence(options.confidence, len(proxies))
        for place, (proxy, one) in enumerate(zip(proxies, found, strict=True)):
            behind = orderings.compare_agreement(
                study.orders, values[place], values[best], confidence=joint
            )
            rows.append(
                row_of(
                    AgreementRow,
                    one,
                    **_names(study),
                    proxy=proxy.name,
                    is_chooser=study.campaign.proxy_id == proxy.proxy.pk,
                    difference=behind.value,
                    difference_interval=None if place == best else behind.interval.ends,
                )
            )
            pairs += _pair_rows(study, proxy, one)
    return Result(options.confidence, rows, studies, pairs)


def _joint_confidence(confidence: float, n_proxies: int) -> float:
    """Return the confidence of each interval of a difference, by Bonferroni's correction.

    The probability that the intervals of all pairs of proxies are correct at the same time is then
    at least `confidence`. This is needed because the data decide which proxy is the best one.
    """
    n_pairs = max(1, n_proxies * (n_proxies - 1) // 2)
    return 1 - (1 - confidence) / n_pairs


def _values_of(proxy: LoadedProxy, study: LoadedStudy) -> Values:
    captions, videos = study.arrays.captions, study.arrays.videos
    return np.asarray(proxy.values[captions[study.complete], videos[study.complete, None]])


def _names(study: LoadedStudy) -> dict[str, Any]:
    return {"study": study.campaign.pk, "name": study.campaign.name}


def _study_row(study: LoadedStudy, options: Options) -> StudyRow:
    found = orderings.consistency(study.orders, **options.drawing)
    proxy = study.campaign.proxy
    return row_of(
        StudyRow,
        found,
        **_names(study),
        orders=len(study.arrays.task),
        people=len(np.unique(study.arrays.annotator)),
        needed=study.needed,
        chosen_by=proxy.name if proxy else "",
        complete=found.videos,
    )


def _pair_rows(study: LoadedStudy, proxy: LoadedProxy, found: Agreement) -> list[PairRow]:
    return [
        PairRow(
            **_names(study),
            proxy=proxy.name,
            levels=[int(first), int(second)],
            pairs=len(study.complete),
            consistent=consistent,
            alike=alike,
        )
        for first, second, (consistent, alike) in zip(FIRST, SECOND, found.by_pair, strict=True)
    ]


PROXY_ORDERINGS = Analysis(
    name="proxy-orderings",
    title="Orders of proxies and people",
    question="Do proxies put captions in the order in which people put them?",
    options=Options,
    result=Result,
    compute=_compute,
    selects=(),
    runs_needed=0,
    proxies_needed=1,
    needs_studies=True,
    reads_lists=False,
    notes=(
        "In an ordering study, several people see a video with five captions of the benchmark, and "
        "put them in order, most similar first. A proxy chose the captions by its values for the "
        "video: the highest value, the three quartiles and the lowest. Each order decides ten "
        "pairs of captions. A pair is consistent if all people who ordered the captions of this "
        "video put the two in the same order.",
        "Agreement is the share of the consistent pairs that a proxy orders like the people, as in "
        "table 2 of Wray et al. (2021, supplement A). A pair with equal values of the proxy counts "
        "as wrong. Guessing gives 50 %, and less if the proxy has equal values. “Mean of the "
        "videos” is the mean of the shares of the videos, so that each video has the same weight. "
        "“Majority” is the agreement with the majority, over all pairs that more than half of the "
        "people order in one way.",
        "All proxies are compared on the captions that one proxy chose. This favours that proxy: "
        "its five values are spread as widely as possible, and those of other proxies can be equal "
        "or close together. For a fair comparison, open a study for each proxy.",
        "“Tau of two people” is Kendall’s tau of two people’s orders of one video: 1 for equal "
        "orders and 0 for guessing. It is the mean over the pairs of people, and then over the "
        "videos. In a cycle, the majorities form no order: they prefer A to B, B to C, and C to A.",
        "Only videos with all their orders count. Pairs of a video depend on each other, so "
        "intervals treat each video as a unit. They show how results vary with the videos, not "
        "with the people. The intervals of the differences are simultaneous: their "
        "confidence applies to all comparisons of two proxies at once.",
    ),
)
