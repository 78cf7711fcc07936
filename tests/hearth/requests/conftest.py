from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.core.files.storage import storages

if TYPE_CHECKING:
    from pooling.models import Benchmark


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    from tests.factories import make_benchmark

    return make_benchmark(tmp_path, captions=2, videos=3)


@pytest.fixture(autouse=True)
def uploads(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """Empty folders for uploads of this test only."""
    folder = tmp_path / "uploads"
    (folder / "incoming").mkdir(parents=True)
    settings.UPLOAD_ROOT = folder
    settings.FILE_UPLOAD_TEMP_DIR = str(folder / "incoming")
    settings.STORAGES = {
        **settings.STORAGES,
        "uploads": {**settings.STORAGES["uploads"], "OPTIONS": {"location": str(folder)}},
    }
    yield folder
    storages._storages.clear()  # type: ignore[attr-defined]
