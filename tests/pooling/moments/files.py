"""Files of moments in the forms in which the data sets are distributed, with made content."""

from __future__ import annotations

import json
from typing import Any, Final

TVR: Final = "".join(
    json.dumps(entry) + "\n"
    for entry in (
        {"vid_name": "v1", "duration": 60.5, "ts": [16.48, 33.87], "desc": "a cat", "type": "v",
         "desc_id": 7},
        {"vid_name": "v2", "duration": 30, "ts": [[0, 5], [0, 5], [5, 10], [0, 40]],
         "desc": "a dog", "type": "vt", "desc_id": 8},
    )
)  # fmt: skip
QVHIGHLIGHTS: Final = (
    '{"qid": 1, "query": "a cat", "duration": 10, "vid": "v1", "relevant_windows": [[0, 4]], '
    '"relevant_clip_ids": [0, 1], "saliency_scores": [[4, 1, 2], [3, 3, 0]]}\n'
)
CHARADES: Final = "v1 24.3 30.4##person turn a light on.\nv2 4.3 12.5##a person opens it.\n"
DURATIONS: Final = "video,duration\nv1,30.0\nv2,20.0\n"
DIDEMO: Final = json.dumps(
    [
        {
            "annotation_id": 31171,
            "description": "person in white",
            "video": "v1",
            "num_segments": 5,
            "times": [[2, 2], [1, 2], [2, 2], [2, 2]],
        }
    ]
)
ACTIVITYNET: Final = json.dumps(
    {"v_1": {"duration": 9.5, "timestamps": [[0.3, 9.1], [2, 8]], "sentences": ["a.", " b."]}}
)
SEGMENTS: Final = [[a, b] for a in range(6) for b in range(a, 6)]


def tvr_run(**tasks: dict[int, list[list[Any]]]) -> str:
    """Return a submission. tasks: the predictions by desc_id of each task."""
    names = {"video2idx": {"v1": 501, "v2": 502}}
    lists = {
        task: [{"desc_id": key, "desc": "", "predictions": rows} for key, rows in by_key.items()]
        for task, by_key in tasks.items()
    }
    return json.dumps(names | lists)
