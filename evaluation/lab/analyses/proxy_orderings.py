"""Each proxy compared with the orders in which people put the captions of videos."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evaluation.core.graded.calibration import Ends
from evaluation.core.graded.orderings import (
    FIRST,
    SECOND,
    Agreement,
    agreement,
    compare_agreement,
    consistency,
)
from evaluation.lab.analyses.fields import (
    confidence_field,
    proxies_field,
    seed_field,
    studies_field,
)
from evaluation.lab.analyses.forms import AnalysisForm
from evaluation.lab.analyses.inputs import Inputs
from evaluation.lab.analyses.layouts import proxy_orderings as layout
from evaluation.lab.analyses.layouts.proxy_orderings import (
    AgreementRow,
    OrderingsResult,
    PairRow,
    StudyRow,
)
from evaluation.lab.analyses.old_analysis import Analysis
from evaluation.lab.analyses.proxy_inputs import LoadedProxy, ProxyOptions, load_proxies
from evaluation.lab.analyses.study_inputs import LoadedStudy
from hearth.shared.progress import Progress


class OrderingsForm(AnalysisForm):
    labels = only = runs = None
    studies = studies_field()
    proxies = proxies_field()
    confidence = confidence_field()
    seed = seed_field()


class OrderingsOptions(ProxyOptions):
    studies: list[str]
    confidence: float
    seed: int


# The values of a proxy for the captions of a study's videos, float16 [n_videos, 5].
Values = npt.NDArray[np.float16]


def _compute(inputs: Inputs, options: OrderingsOptions, progress: Progress) -> OrderingsResult:
    proxies = load_proxies(inputs)
    found: OrderingsResult = {
        "confidence": options["confidence"],
        "studies": [_study_row(study, options) for study in inputs.studies],
        "rows": [],
        "pairs": [],
    }
    for number, study in enumerate(inputs.studies):
        progress(number, len(inputs.studies), "comparing orders")
        values = [_values_of(proxy, study) for proxy in proxies]
        agreements = [
            agreement(study.orders, own, rng=_rng(options), confidence=options["confidence"])
            for own in values
        ]
        best = int(np.argmax([one.alike for one in agreements]))
        joint = _joint_confidence(options["confidence"], len(proxies))
        for place, (proxy, one) in enumerate(zip(proxies, agreements, strict=True)):
            behind = compare_agreement(study.orders, values[place], values[best], confidence=joint)
            found["rows"].append(_agreement_row(study, proxy, one, behind, is_best=place == best))
            found["pairs"] += _pair_rows(study, proxy, one)
    return found


def _rng(options: OrderingsOptions) -> np.random.Generator:
    return np.random.default_rng(options["seed"])


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


def _study_row(study: LoadedStudy, options: OrderingsOptions) -> StudyRow:
    found = consistency(study.orders, rng=_rng(options), confidence=options["confidence"])
    campaign, arrays = study.campaign, study.arrays
    return {
        **_names(study),
        "orders": len(arrays.task),
        "people": len(np.unique(arrays.annotator)),
        "needed": study.needed,
        "chosen_by": campaign.proxy.name if campaign.proxy else "",
        "complete": found.videos,
        "incomplete": found.incomplete,
        "pairs": found.pairs,
        "consistent": found.consistent,
        "share": found.share.value,
        "share_interval": found.share.interval.ends,
        "expected": found.expected,
        "tau": found.tau.value,
        "tau_interval": found.tau.interval.ends,
        "cycles": found.cycles,
    }


def _names(study: LoadedStudy) -> layout.OfStudy:
    return {"study": study.campaign.pk, "name": study.campaign.name}


def _agreement_row(
    study: LoadedStudy, proxy: LoadedProxy, found: Agreement, behind: Ends, *, is_best: bool
) -> AgreementRow:
    return {
        **_names(study),
        "proxy": proxy.name,
        "is_chooser": study.campaign.proxy_id == proxy.proxy.pk,
        "consistent": found.consistent,
        "alike": found.alike,
        "ties": found.ties,
        "share": found.share.value,
        "share_interval": found.share.interval.ends,
        "difference": behind.value,
        "difference_interval": None if is_best else behind.interval.ends,
        "by_video": found.by_video.value,
        "by_video_interval": found.by_video.interval.ends,
        "majority": found.majority.value,
        "majority_interval": found.majority.interval.ends,
    }


def _pair_rows(study: LoadedStudy, proxy: LoadedProxy, found: Agreement) -> list[PairRow]:
    return [
        {
            **_names(study),
            "proxy": proxy.name,
            "levels": [int(first), int(second)],
            "pairs": len(study.complete),
            "consistent": consistent,
            "alike": alike,
        }
        for first, second, (consistent, alike) in zip(FIRST, SECOND, found.by_pair, strict=True)
    ]


PROXY_ORDERINGS = Analysis(
    name="proxy-orderings",
    title="Orders of proxies and people",
    question="Do proxies put captions in the order in which people put them?",
    form=OrderingsForm,
    compute=_compute,
    tables=layout.tables,
    charts=layout.charts,
    findings=layout.findings,
    warnings=layout.warnings,
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
