"""Gold items with spans, reaction times, the desk's page, and agreement about the times."""

from __future__ import annotations

import re
import uuid
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from django.test import Client

from annotation.core.spans import Span
from annotation.enums import GoldUse, TaskState
from annotation.models import Annotator, Campaign, GoldItem
from annotation.questions.spans.agreement import coincidences, match, summarise
from annotation.questions.spans.gold import add_gold_spans
from annotation.questions.spans.models import spans_of
from annotation.questions.spans.reaction import delays_of, measured, reaction_time
from annotation.services import import_gold, open_training
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.jobs.services import run_job
from hearth.shared.errors import InvalidInput
from pooling.models import Pair
from tests.annotation.gold.test_hidden_gold import browser_of, is_gold, post, shape
from tests.annotation.spans.world import make_pooled, mark, mark_video, open_spans
from tests.factories import PASSWORD, assignment_of, claim, make_annotator


def test_training_says_how_much_the_spans_overlap_and_measures_the_reaction(
    tmp_path: Path, anna: Annotator
) -> None:
    benchmark = make_pooled(tmp_path)
    gold = {"benchmark": benchmark, "caption": "c0", "by": OPERATOR}
    add_gold_spans(**gold, video="v0", spans=[(1, 3), (3, 5)], tolerance=0.75)
    add_gold_spans(**gold, video="v1", spans=[(2, 6)])
    add_gold_spans(**gold, video="v2", spans=[])
    training = open_training(benchmark=benchmark, by=OPERATOR, question="spans")
    held = {one.task.video.key: one for one in claim(training, anna) if one.task.video}
    # One span instead of two that touch, with an overlap of exactly 3 / 4.
    right = mark(held["v0"], [(1, 4)], marks=[[1.4, 4.3]], shift=0.3)
    assert training.question_kind.feedback(right) == {
        "is_right": True,
        "relevant": True,
        "explanation": "",
        "spans": [(1.0, 3.0), (3.0, 5.0)],
        "overlap": 0.75,
        "tolerance": 0.75,
    }
    assert mark(held["v1"], [(4, 9)], marks=[[2.2, 6.3]]).is_right is False
    assert mark(held["v2"], [(4, 9)]).is_right is False
    # The delays are .4 (to 1 s), 1.3 (to 3 s), .2 and .3.
    assert reaction_time(anna) == 0.35
    assert reaction_time(make_annotator("ben")) is None


def test_reaction_times_leave_out_edges_that_were_not_marked_or_are_far_away() -> None:
    delays = delays_of((Span(0, 1000), Span(5000, 9000)), [[0.3, None], [9, 9]], (Span(0, 2000),))
    assert delays == [0.3]
    assert measured([0.2, 0.3, 0.4, 2.0]) is None
    assert measured([0.2, 0.3, 0.4, 0.5]) == 0.35
    assert measured([-0.2, -0.3, -0.4, -0.5]) == 0


def test_matching_and_cells() -> None:
    a, b, c = Span(0, 10_000), Span(20_000, 30_000), Span(0, 8_000)
    assert match([a, b], [c]) == [0.8, 0.0]
    assert match([c], [b, a]) == [0.8, 0.0]
    # The middles of the cells are 250, 750 and 1250 ms.
    cells = coincidences([[Span(0, 1000)], [Span(500, 1200)]])
    assert cells.tolist() == [[1, 1], [0, 2], [2, 0]]


def test_agreement_about_times(tmp_path: Path, anna: Annotator) -> None:
    campaign = open_spans(tmp_path, labels_each=2)
    ben = make_annotator("ben")
    assert summarise(campaign) is None
    for video, one, other in [("v0", (0, 10), (0, 8)), ("v1", (0, 4), (2, 6))]:
        mark_video(campaign, anna, [one], video=video)
        mark_video(campaign, ben, [other], video=video)
    found = summarise(campaign)
    assert found is not None
    values = [figure.value for figure in found.figures]
    # tIoU .8 and 1/3.
    assert values[:5] == [pytest.approx((0.8 + 1 / 3) / 2), 1.0, 0.5, 0.5, 0.0]
    assert [(n, spans) for _, n, spans in found.people] == [(pytest.approx(17 / 30), 2)] * 2
    assert found.pairs == 2
    # Alpha by its definition, from the coincidences of two values.
    cells = np.concatenate(
        [
            coincidences([[Span(0, 10_000)], [Span(0, 8_000)]]),
            coincidences([[Span(0, 4000)], [Span(2000, 6000)]]),
        ]
    )
    outside, inside = cells.sum(axis=0)
    differ = (cells[:, 0] * cells[:, 1]).sum()
    n = outside + inside
    assert values[5] == pytest.approx(1 - (n - 1) * differ / (outside * inside))
    assert found.figures[0].low == pytest.approx(1 / 3)
    assert found.figures[0].high == pytest.approx(0.8)


