"""The rows of this app that matter when a run, a campaign or a benchmark is deleted.

The rows of a `Part` are deleted with the object. An `Obstacle` prevents the deletion.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse

from annotation.models import Campaign
from evaluation.models import (
    AgreementReport,
    AnalysisResult,
    CampaignReport,
    Draft,
    Evaluation,
    LabelArrays,
    LabelSet,
)
from hearth.shared.deleting import Obstacle, Part, belongs_to
from hearth.shared.words import counted
from pooling.models import Benchmark, Run


@belongs_to(Run)
def scores_of_run(run: Run) -> Iterator[Part | Obstacle]:
    yield Part("set of scores", Evaluation.objects.filter(run=run), "sets of scores")
    results = AnalysisResult.objects.filter(benchmark=run.benchmark, inputs__runs__has_key=run.name)
    yield Part("analysis result", results)


@belongs_to(Campaign)
def figures_of_campaign(campaign: Campaign) -> Iterator[Part | Obstacle]:
    later = LabelSet.objects.filter(
        benchmark=campaign.benchmark, created_at__gte=campaign.created_at
    )
    if campaign.is_imported and (first := later.last()):
        yield Obstacle(
            f"Label set {first.version} was published from these judgments, so they must stay.",
            url=reverse("benchmark-labels", args=[campaign.benchmark.key]),
            link="To the label sets",
        )
    reports = CampaignReport.objects.filter(campaign=campaign)
    yield Part("stored figure", reports)


@belongs_to(Benchmark)
def results_of_benchmark(benchmark: Benchmark) -> Iterator[Part | Obstacle]:
    if number := LabelSet.objects.filter(benchmark=benchmark).count():
        yield Obstacle(
            f"This benchmark has {counted(number, 'published label set')}, which must stay.",
            url=reverse("benchmark-labels", args=[benchmark.key]),
            link="To the label sets",
        )
    of_one = {"benchmark": benchmark}
    yield Part("stored figure", CampaignReport.objects.filter(campaign__benchmark=benchmark))
    yield Part(
        "set of scores", Evaluation.objects.filter(run__benchmark=benchmark), "sets of scores"
    )
    yield Part("analysis result", AnalysisResult.objects.filter(**of_one))
    yield Part("agreement report", AgreementReport.objects.filter(**of_one))
    yield Part("draft", Draft.objects.filter(**of_one))
    yield Part("stored label array", LabelArrays.objects.filter(**of_one))
