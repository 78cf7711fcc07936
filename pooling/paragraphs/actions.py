"""The actions on paragraphs, with their options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from hearth.shared.options import NAME_LENGTH, Entry, Option
from pooling.core.lines import SourceFile
from pooling.paragraphs.core.matching import MATCHES_MAX

FIRST_MAX = 1000
RUN = Option("Run", entry=Entry.OFFERED)
SIMILARITIES = Option(
    expected="Similarities in JSON lines",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddParagraphs:
    """A benchmark of paragraphs, made from the sentences of this benchmark.

    paragraphs: The new benchmark, or one that was made from this benchmark, which then gets the
        share and the videos that were added here in the meantime.
    name: By default, the key.
    share: A video is relevant to a paragraph if it contains at least this share of its sentences.
    file: A CSV file with the columns caption_id, paragraph_id and, optionally, place. By default,
        all captions of a video are one paragraph, in the order of the benchmark.
    """

    paragraphs: Annotated[str, Option("Key of the paragraphs", length=NAME_LENGTH, positional=True)]
    name: Annotated[str, Option("Name", length=200, printable=True)] = ""
    share: Annotated[
        float, Option("Needed share of the sentences", entry=Entry.PERCENT, low=0.01, high=1)
    ] = 1.0
    file: Annotated[SourceFile | None, Option("Table of paragraphs", expected="A CSV file")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSimilarities:
    """Similarities of sentences and clips, by the system of a run.

    file: JSON lines, which can be compressed with gzip.
    run: The run whose first videos the similarities describe.
    """

    file: Annotated[SourceFile, SIMILARITIES, Option("File", positional=True)]
    run: Annotated[str, RUN]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportClips:
    """Proposals of clips, or the stamps of a further person, which are compared with proposals.

    file: JSON, which can be compressed with gzip: proposals in the form of densevid_eval, or stamps
        in the form of ActivityNet Captions, such as val_2.json.
    name: By default, the name of the file.
    """

    file: Annotated[
        SourceFile, Option("File", positional=True, expected="Proposals or stamps in JSON")
    ]
    name: Annotated[str, Option("Name", length=NAME_LENGTH, printable=True)] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FocusRun:
    """A run whose first videos are re-ranked by the matching of sentences and clips.

    run: The run that finds the videos.
    similarities: By default, those that were imported last for the run.
    k: Only these videos of each list are re-ranked, among themselves. The others keep their places.
    matches: The largest number of clips that one sentence can be matched with.
    shift: Add the same number to all scores, so that the lowest of the first scores becomes 0.
        Negative scores need it: a better matching would otherwise lower the product.
    name: By default, the name of the run with the options.
    """

    run: Annotated[str, RUN]
    similarities: Annotated[SourceFile | None, SIMILARITIES, Option("Similarities")] = None
    k: Annotated[int, Option("First videos (K)", low=1, high=FIRST_MAX)] = 100
    matches: Annotated[
        int,
        # A field `matches` would hide the function of its form that htmx calls.
        Option("Clips per sentence (u_max)", low=1, high=MATCHES_MAX, page="clips_each"),
    ] = 1
    shift: Annotated[bool, Option("Shift negative scores")] = False
    name: Annotated[str, Option("Name of the new run", length=NAME_LENGTH, printable=True)] = ""
