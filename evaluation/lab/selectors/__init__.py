"""Database queries that only the lab uses."""

from __future__ import annotations

from evaluation.lab.selectors.noise import gold_answers, labels_of_set, noisy_labels
from evaluation.lab.selectors.rates import measured_rates
from evaluation.lab.selectors.runs import run_numbers
