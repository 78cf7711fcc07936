"""A large file of which a part is sent, and the rest after the browser was closed."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from playwright.sync_api import expect

from config.accounts.roles import Role
from pooling.models import VideoUpload
from pooling.selectors.uploads import upload_path
from tests.e2e import rooms
from tests.factories import make_benchmark, make_user
from tests.waiting import SECONDS, wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]

SIZE = 200_000_000


def test_a_file_continues_after_the_browser_was_closed(
    new_page: Callable[[], Page], live_server: Any, tmp_path: Path
) -> None:
    shutil.rmtree(settings.VIDEO_UPLOAD_ROOT, ignore_errors=True)
    benchmark = make_benchmark(tmp_path)
    lead = make_user("lena", Role.LEAD)
    folder = tmp_path / "clips"
    folder.mkdir()
    with (folder / "v1.mp4").open("wb") as file:  # mostly holes, which cost no space
        for place in range(0, SIZE, SIZE // 16):
            file.seek(place)
            file.write(os.urandom(1000))
        file.truncate(SIZE)
    (folder / "unknown.mp4").write_bytes(b"x")
    (folder / ".DS_Store").write_bytes(b"x")

    def open_and_choose() -> Page:
        page = new_page()
        rooms.sign_in(page.context, live_server.url, lead)
        page.goto("/benchmarks/tiny/videos/new/")
        page.locator("input[multiple]").set_input_files(sorted(folder.iterdir()))
        return page

    page = open_and_choose()
    items = page.locator("[data-plan] > li")
    expect(items.nth(0)).to_have_text("Files of videos, to be sent: 1")
    expect(items.nth(1)).to_contain_text("Files without a video of this name: 1")
    page.get_by_role("button", name="Send 1 file").click()
    assert wait_for(lambda: VideoUpload.objects.filter(offset__gt=SIZE // 4).exists())
    page.context.close()
    kept = VideoUpload.objects.get()
    assert SIZE // 4 < kept.offset < SIZE

    page = open_and_choose()
    parts: list[int] = []
    page.on(
        "request",
        lambda request: (
            request.method == "PATCH" and parts.append(int(request.headers["upload-offset"]))
        ),
    )
    expect(page.locator("[data-plan] > li").first).to_contain_text("(begun before: 1)")
    page.get_by_role("button", name="Send 1 file").click()
    expect(page.locator("[data-text]")).to_have_text(
        re.compile("^All files have been sent"), timeout=SECONDS * 1000
    )
    kept.refresh_from_db()
    assert (parts[0] >= SIZE // 4, parts == sorted(set(parts))) == (True, True)
    assert (VideoUpload.objects.count(), kept.state, kept.offset) == (1, "waiting", SIZE)
    sums = [
        hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (folder / "v1.mp4", upload_path(kept))
    ]
    assert sums[0] == sums[1]
    expect(page.locator("#uploads .state")).to_have_text("Waiting")
    assert benchmark.uploads.get().video.key == "v1"
