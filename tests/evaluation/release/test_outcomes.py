"""Tests of outcomes: the rule that computes them, equal counts everywhere, and shared tasks."""

from __future__ import annotations

import gzip
import re
import threading
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client
from rest_framework.test import APIClient

from annotation.core.consensus import OutcomeCounts
from annotation.enums import CampaignState, EscalationKind, GoldUse, JudgmentState, Scale, TaskState
from annotation.models import Assignment, Campaign, Judgment, JudgmentTask
from annotation.selectors.progress import campaign_progress
from annotation.selectors.tasks import NO_TASKS, count_new_tasks, new_counts
from annotation.services import (
    Policy,
    adjudicate_task,
    escalate_task,
    exclude_task,
    open_campaign,
    release_assignments,
    set_campaign_state,
    update_recently_closed,
)
from annotation.services.drawn import open_drawn
from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from evaluation.models import LabelSet
from evaluation.monitor.services import compute_agreement
from evaluation.release.selectors import benchmark_outcomes, draft_state, live_labels
from evaluation.release.services import Unsettled, make_draft, publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.shared.errors import Conflict, InvalidInput
from pooling.enums import EqualTexts
from pooling.models import Benchmark
from pooling.services import set_equal_texts
from tests.factories import (
    add_gold_items,
    add_judgments,
    build_pool,
    claim,
    import_benchmark,
    judge,
    make_annotator,
    make_campaign,
    make_run,
    make_user,
    submit,
    write_captions,
)

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db]

# Captions c0, c2 and c3 have equal texts. c1 has a different text.
TEXTS = ["A dog runs.", "a cat", "a dog  runs", "a DOG runs!"]


@pytest.fixture
def lead(db: None) -> User:
    return make_user("lena", Role.LEAD)


@pytest.fixture
def equal(db: None, tmp_path: Path) -> Benchmark:
    """Make four captions and three videos. The run has no list for c3."""
    rows = [(f"c{place}", text, f"v{place % 3}") for place, text in enumerate(TEXTS)]
    benchmark = import_benchmark(key="equal", captions=write_captions(tmp_path, rows)).benchmark
    lists = {"c0": ["v0", "v1"], "c1": ["v1"], "c2": ["v0", "v2"]}
    make_run(tmp_path, benchmark, lists, system="A")
    return benchmark


def label_lines(label_set: LabelSet) -> list[str]:
    with label_set.file.open("rb") as stream:
        return gzip.decompress(stream.read()).decode().splitlines()[1:]


def counts_everywhere(campaign: Campaign) -> OutcomeCounts:
    """Check that campaign, benchmark and labels have the same counts, and return the counts."""
    benchmark = campaign.benchmark
    counts = campaign_progress(campaign).outcomes
    assert benchmark_outcomes(benchmark).counts == counts
    assert live_labels(benchmark)[1].outcomes == counts
    return counts


# --- States -----------------------------------------------------------------------------------


def test_all_states_are_counted_alike(tmp_path: Path, lead: User) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=8, double_share=1)
    anna, ben, cara = (make_annotator(name) for name in ("anna", "ben", "cara"))
    judge(campaign, anna, {"v0": 1, "v1": 1, "v2": 1, "v3": 1, "v4": 1})
    judge(campaign, ben, {"v0": 1, "v1": 0, "v3": 0})
    for person in (anna, ben):
        release_assignments(campaign=campaign, annotator=person)
    # v0 is settled, v1 and v3 need a third label, v2 and v4 a second one.
    assert counts_everywhere(campaign) == OutcomeCounts(resolved=1, pending=4)

    for held in claim(campaign, cara):
        video = held.task.video.key
        if video in ("v3", "v4"):
            kind = EscalationKind.UNSURE if video == "v3" else EscalationKind.CANNOT_PLAY
            escalate_task(assignment_id=held.pk, annotator=cara, kind=kind)
    # Pairs at the desk are pending, too.
    assert counts_everywhere(campaign) == OutcomeCounts(resolved=1, pending=4)

    tasks = {task.video.key: task for task in campaign.tasks.select_related("pair__video")}
    adjudicate_task(task=tasks["v3"], label=1, by=lead)
    exclude_task(task=tasks["v4"], by=lead)
    # An excluded pair gets no second label, so its only label settles it.
    assert counts_everywhere(campaign) == OutcomeCounts(resolved=2, pending=2, adjudicated=1)
    label_set = publish_label_set(benchmark=campaign.benchmark, allow_pending=True, by=OPERATOR)
    assert label_lines(label_set) == [
        "c0,v0,1,majority,2,2",
        "c0,v1,,pending,2,1",
        "c0,v2,,pending,1,1",
        "c0,v3,1,adjudicated,2,1",
        "c0,v4,1,majority,1,1",
    ]
    assert (label_set.n_pairs, label_set.n_pending, label_set.n_conflicted) == (5, 2, 0)
    assert benchmark_outcomes(campaign.benchmark).unjudged == 3


