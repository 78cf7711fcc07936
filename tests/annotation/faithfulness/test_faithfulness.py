"""Campaigns that ask whether phrasings say the same as their captions."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from django.test import Client
from playwright.sync_api import expect
from rest_framework.test import APIClient

from annotation.enums import Joining, TaskState
from annotation.models import Campaign, Judgment, JudgmentTask
from annotation.questions.faithfulness.consensus import judged_phrasings, summarise
from annotation.questions.faithfulness.models import PhrasingTask
from annotation.questions.faithfulness.opening import NewFaithfulness, open_faithfulness
from annotation.services import adjudicate_task, write_guideline
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.deleting import delete
from hearth.shared.errors import Conflict, InvalidInput, NotPermitted
from pooling.models import Benchmark
from pooling.phrasings.models import Phrasing, PhrasingSet
from pooling.phrasings.services import NewPhrasing, store_phrasings
from pooling.phrasings.services.fusing import FuseOptions, fuse_runs
from pooling.selectors.runs import ranked_lists
from pooling.services import import_run
from tests.e2e import rooms
from tests.factories import make_benchmark, make_user

if TYPE_CHECKING:
    from playwright.sync_api import Page

TEXTS = {(0, 1): "a dog plays", (0, 2): "a cat plays", (1, 1): "a man runs"}


def add_phrasings(benchmark: Benchmark) -> None:
    rows = [
        NewPhrasing(query=query, text=text, number=number, origin="model", model="m")
        for (query, number), text in TEXTS.items()
    ]
    store_phrasings(benchmark=benchmark, name="p", rows=rows, by=OPERATOR)


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    found = make_benchmark(tmp_path, captions=3, videos=3)
    add_phrasings(found)
    return found


@pytest.fixture
def campaign(benchmark: Benchmark) -> Campaign:
    return open_faithfulness(benchmark=benchmark, options=NewFaithfulness(), by=OPERATOR)


@pytest.fixture
def people(db: None) -> list[APIClient]:
    found = []
    for name in ("anna", "ben", "cleo"):
        found.append(APIClient())
        found[-1].force_authenticate(make_user(name, Role.ANNOTATOR))
    return found


def answer(client: APIClient, campaign: Campaign, labels: dict[str, int]) -> list[str]:
    """Claim the tasks of a campaign and answer them. Return the texts of phrasings without one."""
    claimed = client.post(f"/api/v1/campaigns/{campaign.pk}/claim/", {"count": 20}).json()["items"]
    left = []
    for item in claimed:
        assert set(item) == {"assignment", "caption", "phrasing", "video", "poster"}
        assert (item["video"], item["poster"]) == (None, None)
        if item["phrasing"] not in labels:
            left.append(item["phrasing"])
            continue
        body = {
            "assignment": item["assignment"],
            "client_key": str(uuid.uuid4()),
            "label": labels[item["phrasing"]],
        }
        assert client.post("/api/v1/judgments/", body, format="json").status_code == 201
    return sorted(left)


def states(campaign: Campaign) -> dict[str, tuple[str, int | None]]:
    rows = JudgmentTask.objects.filter(campaign=campaign).values_list(
        "item__text", "state", "label"
    )
    return {text: (state, label) for text, state, label in rows}


def test_two_equal_answers_decide_and_a_third_settles_a_disagreement(
    benchmark: Benchmark, campaign: Campaign, people: list[APIClient], client: Client
) -> None:
    anna, ben, cleo = people
    assert answer(anna, campaign, {"a dog plays": 1, "a cat plays": 0, "a man runs": 1}) == []
    answer(ben, campaign, {"a dog plays": 1, "a cat plays": 0, "a man runs": 0})
    # Only the phrasing about which both disagree is asked again.
    assert answer(cleo, campaign, {"a man runs": 1}) == []
    assert states(campaign) == {
        "a dog plays": (TaskState.RESOLVED, 1),
        "a cat plays": (TaskState.RESOLVED, 0),
        "a man runs": (TaskState.RESOLVED, 1),
    }
    numbers = {p.pk: (p.query.number, p.number) for p in Phrasing.objects.select_related("query")}
    judged = judged_phrasings(benchmark)
    assert {numbers[pk]: same for pk, same in judged.items()} == {
        (0, 1): True,
        (0, 2): False,
        (1, 1): True,
    }
    # The guidelines of the benchmark are about videos.
    write_guideline(benchmark=benchmark, text="Watch.", by=OPERATOR)
    campaign.refresh_from_db()
    assert campaign.guideline_version == 0
    found = summarise(campaign)
    assert [(row.origin, row.faithful, row.other, row.percent) for row in found.rows] == [
        ("Language model: m", 2, 1, "66.7")
    ]
    # Equal pairs of answers: 1 of 1, 1 of 1 and 1 of 3. Alpha is 1 - 2 / (2 * 3 * 4 / 6).
    assert (found.compared, found.agreement) == (3, pytest.approx(3 / 5))
    assert found.alpha == pytest.approx(0.5)
    client.force_login(make_user("rita", Role.RESEARCHER))
    page = client.get(f"/campaigns/{campaign.pk}/").content.decode()
    assert "alpha is 0.500, low: below 0.667 (bounds by Krippendorff 2004, p. 241)." in page
    with pytest.raises(InvalidInput, match="not judged yet"):
        open_faithfulness(benchmark=benchmark, options=NewFaithfulness(), by=OPERATOR)
    with pytest.raises(Conflict, match="People judge these phrasings"):
        delete(PhrasingSet.objects.get(), by=make_user("lena", Role.LEAD))


def test_a_lead_rules_on_a_conflict(
    benchmark: Benchmark, people: list[APIClient], client: Client
) -> None:
    options = NewFaithfulness(labels_max=2, name="Texts")
    campaign = open_faithfulness(benchmark=benchmark, options=options, by=OPERATOR)
    for person, label in zip(people, (1, 0), strict=False):
        answer(person, campaign, {"a dog plays": label, "a cat plays": 0})
    task = JudgmentTask.objects.get(campaign=campaign, item__text="a dog plays")
    assert task.state == TaskState.CONFLICTED
    lead = make_user("lena", Role.LEAD)
    client.force_login(lead)
    desk = client.get(f"/campaigns/{campaign.pk}/desk/").content.decode()
    assert "Says the same" in desk
    assert "a dog plays" in desk
    adjudicate_task(task=task, label=0, by=lead)
    assert states(campaign)["a dog plays"] == (TaskState.ADJUDICATED, 0)
    rulings = client.get(f"/campaigns/{campaign.pk}/desk/rulings/").content.decode()
    assert "a dog plays" in rulings
    table = client.get(f"/campaigns/{campaign.pk}/desk/rulings/csv/").content.decode()
    assert table.splitlines()[1].startswith("c0#1,,0,says something else,")
    page = client.get(f"/campaigns/{campaign.pk}/").content.decode()
    assert "Language model: m" in page
    assert "Faithfulness campaign" in page
    answers = client.get(f"/campaigns/{campaign.pk}/answers/csv/").content.decode().splitlines()
    assert sorted(answers[1:]) == [
        "c0,1,model,m,1,1,0",
        "c0,1,model,m,2,0,0",
        "c0,2,model,m,1,0,0",
        "c0,2,model,m,2,0,0",
    ]
    for address in ("people/", "policy/", f"desk/pairs/{task.pk}/"):
        assert client.get(f"/campaigns/{campaign.pk}/{address}", follow=True).status_code == 200
    caption = client.get("/benchmarks/tiny/caption/?id=c0").content.decode()
    assert "says something else" in caption


def test_a_fusion_leaves_out_unfaithful_phrasings_and_keeps_unjudged_ones(
    benchmark: Benchmark, campaign: Campaign, people: list[APIClient], tmp_path: Path
) -> None:
    lists = {"c0": "v0 v1", "c0#1": "v1 v0", "c0#2": "v1 v0", "c1": "v1 v0", "c1#1": "v0 v1"}
    path = tmp_path / "sys.run"
    path.write_text(
        "".join(
            f"{key} Q0 {video} {rank} {9 - rank} t\n"
            for key, videos in lists.items()
            for rank, video in enumerate(videos.split(), start=1)
        )
    )
    import_run(benchmark=benchmark, path=path, system="sys", by=OPERATOR)
    for person in people[:2]:
        answer(person, campaign, {"a dog plays": 0, "a cat plays": 0})

    def fused(**options: Any) -> Any:
        wanted = FuseOptions(runs=["sys"], method="plurality", **options)
        return fuse_runs(benchmark=benchmark, options=wanted, by=OPERATOR).run

    assert ranked_lists(fused()).items.tolist()[:2] == [[1, 0], [1, 0]]
    kept = fused(without_unfaithful=True, name="kept")
    assert ranked_lists(kept).items.tolist()[:2] == [[0, 1], [1, 0]]
    assert kept.provenance["options"]["left_out"] == 2
    assert kept.warnings[-1] == "lists of unfaithful phrasings left out: 2"


def test_campaigns_are_opened_by_leads_from_page_api_and_command(
    benchmark: Benchmark, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(NotPermitted):
        open_faithfulness(
            benchmark=benchmark,
            options=NewFaithfulness(),
            by=make_user("rosa", Role.RESEARCHER),
        )
    lead = make_user("lena", Role.LEAD)
    client.force_login(lead)
    address = "/benchmarks/tiny/faithfulness/new/"
    form = {"phrasings": 1, "origin": "", "labels_each": 3, "labels_max": 2, "name": "", "seed": 0}
    wrong = client.post(address, {**form, "joining": Joining.ALL.value})
    assert wrong.status_code == 422
    assert "must not be below the 3 answers" in wrong.content.decode()
    opened = client.post(address, {**form, "labels_max": 5, "joining": Joining.ALL.value})
    assert opened.status_code == 302
    api = APIClient()
    api.force_authenticate(lead)
    made = api.post("/api/v1/benchmarks/tiny/faithfulness/", {"phrasings": 1}, format="json")
    assert made.status_code == 201
    assert (made.json()["phrasings"], made.json()["labels"]) == (1, 2)
    call_command("open_faithfulness", "tiny", "--labels", "1", "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["phrasings"], found["labels"]) == (1, 1)
    # Each campaign took another phrasing.
    assert PhrasingTask.objects.values("phrasing").distinct().count() == 3


@pytest.mark.e2e
def test_texts_are_compared_by_keys_without_a_connection_and_undone(
    transactional_db: None,
    tmp_path: Path,
    new_page: Callable[[], Page],
    live_server: Any,
    page_problems: list[str],
) -> None:
    benchmark = rooms.make_benchmark(tmp_path, ["a ball", "a cube"], videos=2)
    rows = [NewPhrasing(query=q, text=t, origin="person") for q, t in enumerate(["a sphere", "it"])]
    store_phrasings(benchmark=benchmark, name="p", rows=rows, by=OPERATOR)
    campaign = open_faithfulness(
        benchmark=benchmark, options=NewFaithfulness(name="Texts"), by=OPERATOR
    )
    page = rooms.sign_in(new_page().context, live_server.url, make_user("anna", Role.ANNOTATOR))
    rooms.enter(page, campaign)
    assert page.title() == "Comparing texts · Texts · Hearth"
    first = page.locator("[data-part=phrasing]").inner_text()
    assert not page.locator("[data-part=stage]").is_visible()
    page.context.set_offline(True)
    page.keyboard.press("j")
    page.get_by_text("1 unsent").wait_for()
    page.context.set_offline(False)
    rooms.until_sent(page)
    rooms.settle(page)
    page.keyboard.press("z")
    expect(page.locator("[data-part=phrasing]")).to_have_text(first)
    rooms.settle(page)
    page.keyboard.press("k")
    rooms.until_sent(page)
    stored = Judgment.objects.order_by("pk").values_list("label", "state")
    assert list(stored) == [(0, "superseded"), (1, "live")]
    rooms.forget(page_problems, "ERR_INTERNET_DISCONNECTED", "Failed to fetch")
