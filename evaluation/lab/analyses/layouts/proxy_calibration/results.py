"""The result of the comparison of proxies with people."""

from __future__ import annotations

from typing import TypedDict

from evaluation.lab.analyses.old_results import Ends, WithIntervals


class SharesAt(TypedDict):
    """Precision and recall at a threshold."""

    precision: float | None
    precision_interval: Ends | None
    recall: float | None
    recall_interval: Ends | None


class RankingFigures(TypedDict):
    """AUC and AP, which need no threshold; null if no pair or every pair is relevant."""

    auc: float | None
    auc_interval: Ends | None
    ap: float | None
    ap_interval: Ends | None


class ProxyRow(SharesAt, RankingFigures):
    """A proxy at the threshold with the highest alpha, or at the threshold that was entered.

    fitted_alpha, agreement: alpha and agreement with thresholds that were chosen on other videos;
    `agreement` is the share of the pairs on which the proxy and people agree. difference: the
    highest alpha of this proxy minus that of the best proxy.
    """

    proxy: str
    method: str
    threshold: float
    threshold_interval: Ends | None
    f1: float
    alpha: float
    fitted_alpha: float | None
    fitted_alpha_interval: Ends | None
    agreement: float | None
    agreement_interval: Ends | None
    difference: float
    difference_interval: Ends | None


class CurveRow(SharesAt):
    """A proxy at one threshold.

    called: number of judged pairs that the proxy calls relevant. correct: number of these that
    people judged relevant. pairs: number of all pairs that the proxy calls relevant. unjudged: the
    share of `pairs` that no one judged.
    """

    proxy: str
    threshold: float
    called: int
    correct: int
    f1: float
    alpha: float
    pairs: int
    unjudged: float | None


class LengthRow(SharesAt, RankingFigures):
    """A proxy for the captions of one group by length. words: the name of the group."""

    proxy: str
    words: str
    pairs: int
    relevant: int
    units: int


class GradeRow(TypedDict):
    """The values of a proxy for the pairs that have the same label.

    quartiles: the first and the third.
    """

    proxy: str
    label: str
    pairs: int
    mean: float
    median: float
    quartiles: Ends


class ScoreRow(TypedDict):
    """The score of a run by the original positives, by a proxy and by people."""

    proxy: str
    run: str
    measure: str
    original: float
    by_proxy: float
    by_people: float
    difference: float
    interval: Ends | None


class OrderRow(TypedDict):
    """The order of the runs by a proxy.

    mean, lowest, highest: the mean, the lowest and the highest difference of the runs. The
    difference of a run is its score by the proxy minus its score by people.
    """

    proxy: str
    measure: str
    runs: int
    tau: float | None
    mean: float
    lowest: float
    highest: float


class AmongPeople(TypedDict):
    """The agreement of two people: the share of equal labels, and alpha. Null if unknown."""

    people_agreement: float | None
    people_alpha: float | None


class CalibrationResult(AmongPeople, WithIntervals):
    """Proxies compared with people.

    pairs, relevant: judged pairs, and those that people judged relevant. known: original positives,
    which are left out. is_given: whether the threshold was entered.
    """

    pairs: int
    relevant: int
    known: int
    conflicted: int
    pending: int
    is_given: bool
    rows: list[ProxyRow]
    curve: list[CurveRow]
    lengths: list[LengthRow]
    grades: list[GradeRow]
    scores: list[ScoreRow]
    orders: list[OrderRow]
