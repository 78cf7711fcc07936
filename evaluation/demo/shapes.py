"""The world of the demo videos: up to three coloured shapes that move for three seconds.

Positions are in points of a frame that is 320 wide and 240 high, y downwards. Time runs from 0 to 1
over the video. In each scene, all that a caption can describe is clearly true or clearly false: the
order of two shapes is always clear, and no shape hides another.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

WIDTH, HEIGHT = 320.0, 240.0
MARGIN = 4.0
COLUMNS, ROWS = (60.0, 160.0, 260.0), (46.0, 120.0, 194.0)
TIMES = tuple(step / 44 for step in range(45))
"""The times at which scenes are examined: one per frame of 3 s at 15 frames per second."""

_CLEAR_GAP = 4.0  # minimum gap of two shapes in points, so that their order is clear
_SAME_LINE = 6.0  # maximum distance in points at which two centres look aligned
_BOUNCE = 12.0  # half the height of a bounce
_REST = 0.08  # share of the video without motion, at each end, so that loops have a visible start


class Form(StrEnum):
    CIRCLE = "circle"
    SQUARE = "square"
    TRIANGLE = "triangle"
    STAR = "star"


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"
    GREEN = "green"
    YELLOW = "yellow"
    PURPLE = "purple"
    ORANGE = "orange"


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Motion(StrEnum):
    LEFT = "moves left"
    RIGHT = "moves right"
    UP = "moves up"
    DOWN = "moves down"
    SPINS = "spins"
    GROWS = "grows"
    BOUNCES = "bounces"
    STILL = "stands still"


class Background(StrEnum):
    WHITE = "white"
    BLACK = "black"
    GREY = "grey"


class Relation(StrEnum):
    ABOVE = "above"
    BELOW = "below"
    LEFT_OF = "left of"
    RIGHT_OF = "right of"


RADIUS = {Size.SMALL: 15.0, Size.LARGE: 34.0}


@dataclass(frozen=True, slots=True)
class Placement:
    """The place of a figure at one time: centre and radius in points, angle in radians."""

    x: float
    y: float
    radius: float
    angle: float


@dataclass(frozen=True, slots=True)
class Figure:
    """One shape of a scene. (`column`, `row`) is its cell in the 3 x 3 grid.

    A figure that crosses the frame moves along its row or column, so its other coordinate in the
    grid has no effect. The size of a growing figure is its size at the end.
    """

    form: Form
    colour: Colour
    size: Size
    motion: Motion
    column: int
    row: int

    def at(self, time: float) -> Placement:
        """Return the placement of the figure at `time` in [0, 1]."""
        share = min(max((time - _REST) / (1 - 2 * _REST), 0.0), 1.0)
        still = Placement(COLUMNS[self.column], ROWS[self.row], RADIUS[self.size], 0.0)
        move = _MOVES.get(self.motion)
        return move(still, share) if move else still


@dataclass(frozen=True, slots=True)
class Scene:
    """The content of one video: one to three figures on a plain background."""

    figures: tuple[Figure, ...]
    background: Background

    @property
    def times(self) -> tuple[float, ...]:
        """The times of the frames."""
        return TIMES


def _across(span: float, radius: float, share: float) -> float:
    near = MARGIN + radius
    return near + (span - 2 * near) * share


_MOVES: dict[Motion, Callable[[Placement, float], Placement]] = {
    Motion.LEFT: lambda p, s: replace(p, x=_across(WIDTH, p.radius, 1 - s)),
    Motion.RIGHT: lambda p, s: replace(p, x=_across(WIDTH, p.radius, s)),
    Motion.UP: lambda p, s: replace(p, y=_across(HEIGHT, p.radius, 1 - s)),
    Motion.DOWN: lambda p, s: replace(p, y=_across(HEIGHT, p.radius, s)),
    Motion.SPINS: lambda p, s: replace(p, angle=3 * math.pi * s),
    Motion.GROWS: lambda p, s: replace(p, radius=p.radius * (0.35 + 0.65 * s)),
    Motion.BOUNCES: lambda p, s: replace(
        p, y=p.y + _BOUNCE - 2 * _BOUNCE * abs(math.sin(3 * math.pi * s))
    ),
}


@lru_cache(maxsize=8192)
def holds(relation: Relation, first: Figure, second: Figure) -> bool:
    """Return whether `first` is clearly above (below, …) `second` during the whole video."""
    return all(
        _lead(relation, first.at(time), second.at(time)) >= _reach(first, second) + _CLEAR_GAP
        for time in TIMES
    )


def holds_at(relation: Relation, first: Placement, second: Placement) -> bool:
    """Return whether the relation is visible in a single frame."""
    return _lead(relation, first, second) >= first.radius + second.radius


def _lead(relation: Relation, first: Placement, second: Placement) -> float:
    """Return the distance in points from the centre of `second` to that of `first`.

    It is measured in the direction of the relation, and negative in the opposite direction.
    """
    match relation:
        case Relation.ABOVE:
            return second.y - first.y
        case Relation.BELOW:
            return first.y - second.y
        case Relation.LEFT_OF:
            return second.x - first.x
        case Relation.RIGHT_OF:
            return first.x - second.x


def _reach(first: Figure, second: Figure) -> float:
    return RADIUS[first.size] + RADIUS[second.size]


def _is_plain(first: Figure, second: Figure) -> bool:
    """Return whether the figures never touch, and each relation is clearly true or false."""
    places = [(first.at(time), second.at(time)) for time in TIMES]
    min_distance = _reach(first, second) + _CLEAR_GAP
    if any(math.hypot(a.x - b.x, a.y - b.y) < min_distance for a, b in places):
        return False
    leads = [min(_lead(relation, a, b) for a, b in places) for relation in Relation]
    return all(lead <= _SAME_LINE or lead >= min_distance for lead in leads)


def draw_scene(rng: random.Random) -> Scene:
    """Return a random scene. No two figures have the same form and colour."""
    background = rng.choice(list(Background))
    count = rng.choices((1, 2, 3), weights=(20, 50, 30))[0]
    while True:
        figures = _draw_figures(rng, count)
        if len(figures) == count:
            return Scene(figures, background)


def _draw_figures(rng: random.Random, count: int) -> tuple[Figure, ...]:
    """Return up to `count` figures; fewer if the first ones leave no room."""
    figures: list[Figure] = []
    for _ in range(100):
        figure = _draw_figure(rng)
        if len(figures) < count and all(_can_join(figure, other) for other in figures):
            figures.append(figure)
    return tuple(figures)


def _can_join(figure: Figure, other: Figure) -> bool:
    return (figure.form, figure.colour) != (other.form, other.colour) and _is_plain(figure, other)


def _draw_figure(rng: random.Random) -> Figure:
    form = rng.choice(list(Form))
    # A spinning circle looks like one that stands still.
    motions = [motion for motion in Motion if (form, motion) != (Form.CIRCLE, Motion.SPINS)]
    return Figure(
        form=form,
        colour=rng.choice(list(Colour)),
        size=rng.choice(list(Size)),
        motion=rng.choice(motions),
        column=rng.randrange(3),
        row=rng.randrange(3),
    )
