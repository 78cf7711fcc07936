"""The second benchmark of the demo: moments, whose edges are known, marked by simulated people.

The annotators see a change, react after their own time and press a key. In training, the correct
edges are known, so their reaction time is measured, and later marks are shifted by it.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from django.db import transaction

from annotation import services
from annotation.core.spans import SECONDS_OVER
from annotation.enums import GoldUse, Only
from annotation.models import Annotator, Assignment, Campaign
from annotation.questions.spans.reaction import reaction_time
from annotation.selectors.training import find_training_queue
from evaluation.demo.changing import (
    SECONDS,
    ChangingBenchmark,
    Span,
    hits,
    make_changing,
)
from evaluation.demo.files import write_table
from evaluation.demo.people import count_labels, get_or_create_annotator
from evaluation.demo.render import render_all
from evaluation.release.services import publish_label_set
from evaluation.scores.selectors import stored_scores
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.shared.progress import Progress
from pooling.core.pool_options import PoolOptions
from pooling.models import Benchmark, Video
from pooling.moments.selectors import moment_lists
from pooling.selectors.pools import pair_arrays
from pooling.selectors.runs import find_runs
from pooling.services import Details, ImportFiles, build_pool, import_benchmark, import_run

KEY: Final = "changing-shapes"
SYSTEMS: Final = ("motion-finder", "colour-finder")
COLUMNS: Final = ("VCMR@1(tIoU>=0.5)", "SVMR@1(tIoU>=0.5)")
DEPTH, POOLED = 10, 4
GOLD = 6
# The share of answers that is left for people who try the demo.
LEFT_FOR_VISITOR = 0.1
_CLAIM = 20
_ERROR = 0.03  # share of answers that are wrong
_MARKED = 0.12  # standard deviation of a mark in seconds


@dataclass(frozen=True, slots=True)
class Person:
    """A simulated annotator. reaction: the median seconds from a change to the key."""

    name: str
    number: int
    reaction: float


PEOPLE: Final = (Person("Jasna", 20, 0.28), Person("Kofi", 21, 0.42), Person("Lena", 22, 0.61))


def build_moments(seed: int, folder: Path, progress: Progress) -> None:
    """Build the benchmark up to its label set. An interrupted call is continued by the next."""
    found = Benchmark.objects.filter(key=KEY).first()
    if found is not None and found.label_sets.exists():
        return
    demo = make_changing(seed)
    benchmark = _import(demo, folder, progress)
    people = [(person, get_or_create_annotator(person.name)) for person in PEOPLE]
    _train(demo, benchmark, folder, people)
    campaign = Campaign.objects.filter(benchmark=benchmark, kind="judging").first()
    campaign = campaign or services.open_campaign(
        benchmark=benchmark,
        by=OPERATOR,
        policy=services.OFTEN_TWICE,
        seed=seed,
        name="Changing shapes, where",
        question="spans",
        only=Only.ALL,
    )
    planned = campaign.n_tasks + campaign.n_extra(campaign.n_tasks)
    _judge(demo, campaign, people, round(planned * (1 - LEFT_FOR_VISITOR)), progress)
    publish_label_set(benchmark=benchmark, by=OPERATOR, allow_pending=True)
    evaluate_runs(benchmark=benchmark, by=OPERATOR)


def _import(demo: ChangingBenchmark, folder: Path, progress: Progress) -> Benchmark:
    """Write the files, and import them with the ordinary services."""
    media = folder / "media"
    media.mkdir(parents=True, exist_ok=True)
    keys = demo.video_keys
    render_all(
        demo.scenes,
        [media / f"{key}.mp4" for key in keys],
        lambda d, t: progress(d, t, "drawing moments"),
    )
    captions, durations = folder / "sentences.txt", folder / "durations.csv"
    captions.write_text(
        "".join(
            f"{keys[line.video]} {line.span[0]} {line.span[1]}##{line.meaning.text}\n"
            for line in demo.lines
        ),
        encoding="utf-8",
    )
    write_table(durations, ("video", "duration"), ((key, str(SECONDS)) for key in keys))
    videos = folder / "videos.csv"
    write_table(videos, ("video_id", "file"), ((key, f"{key}.mp4") for key in keys))
    benchmark = import_benchmark(
        key=KEY,
        files=ImportFiles.of(captions, durations, videos=videos),
        details=Details(
            name="Changing shapes (demo)",
            licence="GPL-3.0-or-later",
            description="Shapes that change what they do at known times, drawn by Hearth. A "
            "caption is true of several moments, and the data set lists one of them.",
        ),
        media_dir=media,
        by=OPERATOR,
        progress=progress,
    ).benchmark
    for system in SYSTEMS:
        path = folder / f"{system}.csv"
        heads = ("caption_id", "video_id", "start", "end", "score")
        write_table(path, heads, _moments(demo, system))
        import_run(benchmark=benchmark, path=path, system=system, by=OPERATOR, progress=progress)
    build_pool(
        benchmark=benchmark, options=PoolOptions(depth=POOLED), by=OPERATOR, progress=progress
    )
    return benchmark


def _moments(demo: ChangingBenchmark, system: str) -> Iterator[tuple[str, ...]]:
    """Yield the moments of a system, best first for each caption.

    `motion-finder` sees what happens, with small errors, and confuses some colours and forms.
    `colour-finder` sees colours and forms, and proposes times where moments often are.
    """
    rng = random.Random(f"{system} {demo.seed}")
    for number, line in enumerate(demo.lines):
        found: list[tuple[float, str, Span]] = []
        for video, scene in enumerate(demo.scenes):
            (figure,) = scene.figures
            meaning = line.meaning
            alike = (meaning.colour in (None, figure.colour)) + (
                meaning.form in (None, figure.form)
            )
            if system == SYSTEMS[0]:
                spans = scene.spans(meaning.motion)
                seen = [_jittered(rng, span, 0.35) for span in spans]
            else:
                start = rng.uniform(0, SECONDS / 2)
                seen = [(start, start + rng.uniform(1, 3))]
            found += [(alike + rng.gauss(0, 0.45), demo.video_keys[video], span) for span in seen]
        best = sorted(found, reverse=True)[:DEPTH]
        for score, key, (start, end) in best:
            yield str(number + 1), key, f"{start:.2f}", f"{end:.2f}", f"{score:.4f}"


def _jittered(rng: random.Random, span: Span, deviation: float) -> Span:
    start = max(0.0, span[0] + rng.gauss(0, deviation))
    return start, min(SECONDS, max(start + 0.2, span[1] + rng.gauss(0, deviation)))


# --- People --------------------------------------------------------------------------------------

Team = list[tuple[Person, Annotator]]


def _train(demo: ChangingBenchmark, benchmark: Benchmark, folder: Path, people: Team) -> None:
    """Import gold items outside the pool, and let everyone answer them without a shift."""
    if find_training_queue(benchmark) is None:
        space = benchmark.pair_space
        pooled = {space.decode(code) for code in pair_arrays(benchmark).codes.tolist()}
        pairs = [
            (caption, video)
            for caption in range(len(demo.lines))
            for video in range(len(demo.scenes))
            if demo.spans(caption, video) and (caption, video) not in pooled
        ]
        chosen = random.Random(demo.seed).sample(pairs, GOLD)
        rows = (
            (str(caption + 1), demo.video_keys[video], str(start), str(end))
            for caption, video in chosen
            for start, end in demo.spans(caption, video)
        )
        path = folder / "gold.csv"
        write_table(path, ("caption_id", "video_id", "start", "end"), rows)
        services.import_gold(benchmark=benchmark, path=path, use=GoldUse.TRAINING, by=OPERATOR)
        lead = User.objects.get(username="lead")
        services.open_training(
            benchmark=benchmark, by=lead, name="Changing shapes, training", question="spans"
        )
    training = find_training_queue(benchmark)
    for person, annotator in people:
        while _session(demo, cast(Campaign, training), person, annotator, _CLAIM, None):
            pass


def _judge(
    demo: ChangingBenchmark, campaign: Campaign, people: Team, up_to: int, progress: Progress
) -> None:
    done = count_labels(campaign)
    idle = 0
    while done < up_to and idle < len(people):
        for person, annotator in people:
            shift = reaction_time(annotator)
            wanted = min(_CLAIM, up_to - done)
            new = _session(demo, campaign, person, annotator, wanted, shift) if wanted else 0
            done += new
            idle = 0 if new else idle + 1
            progress(done, up_to, "marking moments")
    for _, annotator in people:
        services.release_assignments(campaign=campaign, annotator=annotator)


# One transaction per work session, because the commit to disk takes most of the time.
@transaction.atomic
def _session(
    demo: ChangingBenchmark,
    campaign: Campaign,
    person: Person,
    annotator: Annotator,
    count: int,
    shift: float | None,
) -> int:
    claimed = services.claim_assignments(campaign=campaign, annotator=annotator, count=count)
    for assignment in claimed:
        answer = _answer(demo, person, assignment, shift)
        services.submit_judgment(assignment_id=assignment.pk, annotator=annotator, answer=answer)
    return len(claimed)


def _answer(
    demo: ChangingBenchmark, person: Person, assignment: Assignment, shift: float | None
) -> services.Answer:
    """Return an answer that depends only on the seed, the person, the caption and the video."""
    task = assignment.task
    caption, video = task.query.number, cast(Video, task.video).number
    rng = random.Random(f"{demo.seed} {person.name} {demo.lines[caption].meaning.text} {video}")
    right = demo.spans(caption, video)
    if rng.random() < _ERROR:
        right = [] if right else [(1.0, 3.0)]
    marks = [_marked(rng, person, span) for span in right]
    spans = _shifted(marks, shift or 0.0)
    payload: dict[str, Any] = {"spans": spans, "marks": marks} if spans else {}
    if spans and shift is not None:
        payload["shift"] = shift
    return services.Answer(
        label=int(bool(spans)),
        payload=payload,
        client_key=uuid.uuid4(),
        seconds=round(SECONDS + rng.uniform(1, 6), 2),
    )


def _marked(rng: random.Random, person: Person, span: Span) -> list[float]:
    """Return the times at which the person presses the keys."""
    return [round(edge + max(0.05, rng.gauss(person.reaction, _MARKED)), 3) for edge in span]


def _shifted(marks: list[list[float]], shift: float) -> list[list[float]]:
    """Return the spans of marks: shifted, inside the video, and without overlaps."""
    last, spans = 0.0, []
    for start, end in marks:
        first = max(last, round(start - shift, 3))
        last = min(SECONDS + SECONDS_OVER / 2, max(first + 0.1, round(end - shift, 3)))
        spans.append([round(first, 3), round(last, 3)])
    return spans


# --- The truth beside ----------------------------------------------------------------------------


def moments_of_demo(seed: int) -> dict[str, Any]:
    """Return the scores of the runs: by the original spans, with people's spans, and the truth."""
    benchmark = Benchmark.objects.get(key=KEY)
    label_set = benchmark.label_sets.latest("created_at")
    original, labelled = stored_scores(benchmark, None), stored_scores(benchmark, label_set)
    demo = make_changing(seed)
    runs = {}
    for run in find_runs(benchmark):
        truth = dict(zip(COLUMNS, true_scores(demo, run), strict=True))
        runs[run.name] = {
            name: {
                "original": original[run.pk].scores[name],
                "labelled": labelled[run.pk].scores[name],
                "truth": truth[name],
            }
            for name in COLUMNS
        }
    return {"labels": label_set.version, "judgments": label_set.n_judgments, "runs": runs}


