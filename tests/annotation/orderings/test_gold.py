"""Control orders: gold in ordering studies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client
from rest_framework.test import APIClient

from annotation.enums import GoldUse, JudgmentState, MembershipState
from annotation.models import Annotator, Campaign, GoldItem, Judgment, Membership
from annotation.questions.order.answers import orders_of
from annotation.questions.order.gold import add_gold_order, import_control_orders
from annotation.questions.order.models import captions_of
from annotation.questions.order.orders import is_in_steps
from annotation.questions.order.study import StudyOptions, open_ordering_study
from annotation.services import Answer, change_policy, retire_gold, submit_judgment
from annotation.services.policy import PolicyFault
from evaluation.monitor.selectors.studies import study_progress
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.errors import Conflict, InvalidInput, NotPermitted
from pooling.models import Benchmark
from tests.factories import (
    add_proxy,
    assignment_of,
    claim,
    make_annotator,
    make_benchmark,
    make_user,
    row_counts,
    submit_order,
)

pytestmark = pytest.mark.django_db

KEYS = ["c0", "c1", "c2", "c3", "c4"]
# c0 comes first and c4 last. The three others can be in any order.
STEPS = [0, 1, 1, 1, 2]


@pytest.fixture
def study(tmp_path: Path) -> Campaign:
    """A study of two of three videos; the third has a control order, which everyone gets."""
    benchmark = make_benchmark(tmp_path, captions=6, videos=3)
    add_proxy(tmp_path, benchmark, np.add.outer(np.arange(6), np.arange(3)) / 100, "overlap")
    study = open_ordering_study(
        benchmark=benchmark, by=OPERATOR, proxy="overlap", options=StudyOptions(videos=2)
    )
    add_order(benchmark, video_outside(study))
    change_policy(campaign=study, changes={"gold_share": 1}, by=make_user("lena", Role.LEAD))
    return study


def video_outside(study: Campaign) -> str:
    inside = study.tasks.values("item__video")
    return study.benchmark.videos.exclude(pk__in=inside).get().key


def add_order(benchmark: Benchmark, video: str, **changes: Any) -> GoldItem:
    options = {"video": video, "captions": KEYS, "steps": STEPS, "by": OPERATOR, **changes}
    return add_gold_order(benchmark=benchmark, **options)


def answer_gold(study: Campaign, annotator: Annotator, keys: list[str]) -> Judgment:
    """Answer the annotator's control order. `keys` names the captions, the most similar first."""
    held = next(held for held in claim(study, annotator) if held.task.gold_id)
    places = dict(held.task.gold.captions.values_list("query__key", "place"))
    answer = Answer(payload={"places": [places[key] for key in keys]}, client_key=f"{held.pk:032x}")
    return submit_judgment(assignment_id=held.pk, annotator=annotator, answer=answer).judgment


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ([0, 1, 2, 3, 4], True),
        ([0, 3, 2, 1, 4], True),
        ([1, 0, 2, 3, 4], False),
        ([0, 1, 2, 4, 3], False),
        ([4, 3, 2, 1, 0], False),
    ],
)
def test_an_order_is_correct_if_the_steps_rise(order: list[int], expected: bool) -> None:
    assert is_in_steps(order, STEPS) is expected


def test_a_control_order_looks_like_any_other_video(study: Campaign) -> None:
    anna, client = make_user("anna", Role.ANNOTATOR), APIClient()
    client.force_authenticate(anna)
    items = client.post(f"/api/v1/campaigns/{study.pk}/claim/", {"count": 9}).json()["items"]
    tasks = [assignment_of(item).task for item in items]
    assert sorted(task.gold_id is not None for task in tasks) == [False, False, True]
    for item, task in zip(items, tasks, strict=True):
        assert set(item) == {"assignment", "captions", "video", "poster"}
        texts = [caption.query.text for caption in captions_of(task)]
        assert item["captions"] == [{"place": n, "text": text} for n, text in enumerate(texts)]
        answer = {
            "assignment": item["assignment"],
            "places": [4, 3, 2, 1, 0],
            "client_key": f"00000000-0000-4000-8000-{task.pk:012}",
        }
        stored = client.post("/api/v1/judgments/", answer, format="json")
        assert (stored.status_code, set(stored.json())) == (201, {"id", "places", "client_key"})
    history = client.get(f"/api/v1/campaigns/{study.pk}/history/").json()
    assert [set(item) for item in history] == [{*items[0], "places", "client_key"}] * 3
    assert client.post(f"/api/v1/campaigns/{study.pk}/claim/").json()["items"] == []


