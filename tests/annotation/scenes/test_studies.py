"""People describe scenes, and the descriptions are train captions."""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client
from playwright.sync_api import expect
from rest_framework.test import APIClient

from annotation.enums import CampaignState, Joining
from annotation.models import Campaign, Judgment
from annotation.questions.scene.models import StudyScene
from annotation.questions.scene.study import DescribeScenes, open_scene_study
from annotation.selectors.desk import get_desk_case
from annotation.services import set_campaign_state
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.deleting import delete
from hearth.shared.errors import InvalidInput, NotPermitted
from pooling.core.readers.train_captions import parse_train_captions
from pooling.models import Benchmark
from pooling.scenes.actions import FindScenes
from pooling.scenes.models import Scene, VideoScenes
from pooling.scenes.services import find_scenes
from tests.e2e import rooms
from tests.factories import make_user
from tests.pooling.scenes.videos import import_scenes

if TYPE_CHECKING:
    from playwright.sync_api import Page

TIMES = {
    "v0": [(0.0, 2.0), (2.0, 3.0), (3.0, 4.5)],
    "v1": [(0.0, 2.0)],
}

# Whether the video is in view, the field ends above the buttons, and these are in view.
IN_VIEW = """(() => {
  const box = (name) => document.querySelector(`[data-part=${name}]`).getBoundingClientRect();
  return box("stage").top >= 0
    && box("description").bottom <= box("foot").top
    && box("foot").bottom <= innerHeight;
})()"""


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    """Scenes as `find_scenes` stores them, without the time that it needs."""
    benchmark = import_scenes(tmp_path)
    for key, times in TIMES.items():
        video = benchmark.videos.get(key=key)
        found = VideoScenes.objects.create(video=video, features="colours", n_frames=9)
        for number, (start, end) in enumerate(times):
            Scene.objects.create(of=found, number=number, start=start, middle=start, end=end)
    return benchmark


def open_study(benchmark: Benchmark, **options: Any) -> Campaign:
    return open_scene_study(
        benchmark=benchmark, by=OPERATOR, options=DescribeScenes(**{"shortest": 1.2, **options})
    )


def test_a_study_keeps_the_times_of_its_scenes(benchmark: Benchmark) -> None:
    study = open_study(benchmark, labels_each=2, seed=3)
    assert (study.n_tasks, study.labels_each, study.name) == (3, 2, "scenes 1")
    shown = StudyScene.objects.order_by("item_id")
    first = list(shown.values_list("item__video__key", "start", "end"))
    assert sorted(first) == [("v0", 0.0, 2.0), ("v0", 3.0, 4.5), ("v1", 0.0, 2.0)]
    Scene.objects.all().delete()
    assert list(shown.values_list("item__video__key", "start", "end")) == first
    with pytest.raises(IntegrityError), transaction.atomic():
        shown.update(end=0)
    set_campaign_state(campaign=study, state=CampaignState.CLOSED, by=make_user("lena", Role.LEAD))
    delete(study, by=OPERATOR)
    assert not StudyScene.objects.exists()
    with pytest.raises(InvalidInput, match="There is no scene to describe"):
        open_study(benchmark)
    with pytest.raises(NotPermitted):
        open_scene_study(
            benchmark=benchmark, by=make_user("rosa", Role.RESEARCHER), options=DescribeScenes()
        )


def test_descriptions_are_checked_and_exported_as_train_captions(
    benchmark: Benchmark, tmp_path: Path, client: Client
) -> None:
    study = open_study(benchmark)
    anna = APIClient()
    anna.force_authenticate(make_user("anna", Role.ANNOTATOR))
    claimed = anna.post(f"/api/v1/campaigns/{study.pk}/claim/", {"count": 3}).json()["items"]
    assert set(claimed[0]) == {"assignment", "scene", "video", "poster"}
    assert sorted(item["scene"] for item in claimed) == [[0.0, 2.0], [0.0, 2.0], [3.0, 4.5]]

    def send(item: dict[str, Any], **answer: Any) -> int:
        body = {"assignment": item["assignment"], "client_key": str(uuid.uuid4()), **answer}
        return anna.post("/api/v1/judgments/", body, format="json").status_code

    wrong = ({}, {"label": 1}, {"scene_text": "  "}, {"scene_text": "x" * 501})
    assert [send(claimed[0], **answer) for answer in wrong] == [400] * 4
    for item in claimed:
        text = f' A "red"\n square of {item["scene"][1]:g} s'
        assert send(item, scene_text=text) == 201

    client.force_login(make_user("lena", Role.LEAD))
    page = client.get(f"/campaigns/{study.pk}/").content.decode()
    assert "Description study of 3 scenes" in page
    sent = client.get(f"/campaigns/{study.pk}/descriptions/csv/").content
    assert sent.decode() == (
        "caption,video_id,start,end\n"
        '"A ""red"" square of 2 s",v0,0.0,2.0\n'
        '"A ""red"" square of 4.5 s",v0,3.0,4.5\n'
        '"A ""red"" square of 2 s",v1,0.0,2.0\n'
    )
    file = tmp_path / "train.csv"
    file.write_bytes(sent)
    two, other = 'A "red" square of 2 s', 'A "red" square of 4.5 s'
    assert parse_train_captions(file).texts == (two, other, two)
    task = study.tasks.get(item__scene__start=3)
    assert get_desk_case(task.pk).captions == ["3.0–4.5 s"]


