"""The facts of a release as values of YAML files, for Hugging Face, for ir_metadata and to cite."""

from __future__ import annotations

import re
from typing import Any

from evaluation.core.files.release.facts import (
    JUDGMENTS_TABLE,
    LABELS,
    QRELS,
    SPANS_TABLE,
    TABLE,
    ReleaseFacts,
    RunFacts,
)
from evaluation.core.files.release.licences import hub_licence, spdx_id
from pooling.core.direction import Direction

SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
SIZE_NAMES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B")
FRAMEWORK = "hearth"


def card_metadata(facts: ReleaseFacts) -> dict[str, Any]:
    """Return the metadata at the head of a data set card on the Hugging Face Hub."""
    size = sum(facts.labels.pairs >= bound for bound in SIZES[:-1])
    return {
        **hub_licence(facts.licence),
        "pretty_name": f"{facts.name}: relevance labels {facts.labels.version}",
        "tags": ["text-to-video-retrieval", "relevance-judgments", "information-retrieval"],
        "size_categories": [SIZE_NAMES[size]],
        "configs": [
            {
                "config_name": "labels",
                "default": True,
                "data_files": [{"split": "test", "path": TABLE}],
            },
            {
                "config_name": "judgments",
                "data_files": [{"split": "test", "path": JUDGMENTS_TABLE}],
            },
            *(
                [
                    {
                        "config_name": "spans",
                        "data_files": [{"split": "test", "path": SPANS_TABLE}],
                    }
                ]
                if facts.spans
                else []
            ),
        ],
    }


def citation(facts: ReleaseFacts) -> dict[str, Any]:
    """Return the contents of `CITATION.cff`, in the Citation File Format 1.2.0."""
    publisher, known = facts.publisher, spdx_id(facts.licence)
    author = {"name": publisher.name or "unknown", "email": publisher.email}
    website = {"url": publisher.website} if publisher.website else {}
    return {
        "cff-version": "1.2.0",
        "message": "Name the version and the SHA-256 of the labels.",
        "type": "dataset",
        "title": f"{facts.name}: relevance labels {facts.labels.version}",
        "authors": [{key: value for key, value in author.items() if value}],
        "version": facts.labels.version,
        "date-released": facts.labels.published,
        **({"license": known} if known else {}),
        **website,
        "identifiers": [
            {
                "type": "other",
                "value": f"sha256:{facts.labels.sha256}",
                "description": f"SHA-256 of {LABELS}, uncompressed",
            }
        ],
    }


def benchmark_metadata(facts: ReleaseFacts) -> dict[str, Any]:
    """Return the contents of `eval.yaml`, the file that makes a data set on the Hub a benchmark."""
    measures = facts.scored_runs[0].scores if facts.scored_runs else ()
    directions = dict.fromkeys(run.direction for run in facts.scored_runs)
    return {
        "name": f"{facts.name} {facts.labels.version}",
        "description": f"Text-to-video retrieval, scored with {facts.labels.pairs} judged pairs. "
        "Scores are in %.",
        "evaluation_framework": FRAMEWORK,
        "tasks": [
            {"id": task_name(measure, direction), "config": "labels", "split": "test"}
            for direction in sorted(directions)
            for measure in measures
        ],
    }


def eval_results(facts: ReleaseFacts, run: RunFacts) -> list[dict[str, Any]]:
    """Return the scores of a run as the contents of a file in `.eval_results`.

    The Hub reads such files from the repository of the model.
    """
    website = facts.publisher.website
    return [
        {
            "dataset": {"id": facts.hub_id, "task_id": task_name(measure, run.direction)},
            "value": round(100 * score, 4),
            "date": facts.labels.published,
            **({"source": {"url": website, "name": facts.publisher.name}} if website else {}),
            "evaluation_framework": FRAMEWORK,
            "notes": f"{measure} of the run {run.name} (sha256 {run.sha256}) by the labels "
            f"{facts.labels.version} (sha256 {facts.labels.sha256})",
        }
        for measure, score in run.scores.items()
        if score is not None
    ]


def file_name(run: RunFacts, number: int) -> str:
    """Return the name of the run's file in `.eval_results`."""
    return f"{number:02}-{re.sub('[^A-Za-z0-9._-]', '_', run.name)}.yaml"


def task_name(measure: str, direction: str) -> str:
    """Return the task id for a measure and a direction: `c_at_10` for `C@10`.

    For video-to-text runs it is `video_to_text_c_at_10`.
    """
    if direction == Direction.VIDEO_TO_TEXT:
        measure = f"{direction} {measure}"
    return re.sub("[^a-z0-9]+", "_", measure.lower().replace("@", "_at_")).strip("_")


def ir_metadata(facts: ReleaseFacts) -> dict[str, Any]:
    """Return the components of the schema ir_metadata that describe a test collection."""
    publisher = facts.publisher
    actor = {"name": publisher.name, "mail": publisher.email, "source": publisher.website}
    return {
        "tag": facts.stem,
        "actor": {
            "role": "publisher of the labels",
            **{key: value for key, value in actor.items() if value},
        },
        "platform": {"software": {"libraries": [f"hearth {facts.code_version}"]}},
        "research goal": {
            "evaluation": {
                "reported measures": (
                    list(facts.scored_runs[0].scores) if facts.scored_runs else []
                ),
            },
        },
        "implementation": {"source": {"commit": facts.code_version}},
        "data": {
            "test collection": {
                "name": f"{facts.name}, labels {facts.labels.version}",
                "source": publisher.website or facts.benchmark,
                "qrels": QRELS,
                "topics": f"captions with sha256 {facts.captions_sha256}",
            },
        },
        "method": {
            "automatic": False,
            "judgments": facts.labels.judgments,
            "runs": [
                {
                    "run": run.name,
                    "system": run.system,
                    "direction": run.direction,
                    "depth": run.depth,
                    "sha256": run.sha256,
                    "withdrawn": run.is_withdrawn,
                }
                for run in facts.runs
            ],
        },
    }
