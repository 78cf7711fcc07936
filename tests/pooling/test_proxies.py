"""Proxies are stored, exported and deleted. Bad input stores nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.audit.models import AuditEntry
from hearth.jobs.deleting import delete
from hearth.shared.errors import Cancelled, Conflict, InvalidInput, NotPermitted, Outdated
from hearth.shared.progress import Progress
from pooling.core.lines import SourceFile
from pooling.core.proxies.options import Method, ProxyOptions
from pooling.core.proxies.stop_words import NO_STOP_WORDS
from pooling.models import Benchmark, Proxy
from pooling.selectors.proxies import get_proxy, values_of_proxy
from pooling.services import (
    archive_benchmark,
    compute_proxy,
    import_embeddings,
    import_proxy,
)
from tests.factories import import_benchmark, make_user, row_counts, write_captions, write_videos
from tests.pooling.core.proxies.made_wordnet import make_wordnet
from tests.pooling.core.tiny_model import make_tiny_model

pytestmark = pytest.mark.django_db

ROWS = [
    ("c0", "wash hands", "v0"),
    ("c1", "rinse a hand", "v0"),
    ("c2", "take the car", "v1"),
]
PLAIN = ProxyOptions(Method.BOW, stop_words=NO_STOP_WORDS)
# Captions in rows, videos in columns. A video has the words of all its captions.
COMPUTED = [[0.4, 0.0, 0.0], [0.6, 0.0, 0.0], [0.0, 1.0, 0.0]]


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    captions = write_captions(tmp_path, ROWS)
    videos = write_videos(tmp_path, [(f"v{i}", "", "") for i in range(3)])
    return import_benchmark(key="tiny", captions=captions, videos=videos).benchmark


def matrix_file(folder: Path, values: Any, name: str = "model.npy") -> Path:
    np.save(folder / name, np.array(values))
    return folder / name


def values(proxy: Proxy) -> list[list[float]]:
    return values_of_proxy(proxy).astype(float).round(3).tolist()


def stored_files() -> set[Path]:
    return {path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()}


def cancel_at(step: int) -> Progress:
    """Return a progress function that cancels when it is called for the nth time, from 0."""
    steps = count()

    def report(done: int, total: int | None, phase: str = "") -> None:
        if next(steps) == step:
            raise Cancelled

    return report


def reports_of(way: Callable[..., object]) -> int:
    """Run a function, roll back its writes, and return the number of its progress reports."""
    steps: list[int] = []
    with transaction.atomic():
        way(progress=lambda done, total, phase="": steps.append(done))
        transaction.set_rollback(True)
    return len(steps)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    call_command(*arguments, "--json")
    return json.loads(capsys.readouterr().out)


def test_a_proxy_is_computed(benchmark: Benchmark) -> None:
    rita = make_user("rita", Role.RESEARCHER)
    done = compute_proxy(benchmark=benchmark, options=PLAIN, by=rita)
    proxy = done.proxy
    assert (proxy.name, proxy.method, proxy.created_by) == ("BoW", "BoW", rita)
    assert values(proxy) == [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert values_of_proxy(proxy).dtype == np.float16
    assert proxy.options["own captions"] == "1"
    assert (proxy.captions_sha256, proxy.source) == (benchmark.captions_sha256, "")
    assert list(AuditEntry.objects.filter(act="proxy_computed").values_list("by", "after")) == [
        (rita.pk, {"method": "BoW", "sha256": proxy.sha256})
    ]


def test_the_same_values_are_stored_once(benchmark: Benchmark) -> None:
    options = ProxyOptions(Method.BOW, stop_words=NO_STOP_WORDS, own_is_one=False)
    first = compute_proxy(benchmark=benchmark, options=options, by=OPERATOR)
    again = compute_proxy(benchmark=benchmark, options=options, name="other", by=OPERATOR)
    other = compute_proxy(benchmark=benchmark, options=PLAIN, by=OPERATOR)
    assert values(first.proxy) == COMPUTED
    assert (first.created, again.created, other.created) == (True, False, True)
    assert (again.proxy, other.proxy.name) == (first.proxy, "BoW@2")


def test_a_proxy_of_changed_captions_is_not_stored(benchmark: Benchmark) -> None:
    def change(done: int, total: int | None, phase: str = "") -> None:
        Benchmark.objects.update(captions_sha256="f" * 64)

    with pytest.raises(Outdated, match=r"^The captions or videos have changed\."):
        compute_proxy(benchmark=benchmark, options=PLAIN, by=OPERATOR, progress=change)
    assert Proxy.objects.count() == 0


def test_cancelling_at_any_step_stores_nothing(benchmark: Benchmark, tmp_path: Path) -> None:
    common: Any = {"benchmark": benchmark, "by": OPERATOR}
    embeddings = SourceFile(matrix_file(tmp_path, np.eye(3)), "model.npy")
    ways: list[Callable[..., object]] = [
        partial(compute_proxy, options=PLAIN, **common),
        partial(import_proxy, path=embeddings.path, **common),
        partial(import_embeddings, captions=embeddings, videos=None, **common),
    ]
    reports = [(way, reports_of(way)) for way in ways]
    before = row_counts(), stored_files()
    for way, number in reports:
        assert number > 1
        for step in range(number):
            with pytest.raises(Cancelled):
                way(progress=cancel_at(step))
    assert (row_counts(), stored_files()) == before


def test_a_proxy_is_imported(benchmark: Benchmark, tmp_path: Path) -> None:
    path = matrix_file(tmp_path, [[0.25, 1 / 3, 0.0]] * 3)
    done = import_proxy(benchmark=benchmark, path=path, by=OPERATOR)
    assert (done.proxy.name, done.proxy.method, done.proxy.source) == (
        "model",
        "imported",
        "model.npy",
    )
    assert values(done.proxy) == [[0.25, 0.333, 0.0]] * 3
    assert AuditEntry.objects.filter(act="proxy_imported").count() == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (np.zeros((3, 2)), "the matrix is 3 x 2, but the benchmark has 3 x 3 (captions x videos)"),
        (
            np.full((3, 3), 1.01),
            "a value is not from 0 to 1: 1.01 (row 0, column 0, counted from 0)",
        ),
        (
            np.full((3, 3), np.nan),
            "a value is not from 0 to 1: nan (row 0, column 0, counted from 0)",
        ),
        (
            np.zeros((3, 3), np.int64),
            "the values have the type int64; use float16, float32, float64",
        ),
        (
            np.full((3, 3), None),
            "this is not a .npy matrix of numbers; save the matrix with numpy.save",
        ),
        (b"not a matrix", "this is not a .npy matrix of numbers; save the matrix with numpy.save"),
        (b"", "this is not a .npy matrix of numbers; save the matrix with numpy.save"),
    ],
)
def test_a_wrong_file_stores_nothing(benchmark, tmp_path, content, reason) -> None:
    path = tmp_path / "a.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content, allow_pickle=True)
    before = row_counts()
    with pytest.raises(InvalidInput) as error:
        import_proxy(benchmark=benchmark, path=path, by=OPERATOR, source="a.npy")
    assert str(error.value) == f"a.npy: {reason}"
    assert row_counts() == before


@pytest.mark.postgresql
def test_the_database_refuses_a_name_in_use_and_an_unknown_method(benchmark: Benchmark) -> None:
    proxy = compute_proxy(benchmark=benchmark, options=PLAIN, by=OPERATOR).proxy
    for change in ({}, {"method": "new", "name": "a"}):
        row = {"benchmark": benchmark, "name": proxy.name, "method": "BoW", "sha256": proxy.sha256}
        with pytest.raises(IntegrityError), transaction.atomic():
            Proxy.objects.create(**row | change)


def test_captions_keep_their_numbers_while_a_proxy_exists(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    compute_proxy(benchmark=benchmark, options=PLAIN, by=OPERATOR)
    captions = write_captions(tmp_path, [*ROWS, ("c3", "run", "v2")])
    with pytest.raises((Conflict, InvalidInput)):
        import_benchmark(key="tiny", captions=captions, update=True)
    benchmark.refresh_from_db()
    assert benchmark.n_queries == 3


def test_a_proxy_is_deleted_with_its_file(
    benchmark: Benchmark, django_capture_on_commit_callbacks
) -> None:
    rita, otto = (make_user(name, Role.RESEARCHER) for name in ("rita", "otto"))
    proxy = compute_proxy(benchmark=benchmark, options=PLAIN, by=rita).proxy
    path = Path(proxy.file.path)
    with pytest.raises(NotPermitted):
        delete(proxy, by=otto)
    with django_capture_on_commit_callbacks(execute=True):
        delete(proxy, by=rita)
    assert (Proxy.objects.count(), path.exists()) == (0, False)
    assert AuditEntry.objects.get(act="proxy_deleted").after == {"proxy": 1}
    path = Path(compute_proxy(benchmark=benchmark, options=PLAIN, by=rita).proxy.file.path)
    with django_capture_on_commit_callbacks(execute=True):
        delete(benchmark, by=OPERATOR)
    assert (Proxy.objects.count(), path.exists()) == (0, False)


def test_an_archived_benchmark_accepts_no_proxy(benchmark: Benchmark) -> None:
    archive_benchmark(benchmark=benchmark, by=OPERATOR)
    with pytest.raises(Conflict, match=r"^This benchmark is archived\."):
        compute_proxy(benchmark=benchmark, options=PLAIN, by=OPERATOR)


# --- Commands -----------------------------------------------------------------------------------


def test_commands_compute_export_import_and_delete(benchmark, tmp_path, capsys) -> None:
    plain = ("--stop-words", "none", "--own-as-computed")
    computed = printed(capsys, "compute_proxy", "tiny", "bow", *plain)
    assert (computed["proxy"], computed["captions"], computed["videos"]) == ("BoW", 3, 3)
    output = tmp_path / "bow.npy"
    exported = printed(capsys, "export_proxy", "tiny", "BoW", "--output", str(output))
    assert np.load(output).astype(float).round(3).tolist() == COMPUTED
    keys = json.loads(Path(exported["keys"]).read_text())
    assert (keys["captions"], keys["videos"]) == (["c0", "c1", "c2"], ["v0", "v1", "v2"])
    assert keys["sha256"] == computed["sha256"]
    again = printed(capsys, "import_proxy", "tiny", str(output))
    assert (again["proxy"], again["method"], again["created"]) == ("bow", "imported", True)
    assert again["sha256"] == computed["sha256"]
    deleted = printed(capsys, "delete", "tiny", "--proxy", "BoW", "--yes")
    assert deleted == {"deleted": True, "rows": {"proxy": 1}, "obstacles": []}
    with pytest.raises(InvalidInput) as error:
        get_proxy(benchmark, "BoW")
    assert str(error.value) == "There is no proxy 'BoW' in tiny. The proxies are: bow."


def test_options_of_the_command(benchmark, tmp_path, capsys) -> None:
    def options_of(*arguments: str) -> dict[str, str]:
        return printed(capsys, "compute_proxy", "tiny", *arguments)["options"]

    wordnet = ("--wordnet", str(make_wordnet(tmp_path / "wordnet")))
    (tmp_path / "words").write_text("a\nthe\n")
    stated = options_of("bow", "--stop-words", str(tmp_path / "words"), "--percent", "50")
    assert stated["stop words"] == "own (2 words)"
    assert stated["least share of captions"] == "50 %"
    stated = options_of("meteor", "--synonyms-of-words", *wordnet)
    assert stated["synonyms"] == "of words, WordNet 3.0"
    stated = options_of("syn", "--commands", *wordnet)
    assert stated["senses"] == "WordNet 3.0, simplified Lesk"
    for name, word in (("verbs", "wash"), ("nouns", "hand")):
        (tmp_path / name).write_text(f"id,instances\n0,['{word}']\n")
    classes = ("--verb-classes", str(tmp_path / "verbs"), "--noun-classes", str(tmp_path / "nouns"))
    stated = options_of("syn", *classes, "--lemmas-by-tagger", "--commands")
    assert stated["senses"] == "table of classes, lemmas by HanTa"
    stated = options_of("embedding", "--model", str(make_tiny_model(tmp_path / "model")))
    assert stated["model"].startswith("model, ")
    assert stated["own captions"] == "1"
    names = ["BoW", "METEOR", "SYN", "SYN@2", "embedding"]
    assert sorted(Proxy.objects.values_list("name", flat=True)) == names


def test_the_command_imports_embeddings_and_keys(benchmark, tmp_path, capsys) -> None:
    matrix_file(tmp_path, np.eye(3), "c.npy")
    paths = ("--caption-embeddings", str(tmp_path / "c.npy"))
    made = printed(capsys, "import_proxy", "tiny", *paths, "--own-as-computed", "--name", "e")
    assert (made["method"], made["options"]["own captions"]) == ("embeddings", "as computed")
    half = round(0.5**0.5, 3)
    assert values(get_proxy(benchmark, "e")) == [
        [half, 0.0, 0.0],
        [half, 0.0, 0.0],
        [0.0, 1.0, 0.0],
    ]
    keys = {"captions": ["c1", "c0", "c2"], "videos": ["v0", "v1", "v2"]}
    (tmp_path / "k.json").write_text(json.dumps(keys))
    arguments = (str(tmp_path / "c.npy"), "--keys", str(tmp_path / "k.json"))
    printed(capsys, "import_proxy", "tiny", *arguments)
    assert values(get_proxy(benchmark, "c")) == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    with pytest.raises(CommandError, match="Name either the file of a matrix, or embeddings"):
        call_command("import_proxy", "tiny")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--percent", "0"], "The minimum share must be from 1 to 100 %."),
        (["--verb-classes", "x"], "Add both tables, the classes of verbs and those of nouns."),
        (["--stop-words", "/no/file"], "/no/file: the file cannot be read as text in UTF-8"),
        (["--name", " "], "The name of a proxy must have"),
    ],
)
def test_invalid_options_are_refused(benchmark, arguments, reason) -> None:
    with pytest.raises(CommandError) as error:
        call_command("compute_proxy", "tiny", "bow", *arguments)
    assert reason in str(error.value)
    assert Proxy.objects.count() == 0
