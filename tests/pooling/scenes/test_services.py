"""Videos are divided into scenes, which are stored, shown and deleted."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client
from rest_framework.test import APIClient

from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.deleting import delete
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from hearth.shared.errors import Cancelled, InvalidInput, NotPermitted
from pooling.core.lines import SourceFile
from pooling.models import Benchmark
from pooling.scenes.actions import FindScenes
from pooling.scenes.models import Scene, VideoScenes
from pooling.scenes.selectors import cuts_of, scenes_of_video
from pooling.scenes.services import find_scenes
from tests.factories import make_user
from tests.pooling.scenes.videos import import_scenes
from tests.pooling.test_sheets import picture_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return import_scenes(tmp_path)


def find(benchmark: Benchmark, **options: Any) -> dict[str, Any]:
    return {**find_scenes(benchmark=benchmark, options=FindScenes(**options), by=OPERATOR)}


def times(benchmark: Benchmark) -> list[tuple[Any, ...]]:
    found = Scene.objects.filter(of__video__benchmark=benchmark).order_by("of__video", "number")
    return list(found.values_list("of__video__key", "start", "middle", "end"))


def test_scenes_are_found_by_colours_with_their_middle_frames(
    benchmark: Benchmark, django_capture_on_commit_callbacks: Any
) -> None:
    assert find(benchmark) == {"videos": 2, "scenes": 4, "failed": 0, "left": 0, "errors": {}}
    assert times(benchmark) == [
        ("v0", 0.0, 0.9375, 2.0),
        ("v0", 2.0, 2.4375, 3.0),
        ("v0", 3.0, 3.6875, 4.5),
        ("v1", 0.0, 0.9375, 2.0),
    ]
    video = benchmark.videos.get(key="v0")
    shown = scenes_of_video(video)
    assert shown is not None
    assert [row.box for row in shown.rows] == ["0 0 64 48", "68 0 64 48", "136 0 64 48"]
    picture = picture_of(Path(default_storage.path(shown.found.picture.name)))
    assert picture.shape == (shown.height, shown.width, 3) == (48, 200, 3)
    strongest = [int(picture[24, row.left + 32].argmax()) for row in shown.rows]
    assert strongest == [0, 1, 2]  # red, green, blue
    assert cuts_of(video) == [2.0, 3.0]
    assert cuts_of(benchmark.videos.get(key="v2")) == []

    assert find(benchmark)["videos"] == 0
    old = shown.found.picture.name
    with django_capture_on_commit_callbacks(execute=True):
        assert find(benchmark, video="v0", steady=1e9)["scenes"] == 1
    assert cuts_of(benchmark.videos.get(key="v0")) == []
    assert not default_storage.exists(old)


def test_scenes_of_uploaded_features(benchmark: Benchmark, tmp_path: Path) -> None:
    """The worked example, whose 12 frames span the 4.5 seconds of the video."""
    features = np.array([0, 0, 0, 0, 1, 1, 1, 5, 5, 5, 5, 5.0])[:, None]
    np.save(tmp_path / "x.npy", features)
    matrix = SourceFile.at(tmp_path / "x.npy", "x.npy")
    find(benchmark, file=matrix, video="v0", steady=1, most=4)
    assert [(start, end) for _, start, _, end in times(benchmark)] == [
        (0.0, 1.5),
        (1.5, 2.625),
        (2.625, 4.5),
    ]
    np.savez(tmp_path / "all.npz", v0=features, v1=features)
    archive = SourceFile.at(tmp_path / "all.npz", "all.npz")
    assert find(benchmark, file=archive, steady=5, most=4)["scenes"] == 4
    assert cuts_of(benchmark.videos.get(key="v0")) == [2.625]


def test_invalid_features_store_nothing(benchmark: Benchmark, tmp_path: Path) -> None:
    np.save(tmp_path / "flat.npy", np.ones(4))
    np.save(tmp_path / "nan.npy", np.array([[1.0], [np.nan]]))
    np.savez(tmp_path / "other.npz", v9=np.ones((4, 2)))
    with zipfile.ZipFile(tmp_path / "twice.zip", "w") as archive:
        for name in ("a/v0.npy", "b/v0.npy"):
            archive.write(tmp_path / "flat.npy", name)
    for name, video, reason in [
        ("flat.npy", "v0", "flat.npy: the matrix must have a row for each frame"),
        ("nan.npy", "v0", "nan.npy: the matrix has values that are not finite"),
        ("nan.npy", "", "nan.npy: a .npy matrix needs the key of its video"),
        ("other.npz", "", "other.npz: v9.npy: there is no video 'v9'"),
        ("other.npz", "v0", "other.npz: there is no matrix for 'v0'"),
        ("twice.zip", "", "twice.zip: a video has several matrices"),
        ("flat.npy", "v7", "There is no video 'v7'."),
    ]:
        file = SourceFile.at(tmp_path / name, name)
        with pytest.raises(InvalidInput) as error:
            find(benchmark, file=file, video=video)
        assert str(error.value) == reason
    assert not VideoScenes.objects.exists()


def test_an_error_of_a_video_is_stored_and_others_go_on(benchmark: Benchmark) -> None:
    name = benchmark.videos.get(key="v0").file.name
    Path(default_storage.path(name)).write_bytes(b"no video")
    report = find(benchmark)
    assert (report["videos"], report["scenes"], report["failed"]) == (1, 1, 1)
    reason = "this is not a video, is incomplete, or has a format that is not accepted"
    assert report["errors"] == {"v0": reason}
    assert VideoScenes.objects.get(video__key="v0").error == reason
    assert find(benchmark)["failed"] == 1  # only this video is tried again


def test_scenes_stay_after_a_cancellation(benchmark: Benchmark) -> None:
    def cancel(done: int, total: int | None, phase: str = "") -> None:
        if done:
            raise Cancelled

    with pytest.raises(Cancelled):
        find_scenes(benchmark=benchmark, options=FindScenes(), by=OPERATOR, progress=cancel)
    assert VideoScenes.objects.exists()
    assert find_scenes(benchmark=benchmark, options=FindScenes(), by=OPERATOR, seconds=-1) == {
        "videos": 0, "scenes": 0, "failed": 0, "left": 2 - VideoScenes.objects.count(), "errors": {}
    }  # fmt: skip
    researcher = make_user("rosa", Role.RESEARCHER)
    with pytest.raises(NotPermitted):
        find_scenes(benchmark=benchmark, options=FindScenes(), by=researcher)


def test_page_api_and_command(benchmark: Benchmark, client: Client) -> None:
    lead = make_user("lena", Role.LEAD)
    client.force_login(lead)
    page = client.get("/benchmarks/scenes/videos/").content.decode()
    assert "Scenes: 0 in 0 of 2 videos." in page
    sent = client.post("/benchmarks/scenes/scenes/find/", {"rate": 8, "most": 30})
    job = Job.objects.get(kind="find_scenes")
    assert (sent.status_code, sent["Location"]) == (302, f"/jobs/{job.pk}/")
    run_job(job.pk)
    assert "4 scenes in 2 videos." in client.get(f"/jobs/{job.pk}/").content.decode()
    page = client.get("/benchmarks/scenes/video/?id=v0").content.decode()
    assert page.count('class="scene"') == 3
    assert 'data-start="2.000"' in page
    public = benchmark.videos.get(key="v0").public_id
    assert client.get(f"/media/videos/{public}/scenes/")["Content-Type"] == "image/jpeg"

    api = APIClient()
    api.force_authenticate(lead)
    first, second = api.get("/api/v1/benchmarks/scenes/scenes/").json()["results"]
    assert first["scenes"][1] == {"start": 2.0, "middle": 2.4375, "end": 3.0}
    assert second == {
        "video_id": "v1",
        "features": "colours",
        "error": "",
        "n_frames": 16,
        "scenes": [{"start": 0.0, "middle": 0.9375, "end": 2.0}],
    }
    started = api.post("/api/v1/benchmarks/scenes/scenes/", {"again": True}, format="json")
    assert started.status_code == 202
    call_command("find_scenes", "scenes", "--video", "v1")
    delete(benchmark, by=OPERATOR)
    assert not Scene.objects.exists()


def test_constraints(benchmark: Benchmark) -> None:
    video = benchmark.videos.get(key="v2")
    of = VideoScenes.objects.create(video=video, features="colours", n_frames=1)
    wrong = [
        {"number": 0, "start": 0, "middle": 0, "end": 0},
        {"number": 0, "start": 1, "middle": 1, "end": 2},
        {"number": 1, "start": 0, "middle": 1, "end": 2},
        {"number": 1, "start": 1, "middle": 3, "end": 2},
    ]
    for values in wrong:
        with pytest.raises(IntegrityError), transaction.atomic():
            Scene.objects.create(of=of, **values)
