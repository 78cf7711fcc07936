"""Label sets as data sets of BEIR and MTEB, read by `datasets` and by Hearth itself."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from evaluation.models import LabelSet
from evaluation.release.exports import ExportOptions, open_export
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from pooling.core.lines import SourceFile
from pooling.core.readers.benchmarks import read_captions
from tests.factories import add_judgments, make_benchmark, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def label_set(tmp_path: Path) -> LabelSet:
    benchmark = make_benchmark(tmp_path, captions=2, videos=3)
    add_judgments(tmp_path, benchmark, [("c0", "v1", "a", 1), ("c0", "v0", "a", 0)])
    return publish_label_set(benchmark=benchmark, by=OPERATOR)


def unpacked(label_set: LabelSet, format: str, folder: Path) -> Path:
    content = b"".join(open_export(label_set, format, ExportOptions(licence="CC0")))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
    return next(folder.glob("tiny-labels-*"))


READ = """
import datasets, json, sys
found = {}
for folder, key in zip(sys.argv[1:], ["id"]):
    names = datasets.get_dataset_config_names(folder)
    tables = {name: datasets.load_dataset(folder, name, split="test") for name in names}
    found[key] = {
        "queries": list(tables["queries"][key]),
        "corpus": list(zip(tables["corpus"][key], tables["corpus"]["text"])),
        "qrels": [list(row.values()) for row in tables["qrels"]],
    }
print(json.dumps(found))
"""


def test_datasets_reads_three_configurations(label_set: LabelSet, tmp_path: Path) -> None:
    folder = unpacked(label_set, "mteb", tmp_path / "mteb")
    done = subprocess.run(
        [sys.executable, "-c", READ, str(folder)],
        env={**os.environ, "HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    tables = {
        "queries": ["c0", "c1"],
        "corpus": [["v0", ""], ["v1", ""], ["v2", ""]],
        "qrels": [["c0", "v0", 1], ["c0", "v1", 1], ["c1", "v1", 1]],
    }
    assert json.loads(done.stdout.splitlines()[-1]) == {"id": tables}
    assert "Licence: CC0" in (folder / "README.md").read_text()


READ_IR = """
import json, sys
sys.path.insert(0, sys.argv[1])
import dataset, ir_datasets
found = ir_datasets.load(sys.argv[2])
print(json.dumps({
    "docs": [list(doc) for doc in found.docs_iter()],
    "queries": [list(query) for query in found.queries_iter()],
    "qrels": [list(qrel) for qrel in found.qrels_iter()],
    "text": found.docs_store().get("v1").doc_id,
    "grades": found.qrels_defs(),
}))
"""


def test_ir_datasets_loads_the_folder(label_set: LabelSet, tmp_path: Path) -> None:
    pytest.importorskip("ir_datasets")
    folder = unpacked(label_set, "ir-datasets", tmp_path / "ir")
    done = subprocess.run(
        [sys.executable, "-c", READ_IR, str(folder), "hearth/tiny"],
        env={**os.environ, "IR_DATASETS_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "docs": [["v0", ""], ["v1", ""], ["v2", ""]],
        "queries": [["c0", "caption 0"], ["c1", "caption 1"]],
        "qrels": [["c0", "v0", 1, "0"], ["c0", "v1", 1, "0"], ["c1", "v1", 1, "0"]],
        "text": "v1",
        "grades": {"0": "not relevant", "1": "relevant"},
    }


READ_MTEB = """
import json, sys
from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores
from mteb.abstasks.retrieval_dataset_loaders import RetrievalDatasetLoader
from mteb.cache import ResultCache
folder, run = sys.argv[1], json.loads(sys.argv[2])
data = RetrievalDatasetLoader(folder, None, split="test").load()
(model,) = ResultCache(cache_path=folder).load_results().model_results
(result,) = model.task_results
scores = calculate_retrieval_scores(run, data["relevant_docs"], [1, 3, 5, 10, 20, 100])
names = {"NDCG": "ndcg", "MAP": "map", "Recall": "recall", "P": "precision"}
measures = [scores.ndcg, scores.map, scores.recall, scores.precision]
print(json.dumps({
    "queries": list(data["queries"]["id"]),
    "corpus": list(data["corpus"]["id"]),
    "qrels": data["relevant_docs"],
    "model": model.model_name,
    "task": result.task_name,
    "revision": result.dataset_revision,
    "scores": result.scores["test"][0],
    "theirs": {
        names[name.split("@")[0]] + "_at_" + name.split("@")[1]: value
        for found in measures
        for name, value in found.items()
    },
}))
"""


def test_mteb_reads_the_data_set_and_the_results_of_runs(tmp_path: Path) -> None:
    pytest.importorskip("mteb")
    benchmark = make_benchmark(tmp_path, captions=2, videos=3)
    run = make_run(tmp_path, benchmark, {"c0": ["v2", "v0"], "c1": ["v1"]}, system="a b")
    add_judgments(tmp_path, benchmark, [("c0", "v1", "a", 1), ("c0", "v2", "a", 0)])
    label_set = publish_label_set(benchmark=benchmark, by=OPERATOR)
    make_run(tmp_path, benchmark, {"c0": ["v0"], "c1": ["v1"]}, system="later")
    folder = unpacked(label_set, "mteb", tmp_path / "mteb")
    assert [path.name for path in folder.glob("results/*/*")] == [run.sha256[:40]]
    lists = {"c0": {"v2": 2.0, "v0": 1.0}, "c1": {"v1": 1.0}}
    done = subprocess.run(
        [sys.executable, "-c", READ_MTEB, str(folder), json.dumps(lists)],
        env={**os.environ, "HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    scores, theirs = found.pop("scores"), found.pop("theirs")
    assert found == {
        "queries": ["c0", "c1"],
        "corpus": ["v0", "v1", "v2"],
        "qrels": {"c0": {"v0": 1, "v1": 1, "v2": 0}, "c1": {"v1": 1}},
        "model": "hearth/a_b",
        "task": "TinyT2VRetrieval",
        "revision": label_set.sha256,
    }
    assert len(theirs) == 24
    assert {name: scores[name] for name in theirs} == theirs
    assert (scores["recall_at_1"], scores["main_score"]) == (0.5, scores["ndcg_at_10"])
    assert (scores["hit_rate_at_3"], scores["mrr_at_10"]) == (1.0, 0.75)


def test_beir_has_its_three_files(label_set: LabelSet, tmp_path: Path) -> None:
    folder = unpacked(label_set, "beir", tmp_path / "out")
    assert (folder / "qrels/test.tsv").read_text() == (
        "query-id\tcorpus-id\tscore\nc0\tv0\t1\nc0\tv1\t1\nc1\tv1\t1\n"
    )
    corpus = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    assert corpus == [{"_id": f"v{at}", "title": "", "text": ""} for at in range(3)]


@pytest.mark.parametrize("format", ["beir", "mteb"])
def test_hearth_reads_what_it_writes(label_set: LabelSet, tmp_path: Path, format: str) -> None:
    folder = unpacked(label_set, format, tmp_path / "out")
    data = [path for path in folder.rglob("*") if path.suffix in (".jsonl", ".tsv", ".parquet")]
    file = read_captions([SourceFile.at(path) for path in sorted(data)])
    assert (file.query_keys, file.video_keys) == (("c0", "c1"), ("v0", "v1", "v2"))
    pairs = zip(file.positive_queries.tolist(), file.positive_videos.tolist(), strict=True)
    assert sorted(pairs) == [(0, 0), (0, 1), (1, 1)]