def true_scores(demo: ChangingBenchmark, run: Any) -> tuple[float, float]:
    """Return VCMR@1 and SVMR@1 at tIoU 0.5 by all moments of which a caption is true."""
    lists = moment_lists(run)
    if lists is None or lists.starts is None or lists.ends is None:
        return 0.0, 0.0
    corpus = own = 0
    for caption, line in enumerate(demo.lines):
        moments = list(
            zip(
                lists.items[caption].tolist(),
                zip(lists.starts[caption].tolist(), lists.ends[caption].tolist(), strict=True),
                strict=True,
            )
        )
        first = moments[0]
        corpus += hits(first[1], demo.spans(caption, first[0]))
        home = next((span for video, span in moments if video == line.video), None)
        own += home is not None and hits(home, demo.spans(caption, line.video))
    return corpus / len(demo.lines), own / len(demo.lines)


def moment_lines(result: dict[str, Any]) -> list[str]:
    """Return the lines of the report."""
    head = "".join(f"{name:>34}" for name in COLUMNS)
    lines = ["Moments, in %: original spans, with people’s spans, truth", f"{'':14}{head}"]
    for run, scores in result["runs"].items():
        cells = (
            " → ".join(f"{100 * scores[name][kind]:.1f}" for kind in ("original", "labelled"))
            + f" (truth {100 * scores[name]['truth']:.1f})"
            for name in COLUMNS
        )
        lines.append(f"{run:14}" + "".join(f"{cell:>34}" for cell in cells))
    return lines
