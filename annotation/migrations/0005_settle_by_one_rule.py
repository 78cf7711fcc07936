"""Settle the tasks whose outcome the one rule of `annotation.core.consensus` changes.

These are conflicts of graded labels that lie on one side of the threshold, open tasks of graded
campaigns whose labels agree on the side, and tasks of closed campaigns that still waited for a
label. Published label sets stay as they are.
"""

import numpy as np
from django.db import migrations

from annotation.core.consensus import NO_LABEL, State, count_values, resolve

STATES = {State.PENDING: "open", State.RESOLVED: "resolved", State.CONFLICTED: "conflicted"}


def settle(apps, schema_editor):
    Campaign = apps.get_model("annotation", "Campaign")
    for campaign in Campaign.objects.filter(kind="judging"):
        is_graded = campaign.scale == "graded" or len(campaign.steps) > 2
        states = ["open"] * (campaign.state == "closed") + ["open", "conflicted"] * is_graded
        if states:
            settle_campaign(apps, campaign, states)


def settle_campaign(apps, campaign, states):
    Task = apps.get_model("annotation", "JudgmentTask")
    Judgment = apps.get_model("annotation", "Judgment")
    tasks = Task.objects.filter(
        campaign=campaign, pair__isnull=False, state__in=states, labels_live__gt=0
    ).order_by("pk")
    rows = np.array(list(tasks.values_list("pk", "labels_planned")), np.int64).reshape(-1, 2)
    if not len(rows):
        return
    ids, planned = rows.T
    live = Judgment.objects.filter(task__in=tasks, state="live")
    labels = np.array(list(live.values_list("task_id", "label")), np.int64).reshape(-1, 2)
    width = max(int(labels[:, 1].max(initial=0)), campaign.threshold) + 1
    counts = count_values(np.searchsorted(ids, labels[:, 0]), labels[:, 1], len(ids), width)
    given = counts.sum(axis=1)
    is_over = campaign.state == "closed"
    found = resolve(
        counts,
        np.minimum(planned, given) if is_over else planned,
        labels_max=given if is_over else campaign.labels_max,
        threshold=campaign.threshold,
    )
    # An open task stays as it is, with its seats.
    for place in np.flatnonzero(found.states != State.PENDING).tolist():
        label = int(found.labels[place])
        Task.objects.filter(pk=ids[place]).update(
            state=STATES[State(found.states[place])],
            label=None if label == NO_LABEL else label,
            labels_required=max(int(found.n_labels[place]), int(planned[place])),
            seats_open=0,
        )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_shared_tasks_and_confirmation")]

    operations = [migrations.RunPython(settle, migrations.RunPython.noop, elidable=True)]
