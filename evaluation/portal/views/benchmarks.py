"""The pages of a benchmark's tabs, except captions and videos, proxies, and analyses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from annotation.enums import CampaignKind, CampaignState, GoldUse
from annotation.models import Campaign
from annotation.policies import benchmarks_led_by, can_judge, can_lead
from annotation.questions.kind import QuestionKind, Words, kinds, openings
from annotation.selectors.campaigns import campaigns_of
from annotation.selectors.gold import gold_counts
from annotation.selectors.guidelines import latest_guideline
from annotation.selectors.people import judged_pairs
from annotation.selectors.progress import CampaignProgress, progress_of, task_groups
from annotation.selectors.tasks import NO_TASKS, new_counts_for_page
from annotation.selectors.training import find_training_queue
from evaluation.models import AgreementReport, LabelSet
from evaluation.monitor.figures import agreement_note, agreement_rows
from evaluation.monitor.selectors.studies import StudyProgress, progress_of_studies, studies_of
from evaluation.portal.cards import JOBS_MAX
from evaluation.portal.originals import find_originals
from evaluation.portal.selectors import (
    desk_counts,
    newest_label_sets,
    paused_memberships,
    people_of,
)
from evaluation.portal.steps import Preparation, Progress, next_step, steps_of
from evaluation.release.exports import formats_for
from evaluation.release.selectors import (
    BenchmarkOutcomes,
    draft_state,
    latest_agreement,
    latest_draft,
    recent_outcomes,
)
from evaluation.scores.findings import find_finding
from evaluation.scores.forms import JUDGED
from evaluation.scores.selectors import stored_scores
from evaluation.scores.tables import result_rows, value_of
from hearth.accounts.policies import can_see_people, people_seen_by
from hearth.accounts.roles import EVERYWHERE, Role, Scopes
from hearth.accounts.selectors import open_invitations, people_with, roles_shown
from hearth.jobs.models import Job
from hearth.shared.numbers import percent
from hearth.shared.pages import only_for
from hearth.shared.tables import page_of
from hearth.webhooks.models import Webhook
from pooling.models import Benchmark, PublicPage
from pooling.policies import (
    benchmarks_seen_by,
    can_change_benchmark,
    can_see_benchmarks,
    public_benchmarks,
)
from pooling.selectors.runs import find_runs, withdrawn_runs
from pooling.selectors.uploads import count_unplayable


@only_for(can_see_benchmarks)
def overview(request: HttpRequest, key: str) -> HttpResponse:
    """Show the key figures, the next step for this person, and the latest jobs."""
    benchmark = _get_benchmark(request, key)
    figures = _key_figures(benchmark)
    newest = figures["label_set"]
    campaigns = list(campaigns_of(benchmark))
    jobs = Job.objects.filter(benchmark_key=benchmark.key).select_related("created_by")
    context = {
        "benchmark": benchmark,
        **figures,
        "n_proxies": benchmark.proxies.count(),
        "to_judge": [campaign for campaign in campaigns if can_judge(request.user, campaign)],
        "finding": find_finding(benchmark, newest),
        "originals": find_originals(benchmark, newest or latest_draft(benchmark)),
        "jobs": jobs[:JOBS_MAX],
    }
    if can_change_benchmark(request.user, benchmark):
        steps = steps_of(benchmark, _progress(benchmark, figures, len(campaigns)))
        context |= {"steps": steps, "next_step": next_step(steps)}
    return render(request, "evaluation/portal/overview.html", context)


class KeyFigures(TypedDict):
    """The numbers at the top of the overview.

    most_unjudged: largest unjudged share of the top ten of a run, in %, or empty if everything is
    judged or no share is stored. not_settled: number of pairs that are not settled, or None while
    they are counted.
    """

    runs: int
    unscored: int
    most_unjudged: str
    pairs: int
    outcomes: BenchmarkOutcomes
    not_settled: int | None
    label_set: LabelSet | None


def _key_figures(benchmark: Benchmark) -> KeyFigures:
    newest = newest_label_sets([benchmark]).get(benchmark.pk)
    evaluations = stored_scores(benchmark, newest)
    runs = list(benchmark.runs.listed().values_list("pk", flat=True))
    shares = [value_of(evaluations.get(pk), JUDGED).number for pk in runs]
    judged = [share for share in shares if share is not None]
    outcomes = recent_outcomes([benchmark])[benchmark.pk]
    return {
        "runs": len(runs),
        "unscored": sum(pk not in evaluations for pk in runs),
        "most_unjudged": percent(1 - min(judged)) if judged and min(judged) < 1 else "",
        "pairs": sum(benchmark.pools.values_list("n_new_pairs", flat=True)),
        "outcomes": outcomes,
        "not_settled": None if outcomes.pairs is None else outcomes.pairs - outcomes.counts.settled,
        "label_set": newest,
    }


def _progress(benchmark: Benchmark, figures: KeyFigures, n_campaigns: int) -> Progress:
    """Return the counts that decide the next step of a lead."""
    outcomes, newest = figures["outcomes"], figures["label_set"]
    at_desk, desk_url = _desk_work(benchmark)
    return Progress(
        runs=figures["runs"],
        pairs=figures["pairs"],
        without_file=count_unplayable(benchmark),
        prepared=_preparation(benchmark),
        campaigns=n_campaigns,
        new=new_counts_for_page([benchmark])[benchmark.pk],
        settled=outcomes.counts.settled,
        unsettled=outcomes.counts.unsettled,
        not_settled=figures["not_settled"],
        at_desk=at_desk,
        desk_url=desk_url,
        version=newest.version if newest else None,
        newly_settled=_newly_settled(outcomes, newest),
        unscored=figures["unscored"],
    )


def _preparation(benchmark: Benchmark) -> Preparation:
    guideline, gold = latest_guideline(benchmark), gold_counts(benchmark)
    scope = Scopes(keys=frozenset({benchmark.key}))
    invitations = open_invitations().filter(
        role=Role.ANNOTATOR, scope__in=(benchmark.key, EVERYWHERE)
    )
    annotators = people_with(Role.ANNOTATOR, scope).filter(is_active=True)
    return Preparation(
        guideline=0 if guideline is None else guideline.version,
        gold=sum(count for (_, is_retired), count in gold.items() if not is_retired),
        has_training=find_training_queue(benchmark) is not None,
        annotators=annotators.count() + invitations.count(),
    )


def _desk_work(benchmark: Benchmark) -> tuple[int, str]:
    """Return the number of tasks at all desks, and the address of the desk with most of them."""
    by_campaign: dict[int, int] = {}
    for counts in desk_counts([benchmark]).values():
        for row in counts:
            pk = row.campaign.pk
            by_campaign[pk] = by_campaign.get(pk, 0) + row.count
    if not by_campaign:
        return 0, ""
    fullest = max(by_campaign, key=lambda pk: by_campaign[pk])
    return sum(by_campaign.values()), reverse("desk", args=[fullest])


def _newly_settled(outcomes: BenchmarkOutcomes, newest: LabelSet | None) -> int:
    """Return the increase in settled pairs since the newest label set."""
    if newest is None:
        return 0
    published = newest.n_pairs - newest.n_conflicted - newest.n_pending
    return max(0, outcomes.counts.settled - published)


@only_for(can_see_benchmarks)
def runs(request: HttpRequest, key: str) -> HttpResponse:
    """Show the runs with their scores by the first measure."""
    benchmark = _get_benchmark(request, key)
    newest = newest_label_sets([benchmark]).get(benchmark.pk)
    rows = result_rows(
        find_runs(benchmark, upper_bounds=True),
        stored_scores(benchmark, None),
        {} if newest is None else stored_scores(benchmark, newest),
        by_labels=newest is not None,
    )
    context = {
        "benchmark": benchmark,
        "rows": rows,
        "withdrawn": withdrawn_runs(benchmark),
        "can_lead": can_lead(request.user, benchmark),
        "has_public_page": PublicPage.objects.filter(benchmark=benchmark).exists(),
        "unscored": any(not row.is_scored for row in rows),
        "label_set": newest,
    }
    return render(request, "evaluation/portal/runs.html", context)


@dataclass(frozen=True, slots=True)
class CampaignRow:
    """A campaign in the list. progress: None for closed campaigns, whose tasks are not counted."""

    campaign: Campaign
    can_judge: bool
    progress: CampaignProgress | None


@only_for(can_see_benchmarks)
def campaigns(request: HttpRequest, key: str) -> HttpResponse:
    """Show the pools, and the campaigns with their progress."""
    benchmark = _get_benchmark(request, key)
    leads = can_lead(request.user, benchmark)
    context = {
        "benchmark": benchmark,
        "can_lead": leads,
        "may_change": can_change_benchmark(request.user, benchmark),
        "has_runs": benchmark.runs.listed().exists(),
        "pools": list(
            benchmark.pools.select_related("created_by", "proxy").prefetch_related("runs")
        ),
        "new": new_counts_for_page([benchmark])[benchmark.pk] if leads else NO_TASKS,
        "campaigns": _campaign_rows(request.user, benchmark),
        "studies": _study_rows(benchmark),
        "openings": openings(benchmark),
    }
    return render(request, "evaluation/portal/campaigns.html", context)


def _study_rows(benchmark: Benchmark) -> list[tuple[Words, list[tuple[Campaign, StudyProgress]]]]:
    """Return the studies with each question that the benchmark has studies of."""
    studies = studies_of(benchmark)
    progress = progress_of_studies(studies)
    rows: dict[QuestionKind, list[tuple[Campaign, StudyProgress]]] = {}
    for study in studies:
        rows.setdefault(study.question_kind, []).append((study, progress[study.pk]))
    return [(kind.words, found) for kind, found in rows.items()]


def _campaign_rows(user: Any, benchmark: Benchmark) -> list[CampaignRow]:
    found = list(campaigns_of(benchmark))
    groups = task_groups(campaign for campaign in found if campaign.state != CampaignState.CLOSED)
    progress = {
        campaign.pk: progress_of(campaign, groups[campaign.pk], surplus=0)
        for campaign in found
        if campaign.pk in groups
    }
    return [
        CampaignRow(campaign, can_judge(user, campaign), progress.get(campaign.pk))
        for campaign in found
    ]


@only_for(can_see_benchmarks)
def labels(request: HttpRequest, key: str) -> HttpResponse:
    """Show the label sets, the draft and the agreement."""
    benchmark = _get_benchmark(request, key)
    label_sets = list(LabelSet.objects.filter(benchmark=benchmark).select_related("created_by"))
    outcomes = recent_outcomes([benchmark])[benchmark.pk]
    judging = campaigns_of(benchmark)
    agreement = latest_agreement(benchmark)
    context = {
        "benchmark": benchmark,
        "has_campaigns": judging.exists(),
        "label_sets": label_sets,
        "latest": label_sets[0] if label_sets else None,
        "export_formats": formats_for(request.user, benchmark),
        "outcomes": outcomes,
        "has_labels": outcomes.has_labels,
        "drafted": draft_state(benchmark),
        "agreement": agreement,
        **_agreement_context(agreement),
    }
    return render(request, "evaluation/portal/labels.html", context)


def _agreement_context(report: AgreementReport | None) -> dict[str, Any]:
    """Return the table of agreement. It is empty if there is no report, or an old one.

    In reports of older code versions, `alpha_interval` resamples pairs.
    """
    if report is None or "alpha_interval_pairs" not in report.result:
        return {"agreement_rows": []}
    return {
        "own_agreement": [
            (kinds()[name].summary_template, own)
            for name, own in report.result.get("questions", {}).items()
        ],
        "agreement_rows": agreement_rows(report.result),
        "agreement_note": agreement_note(report.result),
    }


@only_for(can_see_people)
def people(request: HttpRequest, key: str) -> HttpResponse:
    """Show the people with a role here, their judged pairs, and where they are paused.

    Only leads and admins can open this page.
    """
    benchmark = get_object_or_404(benchmarks_led_by(request.user), key=key)
    scope = Scopes(keys=frozenset({benchmark.key}))
    found = people_of(people_seen_by(request.user), benchmark)
    rows = found.annotate(judged=judged_pairs(scope)).select_related("annotator")
    page = page_of(
        rows.prefetch_related("groups", "grants").order_by("-judged", "username"),
        request.GET.get("page"),
    )
    paused = paused_memberships(benchmark, list(page))
    context = {
        "benchmark": benchmark,
        "page": page,
        "rows": [
            (person, roles_shown(person, scope), paused.get(person.pk, [])) for person in page
        ],
        "campaigns": Campaign.objects.filter(
            benchmark=benchmark, kind=CampaignKind.JUDGING, source_sha256=""
        ),
        "queue": find_training_queue(benchmark),
    }
    return render(request, "evaluation/portal/people.html", context)


@only_for(can_see_benchmarks)
def settings(request: HttpRequest, key: str) -> HttpResponse:
    """Show the settings of the whole benchmark, with links to the pages that change them."""
    benchmark = _get_benchmark(request, key)
    leads = can_lead(request.user, benchmark)
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "can_lead": leads,
        "guideline": latest_guideline(benchmark),
    }
    if leads:
        counts = gold_counts(benchmark)
        context |= {
            "training_items": counts.get((GoldUse.TRAINING.value, False), 0),
            "control_pairs": counts.get((GoldUse.CONTROL.value, False), 0),
            "queue": find_training_queue(benchmark),
            "is_public": public_benchmarks().filter(pk=benchmark.pk).exists(),
            "n_webhooks": Webhook.objects.filter(benchmark_key=benchmark.key).count(),
        }
    return render(request, "evaluation/portal/settings.html", context)


def _get_benchmark(request: HttpRequest, key: str) -> Benchmark:
    return get_object_or_404(benchmarks_seen_by(request.user), key=key)
