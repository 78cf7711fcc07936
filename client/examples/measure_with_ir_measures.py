"""Score a run with the labels of a release: measure_with_ir_measures.py RELEASE RUN.

`hearth labels download BENCHMARK --format release` downloads the release. The run is a TREC file.
Install ir-measures with pip.
"""

import sys

import ir_measures
from ir_measures import AP, P, Success

from hearth_client.datasets import Dataset

if len(sys.argv) != 3:
    sys.exit(__doc__)
release, run = sys.argv[1:]
dataset = Dataset.of_release(release, run)
measures = [Success @ 1, Success @ 5, P @ 10, AP]
found = ir_measures.calc_aggregate(measures, dataset.qrels_iter(), dataset.scoreddocs_iter())
for measure in measures:
    print(f"{measure} {found[measure]:.4f}")
