"""The version of the code in checkouts, in a copy without git, and in an image."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.checks import CheckMessage
from django.test import override_settings

from hearth.shared import version
from hearth.shared.checks import check_commit
from hearth.shared.version import VERSION, code_version, find_commit, parse_commit
from tests.conftest import ROOT

HASH = "1771a4fd6ba8a0b1c2d3e4f5a6b7c8d9e0f1a2b3"
ALLOWED = [line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line[0] == "!"]
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="makes checkouts with git")


@pytest.fixture
def fresh() -> Iterator[None]:
    """Clear the cached version before and after the test."""
    code_version.cache_clear()
    yield
    code_version.cache_clear()


def git(folder: Path, *words: str) -> str:
    names = ["-c", "user.name=test", "-c", "user.email=test"]
    done = subprocess.run(
        ["git", *names, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with one commit."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "code.py").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=One")
    return folder


def head(folder: Path) -> str:
    return git(folder, "rev-parse", "HEAD")[:12]


# --- The commit -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "commit"),
    [
        (HASH, "1771a4fd6ba8"),
        ("1771a4fd6ba8\n", "1771a4fd6ba8"),
        ("1771A4F", "1771a4f"),
        ("1771a4fd6ba8-dirty", "1771a4fd6ba8-dirty"),
        ("v0.1.0-3-g1771a4fd6ba8-dirty", "1771a4fd6ba8-dirty"),
        ("v0.1.0", ""),
        ("main", ""),
        ("unknown", ""),
        ("1771a4", ""),
        ("", ""),
    ],
)
def test_a_commit_is_a_hash_of_at_most_twelve_digits(text: str, commit: str) -> None:
    assert parse_commit(text) == commit


@needs_git
def test_the_commit_of_a_checkout(checkout: Path) -> None:
    assert find_commit("", checkout) == head(checkout)
    git(checkout, "tag", "v1.0")
    assert find_commit("", checkout) == head(checkout)
    git(checkout, "checkout", "--quiet", "--detach")
    assert find_commit("", checkout) == head(checkout)


@needs_git
def test_uncommitted_changes_are_marked(checkout: Path) -> None:
    (checkout / "note.txt").write_text("not part of the code\n")
    assert find_commit("", checkout) == head(checkout)
    (checkout / "code.py").write_text("two\n")
    assert find_commit("", checkout) == head(checkout) + "-dirty"
    git(checkout, "commit", "--quiet", "--all", "--message=Two")
    assert find_commit("", checkout) == head(checkout)


@needs_git
@pytest.mark.parametrize("has_git", [True, False])
def test_packed_references_and_linked_worktrees(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, has_git: bool
) -> None:
    """Without the git program, the files in `.git` are read. They show no uncommitted changes."""
    linked = checkout.parent / "linked"
    git(checkout, "worktree", "add", "--quiet", "-b", "side", str(linked))
    (linked / "code.py").write_text("two\n")
    git(linked, "commit", "--quiet", "--all", "--message=Two")
    commits = {checkout: head(checkout), linked: head(linked)}
    assert len(set(commits.values())) == 2
    for pack in (False, True):
        if pack:
            git(checkout, "pack-refs", "--all")
            assert not (checkout / ".git" / "refs" / "heads" / "main").exists()
        with monkeypatch.context() as patch:
            if not has_git:
                patch.setenv("PATH", "")
            assert {folder: find_commit("", folder) for folder in commits} == commits
    git(checkout, "checkout", "--quiet", "--detach")
    (checkout / "code.py").write_text("three\n")
    if not has_git:
        monkeypatch.setenv("PATH", "")
    assert find_commit("", checkout) == commits[checkout] + ("-dirty" if has_git else "")


@needs_git
def test_a_git_that_does_not_respond_is_not_waited_for(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = head(checkout)
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(version, "GIT_SECONDS", 0.2)
    assert find_commit("", checkout) == commit


@needs_git
def test_variables_of_another_repository_are_ignored(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook of git, for example, runs with GIT_DIR set."""
    commit = head(checkout)
    monkeypatch.setenv("GIT_DIR", str(checkout.parent / "other"))
    assert find_commit("", checkout) == commit


