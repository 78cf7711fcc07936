"""Which labels of a task were planned, and which were requested because earlier labels differed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from annotation.core.consensus import places_within

# The plan behind an imported file is unknown. The first two labels of each pair count as planned.
PLANNED_IN_FILES = 2

Int64Array = npt.NDArray[np.int64]


def label_places(tasks: Int64Array, arrivals: Int64Array) -> Int64Array:
    """Return the position of each label in its task, from 0, in order of arrival, int64 [n].

    tasks: int64 [n], equal for labels of the same task. arrivals: int64 [n], a larger number if the
    annotator's first answer to the task arrived later. So a correction keeps the position of the
    answer that it corrects. Slot numbers would be wrong here, because another annotator fills the
    slot of a withdrawn label.
    """
    order = np.argsort(arrivals, kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = places_within(tasks[order])
    return places


def first_answers(
    counted: tuple[Int64Array, Int64Array, Int64Array],
    corrected: tuple[Int64Array, Int64Array, Int64Array],
) -> Int64Array:
    """Return the primary key of the answer with which each annotator first judged each task.

    The result has one primary key for each counted label, int64 [n]. counted: primary keys, tasks
    and annotators of the counted labels, int64 [n] each. corrected: the same for the answers that
    were later corrected, int64 [m] each. Primary keys ascend in the order of arrival.
    """
    first = counted[0].copy()
    if not len(corrected[0]):
        return first
    width = int(max(counted[2].max(initial=0), corrected[2].max())) + 1
    codes, old = (columns[1] * width + columns[2] for columns in (counted, corrected))
    order = np.lexsort((corrected[0], old))
    earliest, at = np.unique(old[order], return_index=True)
    keys = corrected[0][order][at]
    place = np.minimum(np.searchsorted(earliest, codes), len(earliest) - 1)
    found = earliest[place] == codes
    first[found] = np.minimum(first[found], keys[place[found]])
    return first
