"""The release of a label set: an archive with data, data set card, datasheet and metadata."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyarrow import parquet

from evaluation.models import LabelSet
from evaluation.release.exports import ExportOptions, open_export
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from pooling.services import withdraw_run
from tests.factories import (
    add_judgments,
    build_pool,
    import_benchmark,
    make_run,
    write_captions,
)

pytestmark = pytest.mark.django_db

CAPTIONS = [("q0", "a red shape", "v0"), ("q1", "größer", "v1"), ("q2", "a dog", "v2")]
FOLDER = "shapes-labels-v1.0.0/"


@pytest.fixture
def label_set(tmp_path: Path) -> LabelSet:
    benchmark = import_benchmark(
        key="shapes", captions=write_captions(tmp_path, CAPTIONS), licence="CC BY 4.0"
    ).benchmark
    # The original positive of q0 is at rank 2, behind a video that is judged relevant.
    make_run(tmp_path, benchmark, {"q0": ["v1", "v0"], "q1": ["v0", "v1"]}, system="A|B")
    build_pool(benchmark=benchmark, depth=2)
    judged = [("q0", "v1", "Zoë", 1), ("q0", "v1", "Al", 1), ("q1", "v0", "Zoë", 0)]
    add_judgments(tmp_path, benchmark, [*judged, ("q1", "v0", "Al", 1)])
    return publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)


def release(label_set: LabelSet, **options: Any) -> dict[str, bytes]:
    """Return the files of the archive by their paths."""
    content = b"".join(open_export(label_set, "release", ExportOptions(**options)))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        assert all(name.startswith(FOLDER) for name in archive.namelist())
        return {name.removeprefix(FOLDER): archive.read(name) for name in archive.namelist()}


def test_a_release_has_data_documents_and_their_hashes(label_set: LabelSet) -> None:
    files = release(label_set)
    assert list(files) == [
        "data/labels.parquet",
        "data/judgments.parquet",
        "labels.csv.gz",
        "judgments.csv.gz",
        "labels.qrels",
        "README.md",
        "DATASHEET.md",
        "CHANGES.md",
        "CITATION.cff",
        "datacite.json",
        "eval.yaml",
        ".eval_results/01-A_B.yaml",
        "ir-metadata.yml",
        "prov.json",
        "croissant.json",
        "SHA256SUMS",
    ]
    sums = files.pop("SHA256SUMS").decode()
    assert sums == "".join(
        f"{hashlib.sha256(content).hexdigest()}  {path}\n" for path, content in files.items()
    )
    assert files["labels.csv.gz"] == Path(label_set.file.path).read_bytes()
    assert b"".join(open_export(label_set, "parquet")) == files["data/labels.parquet"]
    assert b"".join(open_export(label_set, "qrels")) == files["labels.qrels"]


def test_the_card_describes_the_data(label_set: LabelSet) -> None:
    head, _, text = release(label_set)["README.md"].decode().partition("---\n\n")
    described = yaml.safe_load(head.removeprefix("---\n"))
    assert (described["license"], described["size_categories"]) == ("cc-by-4.0", ["n<1K"])
    assert described["configs"][0]["data_files"][0]["path"] == "data/labels.parquet"
    # The first positive of q0 is at rank 1, and that of q1 at rank 2. q2 has no ranked list.
    assert "| A\\|B | 33.3 | 66.7 | 66.7 |" in text
    assert label_set.sha256 in text
    assert "2 pairs with 4 judgments in total. Number of relevant pairs: 1." in text
    other = yaml.safe_load(
        release(label_set, licence="My own")["README.md"].decode().split("---\n")[1]
    )
    assert (other["license"], other["license_name"]) == ("other", "My own")


def test_scores_name_the_data_set_on_the_hub(label_set: LabelSet) -> None:
    files = release(label_set, hub_id="lab/shapes")
    tasks = [task["id"] for task in yaml.safe_load(files["eval.yaml"])["tasks"]]
    assert tasks == ["c_at_1", "c_at_5", "c_at_10", "ap"]
    results = yaml.safe_load(files[".eval_results/01-A_B.yaml"])
    assert [(row["dataset"]["task_id"], row["value"]) for row in results[:2]] == [
        ("c_at_1", 33.3333),
        ("c_at_5", 66.6667),
    ]
    assert {row["dataset"]["id"] for row in results} == {"lab/shapes"}


def test_the_metadata_name_every_input_by_its_hash(label_set: LabelSet) -> None:
    files = release(label_set)
    run = label_set.benchmark.runs.get()
    entities = json.loads(files["prov.json"])["entity"]
    assert {name: entity["h:sha256"] for name, entity in entities.items()} == {
        "h:captions": label_set.benchmark.captions_sha256,
        "h:judgments": label_set.judgments_sha256,
        "h:labels": label_set.sha256,
        "h:run-1": run.sha256,
    }
    described = json.loads(files["croissant.json"])
    assert described["conformsTo"] == [
        "http://mlcommons.org/croissant/1.0",
        "http://mlcommons.org/croissant/RAI/1.0",
    ]
    for file in described["distribution"]:
        assert file["sha256"] == hashlib.sha256(files[file["contentUrl"]]).hexdigest()
    assert [record_set["name"] for record_set in described["recordSet"]] == ["labels", "judgments"]
    for record_set in described["recordSet"]:
        sources = [field["source"] for field in record_set["field"]]
        (path,) = {source["fileObject"]["@id"] for source in sources}
        columns = [source["extract"]["column"] for source in sources]
        assert columns == parquet.read_table(io.BytesIO(files[path])).column_names
    (pooled,) = yaml.safe_load(files["ir-metadata.yml"])["method"]["runs"]
    assert (pooled["system"], pooled["sha256"]) == ("A|B", run.sha256)


def test_the_files_for_the_hub_have_the_keys_of_its_documents(label_set: LabelSet) -> None:
    """https://huggingface.co/docs/hub/eval-results; another framework than theirs is allowed."""
    files = release(label_set, hub_id="lab/shapes")
    described = yaml.safe_load(files["eval.yaml"])
    assert list(described) == ["name", "description", "evaluation_framework", "tasks"]
    assert {tuple(task) for task in described["tasks"]} == {("id", "config", "split")}
    for row in yaml.safe_load(files[".eval_results/01-A_B.yaml"]):
        assert set(row) <= {"dataset", "value", "date", "source", "evaluation_framework", "notes"}
        assert list(row["dataset"]) == ["id", "task_id"]
        assert row["dataset"]["task_id"] in {task["id"] for task in described["tasks"]}
        assert row["evaluation_framework"] == described["evaluation_framework"]
        assert isinstance(row["value"], float)
        assert isinstance(row["date"], str)


