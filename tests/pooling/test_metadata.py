"""Storing train splits and tags. Bad input stores nothing."""

from __future__ import annotations

import gzip
import hashlib
from functools import partial
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from rest_framework.test import APIClient

from hearth.accounts.roles import Role
from hearth.audit.models import AuditEntry
from hearth.jobs.models import Job, JobState
from hearth.jobs.services import run_job
from hearth.shared.errors import InvalidInput
from pooling.core.readers import tags as tag_file
from pooling.models import Benchmark, Tag, TrainSplit
from pooling.selectors.metadata import tagged_queries, tags_sha256, train_texts
from pooling.services import metadata
from tests.factories import (
    add_tags,
    add_train_captions,
    at_once,
    caption_rows,
    import_benchmark,
    import_tags,
    import_train_captions,
    make_benchmark,
    make_user,
    row_counts,
    write_captions,
    write_csv,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    """Captions 0 to 3 of the videos 0, 1, 0 and 1. Video 2 has no caption.

    A second benchmark, `other`, also exists.
    """
    make_benchmark(tmp_path, key="other")
    captions = write_captions(tmp_path, caption_rows(4, 2))
    videos = write_csv(tmp_path / "videos.csv", "video_id", [("v0",), ("v1",), ("v2",)])
    return import_benchmark(key="tiny", captions=captions, videos=videos).benchmark


def write_texts(folder: Path, *texts: str) -> Path:
    return write_csv(folder / "train.csv", "caption", [(text,) for text in texts])


def write_tags(folder: Path, *rows: tuple[str, str], of: str = "caption_id") -> Path:
    return write_csv(folder / "tags.csv", f"{of},tag", rows)


# --- Train splits -------------------------------------------------------------------------------


def test_a_split_is_stored_from_its_file(benchmark: Benchmark, tmp_path: Path) -> None:
    path = write_texts(tmp_path, "a dog", 'ü "🐈"\nand more', "a dog")
    done = import_train_captions(benchmark=benchmark, path=path)
    split = TrainSplit.objects.get()
    assert (done.split, done.created, done.notes) == (split, True, ())
    assert (split.benchmark, split.name, split.n_captions) == (benchmark, "train", 3)
    assert split.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert train_texts(split) == ["a dog", 'ü "🐈"\nand more', "a dog"]


def test_the_same_captions_again_are_the_same_split(benchmark: Benchmark, tmp_path: Path) -> None:
    first = import_train_captions(benchmark=benchmark, path=write_texts(tmp_path, "a dog"))
    packed = tmp_path / "train.csv.gz"
    packed.write_bytes(gzip.compress(b"caption\r\na dog"))
    before = row_counts()
    again = import_train_captions(benchmark=benchmark, path=packed, name="7k")
    assert (again.split, again.split.name, again.created) == (first.split, "train", False)
    assert row_counts() == before
    other = Benchmark.objects.get(key="other")
    assert import_train_captions(benchmark=other, path=packed, name="7k").created


def test_other_captions_under_a_taken_name_are_another_split(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    names = [
        import_train_captions(
            benchmark=benchmark, path=write_texts(tmp_path, text), name=name
        ).split.name
        for text, name in (("a", "7k"), ("b", "9k"), ("c", "7k"), ("d", "7k"), ("e", ""))
    ]
    assert names == ["7k", "9k", "7k@2", "7k@3", "train"]


@pytest.mark.parametrize("name", ["a\nb", " 7k", "x" * 101])
def test_a_bad_name_is_refused(benchmark: Benchmark, tmp_path: Path, name: str) -> None:
    before = row_counts()
    with pytest.raises(InvalidInput, match="The name of a train split must have 1 to 100"):
        import_train_captions(benchmark=benchmark, path=write_texts(tmp_path, "a"), name=name)
    assert row_counts() == before


# --- Tags ---------------------------------------------------------------------------------------


def numbers_by_tag(benchmark: Benchmark) -> dict[str, list[int]]:
    return {name: found.tolist() for name, found in tagged_queries(benchmark).items()}


def test_tags_of_captions(benchmark: Benchmark, tmp_path: Path) -> None:
    rows = [("c3", "food"), ("c1", "food"), ("c1", "home"), ("c0", "Zoo")]
    done = import_tags(benchmark=benchmark, path=write_tags(tmp_path, *rows))
    assert (done.tags, done.captions, done.notes) == (3, 3, ())
    assert numbers_by_tag(benchmark) == {"food": [1, 3], "Zoo": [0], "home": [1]}
    food = Tag.objects.get(name="food")
    assert (food.n_queries, food.sha256) == (
        2,
        hashlib.sha256(b"\1\0\0\0\3\0\0\0").hexdigest(),
    )


def test_a_tag_of_a_video_applies_to_its_captions(benchmark: Benchmark, tmp_path: Path) -> None:
    rows = [("v1", "food"), ("v2", "food"), ("v0", "home"), ("v1", "home"), ("v2", "empty")]
    done = import_tags(benchmark=benchmark, path=write_tags(tmp_path, *rows, of="video_id"))
    assert (done.tags, done.captions) == (3, 4)
    assert numbers_by_tag(benchmark) == {"home": [0, 1, 2, 3], "food": [1, 3], "empty": []}


def test_an_imported_tag_replaces_the_one_of_the_same_name(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    hashes = [tags_sha256(benchmark)]
    for rows in (
        [("c0", "food"), ("c1", "home")],
        [("c2", "food"), ("c2", "new")],
        [("c3", "food")],
    ):
        import_tags(benchmark=benchmark, path=write_tags(tmp_path, *rows))
        hashes.append(tags_sha256(benchmark))
    assert numbers_by_tag(benchmark) == {"food": [3], "home": [1], "new": [2]}
    assert len(set(hashes)) == 4
    import_tags(benchmark=benchmark, path=write_tags(tmp_path, ("c2", "food"), ("c2", "new")))
    assert tags_sha256(benchmark) == hashes[2]
    assert tags_sha256(Benchmark.objects.get(key="other")) == hashes[0]


def test_too_many_tags_together_are_refused(
    benchmark: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "MAX_TAGS", 3)
    import_tags(benchmark=benchmark, path=write_tags(tmp_path, ("c0", "a"), ("c0", "b")))
    before = numbers_by_tag(benchmark)
    path = write_tags(tmp_path, ("c1", "b"), ("c1", "c"), ("c1", "d"))
    with pytest.raises(InvalidInput) as refused:
        import_tags(benchmark=benchmark, path=path, source="t.csv")
    assert str(refused.value) == "t.csv: the benchmark would have 4 tags; the maximum is 3"
    assert numbers_by_tag(benchmark) == before
    import_tags(benchmark=benchmark, path=write_tags(tmp_path, ("c1", "b"), ("c1", "c")))
    assert set(numbers_by_tag(benchmark)) == {"a", "b", "c"}
    assert tag_file.MAX_TAGS == 500


def test_a_bad_file_stores_nothing(benchmark: Benchmark, tmp_path: Path) -> None:
    before = row_counts()
    rows = [("c0", "food"), ("c9", "food")]
    with pytest.raises(InvalidInput, match=r"tags.csv, line 3: unknown caption 'c9'"):
        import_tags(benchmark=benchmark, path=write_tags(tmp_path, *rows))
    with pytest.raises(InvalidInput, match=r"train.csv, line 3: the caption is empty"):
        import_train_captions(benchmark=benchmark, path=write_texts(tmp_path, "a", " "))
    assert row_counts() == before


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_two_simultaneous_imports_of_the_same_captions_store_one_split(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path)
    path = write_texts(tmp_path, "a dog")
    done = at_once(
        *[partial(import_train_captions, benchmark=benchmark, path=path, name=n) for n in "ab"]
    )
    assert sorted(result.created for result in done) == [False, True]
    assert TrainSplit.objects.count() == 1


# --- By page and API ----------------------------------------------------------------------------


@pytest.fixture
def lead(client: Client) -> Client:
    client.force_login(make_user("lena", Role.LEAD))
    return client


def upload(client: Client, kind: str, content: bytes, **fields: str) -> Job:
    file = SimpleUploadedFile("my.csv", content)
    client.post(f"/benchmarks/tiny/{kind}/new/", {"file": file, **fields})
    job = Job.objects.latest("created_at")
    run_job(job.pk)
    job.refresh_from_db()
    return job


def test_a_lead_imports_train_captions(benchmark: Benchmark, lead: Client) -> None:
    job = upload(lead, "train-captions", b"caption,length\na dog,2\n", name="7k & more")
    split = TrainSplit.objects.get()
    assert (job.state, job.title) == (JobState.DONE, "Import train captions into tiny")
    assert (split.name, train_texts(split)) == ("7k & more", ["a dog"])
    page = lead.get(f"/jobs/{job.pk}/").content.decode()
    assert "Train split <strong><bdi>7k &amp; more</bdi></strong> is stored:" in page
    assert "columns not used: &#x27;length&#x27;" in page
    assert '<a href="/benchmarks/tiny/captions/#metadata">' in page
    page = lead.get("/benchmarks/tiny/captions/").content.decode()
    assert "/benchmarks/tiny/analyses/train-overlap/?split=7k%20%26%20more" in page
    assert "<bdi>7k &amp; more</bdi>" in page
    assert "/benchmarks/tiny/train-captions/new/" in page


def test_a_lead_deletes_train_captions(benchmark: Benchmark, lead: Client) -> None:
    upload(lead, "train-captions", b"caption\na dog\na cat\n")
    split = TrainSplit.objects.get()
    address = f"/benchmarks/tiny/train-captions/{split.pk}/delete/"
    assert lead.post(address).status_code == 302
    assert not TrainSplit.objects.exists()
    entry = AuditEntry.objects.get(act="train_captions_deleted")
    assert (entry.before["name"], entry.after) == (split.name, {"train split": 1})


def test_a_lead_imports_tags(benchmark: Benchmark, lead: Client) -> None:
    job = upload(lead, "tags", b"video_id,tag\nv1,food\n")
    assert (job.state, job.title) == (JobState.DONE, "Import tags into tiny")
    assert numbers_by_tag(benchmark) == {"food": [1, 3]}
    assert "1 tag of 2 captions is stored." in lead.get(f"/jobs/{job.pk}/").content.decode()
    page = lead.get("/benchmarks/tiny/captions/").content.decode()
    assert '<bdi>food</bdi></a> <span class="muted">2</span>' in page


@pytest.mark.parametrize(
    ("kind", "content", "error"),
    [
        ("train-captions", b"caption\na dog\n\xff\n", "my.csv, line 3: the text is not UTF-8"),
        ("tags", b"video_id,tag\nv9,food\n", "my.csv, line 2: unknown video 'v9'"),
    ],
)
def test_a_failed_upload_shows_file_line_and_reason(
    benchmark: Benchmark, lead: Client, kind: str, content: bytes, error: str
) -> None:
    job = upload(lead, kind, content)
    assert (job.state, job.error[: len(error)]) == (JobState.FAILED, error)
    assert f'href="/benchmarks/tiny/{kind}/new/"' in lead.get(f"/jobs/{job.pk}/").content.decode()
    assert (TrainSplit.objects.count(), Tag.objects.count()) == (0, 0)


def test_researchers_see_metadata_but_cannot_import_it(
    benchmark: Benchmark, client: Client, tmp_path: Path
) -> None:
    client.force_login(make_user("rosa", Role.RESEARCHER))
    page = client.get("/benchmarks/tiny/captions/").content.decode()
    assert "No train captions yet." in page
    assert "No tags yet." in page
    add_train_captions(tmp_path, benchmark, "a dog")
    add_tags(tmp_path, benchmark, *[(f"c{n % 4}", f"tag {n}") for n in range(43)])
    page = client.get("/benchmarks/tiny/captions/").content.decode()
    assert "43 tags, with the number of captions of each" in page
    assert "<summary>3 more</summary>" in page
    assert page.count("<bdi>tag ") == 43
    for kind in ("train-captions", "tags"):
        assert f"/benchmarks/tiny/{kind}/new/" not in page
        file = SimpleUploadedFile("my.csv", b"caption\na\n")
        response = client.post(f"/benchmarks/tiny/{kind}/new/", {"file": file})
        assert response.status_code == 403
    assert Job.objects.count() == 0


def test_the_api_imports_metadata(benchmark: Benchmark) -> None:
    client = APIClient()
    client.force_authenticate(make_user("lena", Role.LEAD))
    address = "/api/v1/benchmarks/tiny/"
    for path, content, fields, result in (
        ("train-splits", b"caption\na dog\n", {"name": "7k"}, {"split": "7k", "captions": 1}),
        ("tags", b"caption_id,tag\nc0,food\n", {}, {"tags": 1, "captions": 1}),
    ):
        file = SimpleUploadedFile("my.csv", content)
        accepted = client.post(f"{address}{path}/", {"file": file, **fields})
        assert accepted.status_code == 202
        run_job(accepted.json()["id"])
        done = Job.objects.get(pk=accepted.json()["id"])
        assert (done.state, {key: done.result[key] for key in result}) == (JobState.DONE, result)
    (split,) = client.get(f"{address}train-splits/").json()["results"]
    assert (split["name"], split["n_captions"], split["sha256"]) == (
        "7k",
        1,
        hashlib.sha256(b"caption\na dog\n").hexdigest(),
    )
    (tag,) = client.get(f"{address}tags/").json()["results"]
    assert (tag["name"], tag["n_queries"]) == ("food", 1)
    assert client.post(f"{address}tags/", {"file": "none"}).status_code == 400
