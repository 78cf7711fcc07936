"""Potentially relevant pairs are stored with a proxy, shown, pooled and deleted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from rest_framework.test import APIClient

from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.deleting import delete
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from hearth.shared.errors import InvalidInput, NotPermitted
from pooling.core.lines import SourceFile
from pooling.core.pool_options import PoolOptions
from pooling.models import Benchmark, Proxy
from pooling.relevant_pairs.core.phrases import Detector
from pooling.relevant_pairs.core.request import RelevantPairsRequest
from pooling.relevant_pairs.models import RelevantPairs
from pooling.relevant_pairs.selectors import get_relevant_pairs, load_pairs, parts_of_benchmark
from pooling.relevant_pairs.services import FoundPairs, find_relevant_pairs
from pooling.selectors.proxies import values_of_proxy
from pooling.services import build_pool
from tests.factories import import_benchmark, make_user, row_counts, write_captions, write_videos

pytestmark = pytest.mark.django_db

# The two captions about light share an action; the third has the same text as the first.
ROWS = [
    ("c0", "person turn a light on", "v0"),
    ("c1", "a man turns on the lamp", "v1"),
    ("c2", "person turn a light on", "v2"),
    ("c3", "a dog eats", "v3"),
]
VECTORS = {
    "person turn a light on": (1, 0, 0),
    "turn a light on": (0.6, 0.8, 0),
    "a man turns on the lamp": (0.5, 0, 0.75**0.5),
    "turns on the lamp": (0, 1, 0),
    "a dog eats": (0, 0, -1),
    "eats": (0, -1, 0),
}


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    captions = write_captions(tmp_path, ROWS)
    videos = write_videos(tmp_path, [(f"v{i}", "", "") for i in range(4)])
    return import_benchmark(key="light", captions=captions, videos=videos).benchmark


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Embeddings of the parts, in another order than that of the captions, and one more."""
    texts = [*reversed(VECTORS), "unused"]
    np.save(tmp_path / "parts.npy", np.array([VECTORS.get(text, (1, 1, 1)) for text in texts]))
    (tmp_path / "parts.json").write_text(json.dumps({"parts": texts}))
    return {"embeddings": tmp_path / "parts.npy", "parts": tmp_path / "parts.json"}


def find(benchmark: Benchmark, files: dict[str, Path], **options: Any) -> FoundPairs:
    sent = {name: SourceFile.at(path, path.name) for name, path in files.items()}
    request = RelevantPairsRequest(**{"detector": Detector.VP, "threshold": 0.7, **sent, **options})
    return find_relevant_pairs(benchmark=benchmark, request=request, by=OPERATOR)


def test_the_parts_are_those_to_embed(benchmark: Benchmark) -> None:
    assert parts_of_benchmark(benchmark, Detector.VP)[0].texts == list(VECTORS)


def test_pairs_are_stored_with_the_confidence_as_a_proxy(
    benchmark: Benchmark, files: dict[str, Path]
) -> None:
    found = find(benchmark, files)
    loaded = load_pairs(found.pairs).detected
    rows = zip(loaded.first.tolist(), loaded.second.tolist(), strict=True)
    assert list(rows) == [(0, 0), (0, 1)]
    assert loaded.similarity.tolist() == pytest.approx([1, 0.8])
    assert loaded.confidence.tolist() == pytest.approx([1, 0.5])
    assert (found.pairs.n_parts, found.pairs.n_pairs, found.pairs.n_candidates) == (6, 2, 6)
    # The candidates of captions 0 and 2 are the moments of each other and of caption 1.
    assert values_of_proxy(found.pairs.proxy).tolist() == [
        [0, 0.5, 1, 0],
        [0.5, 0, 0.5, 0],
        [1, 0.5, 0, 0],
        [0, 0, 0, 0],
    ]
    again = find(benchmark, files)
    assert (again.created, again.pairs) == (False, found.pairs)
    assert find(benchmark, files, threshold=0.85).pairs.n_pairs == 1
    assert find(benchmark, files, detector=Detector.SENT).pairs.n_pairs == 1


