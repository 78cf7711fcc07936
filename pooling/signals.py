"""Signals about benchmarks, for the apps that build on this one."""

from __future__ import annotations

from django.dispatch import Signal

# Sent in the transaction that stores a new run, from a page, the API or a command. Arguments:
# `run`, and `by`, the actor who imported it. A receiver that queues a job for the run returns the
# `Job`.
run_imported = Signal()

# Sent with `benchmark` before it is archived. A receiver raises `Conflict` if the benchmark has
# open work.
benchmark_archiving = Signal()

# Sent with `benchmark`. A receiver whose data depend on the rule for equal texts returns why the
# rule cannot change. Other receivers return an empty text.
equal_texts_fixed = Signal()

# Sent with `benchmark`. A receiver returns the numbers of the captions that people judge outside of
# pools, int64 [n].
judged_captions = Signal()

# Sent with `benchmark` before its captions or original positives change. A receiver raises
# `Conflict` if its data depend on them.
captions_changing = Signal()

# Sent in the transaction that has changed the original positives of a benchmark with runs.
# Arguments: `benchmark`, and `by`, the actor who changed them.
positives_changed = Signal()

# Sent in the transaction that stores a new pool. Argument: `benchmark`.
pool_built = Signal()

# Sent with `benchmark`. A receiver returns the number of `tasks` that the next campaign would have,
# and of the `pairs` that share their labels, as a JSON object.
tasks_requested = Signal()

# Sent with `benchmark` before a file of a text-to-video run is read. A receiver returns more keys
# that may have a list in it, as a mapping to the numbers from `n_queries` on.
further_rows = Signal()

# Sent with `benchmark` and `key` if a list of a run has an unknown `key`. A receiver returns where
# it belongs, as the end of the message, or an empty text.
unknown_row = Signal()

# Sent in the transaction that stores a run of a file. Arguments: `run`, and `lists`, the `RunData`
# of the rows from `n_queries` on.
further_lists = Signal()

# Sent with `benchmark`. A receiver returns whether phrasings say the same as their captions, for
# those that people have judged, as a mapping from their primary keys.
phrasings_judged = Signal()

# Sent in the transaction in which a stored run joins the lists of the benchmark: an uploaded run is
# published, or a withdrawn run is restored. Argument: `run`.
run_listed = Signal()

# Sent outside of a transaction, by the job that scores an uploaded run. Arguments: the private
# `run`, and `progress`. A receiver scores the run before it returns.
private_run_stored = Signal()
