"""Pages of proxies: computing, uploading, reading, downloading and deleting."""

from __future__ import annotations

import csv
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.enums import Priority
from annotation.services import Policy, open_campaign
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.deleting import delete
from hearth.jobs.models import Job, JobState
from hearth.jobs.registry import find_outcome
from hearth.jobs.services import run_job
from hearth.operations.backup.contents import StoredFile, named_files
from hearth.operations.backup.databases import run_query
from hearth.shared.deleting import plan_deletion
from hearth.shared.errors import Conflict, InvalidInput
from hearth.shared.uploads import upload_names
from pooling.core.pool_options import PoolOptions
from pooling.core.proxies.options import Method, ProxyOptions
from pooling.core.proxies.stop_words import NO_STOP_WORDS
from pooling.models import Benchmark, Proxy
from pooling.selectors import proxies as selectors
from pooling.selectors.proxies import values_of_proxy
from pooling.services import build_pool, compute_proxy, import_proxy
from tests.factories import add_run, all_pairs, make_user
from tests.pooling.core.proxies.made_wordnet import make_wordnet
from tests.pooling.test_proxies import COMPUTED, benchmark, matrix_file, values  # noqa: F401

pytestmark = pytest.mark.django_db

PAGES = "/benchmarks/tiny/proxies/"


@pytest.fixture
def client(benchmark: Benchmark) -> Client:  # noqa: F811
    client = Client()
    client.force_login(make_user("rita", Role.RESEARCHER))
    return client


@pytest.fixture
def proxy(benchmark: Benchmark) -> Proxy:  # noqa: F811
    options = ProxyOptions(Method.BOW, stop_words=NO_STOP_WORDS, own_is_one=False)
    return compute_proxy(benchmark=benchmark, options=options, by=OPERATOR).proxy


def npy(array: Any, name: str = "m.npy") -> SimpleUploadedFile:
    out = io.BytesIO()
    np.save(out, np.array(array), allow_pickle=True)
    return SimpleUploadedFile(name, out.getvalue())


def send_and_run(client: Client, address: str, form: dict[str, Any]) -> Job:
    """Send a form and run the job that it starts."""
    answer = client.post(address, form)
    assert answer.status_code == 302, answer.content.decode()
    run_job(Job.objects.latest("created_at").pk)
    return Job.objects.latest("created_at")


def errors_of(answer: Any) -> dict[str, list[str]]:
    assert answer.status_code == 422
    return {name: list(found) for name, found in answer.context["form"].errors.items()}


def test_a_form_computes_a_proxy_with_its_options(client: Client) -> None:
    form = {"method": "BoW", "name": "words", "percent": "25", "stop_words": "own"}
    words = SimpleUploadedFile("words.txt", b"wash\nthe\n")
    job = send_and_run(client, PAGES + "new/", form | {"own_words": words, "own_as_computed": "on"})
    assert job.state == JobState.DONE, job.error
    stored = Proxy.objects.get()
    assert (stored.name, stored.method) == ("words", "BoW")
    assert stored.options["stop words"] == "own (2 words)"
    assert stored.options["own captions"] == "as computed"
    outcome = find_outcome(job)
    assert outcome is not None
    assert (outcome.url, outcome.link) == (f"{PAGES}{stored.pk}/", "To the proxy")
    # Unused files are not kept.
    again = send_and_run(client, PAGES + "new/", form | {"stop_words": "spacy", "name": ""})
    assert "files" in again.params
    assert again.params["files"] == {}