def order_file(folder: Path, rows: list[str]) -> Path:
    path = folder / "orders.csv"
    path.write_text("\n".join(["video_id,caption_id,step,explanation", *rows]) + "\n")
    return path


ROWS = [f"v0,c{n},{step + 1},It is certain." for n, step in enumerate(STEPS)]


def test_the_command_imports_control_orders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark = make_benchmark(tmp_path, captions=6, videos=3)
    rows = [*ROWS, *(row.replace("v0", "v1") for row in ROWS)]
    call_command("import_control_orders", benchmark.key, str(order_file(tmp_path, rows)), "--json")
    assert json.loads(capsys.readouterr().out) == {"control_orders": 2}
    for item in GoldItem.objects.all():
        found = item.captions.order_by("query__number").values_list("query__key", "step")
        assert list(found) == list(zip(KEYS, STEPS, strict=True))
        assert (item.use, item.explanation) == (GoldUse.CONTROL, "It is certain.")


@pytest.mark.parametrize(
    ("rows", "line", "reason"),
    [
        ([], 1, "the file has a header but no control orders"),
        ([*ROWS, "v1,c0,0,"], 7, "the step must be from 1 to 5, not '0'"),
        ([*ROWS, "v1,c0,1,"], 7, "the video 'v1' must have 5 captions, not 1"),
        ([*ROWS[:4], "v0,c9,2,"], 2, "The benchmark has no caption 'c9'."),
        (
            [*ROWS, *(row.replace("v0", "v9") for row in ROWS)],
            7,
            "The benchmark has no video 'v9'.",
        ),
    ],
)
def test_a_wrong_file_adds_no_control_order(
    tmp_path: Path, rows: list[str], line: int, reason: str
) -> None:
    benchmark = make_benchmark(tmp_path, captions=6, videos=3)
    path, before = order_file(tmp_path, rows), row_counts()
    with pytest.raises(InvalidInput) as error:
        import_control_orders(benchmark=benchmark, path=path, by=OPERATOR, source="orders.csv")
    assert str(error.value) == f"orders.csv, line {line}: {reason}"
    assert row_counts() == before


def test_answers_to_control_orders_are_not_counted(study: Campaign) -> None:
    right = answer_gold(study, make_annotator("anna"), ["c0", "c3", "c1", "c2", "c4"])
    wrong = answer_gold(study, make_annotator("ben"), ["c3", "c0", "c1", "c2", "c4"])
    assert [(one.state, one.is_right) for one in (right, wrong)] == [
        (JudgmentState.GOLD, True),
        (JudgmentState.GOLD, False),
    ]
    assert len(orders_of(study).task) == 0
    progress = study_progress(study)
    assert (progress.items, progress.answers, progress.needed) == (2, 0, 6)