@needs_git
def test_a_copy_inside_of_another_checkout_is_not_that_checkout(checkout: Path) -> None:
    copy = checkout / "var" / "copy"
    copy.mkdir(parents=True)
    assert find_commit("", copy) == ""
    (copy / ".git").mkdir()  # empty: neither git nor the files have a commit
    assert find_commit("", copy) == ""


@needs_git
def test_the_setting_takes_precedence(checkout: Path) -> None:
    assert find_commit(HASH, checkout) == HASH[:12]
    assert find_commit("main", checkout) == ""


# --- The version, and the check before a deployment --------------------------------------------


def failures() -> list[CheckMessage]:
    return check_commit(app_configs=None)


@pytest.mark.parametrize("setting", [HASH, "1771a4fd6ba8-dirty"])
def test_the_version_names_the_commit(fresh: None, setting: str) -> None:
    with override_settings(HEARTH_COMMIT=setting):
        assert code_version() == f"{VERSION}+{parse_commit(setting)}"
        assert failures() == []
    # The version is cached for the process.
    with override_settings(HEARTH_COMMIT="0000000"):
        assert code_version() == f"{VERSION}+{parse_commit(setting)}"


def test_an_unknown_commit_fails_the_check(fresh: None) -> None:
    with override_settings(HEARTH_COMMIT="main"):
        assert code_version() == "0.1.0+unknown"
        assert [(failure.id, failure.level) for failure in failures()] == [("hearth.E001", 40)]
        assert "HEARTH_COMMIT is 'main', which is not the hash of a commit" in failures()[0].msg


# --- A copy without .git, as an image has it ----------------------------------------------------


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the files that .dockerignore admits to the image."""
    folder = tmp_path_factory.mktemp("image") / "app"
    folder.mkdir()
    for name in ALLOWED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "vendor")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def start(image: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    ours = ("HEARTH_", "DJANGO_", "DATABASE_URL", "REDIS_URL", "GIT_")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
    production = {
        "HEARTH_HOME": str(image.parent / "home"),
        "ALLOWED_HOSTS": "hearth.example",
        "SECRET_KEY": "k" * 60 + "0123456789",
        "DATABASE_URL": "postgres://db.example/hearth",
        "REDIS_URL": "redis://redis.example:6379/0",
    }
    return subprocess.run(
        [sys.executable, "-B", "manage.py", *words],
        cwd=image,
        env={**kept, **production, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


DEPLOY = "check --deploy --fail-level WARNING".split()
SHOW = ["shell", "--verbosity=0", "--command"]
SHOW += ["from hearth.shared.version import code_version; print(code_version())"]


def test_a_copy_without_git_is_not_ready_to_be_deployed(image: Path) -> None:
    assert not (image / ".git").exists()
    done = start(image, *DEPLOY)
    assert done.returncode == 1
    assert done.stderr.count("hearth.") == 1
    assert "HEARTH_COMMIT is not set, and git names no commit of the code." in done.stderr
    # The build of an image runs only this check, without a host or a key.
    built = start(
        image, "check", "--deploy", "--tag=provenance", ALLOWED_HOSTS="localhost", SECRET_KEY=""
    )
    assert (built.returncode, "hearth.E001" in built.stderr) == (1, True)


def test_a_copy_without_git_takes_the_commit_from_the_environment(image: Path) -> None:
    done = start(image, *DEPLOY, HEARTH_COMMIT=HASH)
    assert (done.returncode, done.stderr) == (0, "")
    assert start(image, *SHOW, HEARTH_COMMIT=HASH).stdout == f"0.1.0+{HASH[:12]}\n"


def test_the_image_is_built_with_the_commit() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert "ARG HEARTH_COMMIT" in lines
    assert "ENV HEARTH_COMMIT=$HEARTH_COMMIT" in lines
    assert "    && python manage.py check --deploy --tag provenance \\" in lines
    assert "      HEARTH_COMMIT: ${HEARTH_COMMIT:-}" in (ROOT / "compose.yaml").read_text()
