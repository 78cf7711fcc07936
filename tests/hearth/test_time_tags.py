"""How pages say how long ago something happened."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone, translation

from hearth.shared.time_tags import ago


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "just now"),
        (50, "just now"),
        (70, "a minute ago"),
        (3 * 3600 + 5, "3 hours ago"),
        (-2 * 3600 - 50, "2 hours from now"),
    ],
)
def test_the_last_minute_is_just_now(seconds: int, text: str) -> None:
    # Django separates the number and the unit by a space at which no line may break.
    assert ago(timezone.now() - timedelta(seconds=seconds)).replace("\xa0", " ") == text


def test_the_last_minute_in_german() -> None:
    with translation.override("de"):
        assert ago(timezone.now()) == "gerade eben"
