from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from annotation.models import Campaign


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    """Open, over three pairs of the benchmark `tiny`."""
    from tests import factories  # not before Django is set up

    return factories.make_campaign(tmp_path)