def test_syn_and_meteor_need_an_installed_or_an_uploaded_wordnet(
    client: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(selectors, "DEBIAN", tmp_path / "none")
    form = {"method": "METEOR", "percent": "25", "stop_words": "spacy"}
    errors = errors_of(client.post(PAGES + "new/", form))
    assert list(errors) == ["method"]
    assert errors["method"][0].startswith("This method needs WordNet, which is not installed here.")
    assert "<strong>not installed</strong>" in client.get(PAGES + "new/").content.decode()
    folder = make_wordnet(tmp_path / "wordnet")
    with tarfile.open(tmp_path / "wordnet.tar.gz", "w:gz") as archive:
        archive.add(folder, "dict")
    content = (tmp_path / "wordnet.tar.gz").read_bytes()
    lexicon = SimpleUploadedFile("wordnet.tar.gz", content)
    job = send_and_run(client, PAGES + "new/", form | {"lexicon": lexicon})
    assert job.state == JobState.DONE, job.error
    assert Proxy.objects.get().options["synonyms"] == "of stems (as NLTK), WordNet 3.0"


def test_wrong_lexicons_and_tables_store_nothing(client: Client) -> None:
    form = {"method": "SYN", "percent": "25", "stop_words": "spacy"}
    table = SimpleUploadedFile("verbs.csv", b"id,instances\n0,['wash']\n")
    errors = errors_of(client.post(PAGES + "new/", form | {"verb_classes": table}))
    assert errors["noun_classes"] == ["Add both tables, the classes of verbs and those of nouns."]
    lexicon = SimpleUploadedFile("a.zip", b"no archive")
    job = send_and_run(client, PAGES + "new/", form | {"lexicon": lexicon})
    assert (job.state, Proxy.objects.count()) == (JobState.FAILED, 0)
    assert job.error == "a.zip: the archive is damaged or encrypted"


def test_a_matrix_is_uploaded_with_its_keys(client: Client) -> None:
    keys = {"captions": ["c2", "c0", "c1"], "videos": ["v1", "v0", "v2"]}
    sent = SimpleUploadedFile("keys.json", json.dumps(keys).encode())
    matrix = [[0.5, 0.25, 0.125], [0, 1, 0], [0, 0.75, 0]]
    form = {"file": npy(matrix, "model.npy"), "keys": sent}
    job = send_and_run(client, PAGES + "matrix/", form)
    assert job.state == JobState.DONE, job.error
    stored = Proxy.objects.get()
    assert (stored.name, stored.source) == ("model", "model.npy")
    assert values(stored) == [[1.0, 0.0, 0.0], [0.75, 0.0, 0.0], [0.25, 0.5, 0.125]]


@pytest.mark.parametrize(
    ("array", "keys", "error"),
    [
        (
            [[0, 0, 0], [0, 0, 0], [0, 2.5, 0]],
            None,
            "m.npy: a value is not from 0 to 1: 2.5 (row 2, column 1, counted from 0)",
        ),
        ([[0.0, 0.0]], None, "m.npy: the matrix is 1 x 2, but the benchmark has 3 x 3"),
        (
            np.full((3, 3), None),
            None,
            "m.npy: this is not a .npy matrix of numbers; save the matrix with numpy.save",
        ),
        (np.zeros((3, 3)), b"[", "keys.json: this is not a JSON file"),
        (
            np.zeros((3, 3)),
            b'{"captions": ["c0", "c1", "x"], "videos": []}',
            "keys.json: the benchmark has no caption 'x'",
        ),
        (
            np.zeros((3, 3)),
            b'{"captions": ["c0", "c1", "c1"], "videos": []}',
            "keys.json: the caption 'c1' is named twice",
        ),
        (
            np.zeros((3, 3)),
            b'{"captions": ["c0", "c1"], "videos": []}',
            "keys.json: the caption 'c2' is missing",
        ),
    ],
)
def test_a_wrong_matrix_stores_nothing(client: Client, array: Any, keys: Any, error: str) -> None:
    form = {"file": npy(array)}
    if keys is not None:
        form["keys"] = SimpleUploadedFile("keys.json", keys)
    job = send_and_run(client, PAGES + "matrix/", form)
    assert (job.state, Proxy.objects.count()) == (JobState.FAILED, 0)
    assert job.error.startswith(error)


def test_embeddings_are_compared_by_cosine(client: Client) -> None:
    captions = [[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]]
    videos = [[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]]
    form = {"caption_embeddings": npy(captions, "c.npy"), "video_embeddings": npy(videos, "v.npy")}
    job = send_and_run(client, PAGES + "embeddings/", form | {"own_as_computed": "on"})
    assert job.state == JobState.DONE, job.error
    stored = Proxy.objects.get()
    assert values(stored) == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.8, 0.6, 0.0]]
    assert (stored.method, stored.source) == ("embeddings", "c.npy, v.npy")
    # Without embeddings of videos, v0 has the mean of c0 and c1.
    only = {"caption_embeddings": npy(captions, "c.npy"), "name": "only captions"}
    send_and_run(client, PAGES + "embeddings/", only | {"own_as_computed": "on"})
    half = round(0.5**0.5, 3)
    assert values(Proxy.objects.get(name="only captions")) == [
        [half, 0.6, 0.0],
        [half, 0.8, 0.0],
        [0.99, 1.0, 0.0],
    ]
    wrong = send_and_run(
        client, PAGES + "embeddings/", {"video_embeddings": npy(captions[:2], "v.npy")}
    )
    assert wrong.error == "v.npy: the file has 2 rows, but the benchmark has 3 videos"
    nothing = errors_of(client.post(PAGES + "embeddings/", {}))
    assert nothing["__all__"] == ["Add embeddings of captions, of videos, or of both."]


