"""Moments for training, in three levels, from the detector and from the labels of people."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from pooling.models import Benchmark, OriginalPositive
from pooling.moments.core.spans import Spans
from pooling.moments.models import OriginalSpan
from tests.evaluation.scores.test_moments import publish_spans
from tests.factories import add_judgments, make_user
from tests.pooling.relevant_pairs.test_services import benchmark, files, find  # noqa: F401

pytestmark = pytest.mark.django_db

HEAD = "caption_id,video_id,start,end,level,confidence,source"


def test_each_moment_has_its_level_and_people_decide_it(
    benchmark: Benchmark,  # noqa: F811
    files: dict[str, Path],  # noqa: F811
    tmp_path: Path,
) -> None:
    for number, positive in enumerate(OriginalPositive.objects.order_by("query__number")):
        OriginalSpan.objects.create(positive=positive, start=number, end=number + 2)
    pairs = find(benchmark, files).pairs
    path = tmp_path / "training.csv"

    def exported(**options: object) -> list[str]:
        call_command(
            "export_training", "light", pairs.proxy.name, output=path, verbosity=0, **options
        )
        return path.read_text().splitlines()

    original = [
        HEAD,
        "c0,v0,0.0,2.0,positive,1.0000,original",
        "c0,v1,1.0,3.0,potentially relevant,0.5000,detector",
        "c0,v2,2.0,4.0,potentially relevant,1.0000,detector",
        "c1,v1,1.0,3.0,positive,1.0000,original",
        "c1,v0,0.0,2.0,potentially relevant,0.5000,detector",
        "c1,v2,2.0,4.0,potentially relevant,0.5000,detector",
        "c2,v2,2.0,4.0,positive,1.0000,original",
        "c2,v0,0.0,2.0,potentially relevant,1.0000,detector",
        "c2,v1,1.0,3.0,potentially relevant,0.5000,detector",
        "c3,v3,3.0,5.0,positive,1.0000,original",
    ]
    assert exported(negatives=0) == original
    drawn = exported(negatives=1, seed=3)
    # The only videos of c0 to c2 without a row are v3.
    assert [row for row in drawn if row not in original][:1] == [
        "c0,v3,3.0,5.0,negative,0.0000,draw"
    ]
    assert {row.split(",")[4] for row in drawn if row not in original} == {"negative"}
    strict = exported(negatives=0, threshold=0.9)
    assert [row for row in strict if "detector" in row] == [original[3], original[8]]

    judged = [("c0", "v1", "ann", 1), ("c0", "v2", "ann", 0), ("c1", "v0", "ann", 1)]
    add_judgments(tmp_path, benchmark, [*judged, ("c3", "v0", "ann", 0), ("c3", "v3", "ann", 0)])
    label_set = publish_label_set(benchmark=benchmark, by=OPERATOR)
    publish_spans(label_set, Spans.of([1], [5], [7.25]))
    expected = [*original]
    expected[2] = "c0,v1,5.0,7.25,positive,1.0000,people"
    expected[3] = "c0,v2,2.0,4.0,negative,0.0000,people"
    # Relevant, but without a span of people: the moment of the candidate.
    expected[5] = "c1,v0,0.0,2.0,positive,1.0000,people"
    expected[10] = "c3,v3,3.0,5.0,negative,0.0000,people"
    expected.append("c3,v0,,,negative,0.0000,people")
    assert exported(negatives=0) == expected
    assert exported(negatives=0, labels="original") == original

    client = Client()
    client.force_login(make_user("rita", Role.RESEARCHER))
    page = client.get(f"/benchmarks/light/relevant-pairs/{pairs.pk}/")
    assert "Download the moments" in page.content.decode()
    for address in ("/benchmarks/light", "/api/v1/benchmarks/light"):
        sent = client.get(f"{address}/relevant-pairs/{pairs.pk}/training/?negatives=0")
        assert "light-vp-0.7-training.csv" in sent["Content-Disposition"]
        assert b"".join(sent.streaming_content).decode().splitlines() == expected  # type: ignore[attr-defined]
