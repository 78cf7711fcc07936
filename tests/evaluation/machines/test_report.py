"""The report of a machine judge against people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from evaluation.machines.core.report import Compared, Sampling, alpha_of_two
from evaluation.machines.request import MachineRequest
from evaluation.machines.services import judge_by_machine
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from pooling.core.lines import SourceFile
from pooling.models import Benchmark
from tests import factories

pytestmark = pytest.mark.django_db

# Labels of v1, v2 and v3 for each of eight captions, whose own video is v0; and the machine's p.
LABELS = {"c0": (1, 0, 0), "c1": (1, 1, 0), "c2": (0, 0, 0), "c3": (0, 1, 0)}
LABELS |= {"c4": (1, 0, 1), "c5": (0, 0, 0), "c6": (1, 0, 0), "c7": (0, 0, 1)}
P = {"c0": (0.9, 0.2, 0.1), "c1": (0.6, 0.4, 0.0), "c2": (0.7, 0.1, 0.1), "c3": (0.2, 0.8, 0.3)}
P |= {"c4": (0.4, 0.1, 0.9), "c5": (0.1, 0.5, 0.2), "c6": (0.8, 0.3, 0.1)}  # c7 was not asked
RUNS = {
    "first": ("v1", "v2"),
    "third": ("v3", "v2"),
    "r0": ("v2", "v0"),
    "r1": ("v2", "v3"),
    "r2": ("v0",),
}


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    rows = [(key, f"a dog runs {key}", "v0") for key in LABELS]
    benchmark = factories.import_benchmark(
        key="tiny",
        captions=factories.write_captions(tmp_path, rows),
        videos=factories.write_videos(tmp_path, [(f"v{i}", "", "") for i in range(4)]),
    ).benchmark
    for name, videos in RUNS.items():
        lists = {key: list(videos) for key in LABELS}
        factories.make_run(tmp_path, benchmark, lists, name=name, system=name)
    judgments = [
        (key, f"v{place + 1}", person, label if person == "ann" or key != "c0" else 1 - label)
        for key, labels in LABELS.items()
        for place, label in enumerate(labels)
        for person in (("ann", "otto") if key in ("c0", "c1") else ("ann",))
    ]
    factories.add_judgments(tmp_path, benchmark, judgments)
    path = tmp_path / "p.csv"
    rows_of_p = [f"{key},v{i + 1},{p}" for key, row in P.items() for i, p in enumerate(row)]
    path.write_text("\n".join(["caption_id,video_id,p", *rows_of_p]))
    request = MachineRequest(file=SourceFile.at(path), machine="film", version="2", family="clip")
    judge_by_machine(benchmark=benchmark, request=request, by=OPERATOR)
    publish_label_set(benchmark=benchmark, by=OPERATOR, allow_pending=True)
    return benchmark


def report(benchmark: Benchmark, **options: Any) -> dict[str, Any]:
    question = build_question(get_analysis("machine"), benchmark, {"measures": "C@1", **options})
    return analyse(question=question).result


def test_the_figures_of_a_machine(benchmark: Benchmark) -> None:
    result = report(benchmark)
    (row,) = result["machines"]
    # c0 is in conflict and has no label. 18 pairs of c1 to c6 have one; 6 of them are relevant.
    labels = np.array([label for key in list(LABELS)[1:7] for label in LABELS[key]])
    p = np.array([value for key in list(P)[1:] for value in P[key]])
    assert (row["pairs"], row["machine"], row["name"]) == (18, "film", "film 2")
    assert row["base_rate"] == pytest.approx(labels.mean())
    assert row["called"] == pytest.approx((p >= 0.5).mean())
    assert row["sensitivity"] == pytest.approx((p[labels == 1] >= 0.5).mean())
    assert row["specificity"] == pytest.approx((p[labels == 0] < 0.5).mean())
    assert row["brier"] == pytest.approx(((p - labels) ** 2).mean(), abs=1e-6)
    assert row["sensitivity_interval"][0] < row["sensitivity"] < row["sensitivity_interval"][1]
    biases = {found["run"]: found for found in result["systems"]}
    first = np.arange(18) % 3 != 2  # v1 and v2
    assert biases["first"]["pairs"] == 12
    assert biases["first"]["bias"] == pytest.approx((p - labels)[first].mean(), abs=1e-6)
    groups = {found["group"]: found["pairs"] for found in result["groups"]}
    assert groups["rank 1"] == 18
    assert groups["captions of 1 to 6 words"] == 18
    assert sum(found["pairs"] for found in result["calibration"]) == 18


def test_alphas_are_those_of_two_labels(benchmark: Benchmark) -> None:
    (row,) = report(benchmark)["machines"]
    # Between the first and the second person, three of six pairs differ.
    first = np.array([1, 0, 0, 1, 1, 0])
    second = np.array([0, 1, 1, 1, 1, 0])
    assert row["people_alpha"] == pytest.approx(alpha_of_two(first, second).value)
    people = np.array([label for key in P for label in LABELS[key]])
    machine = np.array([int(p >= 0.5) for row in P.values() for p in row])
    assert row["alpha"] == pytest.approx(alpha_of_two(machine, people).value)


def test_what_the_machine_alone_would_report(benchmark: Benchmark) -> None:
    result = report(benchmark)
    alone = {row["run"]: row for row in result["alone"]}
    # Of v1 at rank 1, people call 3 of 8 relevant (without c0), and the machine c0 c1 c2 c6.
    assert (alone["first"]["people"], alone["first"]["alone"]) == (3 / 8, 4 / 8)
    assert alone["first"]["asked"] == pytest.approx(7 / 8)
    (order,) = result["orders"]
    assert order["systems"] == 5
    assert report(benchmark, runs=["first", "third"])["orders"] == []
    result = get_analysis("machine").load(result)
    assert result.findings()[0].startswith("Used alone, film would report C@1 +12.5 points for")
    assert "not asked" in result.warnings()[0]
    assert [chart.name for chart in result.charts()] == ["calibration", "systems"]


def test_the_page_shows_the_report(benchmark: Benchmark, client: Any) -> None:
    client.force_login(factories.make_user("res", Role.RESEARCHER))
    page = client.get("/benchmarks/tiny/analyses/machine/")
    assert page.status_code == 200


def test_intervals_resample_videos() -> None:
    rng = np.random.default_rng(3)
    videos = np.repeat(np.arange(40), 10)
    of_video = rng.random(40)[videos]
    p = np.clip(of_video + rng.normal(0, 0.05, 400), 0, 1)
    compared = Compared(np.arange(400), p, rng.random(400) < 0.5, videos)
    alone = Compared(np.arange(400), p, compared.relevant, np.arange(400))
    every = np.ones(400, np.bool_)
    wide, narrow = (one.bias(every, Sampling(500, 0.95, 0)).interval for one in (compared, alone))
    assert wide is not None
    assert narrow is not None
    assert wide[1] - wide[0] > 1.3 * (narrow[1] - narrow[0])
