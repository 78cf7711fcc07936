"""Tests of label sets of benchmarks that are small enough to check by hand."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import random
import uuid
from pathlib import Path
from typing import Any

import pytest

from annotation.enums import TaskState
from annotation.models import Annotator, JudgmentTask
from annotation.services import adjudicate_task
from evaluation.models import LabelSet
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.errors import InvalidInput
from hearth.shared.files import DurableStorage, sync
from hearth.shared.version import code_version
from pooling.models import Benchmark
from tests.factories import (
    JudgmentRow,
    add_judgments,
    at_once,
    import_benchmark,
    judge,
    make_annotator,
    make_campaign,
    make_user,
    write_captions,
)

pytestmark = pytest.mark.django_db


def content(file: Any) -> bytes:
    with file.open("rb") as stream:
        return gzip.decompress(stream.read())


CAPTIONS = [
    ('q,"1"', "a red shape", "=v'2"),
    ("größe", "a big shape", "v3"),
]
ROWS: list[JudgmentRow] = [
    ('q,"1"', "=v'2", "Zoë", 0),  # the original positive, judged not relevant
    ('q,"1"', "v3", "Zoë", 1),
    ('q,"1"', "v3", "Al, B.", 1),
    ("größe", "=v'2", "Al, B.", 1),
    ("größe", "=v'2", "Zoë", 0),  # a conflict
    ("größe", "v3", "Cem", 1),
    ("größe", "v3", "Zoë", 0),
    ("größe", "v3", "Al, B.", 1),
]
CANONICAL = (
    "caption_id,video_id,label,source,judgments,relevant\n"
    '"q,""1""",=v\'2,0,majority,1,0\n'
    '"q,""1""",v3,1,majority,2,2\n'
    "größe,=v'2,,conflict,2,1\n"
    "größe,v3,1,majority,3,2\n"
)
# The sha256sum of the lines above. It is the same on every database and never changes.
CANONICAL_SHA256 = "2880554141f3a73f988a1ddb4dc9df9a75155b0ef33e3195ec4bde4686d5ef82"


def odd_benchmark(folder: Path, key: str = "odd") -> Benchmark:
    return import_benchmark(key=key, captions=write_captions(folder, CAPTIONS)).benchmark


def test_a_label_set_is_its_canonical_text(tmp_path: Path) -> None:
    benchmark = odd_benchmark(tmp_path)
    add_judgments(tmp_path, benchmark, ROWS)
    label_set = publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)

    assert content(label_set.file) == CANONICAL.encode()
    assert label_set.sha256 == CANONICAL_SHA256
    assert label_set.sha256 == hashlib.sha256(CANONICAL.encode()).hexdigest()
    judgments = content(label_set.judgments_file)
    assert label_set.judgments_sha256 == hashlib.sha256(judgments).hexdigest()
    assert (label_set.version, label_set.n_pairs, label_set.n_judgments) == ("1.0.0", 4, 8)
    assert (label_set.n_relevant, label_set.n_conflicted) == (2, 1)
    assert label_set.code_version == code_version()


@pytest.mark.parametrize("seed", range(3))
def test_a_label_set_does_not_depend_on_the_order_of_arrival(tmp_path: Path, seed: int) -> None:
    rows = list(ROWS)
    random.Random(seed).shuffle(rows)
    benchmark = odd_benchmark(tmp_path)
    cut = 1 + seed * 3
    add_judgments(tmp_path, benchmark, rows[:cut])
    add_judgments(tmp_path, benchmark, rows[cut:])
    assert (
        publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR).sha256
        == CANONICAL_SHA256
    )


def test_two_label_sets_have_the_same_labels_under_other_pseudonyms(tmp_path: Path) -> None:
    benchmark = odd_benchmark(tmp_path)
    add_judgments(tmp_path, benchmark, ROWS)
    one, two = (
        publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR),
        publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR),
    )

    assert (one.version, two.version) == ("1.0.0", "1.0.1")
    assert one.sha256 == two.sha256
    assert one.file.name != two.file.name
    first, second = (content(each.judgments_file).decode() for each in (one, two))
    assert first != second
    both = [list(csv.DictReader(io.StringIO(text))) for text in (first, second)]
    pseudonyms = [{row["annotator"] for row in rows} for rows in both]
    assert [len(names) for names in pseudonyms] == [3, 3]
    assert not pseudonyms[0] & pseudonyms[1]
    ids = {str(pk) for pk in Annotator.objects.values_list("pk", flat=True)}
    real_names = {"Zoë", "Cem"}
    assert not (ids | real_names) & (pseudonyms[0] | pseudonyms[1])
    # This name contains a comma, so it is never a single column.
    assert "Al, B." not in first + second
    # The file contains every label.
    labels = sorted(row["label"] for row in both[0])
    assert labels == sorted(str(label) for *_, label in ROWS)