def test_the_pages_of_a_proxy(client: Client, proxy: Proxy) -> None:
    assert "There is no proxy yet" not in client.get(PAGES).content.decode()
    answer = client.get(f"{PAGES}{proxy.pk}/?video=v0&caption=c2")
    assert "<dt>Minimum share of captions that contain a word</dt>" in answer.content.decode()
    shown = answer.context
    assert [(row.item.key, row.value) for row in shown["of_video"].highest] == [
        ("c1", 0.60009765625),
        ("c0", 0.39990234375),
        ("c2", 0.0),
    ]
    assert [row.item.key for row in shown["of_caption"].highest] == ["v1", "v0", "v2"]
    assert [row.is_own for row in shown["of_caption"].highest] == [True, False, False]
    assert [row[1:3] for row in shown["thresholds"]][4:7] == [
        ("2", "22.22"),
        ("2", "22.22"),
        ("1", "11.11"),
    ]
    chart = json.loads(client.get(f"{PAGES}{proxy.pk}/chart/").content)
    bins = {row["low"]: row["pairs"] for row in chart["data"]["values"] if row["pairs"]}
    assert bins == {0.0: 6, 0.4: 1, 0.6: 1, 0.95: 1}
    assert client.get(f"{PAGES}{proxy.pk}/?video=x").status_code == 404
    assert client.get(f"{PAGES}{proxy.pk}/?video_number=-1").status_code == 400
    changed = "The captions have changed since this proxy was stored"
    assert changed not in answer.content.decode()
    Benchmark.objects.update(captions_sha256="f" * 64)
    assert changed in client.get(f"{PAGES}{proxy.pk}/").content.decode()
    assert "no, earlier ones" in client.get(PAGES).content.decode()


def downloaded(client: Client, proxy: Proxy, export: str, query: str = "") -> bytes:
    answer = client.get(f"{PAGES}{proxy.pk}/files/{export}/{query}")
    assert answer.status_code == 200
    return b"".join(answer.streaming_content)


