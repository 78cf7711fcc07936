"""Control pairs in a campaign: their share is exact, nothing reveals them, and none is counted."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from itertools import cycle, groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client
from rest_framework.test import APIClient

from annotation.core.consensus import OutcomeCounts
from annotation.core.mixing import planned_gold
from annotation.enums import CampaignState, EscalationKind, Order, Scale
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    Escalation,
    GoldItem,
    Judgment,
    JudgmentTask,
    Membership,
)
from annotation.selectors.judging import judged_by, last_judged
from annotation.selectors.judgments import adjudicated, judgment_arrays
from annotation.selectors.left import items_left
from annotation.selectors.members import accesses_for
from annotation.selectors.progress import campaign_progress
from annotation.services import (
    Answer,
    claim_assignments,
    escalate_task,
    release_assignments,
    reopen_task,
    set_campaign_state,
    submit_judgment,
)
from evaluation.monitor.selectors.campaigns import measure_campaign
from evaluation.monitor.services import compute_agreement
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.caches import process_cache
from hearth.shared.errors import Conflict, InvalidInput, Outdated
from tests.factories import (
    PASSWORD,
    add_gold_items,
    assignment_of,
    at_once,
    claim,
    make_annotator,
    make_campaign_with_gold,
    make_user,
    submit,
)

UNSURE, CANNOT_PLAY = EscalationKind.UNSURE, EscalationKind.CANNOT_PLAY


def is_gold(assignment: Assignment) -> bool:
    return assignment.task.gold_id is not None


def gold_figures(campaign: Campaign) -> tuple[int, int]:
    """Return the number of answers to gold and of correct answers, as a lead sees them."""
    figures = measure_campaign(campaign)
    return figures["gold"], figures["right"]


def judge_all(
    campaign: Campaign, annotator: Annotator, *, label: int = 1, count: int = 5
) -> list[Assignment]:
    """Claim all tasks as an annotator, and answer them with the same label.

    Return the assignments in their order.
    """
    assigned: list[Assignment] = []
    while batch := claim(campaign, annotator, count):
        assigned += batch
        for assignment in batch:
            submit(assignment, label)
    return assigned


# --- Share ----------------------------------------------------------------------------------


def planned(campaign: Campaign, annotator: Annotator, items: int) -> int:
    """Return the planned number of gold items among the first items of an annotator."""
    share = float(campaign.gold_share)
    before, after = planned_gold(np.array([0, items]), annotator.pk, share, campaign.seed).tolist()
    return int(after - before)


def test_the_share_of_gold_is_exact(db: None, tmp_path: Path) -> None:
    campaign = make_campaign_with_gold(
        tmp_path, captions=30, videos=10, gold=100, gold_share=0.1, order=Order.SHUFFLED, seed=3
    )
    anna = make_annotator("anna")
    assigned = judge_all(campaign, anna, count=10)

    gold = sum(map(is_gold, assigned))
    assert len(assigned) == 300 + gold
    # There are exactly as many gold items as planned: a tenth.
    assert gold == planned(campaign, anna, len(assigned))
    assert 32 <= gold <= 35
    membership = Membership.objects.get()
    assert (membership.handed, membership.judged, membership.gold_judged) == (300 + gold, 300, gold)
    assert membership.gold_owed == 0
    assert judged_by(campaign, anna) == 300 + gold


# A pair at a time, exactly the pairs of one caption, and changing sizes.
@pytest.mark.parametrize("sizes", [[1], [10], [2, 11, 5]])
def test_no_sizes_of_claims_avoid_gold(grouped: Campaign, sizes: list[int]) -> None:
    """With every size of claims, an annotator answers as many gold items as planned."""
    JudgmentTask.objects.filter(position__gte=40, gold=None).delete()
    anna = make_annotator("anna")
    order: list[bool] = []
    for step, count in enumerate(cycle(sizes)):
        batch = claim(grouped, anna, count)
        if not batch:
            break
        if step % 3 == 0:
            # What an annotator releases comes back in the same order, also in smaller claims.
            release_assignments(campaign=grouped, annotator=anna)
            again = [*claim(grouped, anna, max(1, count // 2)), *claim(grouped, anna, count)]
            assert list(dict.fromkeys(again)) == batch
        for assignment in batch:
            submit(assignment, 1)
            order.append(is_gold(assignment))
            assert abs(sum(order) - 0.3 * len(order)) <= 2 + 0.3 * 10
    assert order.count(False) == 40
    assert 12 <= order.count(True) <= 19


def test_the_number_left_counts_gold_and_pairs_alike(grouped: Campaign) -> None:
    """It falls by one with each answer, whatever others have answered."""
    Campaign.objects.update(labels_max=3)
    JudgmentTask.objects.filter(gold=None, position__lt=40).update(
        labels_planned=2, labels_required=2, seats_open=2
    )
    anna, ben = make_annotator("anna"), make_annotator("ben")
    for assignment in claim(grouped, ben, 20):
        submit(assignment, 0)
    left = []
    for step in range(40):
        (assignment,) = claim(grouped, anna, 1)
        left.append(number_left(grouped, anna))
        if step % 10:
            submit(assignment, 1)  # often another label than Ben's
        else:
            escalate_task(assignment_id=assignment.pk, annotator=anna, kind=UNSURE)
    kinds = Assignment.objects.filter(annotator=anna).order_by("pk")
    assert sum(map(is_gold, kinds)) in range(9, 16)
    assert len({escalation.task.gold_id is None for escalation in Escalation.objects.all()}) == 2
    assert left == list(range(left[0], left[0] - 40, -1))


def number_left(campaign: Campaign, annotator: Annotator) -> int:
    process_cache.clear()
    access = accesses_for(annotator, [campaign])
    return items_left(annotator, access)[campaign.pk]


@pytest.fixture
def grouped(db: None, tmp_path: Path) -> Campaign:
    return make_campaign_with_gold(tmp_path, captions=8, videos=10, gold=60, gold_share=0.3, seed=3)


def test_gold_that_is_used_up_does_not_become_overdue(db: None, tmp_path: Path) -> None:
    campaign = make_campaign_with_gold(
        tmp_path, captions=10, videos=10, gold=2, gold_share=0.5, order=Order.SHUFFLED
    )
    anna = make_annotator("anna")
    assigned = judge_all(campaign, anna)
    assert sum(map(is_gold, assigned)) == 2
    assert Membership.objects.get().gold_owed == 0


def test_no_gold_is_assigned_without_pairs(db: None, tmp_path: Path) -> None:
    """Otherwise an annotator would get only gold at the end of the queue."""
    campaign = make_campaign_with_gold(
        tmp_path, captions=1, videos=4, gold=20, gold_share=0.5, order=Order.SHUFFLED
    )
    assigned = judge_all(campaign, make_annotator("anna"), count=20)
    assert list(map(is_gold, assigned)).count(False) == 4
    assert not is_gold(assigned[-1])
    assert claim(campaign, make_annotator("ben"), 20) == []


def test_no_gold_is_assigned_if_the_share_is_zero(db: None, tmp_path: Path) -> None:
    campaign = make_campaign_with_gold(tmp_path, captions=2, videos=3, gold=5)
    assert not any(map(is_gold, judge_all(campaign, make_annotator("anna"))))
    assert JudgmentTask.objects.filter(gold__isnull=False).count() == 0


def test_a_campaign_without_control_pairs_cannot_mix_them_in(db: None, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        make_campaign_with_gold(tmp_path, captions=2, videos=3, gold=0, gold_share=0.1)
    assert str(refused.value) == "tiny has no control pairs. Import control pairs first."
    assert Campaign.objects.count() == 0


# --- Order ----------------------------------------------------------------------------------


def test_two_annotators_get_different_gold_at_different_positions(db: None, tmp_path: Path) -> None:
    campaign = make_campaign_with_gold(
        tmp_path,
        captions=10,
        videos=10,
        gold=40,
        gold_share=0.2,
        labels_each=2,
        order=Order.SHUFFLED,
    )
    orders, places = [], []
    for name in ("anna", "ben"):
        assigned = judge_all(campaign, make_annotator(name))
        orders.append([assignment.task_id for assignment in assigned if is_gold(assignment)])
        places.append([place for place, assignment in enumerate(assigned) if is_gold(assignment)])
    assert min(map(len, orders)) > 10
    assert orders[0][:10] != orders[1][:10]
    assert places[0] != places[1]


def test_grouped_gold_is_never_within_another_caption(db: None, tmp_path: Path) -> None:
    campaign = make_campaign_with_gold(tmp_path, captions=20, videos=12, gold=60, gold_share=0.15)
    assigned = judge_all(campaign, make_annotator("anna"), count=5)
    runs = [
        (caption, [is_gold(assignment) for assignment in run])
        for caption, run in groupby(assigned, key=lambda assignment: assignment.task.query.key)
    ]
    # A caption whose pairs were split by gold would be in two groups.
    pooled = Counter(caption for caption, gold in runs if not any(gold))
    assert set(pooled.values()) == {1}
    assert sum(map(is_gold, assigned)) > 20


def test_gold_is_next_to_its_caption_or_between_two_captions(db: None, tmp_path: Path) -> None:
    campaign = make_campaign_with_gold(tmp_path, captions=24, videos=5, gold=1, gold_share=0.4)
    # The last video of each caption is gold and not a pair of the campaign.
    JudgmentTask.objects.filter(pair__video__key="v4").delete()
    rows = [(f"c{number}", "v4", 1, "") for number in range(24)]
    add_gold_items(tmp_path, campaign.benchmark, rows)
    anna, assigned = make_annotator("anna"), []
    while batch := claim(campaign, anna, 8):
        assigned += batch
        for assignment in batch:
            submit(assignment, 1)
    captions = ["", *(assignment.task.query.key for assignment in assigned), ""]
    beside = 0
    for place, assignment in enumerate(assigned, start=1):
        if is_gold(assignment):
            before, own, after = captions[place - 1 : place + 2]
            assert own in (before, after) or before != after
            beside += own in (before, after)
    # The draw depends on primary keys, so the number of such gold items varies.
    assert beside > 0


def test_released_pairs_and_gold_are_assigned_again_unchanged(db: None, tmp_path: Path) -> None:
    """If gold were missing after a reload, its absence would reveal it."""
    campaign = make_campaign_with_gold(
        tmp_path, captions=6, videos=5, gold=20, gold_share=0.6, order=Order.SHUFFLED
    )
    anna = make_annotator("anna")
    first = [assignment.pk for assignment in claim(campaign, anna, 10)]
    assert any(map(is_gold, claim(campaign, anna, 10)))
    for _ in range(20):
        release_assignments(campaign=campaign, annotator=anna)
        assert [assignment.pk for assignment in claim(campaign, anna, 10)] == first
    assert Membership.objects.get().handed == 10


def test_a_single_released_item_is_not_assigned_again(db: None, tmp_path: Path) -> None:
    campaign = make_campaign_with_gold(
        tmp_path, captions=2, videos=5, gold=20, gold_share=0.5, order=Order.SHUFFLED
    )
    anna = make_annotator("anna")
    for assignment in claim(campaign, anna, 10):
        released = release_assignments(
            campaign=campaign, annotator=anna, assignment_id=assignment.pk
        )
        assert released == 1
    assigned = {assignment.pk for assignment in judge_all(campaign, anna)}
    assert not assigned & set(
        Assignment.objects.filter(state="released").values_list("pk", flat=True)
    )


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_two_tabs_at_the_same_time_draw_different_gold(tmp_path: Path) -> None:
    campaign = make_campaign_with_gold(
        tmp_path, captions=20, videos=10, gold=30, gold_share=0.5, order=Order.SHUFFLED
    )
    anna = make_annotator("anna")
    calls = [lambda: claim_assignments(campaign=campaign, annotator=anna, count=10)] * 4
    assigned = [assignment.pk for tab in at_once(*calls) for assignment in tab]
    gold = Assignment.objects.filter(pk__in=assigned, task__gold__isnull=False)
    assert Assignment.objects.count() == len(set(assigned))
    assert (
        gold.count()
        == Membership.objects.get().handed - Assignment.objects.filter(task__gold=None).count()
    )


# --- What the browser sees ------------------------------------------------------------------


def browser_of(name: str) -> APIClient:
    make_user(name, Role.ANNOTATOR)
    browser = APIClient()
    assert browser.login(username=name, password=PASSWORD)
    return browser


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    return make_campaign_with_gold(
        tmp_path,
        captions=4,
        videos=5,
        gold=10,
        gold_share=0.9,
        order=Order.SHUFFLED,
        checklist=True,
        contact_sheet=True,
    )


# These headers differ between any two responses.
VARYING_HEADERS = {"Content-Length", "ETag", "X-Request-ID"}


def shape(value: Any) -> Any:
    """Return the structure of an API response without its values."""
    if isinstance(value, dict):
        return {name: shape(part) for name, part in value.items()}
    if isinstance(value, list):
        return [shape(part) for part in value[:1]]
    return type(value).__name__


def post(browser: APIClient, path: str, body: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
    response = browser.post(f"/api/v1/{path}", body, format="json")
    headers = {k: v for k, v in response.headers.items() if k not in VARYING_HEADERS}
    return response.status_code, response.json(), headers


def test_responses_for_gold_look_like_those_for_pairs(campaign: Campaign) -> None:
    browser = browser_of("anna")
    answered = browser.post(f"/api/v1/campaigns/{campaign.pk}/claim/", {"count": 20}, format="json")
    items = {item["assignment"]: item for item in answered.json()["items"]}
    gold = [one for one in items if assignment_of(items[one]).task.gold is not None]
    of_kind = {"gold": gold, "pair": sorted(set(items) - set(gold))}
    assert min(map(len, of_kind.values())) >= 4

    responses: dict[str, list[Any]] = {"gold": [], "pair": []}
    for kind, (right, wrong, unsure, broken, *_) in of_kind.items():
        key, other = str(uuid.uuid4()), str(uuid.uuid4())
        answer = {"assignment": right, "label": 1, "client_key": key, "seconds": 1.5}
        steps: list[tuple[str, dict[str, Any]]] = [
            ("judgments/", answer),
            ("judgments/", answer),
            ("judgments/", {**answer, "label": 0}),
            ("judgments/", {**answer, "client_key": other}),
            ("judgments/", {**answer, "client_key": other, "label": 0, "corrects": True}),
            (
                "judgments/",
                {**answer, "assignment": wrong, "client_key": str(uuid.uuid4()), "label": 0},
            ),
            (
                "judgments/",
                {**answer, "assignment": wrong, "client_key": str(uuid.uuid4()), "label": 2},
            ),
            ("escalations/", {"assignment": unsure, "kind": "unsure", "reason": "dark"}),
            ("escalations/", {"assignment": unsure, "kind": "unsure", "reason": "dark"}),
            ("judgments/", {**answer, "assignment": unsure, "client_key": str(uuid.uuid4())}),
            ("escalations/", {"assignment": broken, "kind": "cannot-play"}),
            (f"campaigns/{campaign.pk}/release/", {"assignment": broken}),
            ("judgments/", {**answer, "assignment": broken, "client_key": str(uuid.uuid4())}),
        ]
        for path, body in steps:
            status, content, headers = post(browser, path, body)
            responses[kind].append((path, status, shape(content), headers, content.get("detail")))
        responses[kind].append(shape(items[right]))
    assert responses["gold"] == responses["pair"]
    statuses = [step[1] for step in responses["gold"][:-1]]
    assert statuses == [201, 200, 409, 409, 201, 201, 400, 201, 201, 201, 201, 200, 201]
    assert list(items[of_kind["gold"][0]]) == [
        "assignment",
        "caption",
        "video",
        "poster",
        "elements",
        "sheet",
    ]

    history = browser.get(f"/api/v1/campaigns/{campaign.pk}/history/").json()
    # The history contains the two answered items of each kind, but not the escalated ones.
    assert sorted(entry["assignment"] for entry in history) == sorted(
        of_kind["gold"][:2] + of_kind["pair"][:2]
    )
    assert len({json.dumps(shape(entry)) for entry in history}) == 1


def test_no_page_of_an_annotator_names_gold(campaign: Campaign) -> None:
    GoldItem.objects.update(explanation="the explanation of a lead")
    anna = make_annotator("anna")
    for assignment in claim(campaign, anna, 20):
        submit(assignment, 1)
    client = Client()
    assert anna.user is not None
    client.force_login(anna.user)
    for address in ("/", "/me/", f"/campaigns/{campaign.pk}/judge/"):
        page = client.get(address).content.decode().lower()
        words = ("gold", "control pair", "explanation of a lead")
        assert [word for word in words if word in page] == []
    listed = client.get("/api/v1/campaigns/").json()
    assert [word for word in ("gold", "because") if word in json.dumps(listed)] == []


def test_primary_keys_of_assignments_follow_the_order_on_the_screen(campaign: Campaign) -> None:
    assigned = claim(campaign, make_annotator("anna"), 20)
    assert any(map(is_gold, assigned))
    keys = [assignment.pk for assignment in assigned]
    assert keys == list(range(keys[0], keys[0] + len(keys)))


def test_the_last_answers_contain_gold(campaign: Campaign) -> None:
    anna = make_annotator("anna")
    assigned = claim(campaign, anna, 10)
    for assignment in assigned:
        submit(assignment, 1)
    assert [assignment.pk for assignment in last_judged(campaign, anna, 10)] == [
        assignment.pk for assignment in assigned
    ][::-1]


# --- Gold is never counted ------------------------------------------------------------------


def test_gold_is_in_no_count_of_the_campaign(campaign: Campaign) -> None:
    assigned = judge_all(campaign, make_annotator("anna"))
    gold = [assignment for assignment in assigned if is_gold(assignment)]
    assert gold
    progress = campaign_progress(campaign)
    assert campaign.n_tasks == 20
    assert (progress.tasks, progress.labels, progress.labels_required) == (20, 20, 20)
    assert progress.outcomes == OutcomeCounts(resolved=20)
    assert (progress.relevant, progress.surplus, progress.percent) == (20, 0, 100)
    rows = JudgmentTask.objects.filter(gold__isnull=False).values_list(
        "state", "label", "labels_live", "labels_required", "seats_open"
    )
    assert set(rows) == {("open", None, 0, 1, 0)}
    assert set(Judgment.objects.filter(task__gold__isnull=False).values_list("state", "slot")) == {
        ("gold", None)
    }


def test_gold_is_in_no_label_set_and_no_agreement(campaign: Campaign) -> None:
    anna = make_annotator("anna")
    assigned = judge_all(campaign, anna)
    arrays = judgment_arrays(campaign.benchmark)
    assert len(arrays.labels) == len(arrays.codes) == 20
    assert set(arrays.annotators.tolist()) == {anna.pk}
    assert len(adjudicated(campaign.benchmark).codes) == 0
    label_set = publish_label_set(benchmark=campaign.benchmark, by=OPERATOR)
    assert (label_set.n_pairs, label_set.n_judgments, label_set.n_relevant) == (20, 20, 20)
    report = compute_agreement(benchmark=campaign.benchmark, by=OPERATOR)
    assert (report.result["pairs"], report.result["labels"]) == (20, 20)
    assert [row["labels"] for row in report.result["annotators"]] == [20]
    assert len(assigned) > 20


def test_gold_is_in_no_progress_on_pages(campaign: Campaign) -> None:
    judge_all(campaign, make_annotator("anna"))
    client = Client()
    client.force_login(make_user("rosa", Role.RESEARCHER))
    page = client.get("/benchmarks/tiny/campaigns/").content.decode()
    assert '<span class="nowrap">20 of 20</span>' in page


# --- Correct and wrong answers --------------------------------------------------------------


def first_gold(campaign: Campaign, annotator: Annotator) -> Assignment:
    return next(assignment for assignment in claim(campaign, annotator, 20) if is_gold(assignment))


def correct_label_of(assignment: Assignment) -> int:
    assert assignment.task.gold is not None
    return int(assignment.task.gold.is_relevant)


def answers_to(task: int) -> list[tuple[str, bool]]:
    rows = Judgment.objects.filter(task=task).order_by("pk")
    return [(state, bool(is_right)) for state, is_right in rows.values_list("state", "is_right")]


def test_a_correction_replaces_the_answer(campaign: Campaign) -> None:
    anna = make_annotator("anna")
    held = first_gold(campaign, anna)
    submit(held, 1 - correct_label_of(held))
    submit(held, correct_label_of(held))
    assert answers_to(held.task_id) == [("superseded", False), ("gold", True)]
    assert judged_by(campaign, anna) == 1
    assert gold_figures(campaign) == (1, 1)


def test_of_two_corrections_of_one_answer_the_second_is_refused(campaign: Campaign) -> None:
    anna = make_annotator("anna")
    held = first_gold(campaign, anna)
    first = submit(held, 0).judgment.client_key
    submit(held, 1, corrected_key=first)
    with pytest.raises(Outdated):
        submit(held, 0, corrected_key=first)
    states = Judgment.objects.filter(task=held.task).order_by("pk").values_list("label", "state")
    assert list(states) == [(0, "superseded"), (1, "gold")]


def test_an_answer_to_a_closed_campaign_is_surplus(campaign: Campaign) -> None:
    anna = make_annotator("anna")
    first, second = [assignment for assignment in claim(campaign, anna, 20) if is_gold(assignment)][
        :2
    ]
    submit(first, correct_label_of(first))
    set_campaign_state(
        campaign=campaign, state=CampaignState.CLOSED, by=make_user("lena", Role.LEAD)
    )
    submit(second, correct_label_of(second))
    # The first answer counts, regardless of later answers.
    submit(first, 1 - correct_label_of(first))
    assert answers_to(second.task_id) == [("surplus", True)]
    assert answers_to(first.task_id) == [("gold", True), ("surplus", False)]
    assert campaign_progress(campaign).surplus == 0
    assert gold_figures(campaign) == (1, 1)


def test_an_answer_of_a_deactivated_annotator_is_surplus(campaign: Campaign) -> None:
    anna = make_annotator("anna")
    held = first_gold(campaign, anna)
    assert anna.user is not None
    anna.user.is_active = False
    anna.user.save()
    submit(held, correct_label_of(held))
    assert answers_to(held.task_id) == [("surplus", True)]


def test_escalating_gold_supersedes_the_answer_and_keeps_the_item_for_others(
    campaign: Campaign,
) -> None:
    anna, ben = make_annotator("anna"), make_annotator("ben")
    held = first_gold(campaign, anna)
    submit(held, correct_label_of(held))
    escalate_task(assignment_id=held.pk, annotator=anna, kind=UNSURE, reason="dark")
    submit(held, 1)
    assert [state for state, _ in answers_to(held.task_id)] == ["superseded", "surplus"]
    task = JudgmentTask.objects.get(pk=held.task_id)
    assert (task.state, task.seats_open) == ("open", 0)
    assert held.task_id in {assignment.task_id for assignment in judge_all(campaign, ben)}


def test_gold_reported_as_unplayable_can_be_returned_from_the_desk(campaign: Campaign) -> None:
    anna, ben, lead = make_annotator("anna"), make_annotator("ben"), make_user("lena", Role.LEAD)
    held = first_gold(campaign, anna)
    escalate_task(assignment_id=held.pk, annotator=anna, kind=CANNOT_PLAY)
    task = JudgmentTask.objects.get(pk=held.task_id)
    assert task.state == "unplayable"
    client = Client()
    client.force_login(lead)
    desk = client.get(f"/campaigns/{campaign.pk}/desk/").content.decode()
    assert held.task.query.text in desk
    submit(held, 1)
    assert [state for state, _ in answers_to(held.task_id)] == ["surplus"]
    reopen_task(task=task, by=lead)
    assert JudgmentTask.objects.get(pk=held.task_id).seats_open == 0
    assert held.task_id in {assignment.task_id for assignment in judge_all(campaign, ben)}


def test_only_labels_of_the_scale_are_accepted_and_the_threshold_decides_which_are_correct(
    db: None, tmp_path: Path
) -> None:
    campaign = make_campaign_with_gold(
        tmp_path,
        captions=4,
        videos=5,
        gold=10,
        gold_share=0.5,
        order=Order.SHUFFLED,
        scale=Scale.GRADED,
        threshold=2,
    )
    anna = make_annotator("anna")
    gold = [assignment for assignment in claim(campaign, anna, 20) if is_gold(assignment)]
    assert len(gold) >= 4
    with pytest.raises(InvalidInput):
        submit(gold[0], 4)
    for label, assignment in zip(range(4), gold, strict=False):
        submit(assignment, label)
        assert answers_to(assignment.task_id) == [
            ("gold", (label >= 2) == bool(correct_label_of(assignment)))
        ]


def test_a_second_answer_that_is_not_marked_as_a_correction_is_refused(campaign: Campaign) -> None:
    anna = make_annotator("anna")
    held = first_gold(campaign, anna)
    submit(held, 1)
    with pytest.raises(Conflict):
        submit_judgment(
            assignment_id=held.pk,
            annotator=anna,
            answer=Answer(label=0, client_key=uuid.uuid4(), corrects=False),
        )
    assert len(answers_to(held.task_id)) == 1