def test_an_inaccurate_annotator_is_paused(study: Campaign) -> None:
    lead, anna = make_user("lars", Role.LEAD), make_annotator("anna")
    change_policy(campaign=study, changes={"gold_bar": 1, "gold_last": 1}, by=lead)
    held = next(held for held in claim(study, anna) if not held.task.gold_id)
    submit_order(held)
    answer_gold(study, anna, KEYS[::-1])
    member = Membership.objects.get(annotator=anna)
    assert (member.state, member.judged, member.gold_judged) == (MembershipState.PAUSED, 1, 1)
    retire_gold(item=GoldItem.objects.get(), by=lead)
    held = claim(study, make_annotator("ben"))
    assert [held.task.gold_id for held in held] == [None, None]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"video": "other"}, "The benchmark has no video 'other'."),
        ({"captions": ["c0", "c1", "c2", "c3", "x"]}, "The benchmark has no caption 'x'."),
        ({"captions": ["c0", "c1", "c2", "c3", "c3"]}, "5 captions with different texts"),
        ({"captions": KEYS[:4]}, "5 captions with different texts"),
        ({"steps": [1] * 5}, "at least two captions must have different steps"),
        ({"steps": [0, 1, 2, 3, 5]}, "Steps must be 1 to 5"),
    ],
)
def test_invalid_control_orders_are_refused(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    benchmark = make_benchmark(tmp_path, captions=6, videos=3)
    with pytest.raises(InvalidInput, match=reason):
        add_order(benchmark, **{"video": "v0", **changes})
    assert not GoldItem.objects.exists()


@pytest.mark.postgresql
def test_a_video_has_at_most_one_control_order(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=6, videos=3)
    item = add_order(benchmark, "v0")
    with pytest.raises(Conflict, match="This video has a control order already"):
        add_order(benchmark, "v0")
    with pytest.raises(NotPermitted):
        add_order(benchmark, "v1", by=make_user("rita", Role.RESEARCHER))
    for change in ({"is_relevant": True}, {"video": None}, {"query": 1}):
        with pytest.raises(IntegrityError), transaction.atomic():
            GoldItem.objects.filter(pk=item.pk).update(**change)


def test_a_study_needs_control_orders_of_other_videos(study: Campaign) -> None:
    lead = make_user("lars", Role.LEAD)
    item = GoldItem.objects.get()
    change_policy(campaign=study, changes={"gold_share": 0}, by=lead)
    study.tasks.filter(gold=item).delete()
    inside = study.tasks.first().video
    GoldItem.objects.filter(pk=item.pk).update(video=inside)
    with pytest.raises(PolicyFault, match="has no control orders for videos outside the study"):
        change_policy(campaign=study, changes={"gold_share": 0.1}, by=lead)


def test_a_lead_adds_a_control_order_on_its_page(tmp_path: Path, client: Client) -> None:
    make_benchmark(tmp_path, captions=6, videos=3)
    client.force_login(make_user("lena", Role.LEAD))
    address = "/benchmarks/tiny/gold/orders/new/"
    fields = {"video": "v1", "explanation": "c0 is the only one with a dog"}
    for number, (key, step) in enumerate(zip(KEYS, STEPS, strict=True)):
        fields |= {f"caption_{number}": key, f"step_{number}": str(step)}
    refused = client.post(address, fields | {"video": "v9"})
    assert (refused.status_code, "has no video &#x27;v9&#x27;" in refused.content.decode()) == (
        422,
        True,
    )
    answer = client.post(address, fields)
    item = GoldItem.objects.get()
    assert answer["Location"] == f"/benchmarks/tiny/gold/{item.pk}/"
    assert (item.video.key, item.explanation) == ("v1", fields["explanation"])
    page = client.get(answer["Location"])
    shown = [
        (row.query.key, row.step) for row in page.context["item"].captions.order_by("step", "place")
    ]
    assert dict(shown) == dict(zip(KEYS, STEPS, strict=True))
    assert [step for _, step in shown] == sorted(STEPS)
    assert "Order of five captions" in client.get("/benchmarks/tiny/gold/").content.decode()


def test_the_page_of_a_study_counts_correct_control_orders(study: Campaign, client: Client) -> None:
    answer_gold(study, make_annotator("anna"), KEYS)
    client.force_login(make_user("lars", Role.LEAD))
    page = client.get(f"/campaigns/{study.pk}/")
    assert [(row.own.right, row.own.gold) for row in page.context["people"]] == [(1, 1)]
    assert "100\N{NO-BREAK SPACE}% of the assigned tasks" in page.content.decode()
