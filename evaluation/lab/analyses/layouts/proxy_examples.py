"""Tables and chart of proxies side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from evaluation.lab.analyses.charts import DOTS, Chart, horizontal_labels, name_of, quantity, spec
from evaluation.lab.analyses.tables import Column, Table

DIFFER, DIFFER_JUDGED = "differ", "differ-judged"
LOW_RELEVANT, HIGH_REJECTED = "low-relevant", "high-rejected"
GROUPS = {
    DIFFER: "Unjudged pairs for which proxies differ most",
    DIFFER_JUDGED: "Judged pairs for which proxies differ most",
    LOW_RELEVANT: "Judged relevant, lowest values",
    HIGH_REJECTED: "Judged not relevant, highest values",
}
JUDGED, UNJUDGED, CONFLICT, PENDING = "judged", "unjudged", "conflict", "pending"
# More examples than this are only in the table.
DRAWN_MAX = 10
# The chart would cut off longer names, which would hide people's labels at their ends.
NAME_MAX, CAPTION_MIN = 46, 12


class LabelOfPair(TypedDict):
    """The label of a pair. label: null if the state is not `JUDGED`."""

    label: int | None
    state: str


class PairRow(LabelOfPair):
    """A pair with the value of each proxy. own: the first of the video's own captions, or null."""

    caption_id: str
    caption: str
    video_id: str
    own: str | None
    values: dict[str, float]


class GroupedRow(PairRow):
    """An example pair. group: the reason why it is an example, a key of `GROUPS`."""

    group: str


class ProxiesResult(TypedDict):
    """Examples. videos: the captions that are most similar to some videos, by video."""

    proxies: list[str]
    rows: list[GroupedRow]
    videos: list[PairRow]


def label_text(row: LabelOfPair) -> str:
    if row["state"] == CONFLICT:
        return "in conflict"
    label = row["label"]
    if label is None:
        return row["state"]
    if label > 1:
        return f"relevant, grade {label}"
    return "relevant" if label else "not relevant"


def tables(result: ProxiesResult) -> list[Table]:
    values = [Column(f"value:{name}", name, "coefficient") for name in result["proxies"]]
    caption = Column("caption", "Caption", names="caption")
    video = [Column("video_id", "Video", names="video"), Column("own", "Own caption of the video")]
    found = [
        Table(
            "examples",
            "Examples",
            [Column("group", "Why"), caption, *video, *values, Column("people", "People")],
            [{**_cells(row), "group": GROUPS[row["group"]]} for row in result["rows"]],
        )
    ]
    if result["videos"]:
        found.append(
            Table(
                "videos",
                "The most similar captions of some videos",
                [*video, caption, *values, Column("people", "People")],
                [_cells(row) for row in result["videos"]],
                note="The captions with the highest values by each proxy, without the video’s own "
                "captions.",
            )
        )
    return found


def _cells(row: PairRow) -> dict[str, Any]:
    values = {f"value:{name}": value for name, value in row["values"].items()}
    return {**row, **values, "people": label_text(row)}


def charts(result: ProxiesResult) -> list[Chart]:
    group = next((name for name in (DIFFER_JUDGED, DIFFER) if _of(result, name)), None)
    if group is None:
        return []
    pairs = _of(result, group)[:DRAWN_MAX]
    names = [_name(row) for row in pairs]
    rows = [
        {"pair": name, "proxy": proxy, "value": value}
        for name, row in zip(names, pairs, strict=True)
        for proxy, value in row["values"].items()
    ]
    # The dots of one pair are on one line, so the scale of the pairs has no inner padding.
    at = {**horizontal_labels("pair", names, 1), "scale": {"padding": 0.5}}
    return [
        Chart(
            "examples",
            GROUPS[group],
            "Each pair of a caption and a video has a dot at the value of each proxy. The name of "
            "the pair ends with people’s label.",
            {
                **spec(
                    rows,
                    DOTS,
                    x=quantity("value", "Value of the proxy", scale={"domain": [0, 1]}),
                    y=at,
                    color=name_of("proxy", order=result["proxies"]),
                ),
                "height": {"step": 40},
            },
        )
    ]


def _of(result: ProxiesResult, group: str) -> Sequence[GroupedRow]:
    return [row for row in result["rows"] if row["group"] == group]


def _name(row: PairRow) -> str:
    """Return the caption, shortened if necessary, with the video and the label."""
    rest, text = f" – {row['video_id']} ({label_text(row)})", row["caption"]
    length = max(CAPTION_MIN, NAME_MAX - len(rest))
    return (text if len(text) <= length else f"{text[: length - 1]}…") + rest
