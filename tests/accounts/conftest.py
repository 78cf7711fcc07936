from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from annotation.models import Campaign


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    """An open campaign over three pairs of the benchmark `tiny`."""
    from tests import factories  # Django must be set up first

    return factories.make_campaign(tmp_path)