def test_closing_computes_the_outcomes_of_pending_pairs(tmp_path: Path, lead: User) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=3, double_share=1)
    judge(campaign, make_annotator("anna"), {"v0": 1, "v1": 1})
    judge(campaign, make_annotator("ben"), {"v1": 0})
    assert counts_everywhere(campaign) == OutcomeCounts(pending=2)

    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)

    assert counts_everywhere(campaign) == OutcomeCounts(resolved=1, conflicted=1)
    # v2 has no label, so the next campaign may contain it.
    assert count_new_tasks(campaign.benchmark).tasks == 1


def test_a_pair_of_two_campaigns_is_counted_once(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=3)
    judge(campaign, make_annotator("anna"), {"v0": 1, "v1": 1})
    rows = [("c0", "v0", "x", 0), ("c0", "v2", "x", 1)]
    add_judgments(tmp_path, campaign.benchmark, rows)
    found = benchmark_outcomes(campaign.benchmark)
    # v0 has one label in each campaign, and they contradict each other.
    assert found.counts == live_labels(campaign.benchmark)[1].outcomes
    assert found.counts == OutcomeCounts(resolved=2, conflicted=1)
    assert (found.pairs, found.settled_percent) == (3, "66")


def test_pairs_that_drawn_captions_or_moments_repeat_are_counted_once(
    tmp_path: Path, lead: User
) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=3)
    benchmark, anna = campaign.benchmark, make_annotator("anna")
    judge(campaign, anna, {"v0": 1, "v1": 0})
    drawn = open_drawn(
        benchmark=benchmark,
        codes=np.array([1, 2]),
        positions=np.arange(2),
        waits=np.zeros(2, np.bool_),
        by=OPERATOR,
    )
    spans = open_campaign(benchmark=benchmark, by=OPERATOR, question="spans")
    assert (drawn.n_tasks, spans.n_tasks) == (2, 1)
    (held,) = (held for held in claim(drawn, anna) if held.task.video.key == "v1")
    submit(held, 0)
    found = benchmark_outcomes(benchmark)
    assert (found.counts, found.pairs) == (OutcomeCounts(resolved=2), 3)
    assert found.counts == live_labels(benchmark)[1].outcomes
    # A new campaign would not contain the pairs that the first one still contains.
    for closed in (drawn, spans):
        set_campaign_state(campaign=closed, state=CampaignState.CLOSED, by=lead)
        assert new_counts([benchmark])[benchmark.pk] == count_new_tasks(benchmark) == NO_TASKS


def test_pending_pairs_count_as_unjudged(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=3, double_share=1)
    judge(campaign, make_annotator("anna"), {"v0": 1, "v1": 1})
    judge(campaign, make_annotator("ben"), {"v1": 1})
    publish_label_set(benchmark=campaign.benchmark, allow_pending=True, by=OPERATOR)
    (scored,) = evaluate_runs(benchmark=campaign.benchmark, labels_only=True, by=OPERATOR).runs
    # The run lists v0, v1, v2 for c0; only v1 is settled.
    assert scored.labelled is not None
    assert (scored.labelled["C@1"], scored.labelled["C@5"]) == (0.0, 1.0)
    assert scored.judged["1"] == 0.0


def hold(campaign: Campaign, name: str, video: str) -> Assignment:
    """Return the assignment of this video for a new annotator."""
    held = claim(campaign, make_annotator(name))
    return next(assignment for assignment in held if assignment.task.video.key == video)


