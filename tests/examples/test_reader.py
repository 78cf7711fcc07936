"""The example of a reader: page, API and command use it, and its errors name the line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.core.readers.judgments import JUDGMENTS
from annotation.models import Judgment
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from pooling.models import Benchmark
from tests import factories
from tests.examples.judgment_lines import EXAMPLE, READER

LINES = '{"caption": "c0", "video": "v1", "by": "anna", "relevant": true}\n' * 2


@pytest.fixture
def benchmark(db: None, tmp_path: Path) -> Benchmark:
    return factories.make_benchmark(tmp_path, captions=3, videos=3)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "judged.jsonl"
    path.write_text(LINES.replace("c0", "c1", 1))
    return path


def test_the_command_recognises_and_reads_the_format(
    benchmark: Benchmark, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with JUDGMENTS.including(READER):
        call_command("import_judgments", benchmark.key, str(file), "--json")
    assert json.loads(capsys.readouterr().out)["judgments"] == 2
    stored = Judgment.objects.order_by("pk").values_list("task__pair__query__key", "label")
    assert list(stored) == [("c1", 1), ("c0", 1)]


def test_the_page_and_the_api_offer_the_format(benchmark: Benchmark, client: Client) -> None:
    client.force_login(factories.make_user("lena", Role.LEAD))
    sent = SimpleUploadedFile("judged.jsonl", LINES.encode())
    with JUDGMENTS.including(READER):
        page = client.get(f"/benchmarks/{benchmark.key}/judgments/new/").content.decode()
        answer = client.post(
            f"/api/v1/benchmarks/{benchmark.key}/judgment-imports/",
            {"file": sent, "format": "lines"},
        )
    assert "<dt>JSON lines</dt>" in page
    assert '<option value="lines">JSON lines</option>' in page
    assert answer.status_code == 202
    assert Job.objects.get().params["format"] == "lines"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{}", f"the line is not like {EXAMPLE}: 'caption'"),
        ("[]", f"the line is not like {EXAMPLE}: the line is not a JSON object"),
        (EXAMPLE.replace("c1", "c9").replace("v7", "v1"), "unknown caption 'c9'"),
    ],
)
def test_an_error_names_file_and_line(
    benchmark: Benchmark, file: Path, line: str, reason: str
) -> None:
    file.write_text(f"{LINES.splitlines()[0]}\n{line}\n")
    with JUDGMENTS.including(READER), pytest.raises(CommandError) as refused:
        call_command("import_judgments", benchmark.key, str(file))
    assert str(refused.value) == f"{file}, line 2: {reason}"
    assert Judgment.objects.count() == 0


def test_a_file_that_fits_two_formats_is_a_question(benchmark: Benchmark, file: Path) -> None:
    other = replace(READER, name="others", title="Other lines")
    with JUDGMENTS.including(READER), JUDGMENTS.including(other):
        with pytest.raises(CommandError) as refused:
            call_command("import_judgments", benchmark.key, str(file))
        assert str(refused.value) == (
            f"{file}: this fits several formats: JSON lines, Other lines; choose the format "
            "(lines, others)"
        )
        assert Judgment.objects.count() == 0
        call_command("import_judgments", benchmark.key, str(file), "--format", "others")
    assert Judgment.objects.count() == 2
