"""Campaigns that ask where, and answers with spans."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotation.enums import Only
from annotation.models import Annotator, Assignment, Campaign, Judgment
from annotation.services import Answer, Policy, open_campaign, submit_judgment
from hearth.accounts.actors import OPERATOR
from pooling.models import Benchmark
from tests.factories import (
    all_pairs,
    build_pool,
    caption_rows,
    claim,
    import_benchmark,
    make_run,
    write_captions,
    write_videos,
)

DURATION = 10.0


def make_pooled(folder: Path, *, captions: int = 1, videos: int = 3, text: str = "") -> Benchmark:
    """Make a benchmark whose pairs are all in a pool, with videos of ten seconds.

    text: the text of all captions, or "" for different texts.
    """
    rows = caption_rows(captions, videos)
    benchmark = import_benchmark(
        key="tiny",
        captions=write_captions(folder, [(key, text or own, of) for key, own, of in rows]),
        videos=write_videos(folder, [(f"v{i}", "", "") for i in range(videos)]),
    ).benchmark
    benchmark.videos.update(duration=DURATION)
    make_run(folder, benchmark, all_pairs(captions, videos))
    build_pool(benchmark=benchmark, depth=videos)
    return benchmark


def open_spans(
    folder: Path, *, benchmark: Benchmark | None = None, tolerance: float = 0.5, **policy: Any
) -> Campaign:
    policy.setdefault("double_share", 0)
    return open_campaign(
        benchmark=benchmark or make_pooled(folder),
        by=OPERATOR,
        policy=Policy(**policy),
        question="spans",
        only=Only.ALL,
        tolerance=tolerance,
    )


def mark(
    held: Assignment, spans: Sequence[Sequence[float]], label: int = 1, **answer: Any
) -> Judgment:
    """Answer a pair with a label and spans."""
    of_answer = {name: answer.pop(name) for name in ("corrects",) if name in answer}
    return submit_judgment(
        assignment_id=held.pk,
        annotator=held.annotator,
        answer=Answer(
            client_key=uuid.uuid4(),
            label=label,
            payload={"spans": [list(span) for span in spans], **answer},
            **of_answer,
        ),
    ).judgment


def mark_video(
    campaign: Campaign, annotator: Annotator, spans: Sequence[Sequence[float]], video: str = "v0"
) -> Judgment:
    """Claim the annotator's pairs, and answer the one of this video; relevant if it has spans."""
    (held,) = (one for one in claim(campaign, annotator) if one.task.video.key == video)
    return mark(held, spans, label=int(bool(spans)))
