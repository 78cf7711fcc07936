"""The request for potentially relevant pairs, the same on the page, in the API and the command."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, Final

import numpy as np

from hearth.shared.errors import InvalidInput
from hearth.shared.options import Entry, Option, OptionFault
from hearth.shared.progress import Progress, no_progress
from pooling.core.arrays import Float32s
from pooling.core.lines import SourceFile
from pooling.core.proxies.embeddings import read_vectors
from pooling.core.proxies.request import NAME
from pooling.core.sentences import embed
from pooling.relevant_pairs.core.phrases import Detector

DETECTORS: Final[dict[str, str]] = {
    Detector.SENT: "sent: whole captions",
    Detector.VP: "vp: whole captions and verb phrases",
    Detector.NP_VP: "np-vp: whole captions, and nouns with verb phrases",
}
DETECTOR: Final = Option("Detector", choices=DETECTORS, entry=Entry.RADIO, positional=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsRequest:
    """The parts of the captions, in the order in which they first occur."""

    detector: Annotated[Detector, DETECTOR]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevantPairsRequest:
    """Captions that share an action, whose moments are candidates for each other.

    detector: Two captions are a pair if some parts of them are similar.
    threshold: The lowest cosine of two parts. With the lowest threshold that you need, analyses can
        compare higher ones.
    embeddings: A .npy matrix with a row for each part of the captions. Without it, the installed
        sentence encoder computes the embeddings.
    parts: A JSON file {"parts": [...]} with the texts of the rows. Other parts may be among them.
        Download the parts of a detector first.
    """

    detector: Annotated[Detector, DETECTOR, Option(suggested=Detector.NP_VP)]
    threshold: Annotated[
        float, Option("Threshold", low=0.01, high=1, may_be_empty=True, attrs={"step": "any"})
    ] = 0.5
    embeddings: Annotated[SourceFile | None, Option("Embeddings of parts")] = None
    parts: Annotated[
        SourceFile | None, Option("Parts of the embeddings", expected="A JSON file")
    ] = None
    name: Annotated[
        str, NAME, Option(help="By default, the name of the detector and the threshold.")
    ] = ""

    def check(self) -> None:
        """Raise `OptionFault` if only one of the two files is there."""
        if (self.embeddings is None) != (self.parts is None):
            missing = "parts" if self.parts is None else "embeddings"
            raise OptionFault(missing, "Add both files, the embeddings and their parts.")

    def vectors_of(self, texts: list[str], progress: Progress = no_progress) -> Float32s:
        """Return the embeddings of parts, scaled to length 1, float32 [n, d].

        Raises InvalidInput if a file has an error or lacks a part, or if there is no encoder.
        """
        if self.embeddings is None or self.parts is None:
            return embed(texts, progress=progress)
        places = _places_of_parts(self.parts)
        if missing := next((text for text in texts if text not in places), None):
            reason = f"the part {missing[:100]!r} is missing; download the parts of the detector"
            raise InvalidInput(reason, source=self.parts.source)
        file = self.embeddings
        vectors = read_vectors(file.path, len(places), "parts", file.source)
        return vectors[np.array([places[text] for text in texts], np.int64)]


def _places_of_parts(file: SourceFile) -> dict[str, int]:
    try:
        content: Any = json.loads(file.path.read_bytes())
    except (ValueError, RecursionError, OSError):
        raise InvalidInput("this is not a JSON file", source=file.source) from None
    parts = content.get("parts") if isinstance(content, dict) else None
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        reason = "the file must be a JSON object in which 'parts' is a list of texts"
        raise InvalidInput(reason, source=file.source)
    places: dict[str, int] = {}
    for part in parts:
        if part in places:
            raise InvalidInput(f"the part {part[:100]!r} is named twice", source=file.source)
        places[part] = len(places)
    return places