def test_datacite_accepts_its_metadata(label_set: LabelSet) -> None:
    schema = pytest.importorskip("datacite.schema45")
    described = json.loads(release(label_set)["datacite.json"])
    schema.validator.validate(described)
    assert described["titles"] == [{"title": "shapes: relevance labels 1.0.0"}]
    (other,) = described["alternateIdentifiers"]
    assert other["alternateIdentifier"] == f"sha256:{label_set.sha256}"


READ_CROISSANT = """
import json, sys
import mlcroissant
found = mlcroissant.Dataset(jsonld=sys.argv[1])
print(json.dumps({
    "issues": [*found.metadata.ctx.issues.errors, *found.metadata.ctx.issues.warnings],
    "annotations": found.metadata.annotations_per_item,
    "labels": [row["labels/label"] for row in found.records("labels")],
    "judgments": sum(1 for _ in found.records("judgments")),
}))
"""


def test_croissant_is_read_with_its_judgments(label_set: LabelSet, tmp_path: Path) -> None:
    pytest.importorskip("mlcroissant")
    for path, content in release(label_set, licence="CC-BY-4.0").items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", READ_CROISSANT, str(tmp_path / "croissant.json")],
        env={**os.environ, "CROISSANT_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["issues"] == []
    assert found["annotations"] == "2.00 judgments per pair on average"
    # The pair of q1 is in conflict, so its label is empty.
    assert (found["labels"], found["judgments"]) == ([1.0, None], 4)


def test_a_withdrawn_run_is_marked_and_has_no_scores(label_set: LabelSet) -> None:
    run = label_set.benchmark.runs.get()
    withdraw_run(run=run, by=OPERATOR, reason="Wrong checkpoint")
    files = release(label_set)
    assert [name for name in files if name.startswith(".eval_results")] == []
    assert (
        "No run that existed at the time of publication has scores." in files["README.md"].decode()
    )
    assert f"sha256 `{run.sha256}`, withdrawn\n" in files["DATASHEET.md"].decode()
    (pooled,) = yaml.safe_load(files["ir-metadata.yml"])["method"]["runs"]
    assert (pooled["run"], pooled["withdrawn"]) == (run.name, True)
    assert json.loads(files["prov.json"])["entity"]["h:run-1"]["h:withdrawn"] is True


def test_a_program_finds_how_to_cite_the_labels(label_set: LabelSet, settings: Any) -> None:
    settings.PUBLISHER_EMAIL = "labels@example.org"
    settings.PUBLISHER_NAME = "Example"
    settings.PUBLISHER_WEBSITE = "https://example.org"
    cited = yaml.safe_load(release(label_set)["CITATION.cff"])
    published = label_set.created_at.date().isoformat()
    assert cited == {
        "cff-version": "1.2.0",
        "message": "Name the version and the SHA-256 of the labels.",
        "type": "dataset",
        "title": f"{label_set.benchmark.name}: relevance labels 1.0.0",
        "authors": [{"name": "Example", "email": "labels@example.org"}],
        "version": "1.0.0",
        "date-released": published,
        "license": "CC-BY-4.0",
        "url": "https://example.org",
        "identifiers": [
            {
                "type": "other",
                "value": f"sha256:{label_set.sha256}",
                "description": "SHA-256 of labels.csv.gz, uncompressed",
            }
        ],
    }
    assert "license" not in yaml.safe_load(release(label_set, licence="My own")["CITATION.cff"])


def test_captions_are_included_only_on_request(label_set: LabelSet) -> None:
    assert not any("größer".encode() in content for content in release(label_set).values())
    files = release(label_set, texts=True)
    table = parquet.read_table(io.BytesIO(files["data/labels.parquet"]))
    assert table.column("caption").to_pylist() == ["a red shape", "größer"]
    assert b'labels/caption"' in files["croissant.json"]


def test_changes_compare_with_the_version_before(label_set: LabelSet, tmp_path: Path) -> None:
    add_judgments(tmp_path, label_set.benchmark, [("q2", "v2", "Dan", 0)])
    later = publish_label_set(benchmark=label_set.benchmark, allow_pending=True, by=OPERATOR)
    content = b"".join(open_export(later, "release"))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        changes = archive.read("shapes-labels-v1.1.0/CHANGES.md").decode()
    assert "- Pairs: 3 (+1)\n- Relevant: 1 (+0)\n- Judgments: 5 (+1)\n" in changes
    assert "- Pairs: 2\n" in changes
