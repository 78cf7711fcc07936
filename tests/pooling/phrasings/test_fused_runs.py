"""Runs with a list for each phrasing, and runs that are fused from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client

from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.deleting import delete
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from hearth.shared.errors import Conflict, InvalidInput
from pooling.models import Benchmark, Run
from pooling.phrasings.core.spread import spread_of
from pooling.phrasings.models import PhrasedLists, Phrasing
from pooling.phrasings.selectors import lists_by_phrasing, spread_of_run
from pooling.phrasings.services import NewPhrasing, store_phrasings
from pooling.phrasings.services.fusing import BY_ANSWERS, BY_CAPTIONS, FuseOptions, fuse_runs
from pooling.phrasings.services.phrased_runs import add_phrased_lists
from pooling.selectors.runs import find_runs, ranked_lists, scored_lists
from pooling.services import import_run
from tests.factories import make_benchmark, make_user, row_counts

pytestmark = pytest.mark.django_db

# Caption c0 has the lists of the worked example: a: A B C, b: B A C, c: C A B.
LISTS = {"c0": "v0 v1 v2", "c0#1": "v1 v0 v2", "c0#2": "v2 v0 v1", "c1": "v1 v0", "c1#1": "v0 v1"}


def trec(lists: dict[str, str]) -> str:
    return "".join(
        f"{key} Q0 {video} {rank} {1 - rank / 10} t\n"
        for key, videos in lists.items()
        for rank, video in enumerate(videos.split(), start=1)
    )


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    """Three captions, whose positives are v0, v1 and v2; the first two have two phrasings."""
    found = make_benchmark(tmp_path, captions=3, videos=3)
    rows = [
        NewPhrasing(query=query, text=f"{query} {number}", origin="person", number=number)
        for query in (0, 1)
        for number in (1, 2)
    ]
    store_phrasings(benchmark=found, name="p", rows=rows, by=OPERATOR)
    return found


def imported(benchmark: Benchmark, folder: Path, text: str, name: str = "sys") -> Run:
    path = folder / f"{name}.run"
    path.write_text(text)
    return import_run(benchmark=benchmark, path=path, system=name, by=OPERATOR).run


def phrased(run: Run) -> dict[int, dict[int, list[int]]]:
    return {
        number: dict(zip(lists.query_numbers.tolist(), lists.items.tolist(), strict=True))
        for number, lists in lists_by_phrasing(run).items()
    }


EXPECTED = {
    0: {0: [0, 1, 2], 1: [1, 0, -1]},
    1: {0: [1, 0, 2], 1: [0, 1, -1]},
    2: {0: [2, 0, 1]},
}


def test_a_trec_file_has_a_list_for_each_phrasing(benchmark: Benchmark, tmp_path: Path) -> None:
    run = imported(benchmark, tmp_path, trec(LISTS))
    assert (run.n_queries, run.depth) == (2, 3)
    assert run.warnings[0] == "captions without a ranked list: 1 of 3"
    assert phrased(run) == EXPECTED
    assert [row for row, *_ in scored_lists(run)] == [0, 1]


def test_json_has_a_list_of_lists(benchmark: Benchmark, tmp_path: Path) -> None:
    content = {
        "c0": [["v0", "v1", "v2"], ["v1", "v0", "v2"], [["v2", 3], ["v0", 2], ["v1", 1]]],
        "c1": [["v1", "v0"], ["v0", "v1"], None],
        "c2": [["v2", 0.5], ["v1", 0.25]],
    }
    run = imported(benchmark, tmp_path, json.dumps(content))
    own = {**EXPECTED, 0: {**EXPECTED[0], 2: [2, 1, -1]}}
    assert phrased(run) == own


def test_unknown_phrasings_are_refused(benchmark: Benchmark, tmp_path: Path) -> None:
    before = row_counts()
    with pytest.raises(InvalidInput, match=r"line 4: unknown caption 'c0#3'"):
        imported(benchmark, tmp_path, trec({"c0": "v0 v1 v2", "c0#3": "v1"}))
    with pytest.raises(InvalidInput, match="no list of a caption itself"):
        imported(benchmark, tmp_path, trec({"c0#1": "v1"}))
    assert row_counts() == before


def test_one_file_for_each_phrasing(benchmark: Benchmark, tmp_path: Path) -> None:
    run = imported(benchmark, tmp_path, trec({k: v for k, v in LISTS.items() if "#" not in k}))
    path = tmp_path / "p1.npy"
    np.save(path, np.array([[1, 3, 0], [2, 1, 0], [0, 0, 1]], np.float32))
    given = {"benchmark": benchmark, "run": "sys", "path": path, "by": OPERATOR}
    done = add_phrased_lists(**given, phrasing=1)
    assert (done["phrasing"], done["lists"]) == (1, 2)  # caption c2 has no phrasing
    assert phrased(run)[1] == {0: [1, 0, 2], 1: [0, 1, 2]}
    with pytest.raises(Conflict, match="already has lists for phrasing 1"):
        add_phrased_lists(**given, phrasing=1)
    path = tmp_path / "p2.run"
    path.write_text(trec({"c2": "v1"}))
    with pytest.raises(InvalidInput, match="the caption 'c2' has no phrasing 2"):
        add_phrased_lists(**{**given, "path": path}, phrasing=2)


def test_a_matrix_has_a_part_for_each_phrasing(benchmark: Benchmark, tmp_path: Path) -> None:
    values = np.full((3, 3, 3), -np.inf, np.float32)
    values[0] = [[3, 2, 1], [1, 2, 0], [0, 1, 2]]
    values[1, :2] = [[1, 3, 0], [2, 1, 0]]
    values[2, 0] = [1, 0, 3]
    path = tmp_path / "sys.npy"

    def read(values: Any) -> Run:
        np.save(path, values)
        return import_run(benchmark=benchmark, path=path, system="sys", by=OPERATOR).run

    before = row_counts()
    bad = values.copy()
    bad[1, 1, 2] = np.nan
    with pytest.raises(InvalidInput, match=r"nan is not a score: .*'c1', .*'v2' \(\[1, 1, 2\]"):
        read(bad)
    bad = values.copy()
    bad[2, 2] = 0
    with pytest.raises(InvalidInput, match="caption 'c2' has no stored phrasing 2; import the phr"):
        read(bad)
    with pytest.raises(InvalidInput, match="the matrix is 2 x 2 x 3, but the benchmark has 3 x 3"):
        read(values[:2, :2])
    assert row_counts() == before
    run = read(values)
    assert ranked_lists(run).items.tolist() == [[0, 1, 2], [1, 0, 2], [2, 1, 0]]
    assert phrased(run)[1] == {0: [1, 0, 2], 1: [0, 1, 2]}
    assert phrased(run)[2] == {0: [2, 0, 1]}
    given = {"benchmark": benchmark, "run": "sys", "path": path, "by": OPERATOR}
    with pytest.raises(InvalidInput, match="several phrasings; import it as a run"):
        add_phrased_lists(**given, phrasing=2)


def test_the_spread_over_phrasings(benchmark: Benchmark, tmp_path: Path) -> None:
    run = imported(benchmark, tmp_path, trec(LISTS))
    found = spread_of_run(run)
    assert found is not None
    assert found.correct == {0: 1.0, 1: 0.0, 2: 0.0}
    assert (found.n_lists, found.changed) == ({0: 2, 1: 2, 2: 1}, 1.0)
    tops = {0: (np.array([0, 1]), np.array([0, 0])), 1: (np.array([0]), np.array([0]))}
    same = spread_of(tops, np.array([0]), 3)
    assert (same.mean, same.worst, same.best, same.changed) == (0.75, 0.5, 1.0, 0.0)


def fuse(benchmark: Benchmark, *runs: str, **options: object) -> Run:
    given = FuseOptions(runs=runs, **options)  # type: ignore[arg-type]
    return fuse_runs(benchmark=benchmark, options=given, by=OPERATOR).run


def test_the_phrasings_of_a_run_are_fused(benchmark: Benchmark, tmp_path: Path) -> None:
    run = imported(benchmark, tmp_path, trec(LISTS))
    made = fuse(benchmark, "sys", method="plurality")
    assert ranked_lists(made).items.tolist() == [[0, 1, 2], [1, 0, -1], [-1, -1, -1]]
    assert (made.name, made.system.key) == ("sys Plurality vote", "sys")
    assert made.provenance == {
        "method": "plurality",
        "parents": [{"run": "sys", "sha256": run.sha256}],
        "options": {"depth": 3, "phrasings": [0, 1, 2]},
    }
    assert fuse(benchmark, "sys", method="plurality", name="again") == made
    some = fuse(benchmark, "sys", method="combmnz", phrasings="1", depth=2)
    assert some.provenance["options"] == {"norm": "min-max", "depth": 2, "phrasings": [0, 1]}
    scores = evaluate_runs(
        benchmark=benchmark, by=OPERATOR, labels="original", run_names=[made.name]
    )
    assert len(scores.runs) == 1
    with pytest.raises(Conflict, match="was fused from this run"):
        delete(run, by=OPERATOR)
    for each in (made, some, run):
        delete(each, by=OPERATOR)
    assert not PhrasedLists.objects.exists()


def test_runs_of_several_systems_are_fused(benchmark: Benchmark, tmp_path: Path) -> None:
    imported(benchmark, tmp_path, trec({"c0": "v2 v1 v0"}), "one")
    imported(benchmark, tmp_path, trec({"c0": "v1 v2", "c2": "v0"}), "two")
    made = fuse(benchmark, "one", "two")
    # v1: 1/62 + 1/61, v2: 1/61 + 1/62, which the keys decide; v0: 1/63.
    assert ranked_lists(made).items.tolist() == [[1, 2, 0], [-1, -1, -1], [0, -1, -1]]
    assert (made.system.key, made.name) == ("fusion", "one+two RRF k=60")
    with pytest.raises(InvalidInput, match="has no lists for phrasings"):
        fuse(benchmark, "one")


def test_upper_bounds_are_left_out_by_default(benchmark: Benchmark, tmp_path: Path) -> None:
    imported(benchmark, tmp_path, trec(LISTS))
    made = fuse(benchmark, "sys", method="oracle")
    assert ranked_lists(made).items[:2].tolist() == [[0, 1, 2], [1, 0, -1]]
    assert made.provenance["options"]["upper_bound"] == BY_ANSWERS
    assert made.warnings == [f"an upper bound ({BY_ANSWERS}): no system could do this"]
    Phrasing.objects.filter(number=2).update(origin="caption")
    bound = fuse(benchmark, "sys", method="rrf")
    assert bound.provenance["options"]["upper_bound"] == BY_CAPTIONS
    plain = fuse(benchmark, "sys", method="rrf", phrasings="1")
    assert [run.name for run in find_runs(benchmark)] == sorted(["sys", plain.name])
    assert len(find_runs(benchmark, upper_bounds=True)) == 4
    assert find_runs(benchmark, [made.name]) == [made]


def test_a_researcher_fuses_runs_on_the_page(
    benchmark: Benchmark, tmp_path: Path, client: Client
) -> None:
    imported(benchmark, tmp_path, trec(LISTS))
    client.force_login(make_user("rita", Role.RESEARCHER))
    page = client.get("/benchmarks/tiny/runs/fuse/?run=sys").content.decode()
    assert "sys (2 phrasings)" in page
    sent = {"runs": ["sys"], "method": "bucklin", "norm": "min-max", "k": 60, "phi": 0.8}
    selection = {"select": "", "count": 2, "vectors": "tf-idf", "seed": 0}
    client.post("/benchmarks/tiny/runs/fuse/", {**sent, "sigma": 0.01, **selection})
    job = Job.objects.get(kind="fuse_runs")
    run_job(job.pk)
    job.refresh_from_db()
    made = Run.objects.get(name="sys Bucklin vote")
    page = client.get(f"/jobs/{job.pk}/").content.decode()
    assert f"/benchmarks/tiny/runs/{made.pk}/" in page
    evaluate_runs(benchmark=benchmark, by=OPERATOR, labels="original")
    page = client.get(f"/benchmarks/tiny/runs/{Run.objects.get(name='sys').pk}/").content.decode()
    assert "0, the captions" in page
    assert "for <strong>100.0\N{NO-BREAK SPACE}%</strong> of the captions" in page
