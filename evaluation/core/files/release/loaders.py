"""Files that let other programs load an exported label set, or read the scores of runs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

DOCS, QUERIES, QRELS = "docs.tsv", "queries.tsv", "qrels.txt"
MTEB_CUTOFFS = (1, 3, 5, 10, 20, 100)
# Hearth's name of each measure that MTEB's retrieval tasks report.
MTEB_MEASURES = {
    "ndcg_at": "nDCG",
    "map_at": "AP",
    "recall_at": "R",
    "precision_at": "P",
    "mrr_at": "RR",
    "hit_rate_at": "C",
}
MTEB_MAIN = "ndcg_at_10"

_MODULE = '''"""Register this folder with ir_datasets as {name!r}."""

from contextlib import contextmanager
from pathlib import Path

import ir_datasets
from ir_datasets.formats import TrecQrels, TsvDocs, TsvQueries

NAME = {name!r}
FOLDER = Path(__file__).resolve().parent
RELEVANCE = {relevance!r}


class File:
    def __init__(self, name):
        self._path = FOLDER / name

    def path(self, force=True):
        return self._path

    @contextmanager
    def stream(self):
        with self._path.open("rb") as stream:
            yield stream


dataset = ir_datasets.Dataset(
    TsvDocs(File({docs!r})), TsvQueries(File({queries!r})), TrecQrels(File({qrels!r}), RELEVANCE)
)
ir_datasets.registry.register(NAME, dataset)
'''


def ir_dataset_module(name: str, relevance: Mapping[int, str]) -> str:
    """Return a Python module that registers the three files with `ir_datasets`.

    name: as `ir_datasets.load` gets it. relevance: a description of each grade.
    """
    return _MODULE.format(
        name=name, relevance=dict(relevance), docs=DOCS, queries=QUERIES, qrels=QRELS
    )


def mteb_names() -> dict[str, str]:
    """Return the name of each measure in Hearth by its name in MTEB."""
    return {
        f"{theirs}_{k}": f"{ours}@{k}"
        for theirs, ours in MTEB_MEASURES.items()
        for k in MTEB_CUTOFFS
    }


def mteb_task(benchmark: str) -> str:
    """Return a task name such as `MsrVtt1kaT2VRetrieval`."""
    words = re.findall(r"[A-Za-z0-9]+", benchmark)
    return "".join(word[:1].upper() + word[1:] for word in words) + "T2VRetrieval"


def mteb_result(task: str, labels_sha256: str, scores: Mapping[str, float]) -> str:
    """Return a file of results, as MTEB 2 stores one for each model and task.

    scores: by the names of MTEB, with `MTEB_MAIN`. The data set revision is the label set's hash.
    """
    row: dict[str, Any] = {
        **scores,
        "main_score": scores[MTEB_MAIN],
        "hf_subset": "default",
        "languages": [],
    }
    return _json(
        {
            "dataset_revision": labels_sha256,
            "task_name": task,
            "mteb_version": None,
            "scores": {"test": [row]},
            "evaluation_time": None,
            "kg_co2_emissions": None,
        }
    )


def mteb_folder(run: str, sha256: str) -> str:
    """Return the folder of a run's results: model name and revision."""
    return f"results/hearth__{re.sub('[^A-Za-z0-9._-]', '_', run)}/{sha256[:40]}"


def mteb_model(run: str, sha256: str) -> str:
    """Return `model_meta.json`, with what Hearth knows of the model of a run."""
    unknown = (
        "release_date languages loader n_parameters memory_usage_mb max_tokens embed_dim license "
        "open_weights public_training_code public_training_data similarity_fn_name "
        "use_instructions training_datasets"
    ).split()
    name = re.sub("[^A-Za-z0-9._-]", "_", run)
    return _json(
        {
            "name": f"hearth/{name}",
            "revision": sha256[:40],
            **dict.fromkeys(unknown),
            "framework": [],
        }
    )


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
