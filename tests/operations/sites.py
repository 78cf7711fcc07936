"""Other installations of Hearth, run as processes with their own database and folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

from tests.conftest import ROOT
from tests.databases import create_again, empty_postgresql, migrate
from tests.loaded import LoadedSite

# Computes the values that must be equal in two copies of a site.
DESCRIBE = """
import gzip, hashlib
from django.apps import apps
from annotation.models import Judgment, JudgmentTask
from hearth.accounts.actors import OPERATOR
from django.db.models import Sum
from evaluation.models import LabelSet
from evaluation.core.files.label_file import render_labels
from evaluation.release.selectors import current_labels
from pooling.models import Benchmark, Video

def label_hash(benchmark):
    now = current_labels(benchmark)
    text = render_labels(now.labels, now.query_keys, now.video_keys)
    return hashlib.sha256(text).hexdigest()

models = apps.get_models(include_auto_created=True)
result = {
    "rows": {m._meta.db_table: m._base_manager.count() for m in models},
    "labels": [label_hash(one) for one in Benchmark.objects.order_by("key")],
    "published": [
        [one.sha256, hashlib.sha256(gzip.decompress(one.file.read())).hexdigest()]
        for one in LabelSet.objects.order_by("pk")
    ],
    "judged": [
        JudgmentTask.objects.aggregate(n=Sum("labels_live"))["n"],
        Judgment.objects.filter(state="live").count(),
    ],
    "videos": [one.file.read().decode() for one in Video.objects.order_by("pk") if one.file],
}
"""
PRINT = """
import json
print("RESULT" + json.dumps(result))
"""


# Prints the operator's entries of the audit log as JSON.
ACTS = """
import json
from hearth.audit.models import AuditEntry
entries = AuditEntry.objects.filter(by=None).order_by("pk")
names = ("act", "interface", "object_type", "object_id", "after")
print("ACTS" + json.dumps(list(entries.values_list(*names))))
"""


def describe_this_site() -> dict[str, Any]:
    """Describe the site of this process like `Site.describe`."""
    names: dict[str, Any] = {}
    exec(DESCRIBE, names)  # noqa: S102
    described: dict[str, Any] = names["result"]
    return described


@dataclass(frozen=True)
class Site:
    """An installation. All its programs get `variables` in their environment."""

    home: Path
    database_url: str
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        names = {"HEARTH_HOME": str(self.home), "DATABASE_URL": self.database_url}
        return {**os.environ, **names, **self.variables}

    @cached_property
    def loaded(self) -> LoadedSite:
        return LoadedSite(self.environment)

    def migrate(self) -> None:
        """Migrate the empty database."""
        migrate(self.environment)

    def empty(self) -> None:
        """Remove all tables and files, so that another test can use the site."""
        shutil.rmtree(self.home)
        # The settings create this folder when they are loaded, which happens only once.
        incoming = Path(settings.FILE_UPLOAD_TEMP_DIR).relative_to(settings.HEARTH_HOME)
        (self.home / incoming).mkdir(parents=True)
        if self.database_url.startswith("postgres"):
            create_again(self.database_url)

    def manage(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run manage.py on this site, in a separate process.

        If there are no `variables`, the process is a fork of one that has loaded Django.
        """
        if not variables:
            return self.loaded.run("manage.py", *words)
        return subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    def result_of(self, *words: str, **variables: str) -> Any:
        """Run a command with --json and return its result."""
        done = self.manage(*words, "--json", **variables)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def evaluate(self, code: str) -> Any:
        """Run code in Django's shell, and return the value of its variable `result`."""
        done = self.manage("shell", "--verbosity=0", "-c", code + PRINT)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.partition("RESULT")[2])

    def describe(self) -> dict[str, Any]:
        described: dict[str, Any] = self.evaluate(DESCRIBE)
        return described

    def acts(self, act: str) -> list[list[Any]]:
        """Return the operator's entries of the audit log for an act.

        Each entry has the interface, the type and primary key of the object, and the new values.
        """
        done = self.manage("shell", "--verbosity=0", "-c", ACTS)
        assert done.returncode == 0, done.stderr
        return [one[1:] for one in json.loads(done.stdout.partition("ACTS")[2]) if one[0] == act]


@contextmanager
def empty_site(folder: Path) -> Iterator[Site]:
    """Yield a site without tables, on the kind of database that the tests run on."""
    home = folder / f"home-{uuid.uuid4().hex[:8]}"
    home.mkdir()
    if connection.vendor == "sqlite":
        yield Site(home, f"sqlite:///{home / 'hearth.sqlite3'}")
        return
    with empty_postgresql(os.environ["DATABASE_URL"]) as url:
        yield Site(home, url)