def test_a_lead_draws_the_ruling_at_the_desk(
    tmp_path: Path, anna: Annotator, lead: User, client: Client
) -> None:
    campaign = open_spans(tmp_path, labels_each=2, labels_max=2)
    last = mark_video(campaign, anna, [(0, 4)])
    mark_video(campaign, make_annotator("ben"), [(5, 9)])
    client.login(username=lead.username, password=PASSWORD)
    address = f"/campaigns/{campaign.pk}/desk/"
    page = client.get(address).content.decode()
    assert "It is not settled at which times." in page
    assert ("0–4 s" in page, "5–9 s" in page) == (True, True)
    form = {"task": last.task_id, "kind": "", "ruling": "1", "reason": ""}
    refused = client.post(address, {**form, "answer": "4 - 2"}, follow=True)
    assert "A span must end after its start." in refused.content.decode()
    settled = client.post(address, {**form, "answer": "0.5 - 3.5"}, follow=True)
    assert "Your ruling on the last pair: relevant, 0.5–3.5 s." in settled.content.decode()
    last.task.refresh_from_db()
    assert (last.task.state, last.task.label) == (TaskState.ADJUDICATED, 1)
    shown = client.get(f"/campaigns/{campaign.pk}/")
    assert "Agreement about the times" in shown.content.decode()


def test_a_lead_adds_a_gold_item_on_the_page(
    campaign: Campaign, lead: User, client: Client
) -> None:
    client.login(username=lead.username, password=PASSWORD)
    address = "/benchmarks/tiny/gold/spans/new/"
    form = {
        "caption": "c0",
        "video": "v0",
        "spans": "1 - 2\r\n4 - 5",
        "tolerance": "0.5",
        "use": "training",
    }
    for field, value, error in [
        ("caption", "cX", "The benchmark has no caption"),
        ("spans", "1 - x", "is not a span"),
        ("spans", "1 - 99", "A span must not end after the video."),
    ]:
        answer = client.post(address, {**form, field: value})
        assert (answer.status_code, error in answer.content.decode()) == (422, True)
    page = client.post(address, form, follow=True)
    assert "The gold item is added." in page.content.decode()
    assert "is already a gold item" in client.post(address, form).content.decode()


def test_gold_items_with_spans_are_imported_from_a_file(
    tmp_path: Path, anna: Annotator, lead: User
) -> None:
    benchmark = make_pooled(tmp_path)
    head = "caption_id,video_id,start,end,tolerance,explanation\n"
    path = tmp_path / "gold.csv"
    for line, reason in [
        ("c0,v0,2,1,,", "A span must end after its start."),
        ("c0,v0,1,3,,\nc0,v0,2,4,,", "The spans must not overlap."),
        ("c0,v0,1,99,,", "A span must not end after the video."),
        ("c0,v0,1,nan,,", "the end 'nan' is not a number"),
        ("c0,v0,1,3,1.5,", "The minimum overlap must be above 0 and at most 1, not 1.5."),
        ("c0,v0,,,,\nc0,v0,1,2,,", "the pair is already in line 2, and one of them has no span"),
        ("c0,vX,1,2,,", "unknown video 'vX'"),
    ]:
        path.write_text(head + line + "\n")
        number = 2 + line.count("\n")
        with pytest.raises(InvalidInput, match=re.escape(f"gold.csv, line {number}: {reason}")):
            import_gold(benchmark=benchmark, path=path, use=GoldUse.TRAINING, by=OPERATOR)
        assert not GoldItem.objects.exists()

    path.write_text(head + "c0,v0,4,5.5,0.75,twice\nc0,v0,1,2,,\nc0,v1,,,,no dog\n")
    with path.open("rb") as file:
        client = Client()
        client.force_login(lead)
        sent = client.post("/api/v1/benchmarks/tiny/gold/", {"file": file, "use": "control"})
    run_job(sent.json()["id"])
    twice, without = GoldItem.objects.order_by("pk")
    assert spans_of(twice) == (Span(1000, 2000), Span(4000, 5500))
    assert (twice.question, twice.use, twice.answer) == ("spans", "control", {"tolerance": 0.75})
    assert (twice.explanation, without.is_relevant, without.answer) == (
        "twice",
        False,
        {"tolerance": 0.5},
    )
    with pytest.raises(InvalidInput, match="line 2: the pair is already a gold item"):
        import_gold(benchmark=benchmark, path=path, use=GoldUse.TRAINING, by=OPERATOR)


def test_control_pairs_with_spans_are_neither_avoided_nor_recognised(
    db: None, tmp_path: Path
) -> None:
    """An annotator claims one pair at a time. Items and answers of both kinds look the same."""
    benchmark = make_pooled(tmp_path, captions=6, videos=8)
    Pair.objects.filter(query__key__in=["c4", "c5"]).delete()
    for caption, number in product(("c4", "c5"), range(8)):
        spans = [(1, 3)] if number % 2 else []
        gold = {"caption": caption, "video": f"v{number}", "spans": spans, "use": GoldUse.CONTROL}
        add_gold_spans(benchmark=benchmark, by=OPERATOR, **gold)
    campaign = open_spans(tmp_path, benchmark=benchmark, gold_share=0.3)
    browser = browser_of("ben")
    order: list[bool] = []
    seen: dict[bool, set[str]] = {True: set(), False: set()}
    path = f"campaigns/{campaign.pk}/claim/"
    while items := post(browser, path, {"count": 1})[1]["items"]:
        (item,) = items
        order.append(is_gold(assignment_of(item)))
        key = str(uuid.uuid4())
        answer = {"assignment": item["assignment"], "label": 1, "spans": [[1, 2]]}
        status, content, headers = post(browser, "judgments/", answer | {"client_key": key})
        seen[order[-1]].add(repr((shape(item), status, shape(content), headers)))
        assert abs(sum(order) - 0.3 * len(order)) <= 2 + 0.3 * 8
    assert (order.count(False), len(seen[True])) == (32, 1)
    assert seen[True] == seen[False]
