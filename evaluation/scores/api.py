"""Scores over the API."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.core.relevance.measures import DEFAULT_MEASURES
from evaluation.release.selectors import LATEST, find_label_set
from evaluation.scores.selectors import stored_scores
from evaluation.scores.services import EvaluateOptions
from hearth.jobs.api import JobSerializer
from hearth.shared.option_fields import serializer_of
from hearth.shared.options import options_of
from pooling.api.base import OfBenchmark
from pooling.selectors.runs import find_runs

EvaluateSerializer = serializer_of(
    EvaluateOptions, "Evaluate", without=("labels_only", "run_names", "measures")
)


class Scores(OfBenchmark):
    """Return the stored scores of all runs.

    Each run has its scores by the original positives (`original`) and by the label set
    (`labelled`), by measure. An undefined score is `{"undefined": reason}`. `judged` has the judged
    share of the top ranks by depth, and `reads` the number of ranks that each measure reads.
    `unjudged` is the number of unjudged pairs in the top ten. `bounds` has the lowest and highest
    score that the unjudged pairs allow if all labels are right. A value that has not been computed
    yet is null.
    """

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "labels",
                str,
                description=options_of(EvaluateOptions)[0].option.help,
            )
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, key: str) -> Response:
        benchmark = self.benchmark
        label_set = find_label_set(benchmark, request.query_params.get("labels", LATEST))
        original = stored_scores(benchmark, None)
        labelled = stored_scores(benchmark, label_set) if label_set else {}
        runs = {}
        for run in find_runs(benchmark):
            by_original, by_labels = original.get(run.pk), labelled.get(run.pk)
            current = by_labels if label_set else by_original
            runs[run.name] = {
                "direction": run.direction,
                "sha256": run.sha256,
                "original": by_original.scores if by_original else None,
                "labelled": by_labels.scores if by_labels else None,
                "judged": current.judged if current else None,
                "reads": {str(measure): measure.reads(run.depth) for measure in DEFAULT_MEASURES},
                "unjudged": current.unjudged if current else None,
                "bounds": current.bounds if current else None,
            }
        return Response(
            {
                "labels": label_set.version if label_set else "original",
                "labels_sha256": label_set.sha256 if label_set else None,
                "runs": runs,
            }
        )

    @extend_schema(request=EvaluateSerializer, responses={202: JobSerializer})
    def post(self, request: Request, key: str) -> Response:
        """Score all runs by a label set or by the original positives.

        A job computes and stores the scores. Its `result` has `labels` (the version, or
        `original`) and `runs` (the names).
        """
        labels = EvaluateSerializer.read(request.data).labels
        find_label_set(self.benchmark, labels)
        return self.enqueue(request, "evaluate", "Scores", {"labels": labels})