def test_page_api_and_command_open_a_study(benchmark: Benchmark, client: Client) -> None:
    lead = make_user("lena", Role.LEAD)
    client.force_login(lead)
    page = client.get("/benchmarks/scenes/campaigns/").content.decode()
    assert "/benchmarks/scenes/scenes/describe/" in page
    fields = {
        "scenes": 2,
        "labels_each": 1,
        "shortest": 0.5,
        "joining": Joining.ALL.value,
        "seed": 0,
    }
    opened = client.post("/benchmarks/scenes/scenes/describe/", fields)
    assert opened["Location"] == f"/campaigns/{Campaign.objects.get().pk}/"
    api = APIClient()
    api.force_authenticate(lead)
    made = api.post("/api/v1/benchmarks/scenes/scenes/studies/", {"name": "Mine"}, format="json")
    assert (made.status_code, made.json()["kind"], made.json()["name"]) == (201, "scenes", "Mine")
    out = io.StringIO()
    call_command("describe_scenes", "scenes", "--labels", "2", stdout=out)
    assert "(scenes 3): 4 scenes, 8 descriptions" in out.getvalue()


@pytest.mark.e2e
def test_only_the_scene_plays_and_its_description_is_sent(
    transactional_db: None,
    tmp_path: Path,
    new_page: Callable[[], Page],
    live_server: Any,
    page_problems: list[str],
) -> None:
    benchmark = import_scenes(tmp_path)
    find_scenes(benchmark=benchmark, options=FindScenes(video="v0"), by=OPERATOR)
    study = open_study(benchmark, shortest=0, scenes=2, seed=1)
    shown = [scene.start for scene in StudyScene.objects.order_by("item_id")]
    person = make_user("anna", Role.ANNOTATOR)
    page = rooms.sign_in(new_page().context, live_server.url, person)
    rooms.enter(page, study)
    assert page.title() == "Describing scenes · scenes 1 · Hearth"
    scene = StudyScene.objects.order_by("item_id")[0]
    times = f"Scene from {scene.start:.1f} to {scene.end:.1f} seconds"
    expect(page.locator("[data-part=scene]")).to_have_text(times)
    # The video never shows a time outside the scene, apart from one frame.
    low, high = page.evaluate(
        """async () => {
          const video = document.querySelector(".judge-stage video");
          const seen = [];
          for (const end = performance.now() + 2500; performance.now() < end;) {
            await new Promise(requestAnimationFrame);
            if (!video.seeking) seen.push(video.currentTime);
          }
          return [Math.min(...seen), Math.max(...seen)];
        }"""
    )
    assert scene.start - 0.1 < low < high < scene.end + 0.2

    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-part=description-problem]")).to_be_visible()
    page.context.set_offline(True)
    page.keyboard.type("A green square.")
    page.keyboard.press("Control+Enter")
    page.get_by_text("1 unsent").wait_for()
    page.context.set_offline(False)
    rooms.until_sent(page)
    rooms.settle(page)
    assert len(shown) == 2
    # On a phone, the video, the field and the buttons are in view together.
    page.set_viewport_size({"width": 390, "height": 664})
    page.click("[data-part=undo]")
    expect(page.locator("[data-part=description]")).to_have_value("A green square.")
    assert page.evaluate(IN_VIEW)
    stored = Judgment.objects.values_list("payload", "task__item__scene__start")
    assert list(stored) == [({"scene_text": "A green square."}, shown[0])]
    rooms.forget(page_problems, "ERR_INTERNET_DISCONNECTED", "Failed to fetch")
