"""The page of a benchmark: what there is, how far it is, what comes next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.enums import CampaignState
from annotation.models import Campaign
from annotation.policies import can_judge, can_lead
from annotation.selectors.campaigns import campaigns_of
from annotation.selectors.progress import CampaignProgress, progress_of, task_groups
from config.jobs.models import Job
from config.shared.pages import only_for
from evaluation.models import AgreementReport, LabelSet
from evaluation.monitor.figures import agreement_note, agreement_rows
from evaluation.portal.cards import JOBS_SHOWN, BenchmarkCard
from evaluation.portal.originals import find_originals
from evaluation.release.selectors import draft_state, latest_agreement, recent_outcomes
from evaluation.scores.selectors import stored_scores
from evaluation.scores.tables import ResultRow, result_rows
from pooling.models import Benchmark, Run
from pooling.policies import benchmarks_seen_by, can_see_benchmarks
from pooling.selectors import find_runs, tags_of, train_splits_of


@only_for(can_see_benchmarks)
@require_safe
def benchmark(request: HttpRequest, key: str) -> HttpResponse:
    found = get_object_or_404(benchmarks_seen_by(request.user), key=key)
    label_sets = list(LabelSet.objects.filter(benchmark=found).select_related("created_by"))
    rows = _run_rows(found, label_sets[0] if label_sets else None)
    pools = list(found.pools.select_related("created_by").prefetch_related("runs"))
    campaigns = _campaign_rows(request.user, found)
    agreement = latest_agreement(found)
    card = BenchmarkCard(
        found,
        runs=len(rows),
        pairs=sum(pool.n_new_pairs for pool in pools),
        label_set=None,
        outcomes=recent_outcomes([found])[found.pk],
    )
    latest, drafted = label_sets[0] if label_sets else None, draft_state(found)
    context = {
        "benchmark": found,
        "can_lead": can_lead(request.user, found),
        "card": card,
        "rows": rows,
        "unscored": any(not row.is_scored for row in rows),
        "pools": pools,
        "campaigns": campaigns,
        "label_sets": label_sets,
        "latest": latest,
        "drafted": drafted,
        "splits": list(train_splits_of(found)),
        "tags": list(tags_of(found)),
        "originals": find_originals(found, latest or drafted.draft),
        "agreement": agreement,
        **_agreement_context(agreement),
        "jobs": Job.objects.filter(benchmark_key=found.key).select_related("created_by")[
            :JOBS_SHOWN
        ],
        "next_step": _next_step(card, campaigns, bool(label_sets)),
    }
    return render(request, "evaluation/portal/benchmark.html", context)


def _agreement_context(report: AgreementReport | None) -> dict[str, Any]:
    """Return the table of agreement; nothing for a report of older code without first labels."""
    if report is None or "first_labels" not in report.result:
        return {"agreement_rows": []}
    return {
        "agreement_rows": agreement_rows(report.result),
        "agreement_note": agreement_note(report.result),
    }


@dataclass(frozen=True, slots=True)
class CampaignRow:
    """A campaign in the list. `progress` is None for a closed one, which is not counted again."""

    campaign: Campaign
    can_judge: bool
    progress: CampaignProgress | None


def _run_rows(found: Benchmark, latest: LabelSet | None) -> list[ResultRow]:
    labelled = {} if latest is None else stored_scores(found, latest)
    runs: Iterable[Run] = find_runs(found)
    return result_rows(runs, stored_scores(found, None), labelled, by_labels=latest is not None)


def _campaign_rows(user: Any, found: Benchmark) -> list[CampaignRow]:
    campaigns = list(campaigns_of(found))
    groups = task_groups(one for one in campaigns if one.state != CampaignState.CLOSED)
    progress = {
        one.pk: progress_of(one, groups[one.pk], surplus=0) for one in campaigns if one.pk in groups
    }
    return [CampaignRow(one, can_judge(user, one), progress.get(one.pk)) for one in campaigns]


def _next_step(card: BenchmarkCard, campaigns: list[CampaignRow], has_labels: bool) -> str:
    """The name of what is missing next on the way from runs to scores."""
    if not card.runs:
        return "run"
    if not card.pairs:
        return "pool"
    if not campaigns:
        return "campaign"
    if not card.outcomes.counts.settled and not has_labels:
        return "judge"
    return "results" if has_labels else "publish"