def test_a_label_set_is_frozen(tmp_path: Path) -> None:
    benchmark = odd_benchmark(tmp_path)
    add_judgments(tmp_path, benchmark, ROWS)
    label_set = publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    with label_set.file.open("rb") as stream:
        stored = stream.read()
    label_set.n_pairs = 0
    for write in (label_set.save, lambda: label_set.save(update_fields=["n_pairs"])):
        with pytest.raises(TypeError) as refused:
            write()
        assert str(refused.value) == "a label set is frozen"

    add_judgments(tmp_path, benchmark, [('q,"1"', "=v'2", "Dan", 1), ("größe", "v3", "Dan", 0)])
    later = publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    label_set.refresh_from_db()
    with label_set.file.open("rb") as stream:
        assert stream.read() == stored
    assert (label_set.n_pairs, label_set.sha256) == (4, CANONICAL_SHA256)
    assert later.sha256 != label_set.sha256


def test_a_ruling_settles_the_pair_and_the_labels_stay(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=1, videos=2, double_share=1, labels_max=2)
    judge(campaign, make_annotator("anna"), {"v0": 1, "v1": 0})
    judge(campaign, make_annotator("ben"), {"v0": 0, "v1": 0})
    benchmark = campaign.benchmark
    task = JudgmentTask.objects.get(state=TaskState.CONFLICTED)
    before = (
        content(publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR).file)
        .decode()
        .splitlines()[1:]
    )
    adjudicate_task(task=task, label=1, by=make_user("lena", Role.LEAD))
    # More labels from another campaign do not outvote the ruling.
    add_judgments(tmp_path, benchmark, [("c0", "v0", "x", 0), ("c0", "v0", "y", 0)])
    after = (
        content(publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR).file)
        .decode()
        .splitlines()[1:]
    )

    assert before == ["c0,v0,,conflict,2,1", "c0,v1,0,majority,2,0"]
    assert after == ["c0,v0,1,adjudicated,4,1", "c0,v1,0,majority,2,0"]


def test_the_files_are_on_disk_before_the_row_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = odd_benchmark(tmp_path)
    add_judgments(tmp_path, benchmark, ROWS)
    synced: list[str] = []

    def watched(_storage: DurableStorage, path: Path) -> None:
        assert not LabelSet.objects.exists()
        synced.append(str(path))
        sync(path)

    monkeypatch.setattr(DurableStorage, "sync", watched)
    label_set = publish_label_set(benchmark=benchmark, by=OPERATOR, allow_pending=True)
    files = [label_set.file.path, label_set.judgments_file.path]
    folder = str(Path(files[0]).parent)
    assert synced == [files[0], folder, files[1], folder]


def test_a_repeated_request_returns_the_same_label_set(tmp_path: Path) -> None:
    benchmark = odd_benchmark(tmp_path)
    add_judgments(tmp_path, benchmark, ROWS)
    request = uuid.uuid4()
    first = publish_label_set(benchmark=benchmark, allow_pending=True, request=request, by=OPERATOR)
    assert (
        publish_label_set(benchmark=benchmark, allow_pending=True, request=request, by=OPERATOR)
        == first
    )
    assert (
        publish_label_set(
            benchmark=benchmark, allow_pending=True, request=uuid.uuid4(), by=OPERATOR
        ).version
        == "1.0.1"
    )
    assert (
        publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR).version == "1.0.2"
    )
    assert (
        publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR).version == "1.0.3"
    )


def test_publishing_without_judgments_is_refused(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    with pytest.raises(InvalidInput) as refused:
        publish_label_set(benchmark=campaign.benchmark, allow_pending=True, by=OPERATOR)
    assert (
        str(refused.value)
        == "The benchmark tiny has no judgments yet. Judge pairs in a campaign, or import "
        "judgments."
    )
    assert LabelSet.objects.count() == 0


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_set_published_while_labels_arrive_is_one_snapshot(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, captions=4, videos=5)
    benchmark = campaign.benchmark
    anna = make_annotator("anna")
    judge(campaign, anna, {"v0": 1})

    def publish() -> LabelSet:
        return publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)

    def judge_the_rest() -> None:
        judge(campaign, anna, {f"v{number}": 1 for number in range(1, 5)})

    label_set, _ = at_once(publish, judge_the_rest)
    rows = content(label_set.file).decode().splitlines()[1:]
    judgments = content(label_set.judgments_file).decode().splitlines()[1:]
    assert 4 <= len(rows) == len(judgments) == label_set.n_pairs == label_set.n_judgments
