"""What an import would change in a benchmark, computed before anything is written."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import numpy as np

from pooling.core.arrays import Bools, Int64s
from pooling.core.equal_texts import first_equal
from pooling.core.keys import shown
from pooling.core.problems import PROBLEMS_MAX, Problems
from pooling.core.readers.benchmarks.captions import CaptionsFile
from pooling.core.readers.videos import VideoRow

FIRST_ROWS = 5


@dataclass(frozen=True, slots=True, eq=False)
class StoredCaptions:
    """The captions, videos and original positives of a benchmark, by number.

    positive_queries, positive_videos: the numbers of each pair, int64 [n_positives]. has_media:
    whether a video has a file or URL, bool [n_videos]. judged: the numbers of captions that are in
    a pool or a gold item, int64 [n]. is_numbered: whether anything, such as a run, refers to the
    numbers of captions and videos. rule: the rule for equal texts.
    """

    query_keys: Sequence[str]
    texts: Sequence[str]
    video_keys: Sequence[str]
    positive_queries: Int64s
    positive_videos: Int64s
    has_media: Bools
    judged: Int64s
    is_numbered: bool
    rule: str

    def sha256(self) -> str:
        """Return a hash of all values. A plan is valid only for the state that it describes."""
        digest = hashlib.sha256(repr((self.is_numbered, self.rule)).encode())
        for texts in (self.query_keys, self.texts, self.video_keys):
            digest.update("\0".join([str(len(texts)), *texts]).encode())
        for numbers in (self.positive_queries, self.positive_videos, np.sort(self.judged)):
            digest.update(f"{len(numbers)} ".encode() + numbers.astype("<i8").tobytes())
        digest.update(np.packbits(self.has_media).tobytes())
        return digest.hexdigest()


class ChangedText(NamedTuple):
    """A caption whose text differs from the stored one."""

    line: int
    key: str
    before: str
    after: str


class Counts(TypedDict):
    """Numbers of captions, videos and original positives."""

    captions: int
    videos: int
    original_positives: int


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """The difference between a benchmark and the files of an import.

    query_numbers: the stored number of each caption of the file, or -1, int64 [n]. video_keys: the
    videos after the import, in the order of their numbers. total: the counts after the import.
    changed_rows: the captions of the file whose text changes, int64 [n], by their place in the
    file. changed: the first hundred of them.
    """

    query_numbers: Int64s
    video_keys: tuple[str, ...]
    total: Counts
    new: Counts
    removed: Counts
    changed: tuple[ChangedText, ...]
    changed_rows: Int64s

    @property
    def n_changed(self) -> int:
        return len(self.changed_rows)

    def __bool__(self) -> bool:
        return bool(self.n_changed or any(self.new.values()) or any(self.removed.values()))


def find_changes(
    stored: StoredCaptions | None,
    file: CaptionsFile,
    videos: Sequence[VideoRow],
    problems: Problems,
    videos_source: str = "",
) -> Changes:
    """Compare a benchmark with a file of captions and with the rows of a videos file.

    Captions and videos are matched by key. If `stored.is_numbered`, captions can be neither
    added nor removed, videos cannot be added, and a text that people judge cannot change. Each such
    change is added to `problems`, and all stored videos stay. Otherwise, a stored video that the
    files do not name stays only if it has a file or URL.
    """
    stored = stored or _nothing()
    queries = _numbers(file.query_keys, stored.query_keys)
    found = _numbers(file.video_keys, stored.video_keys)
    keys = _video_keys(stored, file, videos)
    texts = np.flatnonzero(queries >= 0)
    changed = [at for at in texts.tolist() if stored.texts[queries[at]] != file.texts[at]]
    new, removed = _positive_counts(stored, file, queries, found)
    gone = np.setdiff1d(np.arange(len(stored.query_keys)), queries)
    if stored.is_numbered:
        _refuse_new_rows(stored, file, videos, videos_source, queries, problems)
        _refuse_missing(stored, gone, file.sources[0], problems)
        _refuse_judged(stored, file, queries, changed, problems)
    known = set(stored.video_keys)
    return Changes(
        query_numbers=queries,
        video_keys=keys,
        total=_counts(len(file.query_keys), len(keys), len(file.positive_queries)),
        new=_counts(int((queries < 0).sum()), sum(key not in known for key in keys), new),
        removed=_counts(len(gone), len(known.difference(keys)), removed),
        changed=tuple(
            ChangedText(
                file.lines[at], file.query_keys[at], stored.texts[queries[at]], file.texts[at]
            )
            for at in changed[:PROBLEMS_MAX]
        ),
        changed_rows=np.array(changed, np.int64),
    )


def _nothing() -> StoredCaptions:
    none = np.empty(0, np.int64)
    return StoredCaptions((), (), (), none, none, np.empty(0, np.bool_), none, False, "")


def _counts(captions: int, videos: int, positives: int) -> Counts:
    return {"captions": captions, "videos": videos, "original_positives": positives}


def _numbers(keys: Sequence[str], stored: Sequence[str]) -> Int64s:
    """Return the stored number of each key, or -1; int64 [n]."""
    numbers = {key: number for number, key in enumerate(stored)}
    return np.fromiter((numbers.get(key, -1) for key in keys), np.int64, len(keys))


def _video_keys(
    stored: StoredCaptions, file: CaptionsFile, videos: Sequence[VideoRow]
) -> tuple[str, ...]:
    """Return the keys of the videos after the import, in the order of their numbers.

    With a videos file, its videos come first, then other videos of the captions, and then other
    stored videos. Without one, stored videos come first, and then new videos of the captions. If
    anything refers to the numbers, the videos stay as they are stored.
    """
    listed = [video.key for video in videos]
    if stored.is_numbered:
        return tuple(stored.video_keys)
    named = {*listed, *file.video_keys}
    kept = [
        key
        for key, has_media in zip(stored.video_keys, stored.has_media.tolist(), strict=True)
        if has_media or key in named
    ]
    first, last = (listed, kept) if listed else (kept, [])
    return tuple(dict.fromkeys([*first, *file.video_keys, *last]))


def _positive_counts(
    stored: StoredCaptions, file: CaptionsFile, queries: Int64s, videos: Int64s
) -> tuple[int, int]:
    """Return the numbers of added and of removed original positives."""
    width = max(1, len(stored.video_keys))
    before = stored.positive_queries * width + stored.positive_videos
    query, video = queries[file.positive_queries], videos[file.positive_videos]
    is_known = (query >= 0) & (video >= 0)
    same = int(np.isin(query[is_known] * width + video[is_known], before).sum())
    return len(file.positive_queries) - same, len(before) - same


def _refuse_new_rows(
    stored: StoredCaptions,
    file: CaptionsFile,
    videos: Sequence[VideoRow],
    videos_source: str,
    queries: Int64s,
    problems: Problems,
) -> None:
    reason = (
        "is new; captions and videos can be added only before the first run, proxy, pool or gold "
        "item"
    )
    for at in np.flatnonzero(queries < 0).tolist():
        line = file.lines[at] or None
        problems.add(f"caption {shown(file.query_keys[at])} {reason}", file.sources[0], line)
    known = set(stored.video_keys)
    rows = {video.key: video.line for video in videos if video.key not in known}
    for key, line in rows.items():
        problems.add(f"video {shown(key)} {reason}", videos_source, line)
    lines = _lines_of_videos(file)
    for key in file.video_keys:
        if key not in known and key not in rows:
            problems.add(f"video {shown(key)} {reason}", file.sources[0], lines.get(key))


def _lines_of_videos(file: CaptionsFile) -> dict[str, int]:
    """Return the line of the first caption of each video."""
    lines: dict[str, int] = {}
    pairs = zip(file.positive_queries.tolist(), file.positive_videos.tolist(), strict=True)
    for query, video in pairs:
        if file.lines[query]:
            lines.setdefault(file.video_keys[video], file.lines[query])
    return lines


def _refuse_missing(stored: StoredCaptions, gone: Int64s, source: str, problems: Problems) -> None:
    for number in gone.tolist():
        key = shown(stored.query_keys[number])
        problems.add(
            f"caption {key} is missing; captions can be removed only before the first run, proxy, "
            "pool or gold item",
            source,
        )


def _refuse_judged(
    stored: StoredCaptions,
    file: CaptionsFile,
    queries: Int64s,
    changed: Sequence[int],
    problems: Problems,
) -> None:
    """Refuse changes of judged texts.

    Also refuse changes of texts that are equal to a judged text before or after the import.
    """
    if not changed or not len(stored.judged):
        return
    after = list(stored.texts)
    for at in changed:
        after[queries[at]] = file.texts[at]
    judged = set(stored.judged.tolist())
    groups = [first_equal(texts, stored.rule) for texts in (stored.texts, after)]
    judged_groups = [set(group[stored.judged].tolist()) for group in groups]
    for at in changed:
        number = int(queries[at])
        equal = any(
            int(group[number]) in used for group, used in zip(groups, judged_groups, strict=True)
        )
        if number in judged or equal:
            what = "the caption" if number in judged else "an equal caption"
            reason = (
                f"the text of caption {shown(file.query_keys[at])} cannot change, because {what} "
                "is in a pool or a gold item"
            )
            problems.add(reason, file.sources[0], file.lines[at] or None)