def test_files_of_a_proxy(client: Client, proxy: Proxy, tmp_path: Path) -> None:
    matrix = np.load(io.BytesIO(downloaded(client, proxy, "matrix")), allow_pickle=False)
    assert matrix.astype(float).round(3).tolist() == COMPUTED
    keys = json.loads(downloaded(client, proxy, "keys"))
    assert (keys["captions"], keys["videos"]) == (["c0", "c1", "c2"], ["v0", "v1", "v2"])
    # 0.6 is stored as 0.6001, and 0.4 as 0.3999: the threshold is rounded in the same way.
    lines = ["caption_id,video_id,value", "c0,v0,0.3999", "c1,v0,0.6001", "c2,v1,1.0000", ""]
    assert downloaded(client, proxy, "positives", "?threshold=0.4").decode().split("\n") == lines
    triplets = downloaded(client, proxy, "triplets", "?threshold=0.5&negatives=2&seed=1")
    rows = list(csv.reader(io.StringIO(triplets.decode())))
    assert rows[0] == ["caption_id", "positive_video_id", "negative_video_id"]
    assert [row[:2] for row in rows[1:]] == [["c1", "v0"]] * 2 + [["c2", "v1"]] * 2
    assert {row[2] for row in rows[1:3]} <= {"v1", "v2"}
    turned = downloaded(client, proxy, "triplets", "?threshold=0.5&anchor=video").decode()
    assert turned.split("\n")[0] == "video_id,positive_caption_id,negative_caption_id"
    assert [row.split(",")[:2] for row in turned.split("\n")[1:-1]] == [["v0", "c1"], ["v1", "c2"]]
    call_command(
        "export_proxy", "tiny", "BoW", "--as", "triplets", "--negatives", "2", "--seed", "1",
        "--output", str(tmp_path / "t.csv"),
    )  # fmt: skip
    assert (tmp_path / "t.csv").read_bytes() == triplets
    assert client.get(f"{PAGES}{proxy.pk}/files/other/").status_code == 404
    assert client.get(f"{PAGES}{proxy.pk}/files/positives/?threshold=2").status_code == 400


def test_only_a_lead_or_the_person_who_added_a_proxy_deletes_it(
    client: Client, proxy: Proxy
) -> None:
    address = f"{PAGES}{proxy.pk}/delete/"
    assert client.post(address).status_code == 403
    client.force_login(make_user("lena", Role.LEAD))
    assert "1" in client.get(address).content.decode()
    assert client.post(address)["Location"] == PAGES
    assert Proxy.objects.count() == 0


def test_a_proxy_of_a_pool_must_stay(client: Client, proxy: Proxy, tmp_path: Path) -> None:
    add_run(tmp_path, proxy.benchmark, {"c0": ["v1"]})
    options = PoolOptions(depth=1, proxy="BoW", proxy_from=0.5)
    build_pool(benchmark=proxy.benchmark, options=options, by=OPERATOR)
    client.force_login(make_user("lena", Role.LEAD))
    answer = client.post(f"{PAGES}{proxy.pk}/delete/")
    assert answer.status_code == 409
    assert "contains pairs that this proxy selected." in answer.content.decode()
    assert values_of_proxy(proxy).shape == (3, 3)


def test_a_campaign_takes_pairs_with_high_values_first(
    benchmark: Benchmark,  # noqa: F811
    tmp_path: Path,
) -> None:
    values_of_pairs = [[0.1, 0.9, 0.3], [0.5, 0.0, 0.7], [0.2, 0.79, 0.0]]
    path = matrix_file(tmp_path, values_of_pairs)
    import_proxy(benchmark=benchmark, path=path, by=OPERATOR)
    add_run(tmp_path, benchmark, all_pairs(3, 3))
    build_pool(benchmark=benchmark, options=PoolOptions(depth=3), by=OPERATOR)
    policy = Policy(priority=Priority.PROXY)
    with pytest.raises(InvalidInput, match="There is no proxy ''"):
        open_campaign(benchmark=benchmark, by=OPERATOR, policy=policy)
    campaign = open_campaign(benchmark=benchmark, by=OPERATOR, policy=policy, proxy="model")
    tasks = campaign.tasks.order_by("position").values_list(
        "pair__query__number", "pair__video__number"
    )
    # The tiers begin at 0.8, 0.6, 0.4, 0.2 and 0. The value 0.2 is stored as 0.19995.
    sizes = [1, 2, 1, 2, 3]
    found = [values_of_pairs[query][video] for query, video in tasks]
    expected = [[0.9], [0.7, 0.79], [0.5], [0.2, 0.3], [0.0, 0.0, 0.1]]
    ends = np.cumsum(sizes)
    assert [sorted(part.tolist()) for part in np.split(np.array(found), ends[:-1])] == expected
    stored = Proxy.objects.get()
    with pytest.raises(Conflict):
        delete(stored, by=OPERATOR)
    assert (
        plan_deletion(stored).obstacles[0].reason.startswith("It ordered the pairs of the campaign")
    )