def test_an_answer_that_its_annotator_escalates_needs_a_lead(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=1, double_share=1)
    for name, label in (("anna", 1), ("ben", 0), ("cara", 1)):
        judge(campaign, make_annotator(name), {"v0": label})
    assert counts_everywhere(campaign) == OutcomeCounts(resolved=1)
    held = Assignment.objects.get(annotator__user__username="ben")
    escalate_task(assignment_id=held.pk, annotator=held.annotator, kind=EscalationKind.UNSURE)
    # Two labels agree, but the pair is at the desk.
    assert counts_everywhere(campaign) == OutcomeCounts(pending=1)


def test_a_closed_campaign_keeps_escalations(tmp_path: Path, lead: User) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=2, double_share=1)
    judge(campaign, make_annotator("anna"), {"v0": 1, "v1": 1})
    held = hold(campaign, "ben", "v0")
    escalate_task(assignment_id=held.pk, annotator=held.annotator, kind=EscalationKind.UNSURE)
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    assert counts_everywhere(campaign) == OutcomeCounts(resolved=1, pending=1)
    # A later escalation is stored and changes no outcome.
    own = Assignment.objects.get(annotator__user__username="anna", task__pair__video__key="v1")
    escalate_task(assignment_id=own.pk, annotator=own.annotator, kind=EscalationKind.UNSURE)
    assert counts_everywhere(campaign) == OutcomeCounts(resolved=1, pending=1)


def test_a_pair_answered_while_its_campaign_closes_gets_an_outcome(
    tmp_path: Path, lead: User
) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=1, double_share=1)
    judge(campaign, make_annotator("anna"), {"v0": 1})
    set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
    # The state of the task after an answer that was accepted before closing.
    campaign.tasks.update(state=TaskState.OPEN, label=None, seats_open=1)
    assert update_recently_closed() == 1
    assert counts_everywhere(campaign) == OutcomeCounts(resolved=1)
    assert update_recently_closed() == 0


@pytest.mark.django_db(transaction=True)
def test_counts_agree_after_an_answer_that_came_while_the_campaign_closed(tmp_path: Path) -> None:
    """PostgreSQL accepts the answer. SQLite delays it until after the closing, so it is surplus."""
    lead = make_user("lead of the race", Role.LEAD)
    campaign = make_campaign(tmp_path, captions=1, videos=1, double_share=1)
    (first,), (second,) = (claim(campaign, make_annotator(name)) for name in ("anna", "ben"))
    submit(first, 1)

    def answer() -> None:
        try:
            submit(second, 1)
        finally:
            connection.close()

    with transaction.atomic():
        set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead)
        late = threading.Thread(target=answer)
        late.start()
        late.join(0.5)  # the answer waits for the lock of the task
    late.join()
    campaign.refresh_from_db()
    counts_everywhere(campaign)
    update_recently_closed()
    assert counts_everywhere(campaign) == OutcomeCounts(resolved=1)


def test_closing_and_excluding_make_the_draft_outdated(tmp_path: Path, lead: User) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=2, double_share=1)
    judge(campaign, make_annotator("anna"), {"v0": 1, "v1": 1})
    make_draft(benchmark=campaign.benchmark, by=OPERATOR)
    held = hold(campaign, "ben", "v0")
    escalate_task(assignment_id=held.pk, annotator=held.annotator, kind=EscalationKind.CANNOT_PLAY)
    for change in (
        lambda: exclude_task(task=held.task, by=lead),
        lambda: set_campaign_state(campaign=campaign, state=CampaignState.CLOSED, by=lead),
    ):
        make_draft(benchmark=campaign.benchmark, by=OPERATOR)
        assert draft_state(campaign.benchmark).is_current
        change()
        assert not draft_state(campaign.benchmark).is_current


def test_pairs_of_an_import_and_a_campaign_are_counted_once(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=3)
    rows = [("c0", f"v{video}", "x", 0) for video in range(3)]
    add_judgments(tmp_path, campaign.benchmark, rows)
    found = benchmark_outcomes(campaign.benchmark)
    assert (found.counts, found.pairs) == (OutcomeCounts(resolved=3), 3)


def test_the_number_of_pairs_does_not_depend_on_how_campaigns_share_pairs(
    equal: Benchmark, tmp_path: Path
) -> None:
    build_pool(benchmark=equal, depth=2)
    # c0, c2 and c3 share three text pairs, which are nine pairs. c1 has one pair. Five of these ten
    # pairs are pooled.
    assert benchmark_outcomes(equal).pairs == 10
    open_campaign(benchmark=equal, by=OPERATOR, policy=Policy(double_share=0))
    assert benchmark_outcomes(equal).pairs == 10
    # The import repeats a pair of the campaign, so pairs are counted instead of tasks.
    add_judgments(tmp_path, equal, [("c1", "v1", "a", 0)])
    found = benchmark_outcomes(equal)
    assert (found.pairs, found.counts) == (10, OutcomeCounts(resolved=1))


