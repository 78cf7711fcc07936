"""Moments before and after correction, computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from pooling.selectors.arrays import query_keys
from tests.factories import add_judgments, make_user
from tests.pooling.moments.test_storing import add_run, imported

pytestmark = pytest.mark.django_db

CHARADES = (
    "AAAAA 0.0 10.0##person closes the door.\n"
    "BBBBB 0.0 10.0##person closes the door.\n"
    "CCCCC 5.0 10.0##person eats.\n"
)


def test_curve_and_bounds(tmp_path: Path) -> None:
    """The first moment of caption 0 is in its video, that of caption 1 in the video of caption 0.

    The first has tIoU 0.6 with the original span. The second is relevant by its label, but people
    marked no span, so it is a miss, and a hit in the upper bound. The third has tIoU 1.
    """
    benchmark = imported(tmp_path, CHARADES)
    keys = query_keys(benchmark)
    moments = [(keys[0], "AAAAA", 0, 6), (keys[1], "AAAAA", 0, 10), (keys[2], "CCCCC", 5, 10)]
    lines = [f"{key},{video},{start},{end},1" for key, video, start, end in moments]
    add_run(tmp_path, benchmark, "\n".join(["caption_id,video_id,start,end,score", *lines]) + "\n")
    add_judgments(tmp_path, benchmark, [(keys[0], "BBBBB", "ann", 1), (keys[1], "AAAAA", "ann", 1)])
    publish_label_set(benchmark=benchmark, by=OPERATOR, allow_pending=True)
    result = analyse(question=build_question(get_analysis("moments"), benchmark, {})).result
    names = ("original", "corrected", "upper")
    found = {
        row["threshold"]: [row[name] for name in names]
        for row in result["rows"]
        if row["task"] == "VCMR"
    }
    third = pytest.approx(1 / 3)
    two = pytest.approx(2 / 3)
    assert found == {
        0.1: [two, two, 1], 0.3: [two, two, 1], 0.5: [two, two, 1],
        0.7: [third, third, two], 0.9: [third, third, two],
    }  # fmt: skip
    # The text about the door has the moments of two captions.
    assert result["counts"] == [
        {"moments": 1, "original": 1, "corrected": 1},
        {"moments": 2, "original": 1, "corrected": 1},
    ]
    client = Client()
    client.force_login(make_user("rita", Role.RESEARCHER))
    assert client.get(f"/benchmarks/{benchmark.key}/analyses/moments/").status_code == 200
