"""Ordering studies: choosing and storing the tasks, and the states of a task."""

from __future__ import annotations

import uuid
from pathlib import Path

import numpy as np
import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from annotation.enums import (
    AssignmentState,
    CampaignState,
    EscalationKind,
    JudgmentState,
    TaskState,
)
from annotation.models import Campaign, JudgmentTask, StudyItem
from annotation.questions.order.answers import ordering_studies, orders_of
from annotation.questions.order.models import OrderingCaption
from annotation.questions.order.orders import (
    Levels,
    Refusal,
    by_text,
    choose_captions,
    shuffled_places,
)
from annotation.questions.order.study import StudyOptions, open_ordering_study, plan_ordering_study
from annotation.services import (
    Answer,
    adjudicate_task,
    escalate_task,
    exclude_task,
    reopen_task,
    set_campaign_state,
    submit_judgment,
    withdraw_judgments,
)
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.errors import Conflict, InvalidInput, NotPermitted
from pooling.core.hashing import mix
from pooling.enums import MediaState
from pooling.models import Benchmark
from tests.factories import (
    add_proxy,
    claim,
    make_annotator,
    make_benchmark,
    make_study,
    make_user,
    submit,
    submit_order,
)

PEOPLE = ("anna", "ben", "cleo")


def states_of(study: Campaign) -> list[tuple[str, int, int]]:
    rows = study.tasks.order_by("position")
    return list(rows.values_list("state", "labels_live", "seats_open"))


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    """A benchmark with a proxy. v3 is broken.

    The captions have seven different values for v0, v1 and v2, two for v4, and one for v5.
    """
    made = make_benchmark(tmp_path, captions=7, videos=6)
    values = np.zeros((7, 6))
    values[:, :4] = np.arange(7)[:, None] / 10 + np.arange(4) / 100
    values[:5, 4] = 0.5  # two different values
    add_proxy(tmp_path, made, values, "overlap")
    made.videos.filter(key="v3").update(state=MediaState.BROKEN)
    return made


def test_plan_counts_videos_ties_and_refusals(benchmark: Benchmark) -> None:
    plan = plan_ordering_study(benchmark, proxy="overlap", options=StudyOptions(seed=7))
    drawn = np.array([0, 1, 2, 4, 5])
    drawn = drawn[np.argsort(mix(drawn, 7))]
    assert list(plan.videos) == [video for video in drawn.tolist() if video != 5]
    # v4 has five captions of one value and two of another.
    assert plan.report() == {
        "videos": 4,
        "requested": 100,
        "labels": 12,
        "with_ties": 1,
        "unplayable": 1,
        "refused": {"the proxy has the same value for all captions": 1},
    }
    by_value = StudyOptions(levels=Levels.VALUES)
    assert plan_ordering_study(benchmark, proxy="overlap", options=by_value).refused == {
        Refusal.TOO_FEW_VALUES: 1,
        Refusal.ALL_EQUAL: 1,
    }
    fewer = plan_ordering_study(benchmark, proxy="overlap", options=StudyOptions(videos=2, seed=7))
    assert fewer.videos == plan.videos[:2]
    assert Campaign.objects.count() == 0


def test_study_stores_the_plan(benchmark: Benchmark) -> None:
    options = StudyOptions(videos=2, labels_each=4, seed=3)
    plan = plan_ordering_study(benchmark, proxy="overlap", options=options)
    study = open_ordering_study(benchmark=benchmark, by=OPERATOR, proxy="overlap", options=options)
    assert (study.question, study.pool, study.n_tasks, study.options) == (
        "order",
        None,
        2,
        {"levels": "captions"},
    )
    assert ordering_studies(benchmark) == [study]
    orders = orders_of(study)
    assert orders.videos.tolist() == list(plan.videos)
    assert orders.captions.tolist() == [list(choice.captions) for choice in plan.choices]
    assert orders.values.tolist() == [list(choice.values) for choice in plan.choices]
    codes = benchmark.pair_space.encode(orders.captions, orders.videos[:, None])
    assert orders.places.tolist() == shuffled_places(codes, 3).tolist()
    assert states_of(study) == [(TaskState.OPEN, 0, 4)] * 2
    assert orders.ranks.shape == (0, 5)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"videos": 0}, "A study must have 1 to 1,000 videos, not 0."),
        ({"labels_each": 1}, "Each video must be ordered by 2 to 99 people, not 1."),
        ({"seed": 2**63}, "the seed must lie between"),
    ],
)
def test_invalid_options_are_refused(
    benchmark: Benchmark, options: dict[str, int], reason: str
) -> None:
    with pytest.raises(InvalidInput, match=reason):
        plan_ordering_study(benchmark, proxy="overlap", options=StudyOptions(**options))


