"""The measures and their names. A `Measure` is a printable, hashable value.

The text of a measure is its name on pages, in exports and in commands. `scoring.score_run` computes
measures. A positive is a pair whose gain is at least the threshold of the scoring (1 by default).

Conventions for all measures:

- A mean is over ALL queries of the benchmark. A query without a list in the run scores 0, and so
  does a query without any positive. The exceptions are MedR, MeanR and Judged@k (see the table).
  ir_measures and trec_eval treat a query in the same way if its judged pairs are all not relevant,
  but they omit a query without any judged pair.
- A measure without a cutoff uses the whole list. AP at depth 10 and AP at depth 20 are therefore
  different numbers. Compare runs of the same depth, or use `AP@10`.
- A list shorter than k counts as if it continued with videos that are not relevant. Only `Judged@k`
  divides by the actual length, because it describes the judging and not the run.

"FIRE" is P. Rodriguez et al., Fighting FIRe with FIRE: Assessing the Validity of Text-to-Video
Retrieval Benchmarks, 2022, arXiv:2210.05038.

================  =================================================================================
C@k               1 if a positive is in the top k, else 0 (Success@k; video retrieval papers call
                  it R@k)
R@k               positives in the top k / all positives of the query
P@k               positives in the top k / k
AP, AP@k          mean, over ALL positives of the query, of the precision at the rank of each
                  positive; a positive that is not in the list, or not in its top k, counts as 0
                  (Manning et al., Introduction to Information Retrieval, 8.4; FIRE, equation 2)
AP(found)[@k]     the same sum divided by the number of positives in the list, or in its top k (as
                  in the published FIRE code); a missed positive does not lower the score
RR, RR@k          1 / rank of the first positive
nDCG, nDCG@k      sum of gain / log2(rank + 1), divided by the same sum for the best possible list;
                  both sums end at k; without a cutoff, they include the whole list and all
                  positives (Järvelin and Kekäläinen 2002, as in trec_eval)
nDCG(exp)[@k]     the same with 2^gain - 1 instead of gain (Burges et al. 2005)
MedR, MeanR       median and mean rank of the first positive; see `scoring.RunScores.mean`
Judged@k          judged pairs in the top k / length of the top k (as in ir_measures); 0 for an
                  empty list
================  =================================================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from hearth.shared.errors import InvalidInput

_MAX_CUTOFF: Final = 999_999
_CUTOFF_NEEDED: Final = frozenset({"C", "R", "P", "Judged"})
_CUTOFF_ALLOWED: Final = _CUTOFF_NEEDED | {"AP", "AP(found)", "RR", "nDCG", "nDCG(exp)"}
_NAMES: Final = _CUTOFF_ALLOWED | {"MedR", "MeanR"}
_KNOWN: Final = (
    "C@k, R@k, P@k, AP[@k], AP(found)[@k], RR[@k], nDCG[@k], nDCG(exp)[@k], MedR, MeanR, Judged@k"
)
# A cutoff has no leading zero, so that equal measures have equal texts. The pattern is [0-9],
# because \d also matches digits of other scripts.
_NAME: Final = re.compile(r"([A-Za-z]+(?:\([a-z]+\))?)(?:@([1-9][0-9]{0,5}))?")


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure: its name and, if it has one, its cutoff k >= 1.

    Raises InvalidInput if the name is unknown, or if the cutoff is missing, not allowed or out of
    bounds.
    """

    name: str
    cutoff: int | None = None

    def __post_init__(self) -> None:
        if self.name not in _NAMES:
            raise InvalidInput(f"unknown measure {str(self)!r}; known measures: {_KNOWN}")
        if self.cutoff is None:
            if self.name in _CUTOFF_NEEDED:
                raise InvalidInput(f"measure {self.name!r} needs a cutoff, as in '{self.name}@10'")
        elif self.name not in _CUTOFF_ALLOWED:
            raise InvalidInput(f"measure {self.name!r} takes no cutoff")
        elif not 1 <= self.cutoff <= _MAX_CUTOFF:
            raise InvalidInput(f"the cutoff of {str(self)!r} is outside of 1 to {_MAX_CUTOFF}")

    def reads(self, depth: int) -> int:
        """Return the number of ranks that the measure reads in lists of this depth.

        A page shows each score with Judged@k for this number as k. For lists of depth 20, AP and
        C@30 are both shown with Judged@20. For truncated lists, pass the depth after truncation.
        """
        return depth if self.cutoff is None else min(self.cutoff, depth)

    def __str__(self) -> str:
        return self.name if self.cutoff is None else f"{self.name}@{self.cutoff}"


def parse_measure(text: str) -> Measure:
    """Return the measure with this text. This is the inverse of `str`. The case must match.

    Raises InvalidInput if there is no such measure.
    """
    match = _NAME.fullmatch(text)
    if match is None:
        raise InvalidInput(f"unknown measure {text!r}; known measures: {_KNOWN}")
    name, cutoff = match.groups()
    return Measure(name, int(cutoff) if cutoff else None)


DEFAULT_MEASURES: Final[tuple[Measure, ...]] = tuple(
    parse_measure(text)
    for text in (
        "C@1 C@5 C@10 R@1 R@5 R@10 P@1 P@5 P@10 AP AP(found) RR nDCG nDCG@10 MedR MeanR Judged@10"
    ).split()
)
