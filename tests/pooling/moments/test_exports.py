"""Exported runs and corrected truth: reading them again gives the same values."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client

from evaluation.release.exports import formats_for, open_export
from evaluation.release.services import publish_label_set
from hearth.accounts.actors import OPERATOR
from hearth.accounts.roles import Role
from hearth.shared.errors import InvalidInput
from pooling.moments.core.spans import Spans
from pooling.moments.exports import RUN_FORMS, moment_forms, open_run_form
from pooling.moments.selectors import moment_lists, original_spans
from pooling.services import import_run
from tests.evaluation.scores.test_moments import publish_spans
from tests.factories import add_judgments, make_benchmark, make_user
from tests.pooling.moments import files
from tests.pooling.moments.test_storing import add_run, imported

pytestmark = pytest.mark.django_db

LINES = (
    '{"qid": 7, "vid": "v1", "pred_relevant_windows": [[2.1, 4.3, 0.5], [0, 3.2, 0.7]], '
    '"pred_saliency_scores": [0.5, -1.25]}\n'
    '{"qid": 8, "vid": "v2", "pred_relevant_windows": [[1, 2, 0.5]]}\n'
)
TVR_RUN = files.tvr_run(VCMR={7: [[501, 1.5, 3.1, 0.25]], 8: [[502, 0, 0, 0.5], [501, 1, 2, 0.75]]})
SEGMENTS = json.dumps([{"annotation_id": key, "segments": files.SEGMENTS} for key in (7, 8)])
TABLE = "caption_id,video_id,start,end,score\n7,v2,0.1,24.3,0.4\n7,v1,1,2,0.1\n8,v1,1,2,1\n"


@pytest.mark.parametrize(
    ("form", "content"),
    [("windows", LINES), ("tvr", TVR_RUN), ("segments", SEGMENTS), ("moments", TABLE)],
)
def test_exported_runs_are_read_as_the_same_lists(
    tmp_path: Path, client: Client, form: str, content: str
) -> None:
    benchmark = imported(tmp_path, files.TVR)
    run = add_run(tmp_path, benchmark, content)
    assert run.format == form
    path = tmp_path / "out"
    call_command("export_run", "made", "A", format=form, output=path, verbosity=0)
    client.force_login(make_user("researcher", Role.RESEARCHER))
    for prefix in ("", "/api/v1"):
        sent = client.get(f"{prefix}/benchmarks/made/runs/{run.pk}/moments/{form}/")
        assert b"".join(sent.streaming_content) == path.read_bytes()  # type: ignore[attr-defined]
    again = imported(tmp_path, files.TVR, key="other")
    other = import_run(benchmark=again, path=path, system="A", by=OPERATOR).run
    first, second = moment_lists(run), moment_lists(other)
    assert first is not None
    assert second is not None
    for name in ("items", "starts", "ends"):
        assert np.array_equal(getattr(first, name), getattr(second, name))


def test_a_run_of_videos_has_no_form_of_moments(tmp_path: Path) -> None:
    benchmark = imported(tmp_path, files.TVR)
    run = add_run(tmp_path, benchmark, files.tvr_run(VR={7: [[501, 0, 0, 1]], 8: [[501, 0, 0, 1]]}))
    with pytest.raises(InvalidInput, match="ranks whole videos"):
        open_run_form(run, "moments")
    assert moment_forms(run) == []


@pytest.mark.parametrize(
    ("content", "refused"), [(TVR_RUN, {"windows", "segments"}), (LINES, {"segments"})]
)
def test_lists_that_do_not_fit_a_form_are_refused(
    tmp_path: Path, client: Client, content: str, refused: set[str]
) -> None:
    run = add_run(tmp_path, imported(tmp_path, files.TVR), content)
    client.force_login(make_user("researcher", Role.RESEARCHER))
    page = f"/benchmarks/made/runs/{run.pk}/"
    shown = client.get(page).content.decode()
    for form in RUN_FORMS:
        answer = client.get(f"{page}moments/{form}/")
        assert (form, answer.status_code) == (form, 400 if form in refused else 200)
        assert (f"{page}moments/{form}/" in shown) == (form not in refused)
    with pytest.raises(InvalidInput, match=r"caption '[78]' does not fit the form segments"):
        open_run_form(run, "segments")


def test_corrected_truth_in_the_forms_of_the_data_sets(tmp_path: Path) -> None:
    benchmark = imported(tmp_path, files.TVR)
    add_judgments(tmp_path, benchmark, [("7", "v2", "ann", 1)])
    label_set = publish_label_set(benchmark=benchmark, by=OPERATOR)
    # The pair of caption 7 and its video v1 has two spans of people, and a new positive has one.
    publish_spans(label_set, Spans.of([0, 0, 1], [11, 2, 3], [20.25, 9.5, 6]))

    def exported(form: str) -> str:
        return b"".join(open_export(label_set, form)).decode()

    first, second = map(json.loads, exported("tvr").splitlines())
    assert first == {"vid_name": "v1", "duration": 60.5, "ts": [2.0, 9.5], "desc": "a cat",
                     "type": "v", "desc_id": 7}  # fmt: skip
    assert second["ts"] == [0.0, 5.0]
    windows = json.loads(exported("qvhighlights").splitlines()[0])
    assert windows["relevant_windows"] == [[2.0, 9.5], [11.0, 20.25]]
    assert exported("charades").splitlines() == [
        "v1 2.0 9.5##a cat",
        "v1 11.0 20.25##a cat",
        *["v2 0.0 5.0##a dog"] * 2,
        "v2 0.0 40.0##a dog",
        "v2 5.0 10.0##a dog",
        "v2 3.0 6.0##a cat",
    ]
    assert json.loads(exported("didemo"))[0]["times"] == [[0, 1], [2, 3]]
    assert json.loads(exported("activitynet"))["v1"]["timestamps"] == [[2.0, 9.5]]
    assert exported("spans").splitlines()[2:] == [
        "7,v1,2.000,9.500,1",
        "7,v1,11.000,20.250,1",
        "7,v2,3.000,6.000,1",
    ]
    # The form of TVR is read again as a benchmark.
    again = imported(tmp_path, exported("tvr"), key="again")
    assert original_spans(again).ends.tolist() == [9.5, 5.0]


def test_forms_of_moments_are_offered_for_moments_only(tmp_path: Path) -> None:
    user = make_user("someone")
    moments = imported(tmp_path, files.TVR)
    assert "tvr" in formats_for(user, moments)
    assert "tvr" not in formats_for(user, make_benchmark(tmp_path))
