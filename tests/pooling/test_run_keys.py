"""A matrix in another order than the benchmark, imported with a file of its keys in every way."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from hearth.shared.errors import InvalidInput
from hearth.shared.uploads import upload_names
from pooling import services
from pooling.core.lines import SourceFile
from pooling.models import Benchmark, Run
from pooling.selectors.runs import ranked_lists
from pooling.services import import_run
from tests.factories import make_benchmark, make_outsider, make_user
from tests.test_api import API, client_for

SCORES = np.array([[4, 1, 3, 2], [1, 2, 3, 4], [2, 4, 1, 3]], np.int16)
RANKED = [[0, 2, 3, 1], [3, 2, 1, 0], [1, 3, 0, 2]]
CAPTIONS, VIDEOS = [2, 0, 1], [3, 1, 0, 2]  # the number in each row and column of the file
KEYS = {"captions": [f"c{n}" for n in CAPTIONS], "videos": [f"v{n}" for n in VIDEOS]}


def matrix() -> bytes:
    out = io.BytesIO()
    np.save(out, SCORES[CAPTIONS][:, VIDEOS])
    return out.getvalue()


def sent(keys: dict[str, list[str]] = KEYS) -> dict[str, Any]:
    return {
        "file": SimpleUploadedFile("m.npy", matrix()),
        "keys": SimpleUploadedFile("k.json", json.dumps(keys).encode()),
        "system": "S",
        "format": "auto",
    }


def by_command(folder: Path) -> None:
    (folder / "m.npy").write_bytes(matrix())
    (folder / "k.json").write_text(json.dumps(KEYS))
    paths = str(folder / "m.npy"), "--keys", str(folder / "k.json")
    call_command("import_run", "tiny", *paths, "--system", "S")


def by_page(folder: Path) -> None:
    client = Client()
    client.force_login(make_user("rosa", Role.RESEARCHER))
    client.post("/benchmarks/tiny/runs/new/", sent())


def by_api(folder: Path) -> None:
    answer = client_for(Role.RESEARCHER).post(API + "benchmarks/tiny/runs/", sent())
    assert answer.status_code == 202


def for_scoring(folder: Path) -> None:
    services.change_public_page(
        benchmark=Benchmark.objects.get(), changes={"is_public": True}, by=OPERATOR
    )
    client = Client()
    client.force_login(make_outsider("olga"))
    client.post("/public/tiny/runs/new/", sent())


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("send", [by_command, by_page, by_api, for_scoring])
def test_a_matrix_is_imported_with_its_keys(tmp_path: Path, send: Callable[[Path], None]) -> None:
    make_benchmark(tmp_path, captions=3, videos=4)
    send(tmp_path)
    if send is not by_command:
        job = Job.objects.get()
        assert len(upload_names(job.params)) == 2
        run_job(job.pk)
    assert ranked_lists(Run.everything.get()).items.tolist() == RANKED


@pytest.mark.django_db
def test_wrong_keys_are_refused(tmp_path: Path) -> None:
    benchmark = make_benchmark(tmp_path, captions=3, videos=4)
    (tmp_path / "m.npy").write_bytes(matrix())
    (tmp_path / "a.run").write_text("c0 Q0 v0 1 1 x\n")
    path = tmp_path / "k.json"
    for keys, file, reason in (
        ({**KEYS, "videos": ["v3", "v1", "v0"]}, "m.npy", "k.json: the video 'v2' is missing"),
        ({**KEYS, "captions": [*KEYS["captions"], "c9"]}, "m.npy", "k.json: the benchmark has no "
         "caption 'c9'"),
        (KEYS, "a.run", "a.run: only a .npy matrix can have a file of keys"),
    ):  # fmt: skip
        path.write_text(json.dumps(keys))
        with pytest.raises(InvalidInput) as refused:
            import_run(
                benchmark=benchmark,
                path=tmp_path / file,
                source=file,
                system="S",
                keys=SourceFile(path, "k.json"),
                by=OPERATOR,
            )
        assert str(refused.value) == reason
    assert not Run.objects.exists()
