"""Scenes in which a shape changes what it does at known times, and captions about them."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from evaluation.demo.shapes import (
    COLUMNS,
    RADIUS,
    ROWS,
    Background,
    Colour,
    Form,
    Motion,
    Placement,
    Size,
)

SECONDS = 8.0
FRAME_SECONDS = 1 / 15
_SHORTEST, _LONGEST = 1.2, 2.6
_FORMS = (Form.SQUARE, Form.TRIANGLE, Form.STAR)  # a spinning circle looks like one that is still
_COLOURS = (Colour.RED, Colour.BLUE, Colour.GREEN, Colour.YELLOW)
_BOUNCE = 30.0
_TURNS, _BOUNCES = 0.6, 1.5  # per second
MOTIONS = (Motion.LEFT, Motion.RIGHT, Motion.SPINS, Motion.BOUNCES)

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Phase:
    """What the shape does from `start` to `end`, in seconds. x: its place at both times."""

    motion: Motion
    start: float
    end: float
    x: tuple[float, float]


@dataclass(frozen=True, slots=True)
class ChangingFigure:
    form: Form
    colour: Colour
    phases: tuple[Phase, ...]

    def at(self, time: float) -> Placement:
        """Return the placement at a time in seconds."""
        phase = next((one for one in self.phases if time < one.end), self.phases[-1])
        share = min(1.0, (time - phase.start) / (phase.end - phase.start))
        x = phase.x[0] + (phase.x[1] - phase.x[0]) * share
        y, angle, within = ROWS[1], 0.0, time - phase.start
        if phase.motion is Motion.BOUNCES:
            y -= _BOUNCE * abs(math.sin(math.pi * _BOUNCES * within))
        if phase.motion is Motion.SPINS:
            angle = 2 * math.pi * _TURNS * within
        return Placement(x, y, RADIUS[Size.LARGE], angle)


@dataclass(frozen=True, slots=True)
class ChangingScene:
    """The content of one video: a figure on a plain background."""

    figures: tuple[ChangingFigure, ...]
    background: Background

    @property
    def times(self) -> tuple[float, ...]:
        return tuple(frame * FRAME_SECONDS for frame in range(round(SECONDS / FRAME_SECONDS)))

    def spans(self, motion: Motion) -> list[Span]:
        (figure,) = self.figures
        return [(one.start, one.end) for one in figure.phases if one.motion is motion]


def draw_changing(rng: random.Random) -> ChangingScene:
    """Return a random scene. Two phases in a row differ, so each change is visible."""
    edges = [0.0]
    while SECONDS - edges[-1] > _LONGEST:
        edges.append(round(edges[-1] + rng.uniform(_SHORTEST, _LONGEST), 1))
    if SECONDS - edges[-1] < _SHORTEST:
        edges.pop()
    edges.append(SECONDS)
    place, last, phases = rng.randrange(len(COLUMNS)), None, []
    for start, end in pairwise(edges):
        choices = [one for one in (*MOTIONS, Motion.STILL) if one is not last and _fits(one, place)]
        last = rng.choice(choices)
        to = {Motion.LEFT: 0, Motion.RIGHT: len(COLUMNS) - 1}.get(last, place)
        phases.append(Phase(last, start, end, (COLUMNS[place], COLUMNS[to])))
        place = to
    figure = ChangingFigure(rng.choice(_FORMS), rng.choice(_COLOURS), tuple(phases))
    return ChangingScene((figure,), rng.choice([Background.WHITE, Background.BLACK]))


def _fits(motion: Motion, place: int) -> bool:
    """Return whether the shape has room to move: not from an edge to the same edge."""
    if motion is Motion.LEFT:
        return place > 0
    return motion is not Motion.RIGHT or place < len(COLUMNS) - 1


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a caption says. A colour or form that is None is not mentioned."""

    colour: Colour | None
    form: Form | None
    motion: Motion

    def spans(self, scene: ChangingScene) -> list[Span]:
        """Return the times at which the caption is true of the scene."""
        (figure,) = scene.figures
        is_other = self.colour not in (None, figure.colour) or self.form not in (None, figure.form)
        return [] if is_other else scene.spans(self.motion)

    @property
    def text(self) -> str:
        words = [self.colour or "", self.form or "shape", self.motion]
        return f"a {' '.join(filter(None, words))}."


@dataclass(frozen=True, slots=True)
class Line:
    """A caption with the video and the one moment that it was written about."""

    meaning: Meaning
    video: int
    span: Span


@dataclass(frozen=True, slots=True)
class ChangingBenchmark:
    """Videos and captions in the order of their numbers; the key of a caption is its number + 1."""

    seed: int
    scenes: tuple[ChangingScene, ...]
    lines: tuple[Line, ...]

    @property
    def video_keys(self) -> list[str]:
        return [f"m{number:03d}" for number in range(len(self.scenes))]

    def spans(self, caption: int, video: int) -> list[Span]:
        return self.lines[caption].meaning.spans(self.scenes[video])


def make_changing(seed: int, *, n_videos: int = 20, per_video: int = 3) -> ChangingBenchmark:
    """Return the benchmark of this seed. Some captions of different videos have equal texts."""
    rng = random.Random(f"changing shapes {seed}")
    scenes = [draw_changing(rng) for _ in range(n_videos)]
    lines: list[Line] = []
    for video, scene in enumerate(scenes):
        (figure,) = scene.figures
        moments = defaultdict(list)
        for phase in figure.phases:
            if phase.motion in MOTIONS:
                moments[phase.motion].append((phase.start, phase.end))
        details = [(figure.colour, figure.form), (figure.colour, None), (None, figure.form)]
        for colour, form in details[:per_video]:
            if moments:
                motion = rng.choice(list(moments))
                meaning = Meaning(colour, form, motion)
                lines.append(Line(meaning, video, rng.choice(moments[motion])))
    return ChangingBenchmark(seed, tuple(scenes), tuple(lines))


def overlap(one: Span, other: Span) -> float:
    common = max(0.0, min(one[1], other[1]) - max(one[0], other[0]))
    hull = max(one[1], other[1]) - min(one[0], other[0])
    return common / hull if hull else 0.0


def hits(found: Span, right: Sequence[Span], threshold: float = 0.5) -> bool:
    return any(overlap(found, span) >= threshold for span in right)
