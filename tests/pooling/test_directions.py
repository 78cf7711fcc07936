"""Runs of both directions: names, whole matrices, pools, exports and what the database refuses."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.storage import storages
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from hearth.accounts.actors import OPERATOR
from hearth.jobs.deleting import delete
from hearth.jobs.models import Job
from hearth.shared.errors import InvalidInput, Outdated
from pooling.models import Benchmark, Run
from pooling.selectors.pools import pair_arrays
from pooling.selectors.runs import (
    deepest_lists,
    find_runs,
    pooled_codes_of,
    ranked_lists,
    ranks_in_run,
)
from pooling.services import ImportedRun
from tests.factories import build_pool, import_run, make_benchmark

pytestmark = pytest.mark.django_db

# Captions in rows, videos in columns. 0.30001 and 0.30002 are equal in float16.
SCORES = [[0.9, 0.1, 0.2, 0.3], [0.4, 0.30001, 0.30002, 0.6], [0.0, 0.8, 0.7, -1.0]]
TO_VIDEO = [[0, 3, 2, 1], [3, 0, 2, 1], [1, 2, 0, 3]]
TO_TEXT = [[0, 1, 2], [2, 1, 0], [2, 1, 0], [1, 0, 2]]
NAMES = ["model", "model (video-to-text)"]


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return make_benchmark(tmp_path, captions=3, videos=4)


def import_matrix(folder: Path, benchmark: Benchmark, **options: Any) -> ImportedRun:
    path = folder / "m.npy"
    np.save(path, np.array(SCORES, np.float32))
    return import_run(benchmark=benchmark, path=path, system="model", **options)


def stored_files() -> set[str]:
    folder = Path(storages["matrices"].path(""))
    return {path.name for path in folder.glob("*")} if folder.exists() else set()


def test_one_matrix_is_two_runs_of_one_system(benchmark: Benchmark, tmp_path: Path) -> None:
    before = stored_files()
    done = import_matrix(tmp_path, benchmark, direction="both", depth=2)
    assert done.also is not None
    runs = [done.run, done.also.run]
    assert [run.name for run in runs] == NAMES
    assert [run.direction for run in runs] == ["text-to-video", "video-to-text"]
    assert [(run.sha256, run.system_id) for run in runs] == [
        (done.run.sha256, runs[0].system_id)
    ] * 2
    assert [(run.depth, run.n_queries) for run in runs] == [(2, 3), (2, 4)]
    assert ranked_lists(runs[0]).items.tolist() == [row[:2] for row in TO_VIDEO]
    assert ranked_lists(runs[1]).items.tolist() == [row[:2] for row in TO_TEXT]
    assert [deepest_lists(run).items.tolist() for run in runs] == [TO_VIDEO, TO_TEXT]
    similarities = [np.load(run.similarities.path) for run in runs]
    assert similarities[0].tolist() == np.array(SCORES, np.float16).tolist()
    assert similarities[1].tolist() == similarities[0].T.tolist()
    assert len(stored_files() - before) == 4
    assert (done.report()["run"], done.report()["also"]["run"]) == (NAMES[0], NAMES[1])
    # Both runs are scored.
    assert Job.objects.filter(kind="evaluate").count() == 2

    again = import_matrix(tmp_path, benchmark, direction="both", depth=2)
    assert again.also is not None
    assert (again.created, again.also.created) == (False, False)
    assert Run.objects.count() == 2
    assert len(stored_files() - before) == 4


def test_the_direction_is_in_the_name_if_no_name_is_given(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    back = import_matrix(tmp_path, benchmark, direction="video-to-text").run
    named = import_matrix(tmp_path, benchmark, direction="video-to-text", depth=1, name="mine").run
    assert (back.name, named.name) == (NAMES[1], "mine")
    assert find_runs(benchmark, direction=back.facing) == [named, back]


def test_a_deleted_run_has_no_files(
    benchmark: Benchmark, tmp_path: Path, django_capture_on_commit_callbacks: Any
) -> None:
    before = stored_files()
    done = import_matrix(tmp_path, benchmark, direction="both")
    with django_capture_on_commit_callbacks(execute=True):
        delete(done.run, by=OPERATOR)
    assert done.also is not None
    kept = {done.also.run.similarities.name, done.also.run.order.name}
    assert stored_files() - before == kept


def test_a_run_of_lists_has_no_matrix(benchmark: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("v0 Q0 c1 1 1 t\nv0 Q0 c0 2 0 t\n")
    run = import_run(benchmark=benchmark, path=path, system="s", direction="video-to-text").run
    assert (run.has_matrix, run.similarities_sha256) == (False, "")
    assert ranked_lists(run).items.tolist() == [[1, 0], [-1, -1], [-1, -1], [-1, -1]]
    assert deepest_lists(run).items.tolist() == ranked_lists(run).items.tolist()
    with pytest.raises(InvalidInput, match=r"only a \.npy matrix contains a run of each direction"):
        import_run(benchmark=benchmark, path=path, system="s", direction="both")
    with pytest.raises(InvalidInput, match="The direction must be one of"):
        import_run(benchmark=benchmark, path=path, system="s", direction="back")


@pytest.mark.postgresql
@pytest.mark.parametrize(
    "fields",
    [{"direction": "back"}, {"order": "a.npy"}, {"similarities": "a.npy", "order": "b.npy"}],
)
def test_the_database_refuses_an_invalid_run(
    benchmark: Benchmark, tmp_path: Path, fields: Any
) -> None:
    run = import_matrix(tmp_path, benchmark).run
    Run.objects.filter(pk=run.pk).update(similarities="", similarities_sha256="", order="")
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(**fields)


def test_captions_that_change_meanwhile_stop_the_import(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    def change(done: int, total: int | None, phase: str = "") -> None:
        Benchmark.objects.update(captions_sha256="f" * 64)

    with pytest.raises(Outdated, match=r"^The captions have changed in the meantime\."):
        import_matrix(tmp_path, benchmark, progress=change)
    assert Run.objects.count() == 0


def test_a_pool_has_the_top_captions_of_each_video(benchmark: Benchmark, tmp_path: Path) -> None:
    run = import_matrix(tmp_path, benchmark, direction="video-to-text").run
    space = benchmark.pair_space
    # The caption at rank 1 of each video: c0 v0, c2 v1, c2 v2, c1 v3.
    wanted = sorted(space.encode(c, v) for c, v in ((0, 0), (2, 1), (2, 2), (1, 3)))
    assert sorted(pooled_codes_of(run, 1).tolist()) == wanted
    pool = build_pool(benchmark=benchmark, depth=1, run_names=[run.name]).pool
    assert (pool.n_pairs, pair_arrays(benchmark).codes.tolist()) == (4, wanted)
    codes = np.array([space.encode(0, 1), space.encode(2, 1), space.encode(1, 0)])
    for all_rows in (True, False):
        assert ranks_in_run(run, codes, None, all_rows=all_rows).tolist() == [2, 0, 1]


def test_an_exported_run_is_imported_in_its_direction(
    benchmark: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = import_matrix(tmp_path, benchmark, direction="video-to-text").run
    path = tmp_path / "out.txt"
    call_command("export_run", "tiny", run.name, "--output", str(path), "--json")
    assert json.loads(capsys.readouterr().out)["direction"] == "video-to-text"
    assert path.read_text().splitlines()[0] == "v0 Q0 c0 1 0.9 model_(video-to-text)"
    options = ["tiny", str(path), "--system", "other"]
    with pytest.raises(CommandError, match="so this is a video-to-text run"):
        call_command("import_run", *options)
    call_command("import_run", *options, "--direction", "video-to-text", "--json")
    report = json.loads(capsys.readouterr().out)
    assert (report["run"], report["queries"]) == ("other (video-to-text)", 4)
    again = find_runs(benchmark, [report["run"]])[0]
    assert ranked_lists(again).items.tolist() == TO_TEXT


def test_an_exported_matrix_has_captions_in_rows(benchmark: Benchmark, tmp_path: Path) -> None:
    done = import_matrix(tmp_path, benchmark, direction="both")
    assert done.also is not None
    for run in (done.run, done.also.run):
        path = tmp_path / "out.npy"
        call_command("export_run", "tiny", run.name, "--format", "npy", "--output", str(path))
        assert np.load(path).tolist() == np.array(SCORES, np.float16).tolist()
    other = tmp_path / "run.txt"
    other.write_text("c0 Q0 v1 1 1 t\n")
    lists = import_run(benchmark=benchmark, path=other, system="L").run
    with pytest.raises(CommandError, match="has ranked lists only, and no whole matrix"):
        call_command("export_run", "tiny", lists.name, "--format", "npy", "--output", str(path))


def test_an_archive_has_a_run_in_each_file_or_none(benchmark: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "runs.zip"
    lines = "c0 Q0 v0 1 2.0 x\nc1 Q0 v1 1 1.0 x\n"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("runs/one.run", lines)
        made.writestr("__MACOSX/._one.run", "x")
        made.writestr("runs/two.json", '{"c0": ["v1"], "c1": ["v0"]}')
    done = import_run(benchmark=benchmark, path=path, system="s")
    assert [done.run.name, done.also and done.also.run.name] == ["s one", "s two"]
    assert (done.run.format, done.report()["also"]["run"]) == ("trec", "s two")

    with zipfile.ZipFile(path, "w") as made:
        made.writestr("three.run", lines.replace("v1", "v0"))
        made.writestr("four.run", "c9 Q0 v0 1 2.0 x\n")
    with pytest.raises(InvalidInput) as error:
        import_run(benchmark=benchmark, path=path, system="t")
    assert str(error.value) == f"{path}: four.run, line 1: unknown caption 'c9'"
    assert not Run.objects.filter(system__key="t").exists()
