"""A campaign that asks where, over pairs with videos of ten seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from annotation.models import Campaign


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    from tests.annotation.spans.world import open_spans

    return open_spans(tmp_path)