# --- Publishing -------------------------------------------------------------------------------


@pytest.fixture
def unsettled(tmp_path: Path, db: None) -> Benchmark:
    """One pair is settled, one pending, and one in conflict."""
    campaign = make_campaign(tmp_path, captions=1, videos=3, double_share=1, labels_max=2)
    judge(campaign, make_annotator("anna"), {"v0": 1, "v1": 1, "v2": 1})
    judge(campaign, make_annotator("ben"), {"v0": 1, "v2": 0})
    return campaign.benchmark


def test_publishing_is_refused_while_pairs_are_unsettled(unsettled: Benchmark) -> None:
    with pytest.raises(Unsettled) as refused:
        publish_label_set(benchmark=unsettled, by=OPERATOR)
    assert refused.value.counts == OutcomeCounts(resolved=1, pending=1, conflicted=1)
    with pytest.raises(CommandError) as failed:
        call_command("publish_labels", "tiny")
    assert failed.value.returncode == 2
    assert "Not all pairs are settled: 1 pending, 1 in conflict." in str(failed.value)
    assert "--allow-pending" in str(failed.value)
    assert not LabelSet.objects.exists()
    assert publish_label_set(benchmark=unsettled, allow_pending=True, by=OPERATOR).n_pending == 1


def test_publishing_by_page_requires_confirmation(
    unsettled: Benchmark, client: Client, lead: User
) -> None:
    client.force_login(lead)
    question = client.post("/benchmarks/tiny/labels/publish/")
    assert question.status_code == 422
    text = question.content.decode()
    label = "2 unsettled pairs will have no label in the set (1 pending, 1 in conflict)"
    assert f"Publish although {label}" in text
    assert "Some pairs are not settled." in text
    assert not Job.objects.exists()
    client.post("/benchmarks/tiny/labels/publish/", {"allow_pending": "on"})
    job = Job.objects.get()
    assert (job.kind, job.params["allow_pending"]) == ("publish_labels", True)


def test_the_figures_before_publishing_add_up_to_all_pairs(
    tmp_path: Path, client: Client, lead: User
) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=6, double_share=1, labels_max=2)
    judge(campaign, make_annotator("anna"), {"v0": 1, "v1": 1, "v2": 1})
    judge(campaign, make_annotator("ben"), {"v0": 1, "v2": 0})
    client.force_login(lead)
    page = client.get("/benchmarks/tiny/labels/publish/").content.decode()
    figures = page[page.index('<dl class="facts facts-large">') : page.index("</dl>")]
    assert re.findall(r"<dt>(.+?)</dt>\s*<dd>\s*(\d+)", figures) == [
        ("Settled", "1"),
        ("Pending", "1"),
        ("In conflict", "1"),
        ("Unjudged", "3"),
    ]


def test_publishing_over_the_api_requires_confirmation(unsettled: Benchmark, lead: User) -> None:
    client = APIClient()
    client.force_authenticate(lead)
    address = "/api/v1/benchmarks/tiny/label-sets/"
    assert client.post(address).status_code == 409
    assert client.post(address, {"allow_pending": True}, format="json").status_code == 202


# --- Graded scales ----------------------------------------------------------------------------


def test_original_positives_have_the_highest_grade(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=3, scale=Scale.GRADED)
    judge(campaign, make_annotator("anna"), {"v1": 2, "v2": 1})
    label_set = publish_label_set(benchmark=campaign.benchmark, by=OPERATOR)
    assert label_set.original_grade == 3
    # The run lists v0 (an original positive, 3), v1 (2) and v2 (1): the ideal order.
    (scored,) = evaluate_runs(benchmark=campaign.benchmark, measures=["nDCG"], by=OPERATOR).runs
    assert scored.labelled == {"nDCG": 1.0}


