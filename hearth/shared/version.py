"""The version of the code that computes a number."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path

from django.conf import settings

VERSION = "0.1.0"
UNKNOWN = "unknown"
ROOT = Path(__file__).resolve().parent.parent.parent
HASH_LENGTH = 12
GIT_SECONDS = 5
# A hash, or the output of `git describe` after a tag: v0.1.0-3-g1771a4fd6ba8-dirty
COMMIT = re.compile(r"(?:.*-g)?(?P<hash>[0-9a-f]{7,64})(?P<dirty>-dirty)?")
# Tags are excluded, so that the text is always a hash.
DESCRIBE = ["describe", "--always", "--dirty", f"--abbrev={HASH_LENGTH}", "--exclude=*"]


@cache
def code_version() -> str:
    """Return `0.1.0+<commit>`, with `-dirty` for uncommitted changes, or `0.1.0+unknown`.

    The first call sets the version for the whole process. The evaluation app makes this call at the
    start, because the files may change while the process runs.
    """
    return f"{VERSION}+{find_commit(settings.HEARTH_COMMIT, ROOT) or UNKNOWN}"


def find_commit(setting: str, root: Path) -> str:
    """Return the commit of the code below `root`: 12 digits of its hash, perhaps `-dirty`.

    `setting` is the value of HEARTH_COMMIT and takes precedence. Return an empty text if the
    value is not a commit, or if it is empty and `root` is not a checkout.
    """
    if setting:
        return parse_commit(setting)
    if not (root / ".git").exists():
        return ""
    return parse_commit(_described(root)) or parse_commit(_head(root))


def parse_commit(text: str) -> str:
    """Return the hash in `text`, cut to 12 digits, and its dirty mark; empty if there is none."""
    found = COMMIT.fullmatch(text.strip().lower())
    return found["hash"][:HASH_LENGTH] + (found["dirty"] or "") if found else ""


def _described(root: Path) -> str:
    """Return the output of git for the checkout, or an empty text if git cannot run."""
    # Inside a hook of another repository, these variables name that repository.
    environment = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_CEILING_DIRECTORIES": str(root.parent)}
    try:
        done = subprocess.run(
            # The account that runs the server may not own the checkout.
            ["git", "-c", f"safe.directory={root}", *DESCRIBE],
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=GIT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def _head(root: Path) -> str:
    """Return the hash of HEAD from git's files, for machines without the git program.

    Uncommitted changes go unnoticed here.
    """
    try:
        folder = root / ".git"
        if folder.is_file():  # a linked worktree, or a submodule
            folder = root / folder.read_text().removeprefix("gitdir:").strip()
        link = folder / "commondir"
        shared = folder / link.read_text().strip() if link.is_file() else folder
        head = (folder / "HEAD").read_text().strip()
        if not head.startswith("ref:"):
            return head
        return _reference(shared, head.removeprefix("ref:").strip())
    except OSError:
        return ""


def _reference(folder: Path, name: str) -> str:
    """Return the hash of a branch, from its own file or the file of packed references."""
    if (folder / name).is_file():
        return (folder / name).read_text()
    lines = (folder / "packed-refs").read_text().splitlines()
    return next((line.split()[0] for line in lines if line.endswith(f" {name}")), "")
