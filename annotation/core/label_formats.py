"""Files of judgments that were made elsewhere: CSV, TREC qrels and FIRE JSON.

The format is recognised by the start of the file. CSV starts with a header, and FIRE JSON with a
brace. Qrels have four columns, separated by spaces or tabs: caption, iteration, video, label.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from annotation.core.fire_labels import FireEntries, label_of, responses_of
from annotation.core.judgment_file import (
    CSV,
    FIRE,
    QRELS,
    JudgmentRows,
    JudgmentsFile,
    parse_judgments,
)
from hearth.shared.errors import InvalidInput
from pooling.core.keys import shown
from pooling.core.layouts import QRELS_LINE, grade_of, known_layout
from pooling.core.lines import Progress, TextBlocks

# The annotator of all labels in qrels, which do not name annotators.
UNNAMED = "unnamed"
MAX_FIRE_BYTES = 1 << 30


def parse_labels_of_others(
    path: Path,
    *,
    query_numbers: Mapping[str, int],
    video_numbers: Mapping[str, int],
    query_texts: Sequence[str],
    now: datetime.datetime,
    labels: Collection[int] = (0, 1),
    data_set: str = "",
    progress: Progress | None = None,
    source: str | None = None,
) -> JudgmentsFile:
    """Read a plain or gzipped file of judgments in the format that its first line shows.

    query_texts: the text of each caption, by number. FIRE JSON contains these texts, not keys. now:
    the time after which no judgment can have been made.
    data_set: the data set to read from a FIRE file; needed only if the file has several. Raises
    `InvalidInput` as `parse_judgments` does, and if a FIRE file has several data sets and none is
    selected.
    """
    found = detect_format(path, source)
    if found == CSV:
        return parse_judgments(
            path,
            query_numbers=query_numbers,
            video_numbers=video_numbers,
            now=now,
            labels=labels,
            progress=progress,
            source=source,
        )
    longest = None if found == FIRE else 1 << 20
    blocks = TextBlocks(
        path, source=source, progress=progress, max_line=longest, max_bytes=MAX_FIRE_BYTES
    )
    if found == QRELS:
        return _read_qrels(blocks, JudgmentRows(blocks, query_numbers, video_numbers, labels))
    by_text: dict[str, int] = {}
    for number, text in enumerate(query_texts):
        by_text.setdefault(text, number)
    rows = JudgmentRows(blocks, by_text, video_numbers, labels, noun="caption text")
    return _read_fire(blocks, rows, data_set)


def detect_format(path: Path, source: str | None = None) -> str:
    """Return `CSV`, `QRELS` or `FIRE` for a file.

    Raises `InvalidInput` for an unreadable file, and for a known layout that is not read here.
    """
    blocks = TextBlocks(path, source=source, max_line=None)
    head = next(iter(blocks)).decode(errors="replace").lstrip()
    if layout := known_layout(head):
        reason = f"this is {layout}; expected: CSV with a header, TREC qrels or FIRE JSON"
        raise InvalidInput(reason, source=blocks.source)
    if head.startswith("{"):
        return FIRE
    return QRELS if QRELS_LINE.fullmatch(head.partition("\n")[0]) else CSV


def _read_qrels(blocks: TextBlocks, rows: JudgmentRows) -> JudgmentsFile:
    """Read qrels, which have one label for each pair and do not name annotators.

    A relevance below 0 means that the pair was not judged.
    """
    n_unjudged = 0
    for line, text in enumerate(blocks.text_lines(), start=1):
        cells = text.split()
        if not cells:
            continue
        if len(cells) != 4:
            rows.stop(line, f"the line has {len(cells)} columns, but qrels have 4")
        query, _, video, relevance = cells
        grade = grade_of(relevance)
        if grade is not None and grade < 0:
            rows.check_keys(line, query, video)
            n_unjudged += 1
        else:
            rows.add(line, query, video, UNNAMED, relevance if grade is None else str(grade))
    notes = ["qrels do not name their annotators, and contain one label for each pair"]
    if n_unjudged:
        notes.append(f"pairs with a relevance below 0, which are not judged: {n_unjudged:,}")
    return replace(rows.finish(), format=QRELS, notes=tuple(notes), has_annotators=False)


def _read_fire(blocks: TextBlocks, rows: JudgmentRows, data_set: str) -> JudgmentsFile:
    entries = FireEntries(b"".join(blocks).decode(), blocks.source)
    data_sets: dict[str, int] = {}
    n_differing = 0
    for line, entry in entries:
        name = str(entry.get("dataset", ""))
        data_sets[name] = data_sets.get(name, 0) + 1
        if data_set and name != data_set:
            continue
        try:
            query, video, responses = responses_of(entry)
        except ValueError as error:
            rows.stop(line, str(error))
        for annotator, label in responses:
            rows.add(line, query, video, annotator, label)
        n_differing += _differs(label_of(entry), [label for _, label in responses])
    if len(data_sets) > 1 and not data_set:
        names = ", ".join(map(shown, sorted(data_sets)))
        rows.stop(1, f"the file has several data sets: {names}; select one of them")
    notes = []
    if n_differing:
        notes.append(
            f"labels that differ from the majority of their responses: {n_differing:,}; only the "
            "responses are imported"
        )
    file = rows.finish(may_repeat=True)
    return replace(file, format=FIRE, licences=entries.licences, notes=(*notes, *file.notes))


def _differs(label: str, responses: list[str]) -> bool:
    """Return whether a label differs from the majority of its responses."""
    relevant = 2 * sum(response == "relevant" for response in responses) - len(responses)
    majority = "" if relevant == 0 else "relevant" if relevant > 0 else "irrelevant"
    return label != majority