def test_a_campaign_may_give_original_positives_another_grade(tmp_path: Path) -> None:
    policy = {"scale": Scale.GRADED, "original_grade": 1}
    campaign = make_campaign(tmp_path, captions=1, videos=3, **policy)
    judge(campaign, make_annotator("anna"), {"v1": 3, "v2": 0})
    label_set = publish_label_set(benchmark=campaign.benchmark, by=OPERATOR)
    assert label_set.original_grade == 1
    (scored,) = evaluate_runs(benchmark=campaign.benchmark, measures=["nDCG"], by=OPERATOR).runs
    gains, ideal = (np.array(values) / np.log2([2, 3]) for values in ([1, 3], [3, 1]))
    assert scored.labelled == {"nDCG": pytest.approx(gains.sum() / ideal.sum())}
    with pytest.raises(
        InvalidInput, match="The label of original positives must be a relevant step"
    ):
        Policy(scale=Scale.GRADED, original_grade=0).check()


# --- Equal captions ---------------------------------------------------------------------------


def test_equal_captions_share_a_task_and_its_label(equal: Benchmark, tmp_path: Path) -> None:
    pool = build_pool(benchmark=equal, depth=2).pool
    # c0 and c2 with v0 are one task.
    assert (pool.n_pairs, pool.n_tasks) == (5, 4)
    campaign = open_campaign(benchmark=equal, by=OPERATOR, policy=Policy(double_share=0))
    assert campaign.n_tasks == 4
    shown = campaign.tasks.values_list("pair__query__key", "pair__video__key", "n_pairs")
    assert sorted(shown) == [("c0", "v0", 3), ("c0", "v1", 3), ("c1", "v1", 1), ("c2", "v2", 3)]

    for held in claim(campaign, make_annotator("anna")):
        submit(held, int(held.task.video.key == "v0"))

    # A label applies to all captions with the text, including c3, which is not in any pool.
    assert counts_everywhere(campaign) == OutcomeCounts(resolved=10)
    label_set = publish_label_set(benchmark=equal, by=OPERATOR)
    of_dogs = ["{},v0,1,majority,1,1", "{},v1,0,majority,1,0", "{},v2,0,majority,1,0"]
    c0, c2, c3 = ([line.format(key) for line in of_dogs] for key in ("c0", "c2", "c3"))
    assert label_lines(label_set) == [*c0, "c1,v1,0,majority,1,0", *c2, *c3]
    # The ten pairs have four answers.
    assert (label_set.n_pairs, label_set.n_judgments) == (10, 4)
    result = compute_agreement(benchmark=equal, resamples=10, by=OPERATOR).result
    assert (result["pairs"], result["labels"]) == (10, 4)
    analysed = analyse(question=build_question(get_analysis("labels"), equal, {})).result
    assert (analysed["pairs"], analysed["labels"]) == (10, 4)


def test_the_last_score_of_the_history_counts_the_labels_of_equal_captions(
    equal: Benchmark,
) -> None:
    build_pool(benchmark=equal, depth=2)
    campaign = open_campaign(benchmark=equal, by=OPERATOR, policy=Policy(double_share=0))
    held = claim(campaign, make_annotator("anna"))
    for assignment in held:
        submit(assignment, int(assignment.task.video.key in ("v0", "v2")))
    publish_label_set(benchmark=equal, by=OPERATOR)
    (scored,) = evaluate_runs(benchmark=equal, measures=["P@2"], by=OPERATOR).runs
    found = analyse(
        question=build_question(get_analysis("history"), equal, {"measure": "P@2", "moments": 4})
    ).result
    last = found["scores"][-1]
    # The list of c2 has v0, which was judged for c0, and v2, which was judged for c2.
    assert (last["labels"], last["score"]) == (4, scored.labelled["P@2"]) == (4, 0.5)
    stopping = found["stopping"]
    assert (stopping["doubts"], stopping["order"]) == (["shared"], "drawn")
    # All captions except c1 need the same three answers, in any order.
    assert (stopping["units"], stopping["seen"], stopping["labels"]) == (3, 3, 4)
    assert stopping["path"][-1]["labels"] == 4
    judged = analyse(
        question=build_question(
            get_analysis("history"), equal, {"measure": "P@2", "order": "judged"}
        )
    ).result["stopping"]
    assert judged["path"][-1]["labels"] == 4


