"""Label sets as data sets of BEIR and MTEB, read by `datasets` and by Hearth itself."""

from __future__ import annotations

import io
import json
import math
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


def test_mteb_has_results_of_the_runs(tmp_path: Path) -> None:
    """The keys and types are those that `mteb.TaskResult` (2.26) reads; mteb itself needs torch."""
    benchmark = make_benchmark(tmp_path, captions=2, videos=3)
    run = make_run(tmp_path, benchmark, {"c0": ["v2", "v0"], "c1": ["v1"]}, system="a b")
    add_judgments(tmp_path, benchmark, [("c0", "v1", "a", 1), ("c0", "v2", "a", 0)])
    label_set = publish_label_set(benchmark=benchmark, by=OPERATOR)
    make_run(tmp_path, benchmark, {"c0": ["v0"], "c1": ["v1"]}, system="later")
    folder = unpacked(label_set, "mteb", tmp_path / "mteb")
    (path,) = folder.glob("results/*/*/Tiny*.json")
    model = folder / "results/hearth__a_b" / run.sha256[:40]
    assert path == model / "TinyT2VRetrieval.json"
    result = json.loads(path.read_text())
    (row,) = result["scores"].pop("test")
    assert result == {
        "dataset_revision": label_set.sha256,
        "task_name": "TinyT2VRetrieval",
        "mteb_version": None,
        "scores": {},
        "evaluation_time": None,
        "kg_co2_emissions": None,
    }
    # c0 has two positives, v0 and v1, and v0 is at rank 2.
    expected = {"recall_at_1": 0.5, "recall_at_3": 0.75, "hit_rate_at_3": 1.0, "mrr_at_10": 0.75}
    assert {name: row[name] for name in expected} == expected
    assert row["map_at_10"] == 0.625
    gain = 1 / math.log2(3)
    assert row["main_score"] == row["ndcg_at_10"] == round((1 + gain / (1 + gain)) / 2, 5)
    assert (row["hf_subset"], row["languages"]) == ("default", [])


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
