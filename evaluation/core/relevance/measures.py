"""Measures by name. A `Measure` is a printable, hashable value.

Its text is its name on pages, in exports and in commands; `scoring.score_run` computes it.
"Positive" is a pair whose gain reaches the threshold of the scoring, which is 1 unless chosen.

Conventions, the same for all measures:

- Means run over ALL queries of the benchmark. A query that the run left out, and a query without
  any positive, scores 0 and counts. (ir_measures and trec_eval do the same for a query whose
  judged pairs are all not relevant; a query with no judged pair at all they leave out.)
- A measure without cutoff works on the list as deep as it is given; AP at depth 10 and AP at
  depth 20 are different figures. Compare runs at one depth, or use `AP@10`.
- A list that is shorter than k counts as if it went on with videos that are not relevant.
  Only `Judged@k`, which asks about judging and not about the run, divides by what is there.

================  =================================================================================
C@k               1 if a positive is in the top k (Success@k; what video retrieval papers call R@k)
R@k               positives in the top k / all positives of the query
P@k               positives in the top k / k
AP, AP@k          mean over ALL positives of the query of the precision at each one's rank, 0 where
                  it is not found (Manning et al., Introduction to Information Retrieval, 8.4; FIRE
                  paper, equation 2)
AP(found)[@k]     the same sum divided by the positives FOUND in the list, down to k (what the
                  published FIRE code does); a positive that is missed costs nothing
RR, RR@k          1 / rank of the first positive
nDCG, nDCG@k      sum of gain / log2(rank + 1), divided by the same sum of the best possible list,
                  down to k or of all positives (Järvelin and Kekäläinen 2002, as in trec_eval)
nDCG(exp)[@k]     the same with 2^gain - 1 for gain (Burges et al. 2005)
MedR, MeanR       median and mean rank of the first positive; see `scoring.RunScores.mean`
Judged@k          judged pairs in the top k / length of the top k (as in ir_measures); 0 for an
                  empty list
================  =================================================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from config.shared.errors import InvalidInput

_MAX_CUTOFF: Final = 999_999
_CUTOFF_NEEDED: Final = frozenset({"C", "R", "P", "Judged"})
_CUTOFF_ALLOWED: Final = _CUTOFF_NEEDED | {"AP", "AP(found)", "RR", "nDCG", "nDCG(exp)"}
_NAMES: Final = _CUTOFF_ALLOWED | {"MedR", "MeanR"}
_KNOWN: Final = (
    "C@k, R@k, P@k, AP[@k], AP(found)[@k], RR[@k], nDCG[@k], nDCG(exp)[@k], MedR, MeanR, Judged@k"
)
# No leading zero, so that equal measures have one text; [0-9] and not \d, which takes any script.
_NAME: Final = re.compile(r"([A-Za-z]+(?:\([a-z]+\))?)(?:@([1-9][0-9]{0,5}))?")


@dataclass(frozen=True, slots=True)
class Measure:
    """What is computed: a name and, where the measure has one, a cutoff k >= 1.

    Raises InvalidInput for a name that is not known and for a cutoff missing or out of place.
    """

    name: str
    cutoff: int | None = None

    def __post_init__(self) -> None:
        if self.name not in _NAMES:
            raise InvalidInput(f"unknown measure {str(self)!r}; known are {_KNOWN}")
        if self.cutoff is None:
            if self.name in _CUTOFF_NEEDED:
                raise InvalidInput(f"measure {self.name!r} needs a cutoff, as in '{self.name}@10'")
        elif self.name not in _CUTOFF_ALLOWED:
            raise InvalidInput(f"measure {self.name!r} takes no cutoff")
        elif not 1 <= self.cutoff <= _MAX_CUTOFF:
            raise InvalidInput(f"the cutoff of {str(self)!r} is outside of 1 to {_MAX_CUTOFF}")

    def reads(self, depth: int) -> int:
        """Return how many ranks of lists of this depth the measure reads: the top k, or all.

        Show the score with Judged@k of this depth: AP of lists of depth 20 with Judged@20, and C@30
        also with Judged@20. Lists that are cut have the depth at which they are cut.
        """
        return depth if self.cutoff is None else min(self.cutoff, depth)

    def __str__(self) -> str:
        return self.name if self.cutoff is None else f"{self.name}@{self.cutoff}"


def parse_measure(text: str) -> Measure:
    """Read a measure as `str(measure)` writes it, case exact; InvalidInput names the known ones."""
    match = _NAME.fullmatch(text)
    if match is None:
        raise InvalidInput(f"unknown measure {text!r}; known are {_KNOWN}")
    name, cutoff = match.groups()
    return Measure(name, int(cutoff) if cutoff else None)


DEFAULT_MEASURES: Final[tuple[Measure, ...]] = tuple(
    parse_measure(text)
    for text in (
        "C@1 C@5 C@10 R@1 R@5 R@10 P@1 P@5 P@10 AP AP(found) RR nDCG nDCG@10 MedR MeanR Judged@10"
    ).split()
)
