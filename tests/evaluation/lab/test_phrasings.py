"""The analysis of what several phrasings gain, by the original positives and by labels."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.phrasings import NO_LISTS
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from pooling.models import Benchmark
from pooling.phrasings.models import Phrasing
from pooling.phrasings.services import NewPhrasing, store_phrasings
from pooling.services import import_run
from tests.factories import add_judgments, make_benchmark, make_user

pytestmark = pytest.mark.django_db

# The first videos of c0 to c3. Their original positives are v0 to v3.
LISTS = {
    "c0": "v1 v0", "c0#1": "v0 v1", "c0#2": "v0 v1",
    "c1": "v2 v1", "c1#1": "v1 v2", "c1#2": "v1 v2",
    "c2": "v2 v0", "c2#1": "v0 v2", "c2#2": "v0 v2",
    "c3": "v3 v0",
}  # fmt: skip


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    found = make_benchmark(tmp_path, captions=4, videos=4)
    rows = [
        NewPhrasing(query=query, text=f"word{number} {query}", origin="person", number=number)
        for query in range(3)
        for number in (1, 2)
    ]
    store_phrasings(benchmark=found, name="p", rows=rows, by=OPERATOR)
    lines = [
        f"{key} Q0 {video} {rank} {1 / rank} t\n"
        for key, videos in LISTS.items()
        for rank, video in enumerate(videos.split(), start=1)
    ]
    path = tmp_path / "s.run"
    path.write_text("".join(lines))
    import_run(benchmark=found, path=path, system="sys", by=OPERATOR)
    # People find the first video of c1 itself relevant, too, so that fusion gains nothing there.
    judged = [("c1", "v2", "ann", 1), ("c2", "v0", "ann", 0)]
    add_judgments(tmp_path, found, judged)
    publish_label_set(benchmark=found, by=OPERATOR, allow_pending=True)
    return found


def test_the_gain_by_originals_and_by_people(benchmark: Benchmark) -> None:
    analysis = get_analysis("phrasings")
    found = analyse(question=build_question(analysis, benchmark, {})).result
    alone, plurality = found["rules"][:2]
    assert (alone["c1"], alone["labelled_c1"], alone["gain"]) == (0.5, 0.75, 0)
    # c0 and c1 gain, and c2 loses; by people, only c0 gains and c2 loses.
    assert (plurality["rule"], plurality["phrasings"]) == ("Plurality vote", 2)
    assert (plurality["c1"], plurality["labelled_c1"]) == (0.75, 0.75)
    assert (plurality["gain"], plurality["labelled_gain"], plurality["lost"]) == (0.25, 0, 0.25)
    assert plurality["bounds"] == [0.75, 0.75]
    oracle = next(row for row in found["rules"] if row["rule"] == "Oracle (upper bound)")
    assert oracle["c1"] == 1
    (text,) = analysis.findings(found)
    assert text.startswith(
        "Plurality vote changes C@1 of sys by + 25.0 points by the original positives and by "
        "+ 0.0 points by people. The difference of the two gains is + 25.0 points (95 % interval "
    )
    changed = [(row["change"], row["caption_id"], row["after"]) for row in found["changed"]]
    assert changed == [("gains", "c0", "v0"), ("loses", "c2", "v0")]
    spread = found["wordings"][0]
    assert (spread["alone"], spread["best"], spread["worst"]) == (0.5, 0.75, 0.5)
    assert spread["changed"] == 0.75
    # A caption costs four similarities for each of its lists; c3 has a single one.
    costs = {(row["selection"], row["phrasings"]): row["cost"] for row in found["counts"]}
    assert (costs["Farthest query sampling", 1], costs["Farthest query sampling", 2]) == (7, 10)
    assert [chart.name for chart in analysis.charts(found)] == ["cost"]
    # With both phrasings of each caption, any selection is all of them.
    every = next(row for row in found["counts"] if row["phrasings"] == 2)
    for name in ("c5", "mean", "labelled_c1", "labelled_mean", "lost", "unjudged", "bounds"):
        assert every[name] == plurality[name]


def test_the_page_shows_all_tables_and_links_captions_to_the_comparison(
    benchmark: Benchmark, client: Client
) -> None:
    client.force_login(make_user("rita", Role.RESEARCHER))
    analyse(question=build_question(get_analysis("phrasings"), benchmark, {}))
    page = client.get("/benchmarks/tiny/analyses/phrasings/")
    assert page.status_code == 200
    text = page.content.decode()
    for title in (
        "Rules, all phrasings",
        "Rules, all phrasings, by people’s labels",
        "Numbers of phrasings, by Plurality vote",
        "Numbers of phrasings, by Plurality vote, by people’s labels",
        "Robustness to the wording, C@1",
        "Captions that change by Plurality vote",
        "Cost and gain",
    ):
        assert f"{title}</" in text
    for link in re.findall(r'href="([^"]*/compare/[^"]*first=sys[^"]*)"', text):
        assert client.get(unescape(link)).status_code == 200
    assert len(re.findall(r'href="[^"]*/compare/[^"]*caption=c[02]', text)) == 2


def test_phrasings_of_the_right_video_are_an_upper_bound(benchmark: Benchmark) -> None:
    Phrasing.objects.filter(number=2).update(origin="caption")
    analysis = get_analysis("phrasings")
    found = analyse(question=build_question(analysis, benchmark, {"labels": "original"})).result
    (text,) = analysis.findings(found)
    assert text.startswith("As an upper bound, Plurality vote changes C@1 of sys")
    assert "People’s labels are needed" in text
    assert any("no system has" in warning for warning in analysis.warnings(found))


def test_a_benchmark_without_phrasings_gets_the_reason(tmp_path: Path) -> None:
    analysis = get_analysis("phrasings")
    question = build_question(analysis, _with_plain_run(tmp_path), {})
    assert analysis.warnings(analyse(question=question).result)[0] == NO_LISTS


def _with_plain_run(folder: Path) -> Benchmark:
    benchmark = make_benchmark(folder, captions=2, videos=2)
    path = folder / "plain.run"
    path.write_text("c0 Q0 v0 1 1 t\n")
    import_run(benchmark=benchmark, path=path, system="plain", by=OPERATOR)
    return benchmark