def test_a_later_pool_does_not_repeat_judgments_of_equal_captions(
    equal: Benchmark, tmp_path: Path
) -> None:
    build_pool(benchmark=equal, depth=2)
    open_campaign(benchmark=equal, by=OPERATOR, policy=Policy(double_share=0))
    make_run(tmp_path, equal, {"c3": ["v0", "v1", "v2"], "c1": ["v2"]}, system="B")
    pool = build_pool(benchmark=equal, depth=3).pool
    assert pool.n_new_pairs == 4
    # The text about the dog already has tasks with all three videos. The text about the cat has
    # none with v2.
    assert count_new_tasks(equal).tasks == 1
    second = open_campaign(benchmark=equal, by=OPERATOR, policy=Policy(double_share=0))
    assert list(second.tasks.values_list("pair__query__key", "pair__video__key")) == [("c1", "v2")]


@pytest.mark.parametrize(("rule", "tasks"), [(EqualTexts.EXACT, 5), (EqualTexts.OFF, 5)])
def test_other_rules_share_fewer_tasks(
    equal: Benchmark, lead: User, rule: EqualTexts, tasks: int
) -> None:
    pool = build_pool(benchmark=equal, depth=2).pool
    set_equal_texts(benchmark=equal, rule=rule, by=lead)
    pool.refresh_from_db()
    assert pool.n_tasks == tasks
    campaign = open_campaign(benchmark=equal, by=OPERATOR, policy=Policy(double_share=0))
    assert campaign.n_tasks == tasks
    assert campaign.tasks.filter(unit=None).exists() == (rule == EqualTexts.OFF)


def test_the_rule_cannot_change_once_tasks_are_shared(equal: Benchmark, lead: User) -> None:
    build_pool(benchmark=equal, depth=2)
    open_campaign(benchmark=equal, by=OPERATOR)
    with pytest.raises(Conflict, match="The rule can no longer change"):
        set_equal_texts(benchmark=equal, rule=EqualTexts.OFF, by=lead)
    equal.refresh_from_db()
    assert equal.equal_texts == EqualTexts.FOLDED


def test_the_database_refuses_a_second_task_of_a_text_pair(equal: Benchmark) -> None:
    build_pool(benchmark=equal, depth=2)
    task = open_campaign(benchmark=equal, by=OPERATOR).tasks.first()
    assert task is not None
    other = JudgmentTask(campaign=task.campaign, unit=task.unit, position=9)
    other.pair = JudgmentTask.objects.exclude(pk=task.pk)[0].pair
    JudgmentTask.objects.filter(pair=other.pair).delete()
    with pytest.raises(IntegrityError), transaction.atomic():
        other.save()


def test_excluding_a_shared_task_settles_the_pairs_of_all_its_captions(
    equal: Benchmark, lead: User
) -> None:
    build_pool(benchmark=equal, depth=2)
    campaign = open_campaign(benchmark=equal, by=OPERATOR, policy=Policy(double_share=1))
    (held,) = [
        assignment
        for assignment in claim(campaign, make_annotator("anna"))
        if assignment.task.n_pairs == 3
    ][:1]
    submit(held, 1)
    assert counts_everywhere(campaign) == OutcomeCounts(pending=3)
    other = next(
        assignment
        for assignment in claim(campaign, make_annotator("ben"))
        if assignment.task_id == held.task_id
    )
    kind = EscalationKind.CANNOT_PLAY
    escalate_task(assignment_id=other.pk, annotator=other.annotator, kind=kind)
    exclude_task(task=other.task, by=lead)
    assert counts_everywhere(campaign) == OutcomeCounts(resolved=3)


def test_a_text_pair_of_the_campaign_is_not_also_a_control_pair(
    equal: Benchmark, tmp_path: Path
) -> None:
    build_pool(benchmark=equal, depth=2)
    # c3 has the text of c0, whose task with v0 is in the campaign. c1 has no task with v0 or v2.
    rows = [("c3", "v0", 1, ""), ("c1", "v0", 0, ""), ("c1", "v2", 0, "")]
    add_gold_items(tmp_path, equal, rows, use=GoldUse.CONTROL)
    campaign = open_campaign(benchmark=equal, by=OPERATOR, policy=Policy(gold_share=0.2))
    gold = campaign.tasks.filter(gold__isnull=False)
    shown = gold.values_list("gold__query__key", "gold__video__key")
    assert sorted(shown) == [("c1", "v0"), ("c1", "v2")]


