"""A release is read by the programs of those who use it: `datasets` and `krippendorff`."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest

from annotation.models import Assignment
from evaluation.core.people.agreement_figures import Resampling, figures_from_store
from evaluation.models import LabelSet
from evaluation.release.exports import open_export
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from tests.factories import add_judgments, judge, make_annotator, make_campaign, submit

pytestmark = pytest.mark.django_db


@pytest.fixture
def label_set(tmp_path: Path) -> LabelSet:
    """Labels of two campaigns: with corrections, a requested third label, and a repeated answer."""
    campaign = make_campaign(tmp_path, captions=1, videos=8, double_share=1, labels_max=3)
    anna, ben, cem = (make_annotator(name) for name in ("anna", "ben", "cem"))
    judge(campaign, anna, {f"v{n}": int(n < 4) for n in range(8)})
    judge(campaign, ben, {f"v{n}": int(n % 2) for n in range(8)})
    judge(campaign, cem, {f"v{n}": 1 for n in range(8)})  # the third labels
    # A correction keeps the position of the first answer, so it stays planned.
    submit(Assignment.objects.get(annotator=anna, task__pair__video__key="v7"), 1)
    rows = [("c0", "v4", "x", 1), ("c0", "v4", "y", 0), ("c0", "v4", "z", 1), ("c0", "v5", "x", 0)]
    add_judgments(tmp_path, campaign.benchmark, rows)
    return publish_label_set(benchmark=campaign.benchmark, allow_pending=True, by=OPERATOR)


@pytest.fixture
def folder(label_set: LabelSet, tmp_path: Path) -> Path:
    content = b"".join(open_export(label_set, "release"))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path / "release")
    (folder,) = (tmp_path / "release").iterdir()
    return folder


# Follows the program in the data set card, which loads the tables.
PRINT_TABLES = """
import json
print(json.dumps({
    "relevant": len(relevant),
    "labels": len(labels),
    "judgments": judgments.to_dict("records"),
    "types": {name: kind.name for name, kind in judgments.dtypes.items() if kind.kind in "bi"},
}))
"""


def run_card(folder: Path, home: Path) -> Any:
    """Run the program in the data set card, next to the folder, and return its tables."""
    card = (folder / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall("```python\n(.*?)```", card, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", program + PRINT_TABLES],
        cwd=folder.parent,
        env={**os.environ, "HF_HOME": str(home), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_both_tables_are_loaded_and_give_the_published_alpha(
    label_set: LabelSet, folder: Path, tmp_path: Path
) -> None:
    tables = run_card(folder, tmp_path / "home")
    assert tables["labels"] == label_set.n_pairs
    assert tables["relevant"] == label_set.n_relevant
    judgments = tables["judgments"]
    assert len(judgments) == label_set.n_judgments
    numbers = dict.fromkeys(("label", "queue", "position"), "int64")
    assert tables["types"] == numbers | {"is_planned": "bool"}
    places = [(row["queue"], row["position"], row["is_planned"]) for row in judgments]
    assert sorted(place for place in set(places)) == [
        (1, 1, True),
        (1, 2, True),
        (1, 3, False),
        (2, 1, True),
        (2, 2, True),
        (2, 3, False),
    ]
    assert label_set.agreement is not None
    published = figures_from_store(label_set.agreement, Resampling())
    planned = alpha([row for row in judgments if row["is_planned"]])
    assert planned == pytest.approx(published["first_labels"]["alpha"], abs=1e-12)
    assert f"Krippendorff's alpha is {planned:.3f}" in (folder / "DATASHEET.md").read_text()
    every = alpha(judgments)
    assert every == pytest.approx(published["all_labels"]["alpha"], abs=1e-12)
    assert every != pytest.approx(planned, abs=0.01)


def alpha(rows: list[dict[str, Any]]) -> float:
    """Return alpha of a table of annotators and pairs, in which most cells are empty."""
    annotators = sorted({row["annotator"] for row in rows})
    pairs = sorted({(row["caption_id"], row["video_id"]) for row in rows})
    answers = np.full((len(annotators), len(pairs)), np.nan)
    for row in rows:
        place = pairs.index((row["caption_id"], row["video_id"]))
        answers[annotators.index(row["annotator"]), place] = row["label"]
    return float(krippendorff.alpha(answers, level_of_measurement="nominal"))
