"""The judging room with videos in a bucket, which is on another host than the site."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from hearth.accounts.roles import Role
from pooling.models import Video
from tests import factories
from tests.e2e import rooms
from tests.e2e.waiting import wait_until
from tests.operations.test_buckets import bucket, s3, server

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["bucket", "s3", "server"]  # fixtures


@pytest.mark.parametrize("is_streamed", [False, True])
def test_videos_and_contact_sheets_are_loaded_from_the_bucket(
    transactional_db: None,
    bucket: Any,
    server: str,
    new_page: Callable[[], Page],
    live_server: Any,
    tmp_path: Path,
    page_problems: list[str],
    is_streamed: bool,
) -> None:
    campaign = rooms.make_campaign(tmp_path, ["a star"], videos=3)
    person = factories.make_user("anna", Role.ANNOTATOR)
    page = rooms.sign_in(new_page().context, live_server.url, person)
    if is_streamed:  # as if the video were too large to be fetched in advance
        page.route(
            "**/clip.*js",
            lambda route: route.fulfill(
                response=(answer := route.fetch()),
                body=answer.text().replace("20_000_000", "1"),
            ),
        )
    rooms.enter(page, campaign)
    for number in range(1, 3):
        assert page.evaluate(rooms.PLAYS)
        rooms.press(page, "ArrowRight")
        expect(rooms.judged(page)).to_have_text(str(number))
    # Only the first video may be shown before a script has fetched it, unless videos are too large.
    source = page.evaluate("document.querySelector('.judge-stage video').src")
    assert source.startswith(f"{live_server.url}/media/" if is_streamed else "blob:")
    rooms.until_sent(page)

    video = Video.objects.first()
    assert video is not None
    page.evaluate(
        "address => document.body.append(Object.assign(new Image(), {id: 'sheet', src: address}))",
        f"/media/videos/{video.public_id}/sheet/",
    )
    wait_until(page, "() => document.querySelector('#sheet').naturalWidth > 0")
    own = f"request to another host: {server}/hearth/hearth/room/"
    assert any(problem.startswith(own) for problem in page_problems)
    page_problems[:] = [problem for problem in page_problems if not problem.startswith(own)]
