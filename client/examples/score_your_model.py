"""Score your own model, after `hearth login`: score_your_model.py BENCHMARK FILE SYSTEM."""

import sys

from hearth_client import Hearth

if len(sys.argv) != 4:
    sys.exit(__doc__)
key, file, system = sys.argv[1:]
benchmark = Hearth.signed_in().benchmark(key)
run = benchmark.upload_run(file, system=system)["run"]
scores = benchmark.scores_of(run)
values = scores["labelled"] or scores["original"]
for k in ("1", "5", "10"):
    if k in scores["judged"]:
        low, high = scores["bounds"][f"C@{k}"]
        unjudged = 1 - scores["judged"][k]
        print(f"C@{k} {values[f'C@{k}']:.4f}, {low:.4f} to {high:.4f}, {unjudged:.1%} unjudged")