# --- API ----------------------------------------------------------------------------------------


def test_the_api_computes_uploads_lists_downloads_and_deletes(
    benchmark: Benchmark,  # noqa: F811
) -> None:
    api = APIClient()
    api.force_authenticate(make_user("rita", Role.RESEARCHER))
    address = "/api/v1/benchmarks/tiny/proxies/"
    request = {"method": "BoW", "stop_words": "none", "own_as_computed": True}
    answer = api.post(address, request, format="json")
    assert answer.status_code == 202, answer.content
    run_job(answer.json()["id"])
    result = Job.objects.get().result
    assert result is not None
    assert result["mean"] == pytest.approx(2 / 9, abs=1e-4)
    (listed,) = api.get(address).json()["results"]
    assert listed["options"]["stop words"] == "none (0 words)"
    assert (listed["distribution"]["zeros"], listed["captions_changed"]) == (6, False)
    detail = api.get(f"{address}{result['pk']}/").json()
    assert (detail, detail["caution"]) == (listed, "")
    file = api.get(f"{address}{result['pk']}/positives/?threshold=0.6")
    assert b"".join(file.streaming_content).decode().split() == [
        "caption_id,video_id,value",
        "c1,v0,0.6001",
        "c2,v1,1.0000",
    ]
    sent = api.post(f"{address}uploads/", {"video_embeddings": npy(np.eye(3), "eye.npy")})
    run_job(sent.json()["id"])
    stored = Proxy.objects.get(method="embeddings")
    assert values(stored) == [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert api.get(f"{address}{stored.pk}/").json()["caution"].startswith("Embeddings are learned.")
    for wrong, path in (({"method": "BoW", "stop_words": "own"}, ""), ({}, "uploads/")):
        assert api.post(address + path, wrong).status_code == 400
    assert api.delete(f"{address}{stored.pk}/").status_code == 204
    assert api.get(f"{address}{stored.pk}/").status_code == 404


def test_the_database_keeps_proxies_out_of_archived_benchmarks(
    proxy: Proxy,
) -> None:
    Benchmark.objects.update(archived_at=timezone.now())
    row = {"benchmark": proxy.benchmark, "method": "BoW", "sha256": "0" * 64, "file": "x.npy"}
    with pytest.raises(DatabaseError, match="The benchmark is archived"), transaction.atomic():
        Proxy.objects.create(**row, name="late")


def test_the_file_of_a_proxy_is_a_named_file(proxy: Proxy) -> None:
    """A backup copies named files, and housekeeping does not remove them."""
    assert StoredFile("proxies", proxy.file.name) in named_files(run_query)


def test_the_files_of_a_request_are_stored_once_and_deleted_with_its_job(client: Client) -> None:
    def stored() -> set[str]:
        return set(storages["uploads"].listdir("")[1])

    before = stored()
    for _ in range(2):
        form = {"caption_embeddings": npy(np.eye(3), "c.npy")}
        form["video_embeddings"] = npy(np.eye(3), "v.npy")
        client.post(PAGES + "embeddings/", form)
    job = Job.objects.get()
    assert stored() - before == upload_names(job.params)
    run_job(job.pk)
    assert (Job.objects.get().state, stored()) == (JobState.DONE, before)
