"""Verification that a published label set can still be rebuilt from the log."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from evaluation.core.files.packed import unpack
from evaluation.models import LabelSet, LabelSetBasis
from evaluation.release.selectors.basis import RebuiltFiles, positive_codes, rebuild_files
from evaluation.spans.storing import problems_of_spans
from hearth.shared.words import counted

LABELS_FILE, JUDGMENTS_FILE = "labels file", "judgments file"
SHOWN = 12


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of rebuilding a label set.

    is_rebuilt: False if the set has no basis, because an older version of Hearth published it, or
    if a stored file is damaged. Then only the stored files were compared with their SHA-256.
    problems: one sentence for each difference.
    """

    label_set: LabelSet
    is_rebuilt: bool
    problems: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        return not self.problems

    @property
    def sentence(self) -> str:
        if self.problems:
            return " ".join(self.problems)
        if not self.is_rebuilt:
            return (
                "The stored files have the published sha256. They cannot be rebuilt, because an "
                "older version of Hearth published them."
            )
        return "The files rebuilt from the log have the published bytes."

    @property
    def as_json(self) -> dict[str, Any]:
        """Return the result of the command and of the job."""
        return {
            "benchmark": self.label_set.benchmark.key,
            "version": self.label_set.version,
            "sha256": self.label_set.sha256,
            "same": self.is_same,
            "rebuilt": self.is_rebuilt,
            "sentence": self.sentence,
            "problems": list(self.problems),
        }


def verify_label_set(label_set: LabelSet) -> Verification:
    """Compare the stored files of a label set with their hashes, and with files that are rebuilt.

    The files are rebuilt from the log of judgments and rulings. The original positives and the
    figures of the label set are compared, too.
    """
    stored = {
        LABELS_FILE: (_read(label_set.file), label_set.sha256),
        JUDGMENTS_FILE: (_read(label_set.judgments_file), label_set.judgments_sha256),
    }
    problems = [
        problem
        for name, (content, sha256) in stored.items()
        if (problem := _stored_problem(name, content, sha256))
    ]
    basis = LabelSetBasis.objects.filter(label_set=label_set).first()
    if basis is None:
        return Verification(label_set, is_rebuilt=False, problems=tuple(problems))
    judgments = stored[JUDGMENTS_FILE][0]
    if problems or judgments is None:
        # A rebuild takes the pseudonyms from the stored judgments file, so no file may be damaged.
        return Verification(label_set, is_rebuilt=False, problems=tuple(problems))
    rebuilt = rebuild_files(label_set, basis, judgments)
    published = {name: content or b"" for name, (content, _) in stored.items()}
    problems = [
        *_log_problems(label_set, rebuilt, published),
        *problems_of_spans(basis, rebuilt.labels),
        *_positives_problems(basis),
    ]
    return Verification(label_set, is_rebuilt=True, problems=tuple(problems))


def _read(file: Any) -> bytes | None:
    """Return the uncompressed content of a stored file, or None if it cannot be read."""
    try:
        with file.open("rb") as stream:
            return gzip.decompress(stream.read())
    except (OSError, EOFError, zlib.error):
        return None


def _stored_problem(name: str, content: bytes | None, sha256: str) -> str:
    if content is None:
        return f"The stored {name} is missing or damaged."
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        return f"The stored {name} has the sha256 {found[:SHOWN]}, not {sha256[:SHOWN]}."
    return ""


def _log_problems(
    label_set: LabelSet, rebuilt: RebuiltFiles, published: dict[str, bytes]
) -> Iterator[str]:
    for missing, noun in (
        (rebuilt.missing_judgments, "judgment"),
        (rebuilt.missing_rulings, "ruling"),
    ):
        if missing:
            yield f"The log lacks {counted(missing, noun)} of this label set."
    texts = {LABELS_FILE: rebuilt.text, JUDGMENTS_FILE: rebuilt.judgments_text}
    for name, text in texts.items():
        if text != published[name]:
            yield _difference(name, published[name], text)
    figures = {name: getattr(label_set, name) for name in rebuilt.labels.figures}
    if figures != rebuilt.labels.figures:
        yield f"The figures are {figures}, but the rebuilt ones are {rebuilt.labels.figures}."


def _difference(name: str, published: bytes, rebuilt: bytes) -> str:
    """Return a sentence that shows the first line in which two texts differ."""
    before, after = (text.decode().splitlines() for text in (published, rebuilt))
    line, old, new = next(
        (number, old, new)
        for number, (old, new) in enumerate(zip_longest(before, after, fillvalue=""), start=1)
        if old != new
    )
    sha256 = hashlib.sha256(rebuilt).hexdigest()
    return (
        f"The rebuilt {name} has the sha256 {sha256[:SHOWN]}. Its first difference is in line "
        f"{line}: published {old!r}, rebuilt {new!r}."
    )


def _positives_problems(basis: LabelSetBasis) -> Iterator[str]:
    then, now = unpack(bytes(basis.positives)), positive_codes(basis.label_set.benchmark)
    added, removed = len(np.setdiff1d(now, then)), len(np.setdiff1d(then, now))
    if added or removed:
        yield (
            f"The original positives have changed since publication: {added:,} added, "
            f"{removed:,} removed. Scores and qrels use the current ones."
        )
