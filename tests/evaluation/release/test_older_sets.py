"""Label sets that an older version of Hearth published keep their bytes in every format."""

from __future__ import annotations

import datetime
import gzip
import hashlib
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile

from evaluation.core.files.label_file import compress
from evaluation.models import LabelSet
from evaluation.release.exports import DEFAULT, ExportOptions, open_export
from evaluation.release.selectors.verification import verify_label_set
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from tests.evaluation.release.test_label_sets import ROWS, odd_benchmark
from tests.factories import (
    add_judgments,
    build_pool,
    import_benchmark,
    make_run,
    without_triggers,
    write_captions,
)

pytestmark = pytest.mark.django_db

CAPTIONS = [("q0", "a dog", "v0"), ("q1", "a dog", "v1"), ("q2", "größer, roter", "v2")]
LABELS = """\
caption_id,video_id,label,source,judgments,relevant
q0,v0,1,majority,2,2
q0,v2,,pending,1,0
q1,v2,1,majority,1,1
q2,v0,0,adjudicated,3,2
q2,v1,,conflict,2,1
"""
JUDGMENTS = """\
caption_id,video_id,annotator,label,queue
q0,v0,0a1b2c3d4e5f,1,1
q0,v0,b0b0b0b0b0b0,1,2
q0,v2,b0b0b0b0b0b0,0,1
q1,v2,0a1b2c3d4e5f,1,2
q2,v0,0a1b2c3d4e5f,1,1
q2,v0,b0b0b0b0b0b0,1,1
q2,v0,c0ffee000000,0,2
q2,v1,0a1b2c3d4e5f,1,1
q2,v1,c0ffee000000,0,1
"""
# The sha256 of each export, as the version of Hearth before the columns `position` and
# `is_planned` wrote it. The bytes of Parquet depend on the version of pyarrow.
SHA256 = {
    "csv": "e67c9190731b906da178c42d2b290444960eb6f3e0c33d931eaccf4627e0c3fd",
    "judgments": "59bc3de5299c18c6e5bbd4897c0306c0708aad065f83b6ba3bb50d4446f5cac4",
    "comments": "4a3455a062fe1aaf34141cede7d50ea89007a4309a46737d547a6a3f5932831e",
    "qrels": "5789713c7da82ff5e6d512032155fd1e6f753099b64dfaa9cab386451ea2454f",
    "fire": "d5c8a5e30130ae6d8fc015e7210095b9ae09a4848f9ac995f29ec01dd404376e",
    "spreadsheet": "58dba27a0e2e9c712cc1e38630b72e4c7cedbb2adde70a6386a5fd7402508772",
    "jsonl": "8fe8ddca7aa6096ac1b7904416af663e8e933b72457fe9e325c1352b706fddfd",
}


@pytest.fixture
def older(tmp_path: Path, settings: Any) -> LabelSet:
    settings.PUBLISHER_EMAIL = "labels@example.org"
    settings.PUBLISHER_NAME = "Example"
    settings.PUBLISHER_WEBSITE = "https://example.org"
    benchmark = import_benchmark(
        key="MSVD", captions=write_captions(tmp_path, CAPTIONS), licence="CC BY 4.0"
    ).benchmark
    lists = {"q0": ["v2", "v0"], "q1": ["v2"], "q2": ["v1", "v0"]}
    make_run(tmp_path, benchmark, lists, system="SSB")
    make_run(tmp_path, benchmark, {"q0": ["v0"], "q2": ["v0", "v1"]}, system="CE")
    build_pool(benchmark=benchmark, depth=2)
    return LabelSet.objects.create(
        benchmark=benchmark,
        major=1,
        sha256=hashlib.sha256(LABELS.encode()).hexdigest(),
        judgments_sha256=hashlib.sha256(JUDGMENTS.encode()).hexdigest(),
        file=ContentFile(compress(LABELS.encode()), "MSVD-v1-labels.csv.gz"),
        judgments_file=ContentFile(compress(JUDGMENTS.encode()), "MSVD-v1-judgments.csv.gz"),
        n_pairs=5,
        n_relevant=2,
        n_conflicted=1,
        n_pending=1,
        n_judgments=9,
        code_version="0.0.1",
        created_at=datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC),
    )


def export(label_set: LabelSet, format: str, options: ExportOptions = DEFAULT) -> bytes:
    return b"".join(open_export(label_set, format, options))


def test_every_format_has_the_bytes_of_before(older: LabelSet) -> None:
    assert export(older, "csv") == LABELS.encode()
    assert export(older, "judgments") == JUDGMENTS.encode()
    found = {name: hashlib.sha256(export(older, name)).hexdigest() for name in SHA256}
    assert found == SHA256
    timed = export(older, "judgments", ExportOptions(columns=("judged_at",))).decode()
    assert timed.splitlines()[:2] == [
        "caption_id,video_id,annotator,label,queue,judged_at",
        "q0,v0,0a1b2c3d4e5f,1,1,",
    ]


@pytest.mark.postgresql
def test_a_file_without_the_later_columns_is_rebuilt(tmp_path: Path) -> None:
    benchmark = odd_benchmark(tmp_path)
    add_judgments(tmp_path, benchmark, ROWS)
    label_set = publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    path = Path(label_set.judgments_file.path)
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert lines[0] == "caption_id,video_id,annotator,label,queue,position,is_planned"
    older = "".join(f"{line.rsplit(',', 2)[0]}\n" for line in lines).encode()
    path.write_bytes(compress(older))
    with without_triggers():
        LabelSet.objects.update(judgments_sha256=hashlib.sha256(older).hexdigest())
    found = verify_label_set(LabelSet.objects.get())
    assert found.sentence == "The files rebuilt from the log have the published bytes."
