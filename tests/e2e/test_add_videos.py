"""A file is sent in parts. One browser is closed after some parts, and another sends the rest."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from playwright.sync_api import expect

from hearth.accounts.roles import Role
from pooling.models import VideoUpload
from pooling.selectors.uploads import upload_path
from tests.e2e import rooms
from tests.factories import make_benchmark, make_user

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]

PART, PARTS, SENT = 1 << 18, 16, 5
SIZE = PARTS * PART - 1000


def test_a_file_continues_after_the_browser_was_closed(
    new_page: Callable[[], Page],
    live_server: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pooling.views.uploads.PART_BYTES", PART)
    shutil.rmtree(settings.VIDEO_UPLOAD_ROOT, ignore_errors=True)
    benchmark = make_benchmark(tmp_path)
    lead = make_user("lena", Role.LEAD)
    folder = tmp_path / "clips"
    folder.mkdir()
    (folder / "v1.mp4").write_bytes(os.urandom(SIZE))
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
    expect(items.nth(1)).to_contain_text("Files whose name matches no video: 1")
    # The browser sends a part after the previous one is stored. The test lets SENT parts through.
    page.route("**/uploads/**", lambda route: is_after(SENT, route.request) or route.continue_())
    with page.expect_request(lambda request: is_after(SENT, request)):
        page.get_by_role("button", name="Send 1 file").click()
    page.context.close()
    kept = VideoUpload.objects.get()
    assert kept.offset == SENT * PART

    page = open_and_choose()
    offsets: list[int] = []
    page.on("request", lambda request: offsets.extend(offset_of(request)))
    expect(page.locator("[data-plan] > li").first).to_contain_text("(begun before: 1)")
    page.get_by_role("button", name="Send 1 file").click()
    expect(page.locator("[data-text]")).to_have_text(re.compile("^All files have been sent"))
    kept.refresh_from_db()
    assert offsets == [number * PART for number in range(SENT, PARTS)]
    assert (VideoUpload.objects.count(), kept.state, kept.offset) == (1, "waiting", SIZE)
    assert upload_path(kept).read_bytes() == (folder / "v1.mp4").read_bytes()
    expect(page.locator("#uploads .state")).to_have_text("Waiting")
    assert benchmark.uploads.get().video.key == "v1"


def offset_of(request: Request) -> list[int]:
    """Return the offset of the part that a request sends, and nothing for other requests."""
    return [int(request.headers["upload-offset"])] if request.method == "PATCH" else []


def is_after(parts: int, request: Request) -> bool:
    """Return whether a request sends the part that comes after this number of parts."""
    return offset_of(request) == [parts * PART]
