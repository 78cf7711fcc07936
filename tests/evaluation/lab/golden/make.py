"""Write the golden tables: the expected output of each command for the golden input.

python -m tests.evaluation.lab.golden.make

They are computed by other implementations (ir_measures, pytrec_eval, krippendorff, scipy) or, if
these have no equivalent, by plain Python that follows the definition, without Hearth's own code.
The file also contains the versions of these packages and the hashes of the input. `test_golden`
compares the output of the commands with the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.evaluation.lab.golden import (
    positives,
    proxies,
    resampled,
    scores,
    statistic,
    tables,
)
from tests.evaluation.lab.golden.world import INPUT, World, read_world

EXPECTED = Path(__file__).parent / "expected.json"
# The packages whose versions are recorded.
PEERS = ("ir-measures", "pytrec_eval-terrier", "krippendorff", "scipy", "numpy")
KEY = "golden"
DRAWS = ("--resamples", str(resampled.OURS))

Answer = tuple[list[str], dict[str, Any]]


def main() -> None:
    expected = {
        "made_by": "python -m tests.evaluation.lab.golden.make",
        "peers": {name: version(name) for name in PEERS},
        "inputs": input_hashes(),
        "commands": [
            {"command": command, "answer": answer} for command, answer in answers(read_world())
        ],
    }
    EXPECTED.write_text(
        json.dumps(expected, separators=(",", ":")).replace('{"command"', '\n{"command"') + "\n"
    )


def input_hashes() -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(INPUT.iterdir())
    }


def answers(world: World) -> Iterator[Answer]:
    """Yield commands with their expected output. Keys that only the real output has are ignored."""
    measures = f"{scores.DEFAULT} {scores.FURTHER}"
    question = [word for name in measures.split() for word in ("--measure", name)]
    yield ["evaluate", KEY, *question], scores.evaluate(world, world.by_labels, measures)
    alone = scores.evaluate(world, world.by_labels_only, scores.DEFAULT)
    yield ["evaluate", KEY, "--labels-only"], alone
    yield ["agreement", KEY, *DRAWS], tables.agreement(world)
    for command, answer in (*counts(world), *estimates(world)):
        name, *more = (word.replace(",", " ") for word in command.split())
        yield ["analyse", KEY, name, *more], answer


def counts(world: World) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the commands whose results are exact."""
    yield "overlap", tables.overlap(world, 10, 0.9)
    yield "overlap --depth 5 --p 0.5", tables.overlap(world, 5, 0.5)
    yield "leave-one-out --depth 6", scores.leave_one_out(world, 6, "C@1 C@5 C@10 AP")
    yield "positives", tables.positives(world)
    yield "ranks", tables.ranks(world, 10)
    rejected = positives.originals(world, "C@1 C@5 AP")
    yield "originals --resamples 100 --measures C@1,C@5,AP", rejected
    yield "length", tables.length(world, 1)
    yield "length --cutoff 5", tables.length(world, 5)
    yield "coverage", tables.coverage(world, 12)
    yield "history --moments 5 --resamples 100", tables.history(world, 5, "C@5")
    yield "slices --bins 4 --resamples 100", statistic.slices(world, "C@5", "length", 4)
    by_positives = statistic.slices(world, "AP", "positives", 5)
    yield "slices --by positives --measure AP --bins 5 --resamples 100", by_positives
    yield "wording --resamples 100", statistic.wording(world, "C@5")
    yield "matching --threshold 0.1", statistic.matching(world, "C@1 C@5 C@10 AP", 0.1)
    limits = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    yield "proxy-thresholds --step 0.1", proxies.thresholds(world, limits)
    yield "proxy-correlation --resamples 100", proxies.correlation(world)
    found = proxies.calibration(world, "C@5", limits)
    yield "proxy-calibration --step 0.1 --measures C@5 --resamples 100", found
    rates = " ".join(f"--{name} {value}" for name, value in statistic.RATES.items())
    goal = f"--difference 2 --power 0.9 {rates}"
    yield f"plan --unit captions {goal}", statistic.plan(world, "C@5", 2, 0.9)
    for measure in ("C@5", "AP"):
        by_videos = statistic.plan(world, measure, 2, 0.9, by_videos=True)
        yield f"plan --unit videos --measure {measure} {goal}", by_videos


def estimates(world: World) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the commands whose results depend on random samples, and the `bounds` commands."""
    draws = " ".join(DRAWS)
    yield f"labels {draws}", tables.labels_table(world)
    by_captions = statistic.intervals(world, "C@1 C@5 AP")
    yield f"scores --measures C@1,C@5,AP --unit captions {draws}", by_captions
    by_videos = statistic.intervals(world, "C@1 C@5 AP", by_videos=True)
    yield f"scores --measures C@1,C@5,AP {draws}", by_videos
    yield f"significance {draws}", statistic.significance(world, "C@5", by_videos=True)
    yield f"significance --unit captions {draws}", statistic.significance(world, "C@5")
    by_captions = statistic.sub_samples(world, "C@5", [60, 240])
    yield f"bootstrap --unit captions --sizes 60,240 {draws}", by_captions
    by_videos = statistic.sub_samples(world, "C@5", [60, 240], by_videos=True)
    yield f"bootstrap --unit videos --sizes 60,240 {draws}", by_videos
    wanted = ",".join(scores.BOUNDED.split())
    labelled = scores.bounds(world, world.by_labels, 6)
    yield (
        f"bounds --depth 6 --measures {wanted}",
        labelled | scores.estimates(world, 6, scores.BOUNDED),
    )
    original = scores.bounds(world, world.by_original, 6)
    yield f"bounds --labels original --depth 6 --measures {wanted}", original


if __name__ == "__main__":
    main()
