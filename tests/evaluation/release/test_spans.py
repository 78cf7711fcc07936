"""The second file of label sets: the spans of people, hashed and verified like the first."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import zipfile
from pathlib import Path

import pytest
import yaml
from django.core.files.base import ContentFile
from django.test import Client
from pyarrow import parquet

from evaluation.models import label_set_storage
from evaluation.release.exports import FORMATS, ExportOptions, open_export
from evaluation.release.selectors.verification import verify_label_set
from evaluation.release.services import publish_label_set
from evaluation.spans.models import LabelSetSpans
from evaluation.spans.selectors import content_of, label_set_spans, stored_spans
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from pooling.models import OriginalPositive
from pooling.moments.models import OriginalSpan
from pooling.selectors.arrays import query_keys
from tests.annotation.spans.world import make_pooled, mark_video, open_spans
from tests.factories import add_judgments, make_annotator, make_benchmark, make_user

pytestmark = pytest.mark.django_db


def test_the_spans_of_relevant_pairs_are_published_and_verified(tmp_path: Path) -> None:
    benchmark = make_pooled(tmp_path)
    campaign = open_spans(tmp_path, benchmark=benchmark)
    mark_video(campaign, make_annotator("ann"), [[4, 6.5], [1.0004, 2.5]])
    label_set = publish_label_set(benchmark=benchmark, by=OPERATOR, allow_pending=True)
    stored = LabelSetSpans.objects.get(label_set=label_set)
    (key,) = query_keys(benchmark)
    text = content_of(stored)
    assert text.decode() == (
        "# relevant pairs without a span: 0\ncaption_id,video_id,start,end,support\n"
        f"{key},v0,1.000,2.500,1\n{key},v0,4.000,6.500,1\n"
    )
    assert stored.sha256 == hashlib.sha256(text).hexdigest()
    spans, support = label_set_spans(label_set)
    assert (spans.ends.tolist(), support.tolist()) == ([2.5, 6.5], [1, 1])
    assert verify_label_set(label_set).problems == ()
    # A file with other spans, and a matching hash, differs from the one that the log gives.
    other = text.replace(b"6.500", b"7.500")
    name = label_set_storage().save("other.csv.gz", ContentFile(gzip.compress(other)))
    LabelSetSpans.objects.update(file=name, sha256=hashlib.sha256(other).hexdigest())
    problems = verify_label_set(label_set).problems
    assert problems == ("The rebuilt spans file differs from the published one.",)
    LabelSetSpans.objects.update(sha256=stored.sha256)
    problems = verify_label_set(label_set).problems
    assert problems == ("The stored spans file does not have the published sha256.",)


def test_the_spans_are_in_the_release_and_in_parquet(tmp_path: Path) -> None:
    benchmark = make_pooled(tmp_path)
    campaign = open_spans(tmp_path, benchmark=benchmark)
    mark_video(campaign, make_annotator("ann"), [[4, 6.5], [1.0004, 2.5]])
    label_set = publish_label_set(benchmark=benchmark, by=OPERATOR, allow_pending=True)
    (key,) = query_keys(benchmark)
    expected = [
        {"caption_id": key, "video_id": "v0", "start": 1.0, "end": 2.5, "support": 1},
        {"caption_id": key, "video_id": "v0", "start": 4.0, "end": 6.5, "support": 1},
    ]
    alone = b"".join(FORMATS["spans-parquet"].pieces(label_set, ExportOptions()))
    assert parquet.read_table(io.BytesIO(alone)).to_pylist() == expected
    archive = zipfile.ZipFile(
        io.BytesIO(b"".join(open_export(label_set, "release", ExportOptions())))
    )
    files = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    assert files["data/spans.parquet"] == alone
    assert gzip.decompress(files["spans.csv.gz"]) == content_of(stored_spans(label_set))
    head = yaml.safe_load(files["README.md"].decode().split("---")[1])
    assert [config["config_name"] for config in head["configs"]] == ["labels", "judgments", "spans"]
    assert "2 spans, sha256" in files["README.md"].decode()
    described = json.loads(files["croissant.json"])["recordSet"][2]
    assert [field["dataType"] for field in described["field"]][2:] == [
        "sc:Float",
        "sc:Float",
        "sc:Integer",
    ]


def test_spans_are_on_the_pages_of_the_caption_and_of_the_pair(
    tmp_path: Path, client: Client
) -> None:
    benchmark = make_pooled(tmp_path)
    OriginalSpan.objects.create(positive=OriginalPositive.objects.get(), start=0.5, end=3)
    campaign = open_spans(tmp_path, benchmark=benchmark)
    ann = make_annotator("ann")
    judgment = mark_video(campaign, ann, [[4, 6.5]])
    mark_video(campaign, ann, [[1, 2]], video="v1")
    client.force_login(make_user("lea", Role.LEAD))
    (key,) = query_keys(benchmark)

    def shown(address: str) -> list[str]:
        page = client.get(address).content.decode()
        return re.findall(r"([\d.]+ to [\d.]+)</span>( \(by \d\))?", page)

    caption = f"/benchmarks/tiny/caption/?id={key}"
    published = [("0.50 to 3", ""), ("4 to 6.50", " (by 1)"), ("1 to 2", " (by 1)")]
    assert shown(caption) == published
    # A label set keeps its spans.
    publish_label_set(benchmark=benchmark, by=OPERATOR, allow_pending=True)
    mark_video(campaign, ann, [[7, 8]], video="v2")
    assert shown(caption) == published
    assert shown(f"/campaigns/{campaign.pk}/desk/pairs/{judgment.task_id}/") == published[:2]


def test_a_label_set_without_spans_has_one_file(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path)
    add_judgments(tmp_path, benchmark, [(query_keys(benchmark)[0], "v0", "ann", 1)])
    label_set = publish_label_set(benchmark=benchmark, by=OPERATOR)
    assert not LabelSetSpans.objects.exists()
    assert not len(label_set_spans(label_set)[0])