def test_study_without_videos_is_refused(benchmark: Benchmark) -> None:
    benchmark.videos.exclude(key="v5").update(state=MediaState.BROKEN)
    with pytest.raises(InvalidInput, match="for any video: the proxy has the same value"):
        open_ordering_study(benchmark=benchmark, by=OPERATOR, proxy="overlap")
    with pytest.raises(InvalidInput, match="There is no proxy 'other'"):
        open_ordering_study(benchmark=benchmark, by=OPERATOR, proxy="other")
    with pytest.raises(NotPermitted):
        open_ordering_study(benchmark=benchmark, by=make_user("rosa", Role.RESEARCHER), proxy="x")


def test_a_task_with_all_its_orders_is_resolved_and_has_no_label(db: None, tmp_path: Path) -> None:
    study = make_study(tmp_path, videos=1)
    backwards = (4, 3, 2, 1, 0)
    for name, levels in zip(PEOPLE, (range(5), backwards, (1, 0, 2, 3, 4)), strict=True):
        assert states_of(study)[0][0] == TaskState.OPEN
        (held,) = claim(study, make_annotator(name))
        submit_order(held, levels)
    # Three people gave three different orders. This is no conflict, and no more orders are needed.
    assert states_of(study) == [(TaskState.RESOLVED, 3, 0)]
    assert study.tasks.get().label is None
    assert claim(study, make_annotator("dora")) == []
    orders = orders_of(study)
    assert orders.ranks.tolist() == [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [1, 0, 2, 3, 4]]
    assert orders.task.tolist() == [0, 0, 0]


def test_a_study_that_needs_no_more_orders_has_no_button(
    db: None, tmp_path: Path, client: Client
) -> None:
    study = make_study(tmp_path, videos=1, labels_each=2)
    client.force_login(make_user("cleo", Role.ANNOTATOR))
    button = "Start ordering captions"
    done = "There are no more captions to put in order in this study."

    def shown(address: str) -> tuple[bool, bool]:
        body = client.get(address).content.decode()
        return button in body, done in body

    for name in PEOPLE[:2]:
        assert (shown("/"), shown("/me/")) == ((True, False), (True, False))
        (held,) = claim(study, make_annotator(name))
        submit_order(held)
    assert (shown("/"), shown("/me/")) == ((False, True), (False, True))


def test_corrected_and_withdrawn_orders_do_not_count(db: None, tmp_path: Path) -> None:
    study, anna = make_study(tmp_path, videos=1, labels_each=2), make_annotator("anna")
    (held,) = claim(study, anna)
    submit_order(held)
    submit_order(held, (4, 3, 2, 1, 0))
    assert orders_of(study).ranks.tolist() == [[4, 3, 2, 1, 0]]
    (other,) = claim(study, make_annotator("ben"))
    submit_order(other)
    assert states_of(study) == [(TaskState.RESOLVED, 2, 0)]
    done = withdraw_judgments(campaign=study, annotator=anna, by=make_user("lena", Role.LEAD))
    assert (done.judgments, done.tasks) == (1, 1)
    assert states_of(study) == [(TaskState.OPEN, 1, 1)]
    assert orders_of(study).ranks.tolist() == [[0, 1, 2, 3, 4]]
    assert claim(study, anna) == []  # another annotator must order the video
    assert len(claim(study, make_annotator("cleo"))) == 1


def test_closed_study_keeps_incomplete_tasks_open(db: None, tmp_path: Path) -> None:
    study = make_study(tmp_path, videos=2)
    held = claim(study, make_annotator("anna"))
    submit_order(held[0])
    set_campaign_state(campaign=study, state=CampaignState.CLOSED, by=make_user("lena", Role.LEAD))
    assert [row[:2] for row in states_of(study)] == [(TaskState.OPEN, 1), (TaskState.OPEN, 0)]
    late = submit_order(held[1]).judgment
    assert late.state == JudgmentState.SURPLUS
    assert len(orders_of(study).task) == 1


