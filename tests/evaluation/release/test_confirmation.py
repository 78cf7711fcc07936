"""Tests of second labels for sole positives and for all positives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.core.consensus import OutcomeCounts
from annotation.enums import CampaignState, TaskState
from annotation.models import Assignment, Campaign
from annotation.selectors.judgments import judgment_arrays
from annotation.selectors.progress import campaign_progress
from annotation.services import open_confirmation, set_campaign_state, withdraw_judgments
from annotation.tasks import open_confirmation_job
from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.selectors import labels_of_set
from evaluation.lab.services import analyse
from evaluation.models import LabelSet
from evaluation.monitor.services import compute_agreement
from evaluation.release.selectors import (
    benchmark_outcomes,
    live_labels,
    original_judged,
    positive_counts,
    positives_to_confirm,
    unconfirmed_sole_positives,
)
from evaluation.release.selectors.positives_to_confirm import PositiveCounts
from evaluation.release.services import publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.shared.errors import InvalidInput
from hearth.shared.progress import no_progress
from pooling.models import Run
from tests.factories import add_judgments, claim, make_annotator, make_campaign, make_user, submit


@pytest.fixture
def lead(db: None) -> User:
    return make_user("lena", Role.LEAD)


@pytest.fixture
def judged(tmp_path: Path, db: None) -> Campaign:
    """The run lists v0, v1, v2 and v3 for each caption.

    The original positive of c0 is v0, that of c1 is v1, and that of c2 is v2. By Anna's labels,
    only v0 for c1 and v3 for c2 are relevant.
    """
    campaign = make_campaign(tmp_path, captions=3, videos=4)
    relevant = {("c1", "v0"), ("c2", "v3")}
    for held in claim(campaign, make_annotator("anna")):
        submit(held, int((held.task.query.key, held.task.video.key) in relevant))
    publish_label_set(benchmark=campaign.benchmark, by=OPERATOR)
    return campaign


def confirm(campaign: Campaign, cutoff: int) -> Campaign:
    benchmark = campaign.benchmark
    _, codes = unconfirmed_sole_positives(Run.objects.get(), LabelSet.objects.latest("pk"), cutoff)
    return open_confirmation(benchmark=benchmark, by=OPERATOR, codes=codes)


def state_of(campaign: Campaign) -> list[Any]:
    return list(campaign.tasks.values_list("state", "label", "labels_live", "seats_open"))


def test_sole_positives(judged: Campaign) -> None:
    run, labels = Run.objects.get(), LabelSet.objects.get()
    # In the top 1, c1 has the sole positive v0, with the code 1 * 4 + 0. The positive of c0 is an
    # original positive and does not count.
    count, codes = unconfirmed_sole_positives(run, labels, 1)
    assert (count, codes.tolist()) == (1, [4])
    # In the top 2, c1 has two positives.
    count, codes = unconfirmed_sole_positives(run, labels, 2)
    assert (count, codes.tolist()) == (0, [])
    # All positives are v0 for c1 and v3 for c2.
    assert positive_counts(run, labels) == [
        PositiveCounts(1, 1, 1, tasks=1),
        PositiveCounts(None, 2, 2, tasks=2),
    ]


def test_all_positives_are_those_of_the_label_set_with_one_label(
    judged: Campaign, tmp_path: Path
) -> None:
    # A second label for v0 of c1, and a label for the original positive v2 of c2.
    rows = [("c1", "v0", "ben", 1), ("c2", "v2", "ben", 1)]
    add_judgments(tmp_path, judged.benchmark, rows)
    publish_label_set(benchmark=judged.benchmark, allow_pending=True, by=OPERATOR)
    newest = LabelSet.objects.latest("pk")
    # Only v3 of c2 has one label.
    count, codes = positives_to_confirm(newest, None, 1)
    assert (count, codes.tolist()) == (2, [11])
    confirmed = open_confirmation(benchmark=judged.benchmark, by=OPERATOR, codes=codes)
    assert confirmed.n_tasks == 1
    assert positive_counts(Run.objects.get(), newest)[-1] == PositiveCounts(None, 2, 1, tasks=0)
    with pytest.raises(InvalidInput, match="Publish or choose a label set first"):
        positives_to_confirm(None, None, 1)
    with pytest.raises(InvalidInput, match="between 1 and the depth of the run"):
        positives_to_confirm(newest, Run.objects.get(), 99)


def test_the_analysis_counts_the_same_sole_positives(judged: Campaign, tmp_path: Path) -> None:
    options = {"rates": "typed", "false_alarms": "10", "misses": "20", "measures": "C@1"}
    # The sole positive of c1 has one label, later two. Original positives are not counted.
    for with_one_label in (1, 0):
        question = build_question(get_analysis("label-noise"), judged.benchmark, options)
        (row,) = analyse(question=question).result["deciding"]
        found, _ = positive_counts(Run.objects.get(), LabelSet.objects.latest("pk"))
        assert (found.count, found.with_one_label) == (1, with_one_label)
        assert (row["deciding"], row["to_confirm"]) == (1, with_one_label)
        add_judgments(tmp_path, judged.benchmark, [("c1", "v0", "ben", 1)])
        publish_label_set(benchmark=judged.benchmark, by=OPERATOR)


def test_requested_labels_are_not_requested_again(judged: Campaign) -> None:
    confirm(judged, 1)
    sole, every = positive_counts(Run.objects.get(), LabelSet.objects.get())
    assert (sole, every) == (PositiveCounts(1, 1, 1, tasks=0), PositiveCounts(None, 2, 2, tasks=1))


def test_a_second_label_that_agrees_settles_the_pair(judged: Campaign) -> None:
    campaign = confirm(judged, 1)
    assert (campaign.n_tasks, campaign.confirms) == (1, True)
    # The first label applies until the second one arrives.
    assert state_of(campaign) == [(TaskState.OPEN, None, 0, 1)]
    assert live_labels(judged.benchmark)[1].outcomes == OutcomeCounts(resolved=12)
    # The same annotator cannot confirm the label.
    anna = judged.tasks.earliest("pk").judgments.get().annotator
    assert claim(campaign, anna) == []
    (held,) = claim(campaign, make_annotator("ben"))
    submit(held, 1)
    assert state_of(campaign) == [(TaskState.RESOLVED, 1, 1, 0)]
    assert claim(campaign, make_annotator("cara")) == []
    assert benchmark_outcomes(judged.benchmark).counts == OutcomeCounts(resolved=12)


def test_a_second_label_that_differs_requires_a_third(judged: Campaign) -> None:
    campaign = confirm(judged, 1)
    (held,) = claim(campaign, make_annotator("ben"))
    submit(held, 0)
    assert state_of(campaign) == [(TaskState.OPEN, None, 1, 1)]
    assert campaign_progress(campaign).outcomes == OutcomeCounts(pending=1)
    # The pair is pending, so its earlier label no longer applies.
    expected = OutcomeCounts(resolved=11, pending=1)
    assert live_labels(judged.benchmark)[1].outcomes == expected
    assert benchmark_outcomes(judged.benchmark).counts == expected

    (held,) = claim(campaign, make_annotator("cara"))
    submit(held, 0)

    assert state_of(campaign) == [(TaskState.RESOLVED, 0, 2, 0)]
    assert live_labels(judged.benchmark)[1].outcomes == OutcomeCounts(resolved=12)
    before, after = (
        publish_label_set(benchmark=judged.benchmark, by=OPERATOR)
        if new
        else LabelSet.objects.get()
        for new in (False, True)
    )
    assert (before.n_relevant, after.n_relevant) == (2, 1)
    scores = [
        evaluate_runs(benchmark=judged.benchmark, labels=version, measures=["C@1"], by=OPERATOR)
        .runs[0]
        .labelled
        for version in ("1", "1.0.1")
    ]
    assert scores == [{"C@1": pytest.approx(2 / 3)}, {"C@1": pytest.approx(1 / 3)}]


def test_labels_of_a_confirmation_are_not_planned_labels(judged: Campaign) -> None:
    campaign = confirm(judged, 1)
    (held,) = claim(campaign, make_annotator("ben"))
    submit(held, 0)
    assert int(judgment_arrays(judged.benchmark).is_first.sum()) == 12
    result = compute_agreement(benchmark=judged.benchmark, resamples=10, by=OPERATOR).result
    assert (result["labels"], result["multiply_labelled"]) == (13, 1)
    # The second label was requested because of the first one.
    assert result["first_two_agreement"] is None
    assert result["undefined"]["alpha"] == "no pair has two labels"


def test_labels_of_a_confirmation_are_no_evidence_on_error_rates(judged: Campaign) -> None:
    campaign = confirm(judged, 1)
    (held,) = claim(campaign, make_annotator("ben"))
    submit(held, 1)
    publish_label_set(benchmark=judged.benchmark, by=OPERATOR)
    newest = LabelSet.objects.latest("pk")
    labels = labels_of_set(newest, original_judged(judged.benchmark))
    place = labels.codes.tolist().index(4)
    assert (labels.n_labels[place], labels.relevant[place], labels.n_all_labels[place]) == (1, 1, 2)
    assert labels.n_labels.sum() == 12


def test_closing_a_confirmation_computes_the_outcome_from_the_existing_labels(
    judged: Campaign, lead: User
) -> None:
    campaign = confirm(judged, 1)
    (held,) = claim(campaign, make_annotator("ben"))
    submit(held, 0)
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    assert state_of(campaign) == [(TaskState.CONFLICTED, None, 1, 0)]
    counts = OutcomeCounts(resolved=11, conflicted=1)
    assert live_labels(judged.benchmark)[1].outcomes == counts
    assert benchmark_outcomes(judged.benchmark).counts == counts


def test_an_unanswered_confirmation_changes_no_count(judged: Campaign) -> None:
    before = benchmark_outcomes(judged.benchmark)
    confirm(judged, 1)
    assert benchmark_outcomes(judged.benchmark) == before


def test_a_correction_of_the_first_label_reaches_the_confirmation(judged: Campaign) -> None:
    campaign = confirm(judged, 1)
    (held,) = claim(campaign, make_annotator("ben"))
    submit(held, 1)
    assert state_of(campaign) == [(TaskState.RESOLVED, 1, 1, 0)]
    first = Assignment.objects.get(task__campaign=judged, task__pair=held.task.pair)
    submit(first, 0)
    # Now the labels differ, so a third label is needed.
    assert state_of(campaign) == [(TaskState.OPEN, None, 1, 1)]
    assert live_labels(judged.benchmark)[1].outcomes == OutcomeCounts(resolved=11, pending=1)
    (third,) = claim(campaign, make_annotator("cara"))
    submit(third, 1)
    assert state_of(campaign) == [(TaskState.RESOLVED, 1, 2, 0)]
    assert live_labels(judged.benchmark)[1].outcomes == OutcomeCounts(resolved=12)


def test_withdrawing_the_first_label_leaves_the_second(judged: Campaign, lead: User) -> None:
    campaign = confirm(judged, 1)
    (held,) = claim(campaign, make_annotator("ben"))
    submit(held, 0)
    first = Assignment.objects.get(task__campaign=judged, task__pair=held.task.pair)
    withdraw_judgments(campaign=judged, annotator=first.annotator, by=lead)
    assert state_of(campaign) == [(TaskState.RESOLVED, 0, 1, 0)]
    assert live_labels(judged.benchmark)[1].outcomes == OutcomeCounts(resolved=1)


def test_a_positive_is_confirmed_only_once(judged: Campaign) -> None:
    confirm(judged, 1)
    with pytest.raises(InvalidInput, match="None of these pairs can be confirmed"):
        confirm(judged, 1)
    with pytest.raises(InvalidInput, match="None of these pairs can be confirmed"):
        confirm(judged, 2)


def test_the_run_page_has_a_button_for_leads(judged: Campaign, client: Client, lead: User) -> None:
    evaluate_runs(benchmark=judged.benchmark, by=OPERATOR)
    run = Run.objects.get()
    address = f"/benchmarks/tiny/runs/{run.pk}/"
    client.force_login(make_user("rita", Role.RESEARCHER))
    assert "Sole positives, all positives" in client.get(address).content.decode()
    assert "Request 1 second label" not in client.get(address).content.decode()
    assert client.post(f"{address}confirm/", {"cutoff": "1"}).status_code == 403
    client.force_login(lead)
    assert "Request 1 second label<" in client.get(address).content.decode()
    assert client.post(f"{address}confirm/", {"cutoff": "3"}).status_code == 400
    assert "Request 2 second labels<" in client.get(address).content.decode()
    assert client.post(f"{address}confirm/", {"cutoff": "1"}).status_code == 302
    job = Job.objects.get()
    assert (job.kind, job.params["codes"]) == ("open_confirmation", [4])
    done = open_confirmation_job({**job.params, "job": str(job.pk)}, no_progress)
    assert done["tasks"] == 1
    # Annotators see the name, so it contains neither the run nor the purpose.
    assert Campaign.objects.get(pk=done["campaign"]).name == "tiny 2"
    assert client.post(f"{address}confirm/", {"cutoff": "all"}).status_code == 302
    job = Job.objects.latest("created_at")
    assert (job.title, job.params["codes"]) == ("Confirm all positives of tiny", [4, 11])


def test_a_lead_requests_second_labels_over_the_api(
    judged: Campaign, client: Client, lead: User
) -> None:
    address = "/api/v1/benchmarks/tiny/confirmations/"

    def post(**body: Any) -> tuple[int, list[int]]:
        answer = client.post(address, body, content_type="application/json")
        job = Job.objects.filter(kind="open_confirmation").order_by("created_at").last()
        return answer.status_code, job.params["codes"] if job and answer.status_code == 202 else []

    client.force_login(make_user("rita", Role.RESEARCHER))
    assert post(all=True) == (403, [])
    client.force_login(lead)
    assert post(run="A", cutoff=1) == (202, [4])
    assert post(all=True, labels="1.0.0", name="Again", seed=3, codes=[1]) == (202, [4, 11])
    params = Job.objects.latest("created_at").params
    expected = {"benchmark": "tiny", "codes": [4, 11], "name": "Again", "seed": 3}
    assert {name: params[name] for name in expected} == expected
    assert params.keys() - expected <= {"by", "job"}
    for wrong in ({}, {"all": True, "run": "A"}, {"all": True, "cutoff": 1}, {"run": "B"}):
        assert post(**wrong)[0] in (400, 404), wrong


def test_the_command_opens_a_confirmation(
    judged: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("confirm_positives", "tiny", "--run", "A", "--cutoff", "1", "--name", "Again")
    assert capsys.readouterr().out.endswith(
        "(Again)\nsecond labels requested: 1\nsole positives: 1\n"
    )
    # The sole positive is already in a confirmation, so only the other positive is left.
    call_command("confirm_positives", "tiny", "--all", "--json")
    report = json.loads(capsys.readouterr().out)
    assert (report["deciding"], report["positives"], report["tasks"]) == (None, 2, 1)
    with pytest.raises(CommandError, match="not allowed with"):
        call_command("confirm_positives", "tiny", "--all", "--run", "A")