def test_a_pool_contains_the_candidates(benchmark: Benchmark, files: dict[str, Path]) -> None:
    find(benchmark, files, name="shared actions")
    options = PoolOptions(depth=1, proxy="shared actions", proxy_from=0.4)
    assert build_pool(benchmark=benchmark, options=options, by=OPERATOR).pool.n_pairs == 6


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ("[]", "parts.json: the file must be a JSON object in which 'parts' is a list of texts"),
        ("{", "parts.json: this is not a JSON file"),
        ('{"parts": ["a", "a"]}', "parts.json: the part 'a' is named twice"),
        (
            '{"parts": ["a dog eats"]}',
            "parts.json: the part 'person turn a light on' is missing; download the parts of the "
            "detector",
        ),
        (
            json.dumps({"parts": list(VECTORS)}),
            "parts.npy: the file has 7 rows, but the benchmark has 6 parts",
        ),
    ],
)
def test_bad_files_store_nothing(
    benchmark: Benchmark, files: dict[str, Path], parts: str, reason: str
) -> None:
    files["parts"].write_text(parts)
    before = row_counts()
    with pytest.raises(InvalidInput) as error:
        find(benchmark, files)
    assert (str(error.value), row_counts()) == (reason, before)


def test_only_researchers_find_pairs(benchmark: Benchmark, files: dict[str, Path]) -> None:
    request = RelevantPairsRequest(detector=Detector.SENT)
    with pytest.raises(NotPermitted):
        find_relevant_pairs(benchmark=benchmark, request=request, by=make_user("anna"))


def test_pairs_are_deleted_with_their_proxy(benchmark: Benchmark, files: dict[str, Path]) -> None:
    before = row_counts()
    pairs = find(benchmark, files).pairs
    path = Path(pairs.file.path)
    assert path.is_file()
    delete(pairs.proxy, by=make_user("lena", Role.LEAD))
    counts = {name: count for name, count in row_counts().items() if name in before}
    assert (RelevantPairs.objects.count(), Proxy.objects.count()) == (0, 0)
    assert counts["pooling.Proxy"] == before["pooling.Proxy"]


@pytest.mark.postgresql
@pytest.mark.parametrize("changed", [{"threshold": 0}, {"threshold": 1.1}, {"detector": "x"}])
def test_the_database_checks_detector_and_threshold(
    benchmark: Benchmark, files: dict[str, Path], changed: dict[str, Any]
) -> None:
    pairs = find(benchmark, files).pairs
    with pytest.raises(IntegrityError), transaction.atomic():
        RelevantPairs.objects.filter(pk=pairs.pk).update(**changed)


def test_command_api_and_page_find_the_same(
    benchmark: Benchmark, files: dict[str, Path], tmp_path: Path, capsys: Any
) -> None:
    options = [f"--{name}={path}" for name, path in files.items()]
    call_command("find_relevant_pairs", "light", "vp", "--threshold=0.7", "--json", *options)
    report = json.loads(capsys.readouterr().out)
    wanted = {"proxy": "vp 0.7", "pairs": 2, "candidates": 6, "parts": 6, "created": True}
    assert {name: report[name] for name in wanted} == wanted
    call_command("export_parts", "light", "vp", f"--output={tmp_path / 'out.json'}")
    assert json.loads((tmp_path / "out.json").read_text()) == {"parts": list(VECTORS)}
    with pytest.raises(CommandError, match="Add both files"):
        call_command("find_relevant_pairs", "light", "vp", options[0])

    user = make_user("rita", Role.RESEARCHER)
    api = APIClient()
    api.force_authenticate(user)
    address = "/api/v1/benchmarks/light/relevant-pairs/"
    assert api.get(f"{address}parts/?detector=vp").json() == {"parts": list(VECTORS)}
    pk = get_relevant_pairs(benchmark, "vp 0.7").pk
    assert [row["id"] for row in api.get(address).json()["results"]] == [pk]
    with files["embeddings"].open("rb") as rows, files["parts"].open("rb") as texts:
        sent = {"detector": "vp", "threshold": 0.7, "embeddings": rows, "parts": texts}
        job = api.post(address, sent).json()
    run_job(job["id"])
    result = Job.objects.get(pk=job["id"]).result
    assert (result["pk"], result["created"]) == (pk, False)

    client = Client()
    client.force_login(user)
    page = client.get(f"/benchmarks/light/relevant-pairs/{pk}/?caption=c1")
    shown = [(row.query.key, row.videos) for row in page.context["rows"]]
    assert shown == [("c0", ["v0"]), ("c2", ["v2"])]
    form = client.get("/benchmarks/light/relevant-pairs/find/")
    assert b"Find potentially relevant pairs" in form.content
    parts = client.get("/benchmarks/light/relevant-pairs/parts/?detector=sent")
    assert len(json.loads(parts.content)["parts"]) == 3
    with files["embeddings"].open("rb") as rows:
        refused = client.post(
            "/benchmarks/light/relevant-pairs/find/", {"detector": "vp", "embeddings": rows}
        )
    assert (refused.status_code, b"Add both files" in refused.content) == (422, True)
    proxy = client.get(f"/benchmarks/light/proxies/{pk}/")
    assert b"Show the candidates" in proxy.content