def test_an_answer_must_match_the_kind_of_campaign(db: None, tmp_path: Path) -> None:
    study = make_study(tmp_path, videos=1)
    (held,) = claim(study, make_annotator("anna"))
    with pytest.raises(InvalidInput, match="send places, not a label"):
        submit(held, 17)
    for places in ((0, 1, 2, 3, 3), (0, 1, 2, 3), (0, 1, 2, 3, 5)):
        with pytest.raises(InvalidInput, match="each number from 0 to 4 once"):
            submit_judgment(
                assignment_id=held.pk,
                annotator=held.annotator,
                answer=Answer(payload={"places": places}, client_key=uuid.uuid4()),
            )
    key = uuid.uuid4()
    assert submit_order(held, client_key=key).created
    assert not submit_order(held, client_key=key).created
    with pytest.raises(Conflict, match="already stored with another label"):
        submit_order(held, (4, 3, 2, 1, 0), client_key=key)


def test_a_lead_reopens_or_excludes_a_video_but_does_not_rule(db: None, tmp_path: Path) -> None:
    study, lead = make_study(tmp_path, videos=2), make_user("lena", Role.LEAD)
    unsure, unplayable = claim(study, make_annotator("anna"))
    for held, kind in ((unsure, EscalationKind.UNSURE), (unplayable, EscalationKind.CANNOT_PLAY)):
        escalate_task(assignment_id=held.pk, annotator=held.annotator, kind=kind)
    assert [row[0] for row in states_of(study)] == [TaskState.ESCALATED, TaskState.UNPLAYABLE]
    with pytest.raises(Conflict, match="A lead cannot order captions"):
        adjudicate_task(task=unsure.task, label=5, by=lead)
    reopen_task(task=unsure.task, by=lead)
    exclude_task(task=unplayable.task, by=lead)
    assert states_of(study) == [(TaskState.OPEN, 0, 3), (TaskState.UNPLAYABLE, 0, 0)]
    unsure.refresh_from_db()
    assert unsure.state == AssignmentState.RELEASED


@pytest.mark.postgresql
def test_the_database_refuses_invalid_rows(db: None, tmp_path: Path) -> None:
    study = make_study(tmp_path, videos=1)
    task = study.tasks.get()
    changes: list[dict[str, object]] = [
        {"label": 3},
        {"carried": 1},
        {"item": None},
    ]
    for change in changes:
        with pytest.raises(IntegrityError), transaction.atomic():
            JudgmentTask.objects.filter(pk=task.pk).update(**change)
    for change in ({"place": 5}, {"level": 1}, {"query": study.benchmark.queries.first()}):
        with pytest.raises(IntegrityError), transaction.atomic():
            OrderingCaption.objects.filter(task=task, level=0).update(**change)
    for change in ({"question": "label"}, {"checklist": True}, {"confirms": True}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Campaign.objects.filter(pk=study.pk).update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        JudgmentTask.objects.create(campaign=study, item=task.item, position=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        StudyItem.objects.create(campaign=study, video=task.video)


def test_captions_are_shown_in_the_same_order_for_any_proxy(db: None, tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=5, videos=8)
    shown = []
    for name, values in (("up", range(5)), ("down", range(4, -1, -1))):
        add_proxy(tmp_path, benchmark, np.tile(np.array(values)[:, None] / 10, 8), name)
        study = open_ordering_study(benchmark=benchmark, by=OPERATOR, proxy=name)
        rows = OrderingCaption.objects.filter(task__campaign=study)
        rows = rows.order_by("task__item__video", "place")
        shown.append(list(rows.values_list("query__key", flat=True)))
        levels = list(rows.values_list("level", flat=True))
        assert levels != sorted(levels)
    assert shown[0] == shown[1]
    assert len({tuple(shown[0][start : start + 5]) for start in range(0, 40, 5)}) > 1


def test_a_study_has_the_captions_that_the_core_chooses(benchmark: Benchmark) -> None:
    study = open_ordering_study(
        benchmark=benchmark, by=OPERATOR, proxy="overlap", options=StudyOptions(videos=1)
    )
    orders = orders_of(study)
    video = int(orders.videos[0])
    values = np.array([q / 10 + video / 100 for q in range(7)], np.float16)
    if video == 4:
        values = np.array([0.5] * 5 + [0] * 2, np.float16)
    codes = np.arange(7) * 6 + video
    assert choose_captions(values, by_text(np.arange(7)), codes, 0).captions == tuple(
        orders.captions[0].tolist()
    )