def test_imported_judgments_stay_with_their_caption(equal: Benchmark, tmp_path: Path) -> None:
    add_judgments(tmp_path, equal, [("c0", "v0", "a", 1), ("c2", "v0", "a", 0)])
    label_set = publish_label_set(benchmark=equal, by=OPERATOR)
    assert label_lines(label_set) == ["c0,v0,1,majority,1,1", "c2,v0,0,majority,1,0"]


def test_imported_judgments_can_be_shared(equal: Benchmark, tmp_path: Path) -> None:
    rows = [
        ("c0", "v0", "a", 1),
        ("c2", "v0", "a", 0),  # the same person again: kept as surplus
        ("c2", "v0", "b", 1),
        ("c1", "v1", "b", 0),
    ]
    done = add_judgments(tmp_path, equal, rows, pool_equal=True)
    assert (done.judgments, done.pairs, done.campaign.n_tasks) == (4, 3, 2)
    stored = Judgment.objects.order_by("pk").values_list("annotator__key", "label", "state", "slot")
    assert list(stored) == [
        ("a", 1, JudgmentState.LIVE, 0),
        ("a", 0, JudgmentState.SURPLUS, None),
        ("b", 1, JudgmentState.LIVE, 1),
        ("b", 0, JudgmentState.LIVE, 0),
    ]
    assert label_lines(publish_label_set(benchmark=equal, by=OPERATOR)) == [
        "c0,v0,1,majority,2,2",
        "c1,v1,0,majority,1,0",
        "c2,v0,1,majority,2,2",
        "c3,v0,1,majority,2,2",
    ]
    with pytest.raises(Conflict, match="captions with equal texts share labels"):
        add_judgments(tmp_path, equal, rows)


def test_a_pair_with_a_separate_task_keeps_its_label(equal: Benchmark, tmp_path: Path) -> None:
    add_judgments(tmp_path, equal, [("c0", "v0", "a", 0)])
    build_pool(benchmark=equal, depth=2)
    campaign = open_campaign(benchmark=equal, by=OPERATOR, policy=Policy(double_share=0))
    task = campaign.tasks.get(pair__video__key="v0")
    # c0 was judged separately. The task applies to c2 and c3.
    assert (task.pair.query.key, task.n_pairs) == ("c2", 2)
    (held,) = [
        assignment
        for assignment in claim(campaign, make_annotator("anna"))
        if assignment.task_id == task.pk
    ]
    submit(held, 1)
    assert label_lines(publish_label_set(benchmark=equal, by=OPERATOR)) == [
        "c0,v0,0,majority,1,0",
        "c2,v0,1,majority,1,1",
        "c3,v0,1,majority,1,1",
    ]


def test_the_page_of_equal_captions(equal: Benchmark, client: Client, lead: User) -> None:
    build_pool(benchmark=equal, depth=2)
    address = "/benchmarks/equal/equal-captions/"
    client.force_login(make_user("rita", Role.RESEARCHER))
    rows = client.get(address).context["rows"]
    assert [(row.rule, row.texts, row.tasks, row.saved) for row in rows] == [
        (EqualTexts.FOLDED, 2, 4, 1),
        (EqualTexts.EXACT, 4, 5, 0),
        (EqualTexts.OFF, 4, 5, 0),
    ]
    assert client.post(address, {"rule": "off"}).status_code == 403
    client.force_login(lead)
    assert "Change the rule" in client.get(address).content.decode()
    assert client.post(address, {"rule": "off"}).status_code == 302
    equal.refresh_from_db()
    assert equal.equal_texts == EqualTexts.OFF
    assert client.post(address, {"rule": "loose"}).status_code == 422


def test_a_rule_that_cannot_change_is_refused_on_its_page(
    equal: Benchmark, client: Client, lead: User
) -> None:
    build_pool(benchmark=equal, depth=2)
    open_campaign(benchmark=equal, by=OPERATOR, policy=Policy(double_share=0))
    client.force_login(lead)
    refused = client.post("/benchmarks/equal/equal-captions/", {"rule": "off"})
    assert refused.status_code == 409
    reason = "The rule can no longer change, because a campaign was opened under it."
    assert refused.context["form"].non_field_errors() == [reason]
    body = refused.content.decode()
    assert body.count(reason) == 1
    assert "Change the rule" not in body
    equal.refresh_from_db()
    assert equal.equal_texts == EqualTexts.FOLDED
