"""All charts of the lab in Chromium, for a typical and for extreme results, wide and narrow."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

import numpy as np
import pytest
from django.test import Client
from django.utils.html import strip_tags

from annotation.services import import_judgments
from evaluation.lab.analyses import ANALYSES, Analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.jobs.services import run_job
from hearth.shared.errors import InvalidInput
from pooling.models import Benchmark
from tests import factories
from tests.e2e import rooms
from tests.e2e.barriers import is_sound
from tests.e2e.waiting import wait_until
from tests.evaluation.lab.golden.world import INPUT, RUNS
from tests.factories import build_pool, import_benchmark, import_run

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page

# Rows and marks that have the same structure as those before them. Checking them takes seconds.
REPEATED = "tbody tr:nth-child(n + 6), svg .role-mark > :nth-child(n + 6)"
# Width and theme.
WIDE, NARROW, LIGHT = (1400, "dark"), (390, "dark"), (390, "light")
# With these options, the names in the chart of `slices` are above their dots.
BY_TAGS = {"by": "tags"}
# Options for the same charts with fewer samples.
SMALLER = {"resamples": "100", "moments": "4", "sizes": "50 200"}
# Turn on the warnings of Vega, which the page turns off. Vega warns of domains without values, of
# numbers outside of a scale, and of ignored settings.
WARN = """(() => {
  let embed;
  Object.defineProperty(window, "vegaEmbed", {
    set: (original) => { embed = original; },
    get: () => (plot, spec, options) => embed(plot, spec, { ...options, logLevel: 2 }),
  });
})()"""
# This warning is expected: the charts are as wide as the page, and their height depends on the
# rows.
MEANT = 'Dropping "fit-y" because spec has discrete height.'
DRAWN = "() => [...document.querySelectorAll('.lab-chart')].every((chart) => chart.view)"
# Charts without any mark for a number, and numbers that are not finite.
FAULTS = """() => [
  ...[...document.querySelectorAll('.lab-chart')]
    .filter((chart) => !chart.querySelector('svg .role-mark :is(path, line, text)'))
    .map((chart) => `${chart.dataset.file} is empty`),
  ...[...document.querySelectorAll('main td.num, main svg text')]
    .map((cell) => cell.textContent)
    .filter((text) => /NaN|undefined|Infinity|None|null|0000/.test(text)),
]"""

# Boxes that hide a part of their chart or table.
HIDDEN = """(boxes) => [...document.querySelectorAll(boxes)]
  .filter((box) => box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight)
  .map((box) => box.getAttribute("aria-labelledby"))"""


def make_full(folder: Path) -> Benchmark:
    """Make a benchmark with three runs, ties, missing lists and conflicts."""
    import_benchmark(key="full", captions=INPUT / "captions.csv", videos=INPUT / "videos.csv")
    benchmark = Benchmark.objects.get(key="full")
    for name, file in RUNS.items():
        import_run(benchmark=benchmark, path=INPUT / file, system=name)
    build_pool(benchmark=benchmark, depth=6)
    import_judgments(benchmark=benchmark, by=OPERATOR, path=INPUT / "judgments.csv")
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    factories.add_train_captions(folder, benchmark, "a red circle", "a blue square turns")
    tags = [("v000", "dark"), ("v001", "dark"), ("v001", "two shapes")]
    factories.add_tags(folder, benchmark, *tags, of="video_id")
    add_proxies(folder, benchmark, "quarters", "halves")
    path = folder / "matrix.npy"
    np.save(path, np.random.default_rng(0).random((benchmark.n_queries, benchmark.n_videos)))
    import_run(benchmark=benchmark, path=path, system="matrix", direction="both", depth=10)
    return benchmark


def add_proxies(folder: Path, benchmark: Benchmark, *names: str) -> None:
    """Add proxies with random values. The values of the first one are multiples of a quarter."""
    size = (benchmark.n_queries, benchmark.n_videos)
    for number, name in enumerate(names):
        levels = max(1, 4 - number)
        values = np.random.default_rng(number).integers(0, levels + 1, size) / levels
        factories.add_proxy(folder, benchmark, values, name)


def make_lonely(folder: Path) -> Benchmark:
    """Make a benchmark with one caption, one video, one run and no judgments."""
    benchmark = factories.make_benchmark(folder, captions=1, videos=1, key="lonely")
    factories.make_run(folder, benchmark, {"c0": ["v0"]})
    return benchmark


def make_single(folder: Path) -> Benchmark:
    """Make a benchmark with one caption, two runs, and a single label of an original positive."""
    benchmark = factories.make_benchmark(folder, captions=1, videos=2, key="single")
    for system, videos in (("A", ["v0"]), ("B", ["v0", "v1"])):
        factories.make_run(folder, benchmark, {"c0": videos}, system=system)
    build_pool(benchmark=benchmark, depth=1)
    factories.add_judgments(folder, benchmark, [("c0", "v0", "anna", 1)])
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    add_proxies(folder, benchmark, "quarters", "thirds")
    return benchmark


def make_crowded(folder: Path) -> Benchmark:
    """Make a benchmark with sixteen runs and seven proxies with long names."""
    benchmark = factories.make_benchmark(folder, captions=12, videos=8, key="crowded")
    for number in range(16):
        lists = {
            f"c{caption}": [f"v{(caption * number + place * (2 * (number % 4) + 1)) % 8}"
                            for place in range(8)]
            for caption in range(12)
        }  # fmt: skip
        name = f"{number}, a system with a name that nobody would want to read out aloud"
        factories.make_run(folder, benchmark, lists, system=name)
    build_pool(benchmark=benchmark, depth=3)
    labels = [
        (f"c{caption}", f"v{video}", annotator, int((caption * video + number) % 3 == 0))
        for caption in range(12)
        for video in range(8)
        for number, annotator in enumerate(("anna", "ben", "cem")[: 1 + caption % 3])
    ]
    factories.add_judgments(folder, benchmark, labels)
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    names = (f"{number}, a proxy with a name that is much too long" for number in range(7))
    add_proxies(folder, benchmark, *names)
    return benchmark


# Accessibility is checked in both themes, but not with long names.
@pytest.mark.parametrize(
    ("make", "look"),
    [(make_full, WIDE), (make_crowded, NARROW), (make_lonely, NARROW), (make_single, LIGHT)],
)
def test_charts_are_complete_and_fit_the_page(
    transactional_db: None,
    tmp_path: Path,
    new_page: Callable[[], Page],
    live_server: Any,
    page_problems: list[str],
    make: Callable[[Path], Benchmark],
    look: tuple[int, str],
) -> None:
    benchmark, (width, theme) = make(tmp_path), look
    page = open_page(new_page, live_server.url, page_problems)
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    for analysis, own in [
        *((analysis, {}) for analysis in ANALYSES.values()),
        (ANALYSES["slices"], BY_TAGS),
    ]:
        smaller = {name: SMALLER[name] for name in analysis.form.base_fields if name in SMALLER}
        options = smaller | own
        address = f"/benchmarks/{benchmark.key}/analyses/{analysis.name}/?{urlencode(options)}"
        charts = count_charts(analysis, benchmark, options)
        if isinstance(charts, str):
            assert charts in text_of_refusal(address)
            continue
        page.goto(address)
        assert page.locator(".lab-chart").count() == charts, address
        wait_until(page, DRAWN)
        assert page.evaluate(FAULTS) == [], address
        assert page.evaluate("document.documentElement.scrollWidth") == width, address
        if make in (make_full, make_crowded):
            boxes = ".lab-box" if width < 1400 else ".lab-box, .lab-part .table-box"
            assert page.evaluate(HIDDEN, boxes) == [], address
        if make is not make_crowded:
            is_sound(page, but=REPEATED)


def open_page(new_page: Callable[[], Page], url: str, problems: list[str]) -> Page:
    page = rooms.sign_in(new_page().context, url, factories.make_user("rita", Role.RESEARCHER))
    page.add_init_script(WARN)

    def listen(message: ConsoleMessage) -> None:
        if message.type == "warning" and MEANT not in message.text:
            problems.append(f"{page.url}: {message.text}")

    page.on("console", listen)
    return page


def count_charts(
    analysis: Analysis[Any, Any], benchmark: Benchmark, options: dict[str, str]
) -> int | str:
    """Return the number of charts of the result, or the reason why it is not available."""
    try:
        question = build_question(analysis, benchmark, options)
        return len(analysis.charts(analyse(question=question).result))
    except InvalidInput as error:
        return error.reason


def text_of_refusal(address: str) -> str:
    """Return the text of the page. If the page begins a job, do the job first."""
    client = Client()
    client.force_login(User.objects.get(username="rita"))
    path, _, options = address.partition("?")
    client.post(f"{path}compute/", dict(parse_qsl(options)))
    for job in Job.objects.filter(finished_at=None):
        run_job(job.pk)
    return html.unescape(strip_tags(client.get(address).content.decode()))
