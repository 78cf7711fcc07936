"""Label sets in the form of ir_datasets, from a release and from a site."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from django.core.management import call_command

from evaluation.models import LabelSet
from evaluation.release.exports import ExportOptions, open_export
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth_client import ClientError, Dataset, Hearth
from pooling.models import Benchmark
from tests.accounts.world import make_member, token_of
from tests.conftest import ROOT
from tests.evaluation.scores.test_scores import evaluate_runs, only
from tests.factories import add_judgments, make_benchmark, make_run
from tests.webserver import WebServer

pytestmark = pytest.mark.django_db(transaction=True)
RUN = {"c0": ["v1", "v2", "v0"], "c1": ["v0", "v1"]}
LABELS = [("c0", "v1", "a", 1), ("c0", "v2", "a", 0), ("c1", "v0", "a", 0)]
QRELS = [
    ("c0", "v0", 1, "0"),  # an original positive
    ("c0", "v1", 1, "0"),
    ("c0", "v2", 0, "0"),
    ("c1", "v0", 0, "0"),
    ("c1", "v1", 1, "0"),
]


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    made = make_benchmark(tmp_path, captions=2, videos=4)
    make_run(tmp_path, made, RUN, system="S")
    add_judgments(tmp_path, made, LABELS)
    publish_label_set(benchmark=made, by=OPERATOR)
    call_command("export_run", "tiny", "S", output=tmp_path / "my.run", verbosity=0)
    return made


def release(folder: Path, **options: Any) -> Path:
    path = folder / "release.zip"
    pieces = open_export(LabelSet.objects.get(), "release", ExportOptions(**options))
    path.write_bytes(b"".join(pieces))
    return path


def test_the_rows_of_a_release_have_the_fields_of_ir_measures(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    file = release(tmp_path, texts=True)
    with zipfile.ZipFile(file) as archive:
        archive.extractall(tmp_path / "unpacked")
    (folder,) = (tmp_path / "unpacked").iterdir()
    for source in (file, folder):
        dataset = Dataset.of_release(source, tmp_path / "my.run")
        assert list(dataset.qrels_iter()) == QRELS
        assert list(dataset.queries_iter()) == [("c0", "caption 0"), ("c1", "caption 1")]
        assert list(dataset.docs_iter()) == [("v0", None), ("v1", None), ("v2", None)]
        assert dataset.qrels_dict()["c1"] == {"v0": 0, "v1": 1}
    assert next(dataset.qrels_iter())._fields == ir_measures.Qrel._fields
    assert next(dataset.scoreddocs_iter())._fields == ir_measures.ScoredDoc._fields
    own = list(ir_measures.read_trec_run(str(tmp_path / "my.run")))
    assert list(dataset.scoreddocs_iter()) == own
    without = Dataset.of_release(release(tmp_path))
    assert list(without.queries_iter()) == [("c0", ""), ("c1", "")]
    assert (without.has_scoreddocs(), dataset.has_scoreddocs()) == (False, True)
    with pytest.raises(ClientError, match="has no run"):
        next(without.scoreddocs_iter())


def test_ir_measures_computes_the_scores_of_the_site(benchmark: Benchmark, tmp_path: Path) -> None:
    names = "C@1 C@5 P@5 AP RR".split()
    ours = only(evaluate_runs(benchmark=benchmark, measures=names, by=OPERATOR)).labelled
    dataset = Dataset.of_release(release(tmp_path), tmp_path / "my.run")
    measures = [ir_measures.parse_measure(name.replace("C@", "Success@")) for name in names]
    theirs = ir_measures.calc_aggregate(measures, dataset.qrels_iter(), dataset.scoreddocs_iter())
    found = {str(name).replace("Success@", "C@"): value for name, value in theirs.items()}
    assert ours == pytest.approx(found, abs=1e-12)
    example = ROOT / "client/examples/measure_with_ir_measures.py"
    done = subprocess.run(
        [sys.executable, example, tmp_path / "release.zip", tmp_path / "my.run"],
        env={"PYTHONPATH": str(ROOT / "client")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[0] == f"Success@1 {found['C@1']:.4f}"


def test_a_site_has_all_captions_and_videos(server: WebServer, benchmark: Benchmark) -> None:
    token = token_of(make_member("rita", Role.RESEARCHER, of="tiny"))
    dataset = Dataset.of_site(Hearth(server.url, token).benchmark("tiny"))
    assert list(dataset.qrels_iter()) == QRELS
    assert list(dataset.queries_iter()) == [("c0", "caption 0"), ("c1", "caption 1")]
    assert [doc.doc_id for doc in dataset.docs_iter()] == ["v0", "v1", "v2", "v3"]


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("caption_id\n")
    with pytest.raises(ClientError, match="is not a release"):
        Dataset.of_release(tmp_path / "labels.csv")
    with pytest.raises(ClientError, match=r"has no file labels\.qrels"):
        list(Dataset.of_release(tmp_path).qrels_iter())
    (tmp_path / "labels.qrels").write_text("c0 0 v0 1\nc0 v1 1\n")
    with pytest.raises(ClientError, match="line 2: expected 4 cells, found 3"):
        list(Dataset.of_release(tmp_path).qrels_iter())
    (tmp_path / "labels.qrels").write_text("c0 0 v0 1\nc0 0 v1 yes\n")
    with pytest.raises(ClientError, match=r"labels\.qrels, line 2: 'yes' is not a number\."):
        list(Dataset.of_release(tmp_path).qrels_iter())
    run = tmp_path / "my.run"
    run.write_text("c0 Q0 v0 1 high mine\n")
    with pytest.raises(ClientError, match=r"my\.run, line 1: 'high' is not a number\."):
        list(Dataset.of_release(tmp_path, run).scoreddocs_iter())
