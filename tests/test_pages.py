"""All pages: permissions, forbidden content, and numbers of database queries."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver

from annotation.enums import GoldUse
from annotation.models import Annotator, Campaign, GuidelinePicture, ReviewComment
from annotation.services import (
    Example,
    Policy,
    annotator_for,
    comment_on_judgment,
    open_campaign,
    open_training,
    write_guideline,
)
from evaluation.lab.analyses import get_analysis
from evaluation.lab.analyses.question import build_question
from evaluation.lab.services import analyse, compute_shown_analyses
from evaluation.monitor.services import compute_agreement
from evaluation.release.services import publish_label_set
from evaluation.scores.services import evaluate_runs
from hearth.accounts.actors import OPERATOR
from hearth.accounts.models import User
from hearth.accounts.roles import Role
from hearth.jobs.models import Job
from hearth.shared.caches import process_cache as cache
from hearth.shared.progress import no_progress
from pooling import services
from pooling.core.proxies.options import Method, ProxyOptions
from pooling.enums import MediaState, RunUploadState, UploadState
from pooling.models import (
    Benchmark,
    BenchmarkImport,
    RunUpload,
    Uploader,
    Video,
    VideoUpload,
)
from tests import factories
from tests.accounts.world import invited, make_member
from tests.factories import build_pool
from tests.pictures import picture as make_picture
from tests.replay import replayed
from tests.security.headers import FOREIGN, problems_of, use_https

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"

VISITORS = ("anonymous", "annotator", "researcher", "lead", "admin")
ROLES = {
    "annotator": Role.ANNOTATOR,
    "researcher": Role.RESEARCHER,
    "lead": Role.LEAD,
    "admin": Role.ADMIN,
}
IN, OUT, NONE = 200, 302, 404

# Name, method, address, and the status for each of VISITORS. `tiny` is a benchmark with all kinds
# of data. To an annotator, a benchmark that exists must look like one that does not.
TABLE: tuple[tuple[str, str, str, tuple[int, int, int, int, int]], ...] = (
    ("home", "GET", "/", (IN, IN, IN, IN, IN)),
    ("token", "GET", "/account/token/", (OUT, IN, IN, IN, IN)),
    ("token", "POST", "/account/token/", (OUT, 422, 422, 422, 422)),
    ("token-revoke", "POST", "/account/token/999999/revoke/", (OUT, NONE, NONE, NONE, NONE)),
    ("token-revoke", "GET", "/account/token/999999/revoke/", (OUT, 405, 405, 405, 405)),
    ("benchmark", "GET", "/benchmarks/tiny/", (OUT, NONE, IN, IN, IN)),
    ("benchmark", "GET", "/benchmarks/other/", (OUT, NONE, NONE, NONE, NONE)),
    ("benchmark-captions", "GET", "/benchmarks/tiny/captions/", (OUT, NONE, IN, IN, IN)),
    ("benchmark-captions", "GET", "/benchmarks/tiny/captions/?q=none", (OUT, NONE, IN, IN, IN)),
    ("benchmark-captions", "GET", "/benchmarks/tiny/captions/?least=x", (OUT, NONE, 422, 422, 422)),
    ("benchmark-captions", "GET", "/benchmarks/tiny/captions/?sort=pk", (OUT, NONE, 400, 400, 400)),
    ("captions-csv", "GET", "/benchmarks/tiny/captions/csv/", (OUT, NONE, IN, IN, IN)),
    ("captions-csv", "GET", "/benchmarks/tiny/captions/csv/?tag=x", (OUT, NONE, 400, 400, 400)),
    ("caption", "GET", "/benchmarks/tiny/caption/?id=c0", (OUT, NONE, IN, IN, IN)),
    ("caption", "GET", "/benchmarks/tiny/caption/?id=c0&labels=9", (OUT, NONE, 400, 400, 400)),
    ("caption", "GET", "/benchmarks/tiny/caption/?id=other", (OUT, NONE, NONE, NONE, NONE)),
    ("benchmark-videos", "GET", "/benchmarks/tiny/videos/", (OUT, NONE, IN, IN, IN)),
    ("benchmark-videos", "GET", "/benchmarks/tiny/videos/?q=none", (OUT, NONE, IN, IN, IN)),
    ("benchmark-videos", "GET", "/benchmarks/tiny/videos/?state=x", (OUT, NONE, 422, 422, 422)),
    ("videos-csv", "GET", "/benchmarks/tiny/videos/csv/", (OUT, NONE, IN, IN, IN)),
    ("video", "GET", "/benchmarks/tiny/video/?id=v0", (OUT, NONE, IN, IN, IN)),
    ("video", "GET", "/benchmarks/tiny/video/?id=other", (OUT, NONE, NONE, NONE, NONE)),
    ("pairs-csv", "GET", "/benchmarks/tiny/pairs/csv/", (OUT, NONE, IN, IN, IN)),
    ("pairs-csv", "GET", "/benchmarks/tiny/pairs/csv/?video_id=x", (OUT, NONE, 400, 400, 400)),
    ("benchmark-runs", "GET", "/benchmarks/tiny/runs/", (OUT, NONE, IN, IN, IN)),
    ("benchmark-campaigns", "GET", "/benchmarks/tiny/campaigns/", (OUT, NONE, IN, IN, IN)),
    ("benchmark-labels", "GET", "/benchmarks/tiny/labels/", (OUT, NONE, IN, IN, IN)),
    ("webhooks", "GET", "/benchmarks/tiny/webhooks/", (OUT, NONE, NONE, IN, IN)),
    ("webhooks", "GET", "/benchmarks/other/webhooks/", (OUT, NONE, NONE, NONE, NONE)),
    ("webhooks", "POST", "/benchmarks/tiny/webhooks/", (OUT, NONE, NONE, 422, 422)),
    (
        "webhook-delete",
        "POST",
        "/benchmarks/tiny/webhooks/0/delete/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    ("webhook-delete", "GET", "/benchmarks/tiny/webhooks/0/delete/", (OUT, NONE, 405, 405, 405)),
    (
        "delivery-repeat",
        "POST",
        "/benchmarks/tiny/webhooks/deliveries/{job}/repeat/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    (
        "delivery-repeat",
        "GET",
        "/benchmarks/tiny/webhooks/deliveries/{job}/repeat/",
        (OUT, NONE, 405, 405, 405),
    ),
    ("benchmark-people", "GET", "/benchmarks/tiny/people/", (OUT, NONE, NONE, IN, IN)),
    ("benchmark-people", "GET", "/benchmarks/other/people/", (OUT, NONE, NONE, NONE, NONE)),
    ("benchmark-settings", "GET", "/benchmarks/tiny/settings/", (OUT, NONE, IN, IN, IN)),
    ("import-new", "GET", "/imports/new/", (OUT, NONE, NONE, IN, IN)),
    ("import-new", "POST", "/imports/new/", (OUT, NONE, NONE, 422, 422)),
    ("import-plan", "GET", f"/imports/{uuid.UUID(int=0)}/", (OUT, NONE, NONE, NONE, NONE)),
    ("import-plan", "GET", "/imports/{import}/", (OUT, NONE, NONE, IN, IN)),
    ("import-plan", "POST", "/imports/{import}/", (OUT, NONE, NONE, 422, 422)),
    ("import-accept", "GET", "/imports/{import}/accept/", (OUT, NONE, NONE, 405, 405)),
    ("import-accept", "POST", "/imports/{import}/accept/", (OUT, NONE, NONE, 412, 412)),
    ("captions-update", "GET", "/benchmarks/tiny/captions/update/", (OUT, NONE, 403, IN, IN)),
    ("captions-update", "POST", "/benchmarks/tiny/captions/update/", (OUT, NONE, 403, 422, 422)),
    ("run-upload", "GET", "/benchmarks/tiny/runs/new/", (OUT, NONE, IN, IN, IN)),
    ("run-upload", "POST", "/benchmarks/tiny/runs/new/", (OUT, NONE, 422, 422, 422)),
    ("runs-fuse", "GET", "/benchmarks/tiny/runs/fuse/", (OUT, NONE, IN, IN, IN)),
    ("runs-fuse", "POST", "/benchmarks/tiny/runs/fuse/", (OUT, NONE, 422, 422, 422)),
    (
        "phrased-lists-upload",
        "GET",
        "/benchmarks/tiny/runs/phrasings/new/",
        (OUT, NONE, IN, IN, IN),
    ),
    (
        "phrased-lists-upload",
        "POST",
        "/benchmarks/tiny/runs/phrasings/new/",
        (OUT, NONE, 422, 422, 422),
    ),
    ("proxies", "GET", "/benchmarks/tiny/proxies/", (OUT, NONE, IN, IN, IN)),
    ("proxies", "GET", "/benchmarks/tiny/proxies/?sort=file", (OUT, NONE, 400, 400, 400)),
    ("proxies", "GET", "/benchmarks/other/proxies/", (OUT, NONE, NONE, NONE, NONE)),
    ("proxy-compute", "GET", "/benchmarks/tiny/proxies/new/", (OUT, NONE, IN, IN, IN)),
    ("proxy-compute", "POST", "/benchmarks/tiny/proxies/new/", (OUT, NONE, 422, 422, 422)),
    ("proxy-upload", "GET", "/benchmarks/tiny/proxies/matrix/", (OUT, NONE, IN, IN, IN)),
    ("proxy-upload", "POST", "/benchmarks/tiny/proxies/matrix/", (OUT, NONE, 422, 422, 422)),
    ("embeddings-upload", "GET", "/benchmarks/tiny/proxies/embeddings/", (OUT, NONE, IN, IN, IN)),
    (
        "embeddings-upload",
        "POST",
        "/benchmarks/tiny/proxies/embeddings/",
        (OUT, NONE, 422, 422, 422),
    ),
    ("proxy", "GET", "/benchmarks/tiny/proxies/{proxy}/", (OUT, NONE, IN, IN, IN)),
    ("proxy-chart", "GET", "/benchmarks/tiny/proxies/{proxy}/chart/", (OUT, NONE, IN, IN, IN)),
    ("proxy-delete", "GET", "/benchmarks/tiny/proxies/{proxy}/delete/", (OUT, NONE, 403, IN, IN)),
    (
        "proxy-delete",
        "POST",
        "/benchmarks/tiny/proxies/{proxy}/delete/",
        (OUT, NONE, 403, OUT, OUT),
    ),
    (
        "proxy-export",
        "GET",
        "/benchmarks/tiny/proxies/{proxy}/files/keys/",
        (OUT, NONE, IN, IN, IN),
    ),
    (
        "proxy-export",
        "GET",
        "/benchmarks/tiny/proxies/{proxy}/files/exe/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    ("public-page", "GET", "/benchmarks/tiny/public/", (OUT, NONE, 403, IN, IN)),
    ("public-page", "POST", "/benchmarks/tiny/public/", (OUT, NONE, 403, 422, 422)),
    # `tiny` is not public. tests/evaluation/public tests the pages of a public benchmark.
    ("public-benchmarks", "GET", "/public/", (IN, IN, IN, IN, IN)),
    ("public-benchmark", "GET", "/public/tiny/", (NONE, NONE, NONE, NONE, NONE)),
    ("public-results", "GET", "/public/tiny/results/csv/", (NONE, NONE, NONE, NONE, NONE)),
    ("public-label-set", "GET", "/public/tiny/labels/1.0.0/csv/", (NONE, NONE, NONE, NONE, NONE)),
    ("public-ids", "GET", "/public/tiny/ids/captions/", (NONE, NONE, NONE, NONE, NONE)),
    ("run-score", "GET", "/public/tiny/runs/new/", (OUT, NONE, NONE, NONE, NONE)),
    ("run-score", "POST", "/public/tiny/runs/new/", (OUT, NONE, NONE, NONE, NONE)),
    ("run-score-ask", "GET", "/public/tiny/runs/new/ask/", (OUT, 405, 405, 405, 405)),
    ("run-score-ask", "POST", "/public/tiny/runs/new/ask/", (OUT, NONE, NONE, NONE, NONE)),
    (
        "uploader-change",
        "GET",
        "/benchmarks/tiny/runs/uploads/people/{uploader}/",
        (OUT, NONE, 405, 405, 405),
    ),
    (
        "uploader-change",
        "POST",
        "/benchmarks/tiny/runs/uploads/people/{uploader}/",
        (OUT, NONE, 403, 302, 302),
    ),
    ("run-uploads", "GET", "/uploads/", (OUT, IN, IN, IN, IN)),
    ("benchmark-run-uploads", "GET", "/benchmarks/tiny/runs/uploads/", (OUT, NONE, NONE, IN, IN)),
    ("run-publish", "GET", "/uploads/{run_upload}/publish/", (OUT, NONE, NONE, 403, 403)),
    ("run-publish", "POST", "/uploads/{run_upload}/publish/", (OUT, NONE, NONE, 403, 403)),
    ("run-upload-withdraw", "GET", "/uploads/{run_upload}/withdraw/", (OUT, 405, 405, 405, 405)),
    (
        "run-upload-withdraw",
        "POST",
        "/uploads/{run_upload}/withdraw/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    ("run-upload-refuse", "GET", "/uploads/{run_upload}/refuse/", (OUT, NONE, NONE, IN, IN)),
    ("run-upload-refuse", "POST", "/uploads/{run_upload}/refuse/", (OUT, NONE, NONE, 422, 422)),
    ("register", "GET", "/register/", (NONE, NONE, NONE, NONE, NONE)),
    ("run-change", "GET", "/benchmarks/tiny/runs/0/edit/", (OUT, NONE, NONE, NONE, NONE)),
    ("run-withdraw", "GET", "/benchmarks/tiny/runs/0/withdraw/", (OUT, NONE, 405, 405, 405)),
    ("run-withdraw", "POST", "/benchmarks/tiny/runs/0/withdraw/", (OUT, NONE, NONE, NONE, NONE)),
    ("run-delete", "GET", "/benchmarks/tiny/runs/0/delete/", (OUT, NONE, NONE, NONE, NONE)),
    ("run-delete", "POST", "/benchmarks/tiny/runs/0/delete/", (OUT, NONE, NONE, NONE, NONE)),
    ("pool-delete", "GET", "/benchmarks/tiny/pools/0/delete/", (OUT, NONE, 403, NONE, NONE)),
    (
        "train-captions-delete",
        "GET",
        "/benchmarks/tiny/train-captions/0/delete/",
        (OUT, NONE, 403, NONE, NONE),
    ),
    ("tags-delete", "GET", "/benchmarks/tiny/tags/delete/", (OUT, NONE, 405, 405, 405)),
    ("tags-delete", "POST", "/benchmarks/tiny/tags/delete/", (OUT, NONE, 403, NONE, NONE)),
    ("benchmark-change", "GET", "/benchmarks/tiny/edit/", (OUT, NONE, 403, IN, IN)),
    ("benchmark-change", "POST", "/benchmarks/tiny/edit/", (OUT, NONE, 403, 422, 422)),
    ("benchmark-archive", "GET", "/benchmarks/tiny/archive/", (OUT, NONE, 405, 405, 405)),
    ("benchmark-archive", "POST", "/benchmarks/tiny/archive/", (OUT, NONE, 403, 400, 400)),
    ("benchmark-delete", "GET", "/benchmarks/tiny/delete/", (OUT, NONE, 403, IN, IN)),
    ("benchmark-delete", "POST", "/benchmarks/tiny/delete/", (OUT, NONE, 403, 409, 409)),
    ("recent-uploads", "GET", "/benchmarks/tiny/uploads/", (OUT, NONE, NONE, IN, IN)),
    ("campaign-delete", "GET", "/campaigns/{campaign}/delete/", (OUT, NONE, 403, IN, IN)),
    ("campaign-delete", "POST", "/campaigns/{campaign}/delete/", (OUT, NONE, 403, 409, 409)),
    ("pool-build", "GET", "/benchmarks/tiny/pools/new/", (OUT, NONE, 403, IN, IN)),
    ("pool-build", "POST", "/benchmarks/tiny/pools/new/", (OUT, NONE, 403, 422, 422)),
    (
        "pool-preview",
        "GET",
        "/benchmarks/tiny/pools/new/00000000-0000-0000-0000-000000000000/",
        (OUT, NONE, 403, NONE, NONE),
    ),
    (
        "train-captions-upload",
        "GET",
        "/benchmarks/tiny/train-captions/new/",
        (OUT, NONE, 403, IN, IN),
    ),
    (
        "train-captions-upload",
        "POST",
        "/benchmarks/tiny/train-captions/new/",
        (OUT, NONE, 403, 422, 422),
    ),
    ("paragraphs", "GET", "/benchmarks/tiny/paragraphs/", (OUT, NONE, IN, IN, IN)),
    ("paragraphs-add", "GET", "/benchmarks/tiny/paragraphs/new/", (OUT, NONE, NONE, IN, IN)),
    ("paragraphs-add", "POST", "/benchmarks/tiny/paragraphs/new/", (OUT, NONE, NONE, 422, 422)),
    (
        "paragraphs-outcomes",
        "GET",
        "/benchmarks/tiny/paragraphs/outcomes/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    (
        "paragraphs-settle",
        "GET",
        "/benchmarks/tiny/paragraphs/settle/",
        (OUT, NONE, NONE, 405, 405),
    ),
    (
        "paragraphs-settle",
        "POST",
        "/benchmarks/tiny/paragraphs/settle/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    ("clips-upload", "GET", "/benchmarks/tiny/paragraphs/clips/", (OUT, NONE, NONE, NONE, NONE)),
    ("clips-upload", "POST", "/benchmarks/tiny/paragraphs/clips/", (OUT, NONE, NONE, NONE, NONE)),
    (
        "clips-delete",
        "GET",
        "/benchmarks/tiny/paragraphs/clips/0/delete/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    (
        "clips-delete",
        "POST",
        "/benchmarks/tiny/paragraphs/clips/0/delete/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    (
        "similarities-upload",
        "GET",
        "/benchmarks/tiny/paragraphs/similarities/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    (
        "similarities-upload",
        "POST",
        "/benchmarks/tiny/paragraphs/similarities/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    ("run-focus", "GET", "/benchmarks/tiny/paragraphs/focus/", (OUT, NONE, NONE, NONE, NONE)),
    ("run-focus", "POST", "/benchmarks/tiny/paragraphs/focus/", (OUT, NONE, NONE, NONE, NONE)),
    (
        "relevant-pairs-find",
        "GET",
        "/benchmarks/tiny/relevant-pairs/find/",
        (OUT, NONE, IN, IN, IN),
    ),
    (
        "relevant-pairs-find",
        "POST",
        "/benchmarks/tiny/relevant-pairs/find/",
        (OUT, NONE, 422, 422, 422),
    ),
    (
        "relevant-pairs-parts",
        "GET",
        "/benchmarks/tiny/relevant-pairs/parts/",
        (OUT, NONE, 400, 400, 400),
    ),
    ("relevant-pairs", "GET", "/benchmarks/tiny/relevant-pairs/0/", (OUT, NONE, NONE, NONE, NONE)),
    ("scenes-find", "GET", "/benchmarks/tiny/scenes/find/", (OUT, NONE, 403, IN, IN)),
    ("scenes-find", "POST", "/benchmarks/tiny/scenes/find/", (OUT, NONE, 403, 422, 422)),
    ("scenes-describe", "GET", "/benchmarks/tiny/scenes/describe/", (OUT, NONE, 403, IN, IN)),
    ("scenes-describe", "POST", "/benchmarks/tiny/scenes/describe/", (OUT, NONE, 403, 422, 422)),
    (
        "training-moments",
        "GET",
        "/benchmarks/tiny/relevant-pairs/0/training/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    ("gold-spans", "GET", "/benchmarks/tiny/gold/spans/new/", (OUT, NONE, NONE, IN, IN)),
    ("gold-spans", "POST", "/benchmarks/tiny/gold/spans/new/", (OUT, NONE, NONE, 422, 422)),
    (
        "phrasing-embeddings-upload",
        "GET",
        "/benchmarks/tiny/phrasings/embeddings/",
        (OUT, NONE, 403, IN, IN),
    ),
    (
        "phrasing-embeddings-upload",
        "POST",
        "/benchmarks/tiny/phrasings/embeddings/",
        (OUT, NONE, 403, 422, 422),
    ),
    ("faithfulness-open", "GET", "/benchmarks/tiny/faithfulness/new/", (OUT, NONE, 403, IN, IN)),
    ("faithfulness-open", "POST", "/benchmarks/tiny/faithfulness/new/", (OUT, NONE, 403, 422, 422)),
    ("phrasings-expand", "GET", "/benchmarks/tiny/phrasings/expand/", (OUT, NONE, 403, IN, IN)),
    ("phrasings-expand", "POST", "/benchmarks/tiny/phrasings/expand/", (OUT, NONE, 403, 422, 422)),
    ("phrasings-upload", "GET", "/benchmarks/tiny/phrasings/new/", (OUT, NONE, 403, IN, IN)),
    ("phrasings-upload", "POST", "/benchmarks/tiny/phrasings/new/", (OUT, NONE, 403, 422, 422)),
    (
        "phrasings-delete",
        "GET",
        "/benchmarks/tiny/phrasings/0/delete/",
        (OUT, NONE, 403, NONE, NONE),
    ),
    ("tags-upload", "GET", "/benchmarks/tiny/tags/new/", (OUT, NONE, 403, IN, IN)),
    ("tags-upload", "POST", "/benchmarks/tiny/tags/new/", (OUT, NONE, 403, 422, 422)),
    ("videos-add", "GET", "/benchmarks/tiny/videos/new/", (OUT, NONE, 403, IN, IN)),
    ("videos-add", "POST", "/benchmarks/tiny/videos/new/", (OUT, NONE, 405, 405, 405)),
    ("videos-plan", "POST", "/benchmarks/tiny/videos/new/plan/", (OUT, NONE, 403, 400, 400)),
    ("videos-folder", "POST", "/benchmarks/tiny/videos/new/folder/", (OUT, NONE, 403, 400, 400)),
    (
        "video-addresses-upload",
        "GET",
        "/benchmarks/tiny/video-addresses/new/",
        (OUT, NONE, 403, IN, IN),
    ),
    (
        "video-addresses-upload",
        "POST",
        "/benchmarks/tiny/video-addresses/new/",
        (OUT, NONE, 403, 422, 422),
    ),
    ("videos-retry", "POST", "/benchmarks/tiny/videos/new/retry/", (OUT, NONE, 403, OUT, OUT)),
    ("videos-cancel", "POST", "/benchmarks/tiny/videos/new/cancel/", (OUT, NONE, 403, OUT, OUT)),
    ("video-uploads", "POST", "/benchmarks/tiny/videos/uploads/", (OUT, NONE, 403, 412, 412)),
    ("video-uploads", "OPTIONS", "/benchmarks/tiny/videos/uploads/", (OUT, NONE, 403, 204, 204)),
    (
        "video-upload",
        "DELETE",
        "/benchmarks/tiny/videos/uploads/{upload}/",
        (OUT, NONE, 403, 412, 412),
    ),
    ("ordering-open", "GET", "/benchmarks/tiny/orderings/new/", (OUT, NONE, 403, IN, IN)),
    ("ordering-open", "POST", "/benchmarks/tiny/orderings/new/", (OUT, NONE, 403, 422, 422)),
    ("campaign-open", "GET", "/benchmarks/tiny/campaigns/new/", (OUT, NONE, 403, IN, IN)),
    ("campaign-open", "POST", "/benchmarks/tiny/campaigns/new/", (OUT, NONE, 403, 422, 422)),
    ("judgments-upload", "GET", "/benchmarks/tiny/judgments/new/", (OUT, NONE, 403, IN, IN)),
    ("judgments-upload", "POST", "/benchmarks/tiny/judgments/new/", (OUT, NONE, 403, 422, 422)),
    (
        "judgments-plan",
        "GET",
        "/benchmarks/tiny/judgments/plan/00000000-0000-0000-0000-000000000000/",
        (OUT, NONE, 403, NONE, NONE),
    ),
    (
        "judgments-plan",
        "POST",
        "/benchmarks/tiny/judgments/plan/00000000-0000-0000-0000-000000000000/",
        (OUT, NONE, 403, NONE, NONE),
    ),
    ("results", "GET", "/benchmarks/tiny/results/", (OUT, NONE, IN, IN, IN)),
    ("results", "GET", "/benchmarks/tiny/results/?labels=9", (OUT, NONE, 400, 400, 400)),
    ("results", "GET", "/benchmarks/tiny/results/?sort=run__id", (OUT, NONE, 400, 400, 400)),
    ("results-download", "GET", "/benchmarks/tiny/results/csv/", (OUT, NONE, IN, IN, IN)),
    ("results-download", "GET", "/benchmarks/tiny/results/json/", (OUT, NONE, IN, IN, IN)),
    ("results-download", "GET", "/benchmarks/tiny/results/xml/", (OUT, NONE, NONE, NONE, NONE)),
    ("analyses", "GET", "/benchmarks/tiny/analyses/", (OUT, NONE, IN, IN, IN)),
    ("analysis", "GET", "/benchmarks/tiny/analyses/positives/", (OUT, NONE, IN, IN, IN)),
    ("analysis", "GET", "/benchmarks/tiny/analyses/positives/?examples=1", (OUT, NONE, IN, IN, IN)),
    (
        "analysis",
        "GET",
        "/benchmarks/tiny/analyses/positives/?examples=x",
        (OUT, NONE, 422, 422, 422),
    ),
    ("analysis", "GET", "/benchmarks/tiny/analyses/overlap/", (OUT, NONE, IN, IN, IN)),
    ("analysis", "GET", "/benchmarks/tiny/analyses/other/", (OUT, NONE, NONE, NONE, NONE)),
    (
        "analysis-compute",
        "POST",
        "/benchmarks/tiny/analyses/ranks/compute/",
        (OUT, NONE, OUT, OUT, OUT),
    ),
    (
        "analysis-compute",
        "POST",
        "/benchmarks/tiny/analyses/overlap/compute/",
        (OUT, NONE, 400, 400, 400),
    ),
    (
        "analysis-compute",
        "GET",
        "/benchmarks/tiny/analyses/ranks/compute/",
        (OUT, NONE, 405, 405, 405),
    ),
    ("analysis-json", "GET", "/benchmarks/tiny/analyses/positives/json/", (OUT, NONE, IN, IN, IN)),
    (
        "analysis-json",
        "GET",
        "/benchmarks/tiny/analyses/ranks/json/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    (
        "analysis-table",
        "GET",
        "/benchmarks/tiny/analyses/positives/tables/examples/",
        (OUT, NONE, IN, IN, IN),
    ),
    (
        "analysis-table",
        "GET",
        "/benchmarks/tiny/analyses/positives/tables/other/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    (
        "analysis-latex",
        "GET",
        "/benchmarks/tiny/analyses/positives/tables/examples/latex/",
        (OUT, NONE, IN, IN, IN),
    ),
    (
        "analysis-chart",
        "GET",
        "/benchmarks/tiny/analyses/positives/charts/by-length/",
        (OUT, NONE, IN, IN, IN),
    ),
    (
        "analysis-chart",
        "GET",
        "/benchmarks/tiny/analyses/positives/charts/other/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    ("run", "GET", "/benchmarks/tiny/runs/0/", (OUT, NONE, NONE, NONE, NONE)),
    ("machines", "GET", "/benchmarks/tiny/machines/", (OUT, NONE, IN, IN, IN)),
    ("machines", "POST", "/benchmarks/tiny/machines/", (OUT, NONE, 422, 422, 422)),
    ("machine", "GET", "/benchmarks/tiny/machines/0/", (OUT, NONE, NONE, NONE, NONE)),
    ("machine-pairs", "GET", "/benchmarks/tiny/machines/0/pairs/", (OUT, NONE, NONE, NONE, NONE)),
    ("machine-video", "GET", "/media/machines/wrong/", (NONE, NONE, NONE, NONE, NONE)),
    ("run-estimate", "GET", "/benchmarks/tiny/runs/0/estimate/", (OUT, NONE, NONE, NONE, NONE)),
    ("run-estimate", "POST", "/benchmarks/tiny/runs/0/estimate/", (OUT, NONE, NONE, NONE, NONE)),
    (
        "run-estimate-chart",
        "GET",
        "/benchmarks/tiny/runs/0/estimate/chart/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    ("run-pool", "GET", "/benchmarks/tiny/runs/0/pool/", (OUT, NONE, 405, 405, 405)),
    ("run-pool", "POST", "/benchmarks/tiny/runs/0/pool/", (OUT, NONE, NONE, NONE, NONE)),
    ("run-moments", "GET", "/benchmarks/tiny/runs/0/moments/tvr/", (OUT, NONE, NONE, NONE, NONE)),
    ("run-confirm", "GET", "/benchmarks/tiny/runs/0/confirm/", (OUT, NONE, 405, 405, 405)),
    ("run-confirm", "POST", "/benchmarks/tiny/runs/0/confirm/", (OUT, NONE, 403, NONE, NONE)),
    ("equal-captions", "GET", "/benchmarks/tiny/equal-captions/", (OUT, NONE, IN, IN, IN)),
    ("equal-captions", "POST", "/benchmarks/tiny/equal-captions/", (OUT, NONE, 422, 422, 422)),
    ("compare", "GET", "/benchmarks/tiny/compare/", (OUT, NONE, IN, IN, IN)),
    ("compare", "GET", "/benchmarks/tiny/compare/?show=best", (OUT, NONE, 422, 422, 422)),
    ("compare-download", "GET", "/benchmarks/tiny/compare/csv/", (OUT, NONE, IN, IN, IN)),
    ("compare-download", "GET", "/benchmarks/tiny/compare/json/", (OUT, NONE, IN, IN, IN)),
    ("compare-download", "GET", "/benchmarks/tiny/compare/caption/", (OUT, NONE, IN, IN, IN)),
    ("compare-download", "GET", "/benchmarks/tiny/compare/xml/", (OUT, NONE, NONE, NONE, NONE)),
    (
        "compare-download",
        "GET",
        "/benchmarks/tiny/compare/csv/?show=best",
        (OUT, NONE, 400, 400, 400),
    ),
    ("paper", "GET", "/benchmarks/tiny/paper/1.0.0/", (OUT, NONE, IN, IN, IN)),
    ("paper", "GET", "/benchmarks/tiny/paper/original/", (OUT, NONE, NONE, NONE, NONE)),
    ("paper-compute", "POST", "/benchmarks/tiny/paper/1.0.0/compute/", (OUT, NONE, OUT, OUT, OUT)),
    ("paper-compute", "GET", "/benchmarks/tiny/paper/1.0.0/compute/", (OUT, NONE, 405, 405, 405)),
    ("paper-download", "GET", "/benchmarks/tiny/paper/1.0.0/zip/", (OUT, NONE, NONE, NONE, NONE)),
    ("agreement-compute", "POST", "/benchmarks/tiny/agreement/", (OUT, NONE, OUT, OUT, OUT)),
    ("agreement-compute", "GET", "/benchmarks/tiny/agreement/", (OUT, NONE, 405, 405, 405)),
    ("labels-publish", "POST", "/benchmarks/tiny/labels/publish/", (OUT, NONE, 403, 422, 422)),
    ("labels-publish", "GET", "/benchmarks/tiny/labels/publish/", (OUT, NONE, 403, 200, 200)),
    ("evaluate", "POST", "/benchmarks/tiny/evaluate/", (OUT, NONE, OUT, OUT, OUT)),
    ("draft-make", "POST", "/benchmarks/tiny/labels/draft/", (OUT, NONE, OUT, OUT, OUT)),
    ("draft-make", "GET", "/benchmarks/tiny/labels/draft/", (OUT, NONE, 405, 405, 405)),
    ("label-set", "GET", "/benchmarks/tiny/labels/1/", (OUT, NONE, IN, IN, IN)),
    ("label-set", "GET", "/benchmarks/tiny/labels/9/", (OUT, NONE, NONE, NONE, NONE)),
    ("label-set-verify", "POST", "/benchmarks/tiny/labels/1/verify/", (OUT, NONE, OUT, OUT, OUT)),
    ("label-set-verify", "GET", "/benchmarks/tiny/labels/1/verify/", (OUT, NONE, 405, 405, 405)),
    ("label-set-diff", "GET", "/benchmarks/tiny/labels/1/since/1/", (OUT, NONE, IN, IN, IN)),
    (
        "label-set-diff-csv",
        "GET",
        "/benchmarks/tiny/labels/1/since/1/csv/",
        (OUT, NONE, IN, IN, IN),
    ),
    (
        "label-set-compare",
        "GET",
        "/benchmarks/tiny/labels/compare/?from=1&to=1",
        (OUT, NONE, OUT, OUT, OUT),
    ),
    ("label-set-export", "GET", "/benchmarks/tiny/labels/1/csv/", (OUT, NONE, IN, IN, IN)),
    ("label-set-export", "GET", "/benchmarks/tiny/labels/1/fire/", (OUT, NONE, IN, IN, IN)),
    ("label-set-export", "GET", "/benchmarks/tiny/labels/1/exe/", (OUT, NONE, NONE, NONE, NONE)),
    ("label-set-export", "GET", "/benchmarks/tiny/labels/9/csv/", (OUT, NONE, NONE, NONE, NONE)),
    (
        "label-set-export",
        "GET",
        f"/benchmarks/tiny/labels/{10**30}/csv/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    ("campaign", "GET", "/campaigns/{campaign}/", (OUT, NONE, IN, IN, IN)),
    ("campaign", "GET", "/campaigns/999999/", (OUT, NONE, NONE, NONE, NONE)),
    ("campaign-progress", "GET", "/campaigns/{campaign}/progress/", (OUT, NONE, IN, IN, IN)),
    ("campaign-state", "POST", "/campaigns/{campaign}/state/", (OUT, NONE, 403, 400, 400)),
    ("campaign-state", "GET", "/campaigns/{campaign}/state/", (OUT, NONE, 405, 405, 405)),
    ("campaign-csv", "GET", "/campaigns/{campaign}/csv/", (OUT, NONE, IN, IN, IN)),
    ("campaign-answers", "GET", "/campaigns/{campaign}/orders/csv/", (OUT, NONE, NONE, NONE, NONE)),
    ("campaign-compute", "POST", "/campaigns/{campaign}/compute/", (OUT, NONE, OUT, OUT, OUT)),
    ("campaign-compute", "GET", "/campaigns/{campaign}/compute/", (OUT, NONE, 405, 405, 405)),
    ("campaign-people", "GET", "/campaigns/{campaign}/people/", (OUT, NONE, NONE, IN, IN)),
    (
        "campaign-people",
        "GET",
        "/campaigns/{campaign}/people/?sort=password",
        (OUT, NONE, NONE, 400, 400),
    ),
    ("campaign-people", "GET", "/campaigns/999999/people/", (OUT, NONE, NONE, NONE, NONE)),
    ("campaign-people-csv", "GET", "/campaigns/{campaign}/people/csv/", (OUT, NONE, NONE, IN, IN)),
    ("campaign-person", "GET", "/campaigns/{campaign}/people/{anna}/", (OUT, NONE, NONE, IN, IN)),
    (
        "campaign-person",
        "GET",
        "/campaigns/{campaign}/people/NOBODY/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    (
        "judgments-reopen",
        "GET",
        "/campaigns/{campaign}/people/{anna}/reopen/",
        (OUT, NONE, NONE, IN, IN),
    ),
    (
        "judgments-reopen",
        "POST",
        "/campaigns/{campaign}/people/{anna}/reopen/",
        (OUT, NONE, NONE, 422, 422),
    ),
    ("campaign-policy", "GET", "/campaigns/{campaign}/policy/", (OUT, NONE, NONE, IN, IN)),
    ("campaign-policy", "POST", "/campaigns/{campaign}/policy/", (OUT, NONE, NONE, 422, 422)),
    # All annotators may judge in this campaign, so a lead adds no members.
    ("campaign-members", "GET", "/campaigns/{campaign}/members/", (OUT, NONE, NONE, 409, 409)),
    ("campaign-members", "POST", "/campaigns/{campaign}/members/", (OUT, NONE, NONE, 409, 409)),
    ("guidelines", "GET", "/benchmarks/tiny/guidelines/", (OUT, NONE, IN, IN, IN)),
    ("guideline", "GET", "/benchmarks/tiny/guidelines/1/", (OUT, NONE, IN, IN, IN)),
    ("guideline", "GET", "/benchmarks/tiny/guidelines/9/", (OUT, NONE, NONE, NONE, NONE)),
    ("guideline-write", "GET", "/benchmarks/tiny/guidelines/new/", (OUT, NONE, 403, IN, IN)),
    ("guideline-write", "POST", "/benchmarks/tiny/guidelines/new/", (OUT, NONE, 403, 422, 422)),
    ("guideline-picture", "GET", "/media/guidelines/{picture}/", (403, IN, IN, IN, IN)),
    ("gold", "GET", "/benchmarks/tiny/gold/", (OUT, NONE, NONE, IN, IN)),
    ("gold", "GET", "/benchmarks/tiny/gold/?kind=all", (OUT, NONE, NONE, 400, 400)),
    ("gold-upload", "GET", "/benchmarks/tiny/gold/new/", (OUT, NONE, NONE, IN, IN)),
    ("gold-upload", "POST", "/benchmarks/tiny/gold/new/", (OUT, NONE, NONE, 422, 422)),
    ("gold-order", "GET", "/benchmarks/tiny/gold/orders/new/", (OUT, NONE, NONE, IN, IN)),
    ("gold-order", "POST", "/benchmarks/tiny/gold/orders/new/", (OUT, NONE, NONE, 422, 422)),
    (
        "gold-pair",
        "GET",
        "/benchmarks/tiny/gold/pair/?caption=c0&video=v0",
        (OUT, NONE, NONE, IN, IN),
    ),
    (
        "gold-pair",
        "POST",
        "/benchmarks/tiny/gold/pair/?caption=c0&video=v0",
        (OUT, NONE, NONE, 422, 422),
    ),
    ("gold-item", "GET", "/benchmarks/tiny/gold/{gold}/", (OUT, NONE, NONE, IN, IN)),
    ("gold-item", "POST", "/benchmarks/tiny/gold/{gold}/", (OUT, NONE, NONE, 400, 400)),
    ("gold-item", "GET", "/benchmarks/tiny/gold/999999/", (OUT, NONE, NONE, NONE, NONE)),
    ("training", "GET", "/benchmarks/tiny/training/", (OUT, NONE, NONE, IN, IN)),
    ("training-open", "POST", "/benchmarks/tiny/training/open/", (OUT, NONE, NONE, OUT, OUT)),
    ("training-open", "GET", "/benchmarks/tiny/training/open/", (OUT, NONE, NONE, 405, 405)),
    ("training-close", "POST", "/benchmarks/tiny/training/close/", (OUT, NONE, NONE, OUT, OUT)),
    ("training-close", "GET", "/benchmarks/tiny/training/close/", (OUT, NONE, NONE, 405, 405)),
    ("training-person", "GET", "/benchmarks/tiny/training/{trainee}/", (OUT, NONE, NONE, IN, IN)),
    (
        "training-person",
        "GET",
        "/benchmarks/tiny/training/{trainee}/?show=all",
        (OUT, NONE, NONE, 400, 400),
    ),
    (
        "training-person",
        "GET",
        "/benchmarks/tiny/training/999999/",
        (OUT, NONE, NONE, NONE, NONE),
    ),
    (
        "training-comment",
        "POST",
        "/benchmarks/tiny/training/{trainee}/comment/",
        (OUT, NONE, NONE, 400, 400),
    ),
    (
        "training-comment",
        "GET",
        "/benchmarks/tiny/training/{trainee}/comment/",
        (OUT, NONE, NONE, 405, 405),
    ),
    ("member", "POST", "/campaigns/{campaign}/members/{trainee}/", (OUT, NONE, NONE, 400, 400)),
    ("member", "GET", "/campaigns/{campaign}/members/{trainee}/", (OUT, NONE, NONE, 405, 405)),
    ("judge", "GET", "/campaigns/{campaign}/judge/", (OUT, IN, 403, IN, IN)),
    (
        "room-guideline",
        "GET",
        "/campaigns/{campaign}/judge/guideline/",
        (OUT, IN, 403, IN, IN),
    ),
    ("desk", "GET", "/campaigns/{campaign}/desk/", (OUT, NONE, NONE, IN, IN)),
    ("desk", "GET", "/campaigns/{campaign}/desk/?kind=open", (OUT, NONE, NONE, 400, 400)),
    ("desk", "GET", "/campaigns/999999/desk/", (OUT, NONE, NONE, NONE, NONE)),
    ("desk", "POST", "/campaigns/{campaign}/desk/", (OUT, NONE, NONE, 400, 400)),
    ("desk-pair", "GET", "/campaigns/{campaign}/desk/pairs/999999/", (OUT, NONE, NONE, NONE, NONE)),
    ("desk-rulings", "GET", "/campaigns/{campaign}/desk/rulings/", (OUT, NONE, NONE, IN, IN)),
    (
        "desk-rulings-csv",
        "GET",
        "/campaigns/{campaign}/desk/rulings/csv/",
        (OUT, NONE, NONE, IN, IN),
    ),
    ("desk-undo", "POST", "/campaigns/{campaign}/desk/rulings/undo/", (OUT, NONE, NONE, 400, 400)),
    ("jobs", "GET", "/jobs/", (OUT, NONE, IN, IN, IN)),
    ("jobs", "GET", "/jobs/?state=done&page=99999999999", (OUT, NONE, IN, IN, IN)),
    ("jobs", "GET", "/jobs/?state=other", (OUT, NONE, 400, 400, 400)),
    ("job", "GET", "/jobs/{job}/", (OUT, NONE, IN, IN, IN)),
    ("job", "GET", f"/jobs/{uuid.UUID(int=1)}/", (OUT, NONE, NONE, NONE, NONE)),
    ("job-progress", "GET", "/jobs/{job}/progress/", (OUT, NONE, IN, IN, IN)),
    ("job-line", "GET", "/jobs/{job}/line/", (OUT, NONE, IN, IN, IN)),
    ("job-cancel", "POST", "/jobs/{job}/cancel/", (OUT, NONE, 403, OUT, OUT)),
    ("job-cancel", "GET", "/jobs/{job}/cancel/", (OUT, NONE, 405, 405, 405)),
    ("video-file", "GET", "/media/videos/{video}/", (403, IN, IN, IN, IN)),
    ("video-poster", "GET", "/media/videos/{video}/poster/", (403, IN, IN, IN, IN)),
    ("video-sheet", "GET", "/media/videos/{video}/sheet/", (403, IN, IN, IN, IN)),
    ("video-scenes", "GET", "/media/videos/{video}/scenes/", (403, NONE, NONE, NONE, NONE)),
    ("video-file", "GET", f"/media/videos/{uuid.UUID(int=1)}/", (403, NONE, NONE, NONE, NONE)),
    ("people", "GET", "/people/", (OUT, NONE, NONE, IN, IN)),
    ("people", "GET", "/people/?sort=password", (OUT, NONE, NONE, 400, 400)),
    ("person", "GET", "/people/{person}/", (OUT, NONE, NONE, IN, IN)),
    ("person", "GET", "/people/999999/", (OUT, NONE, NONE, NONE, NONE)),
    ("role-grant", "POST", "/people/{person}/roles/grant/", (OUT, NONE, NONE, 422, 422)),
    ("role-withdraw", "POST", "/people/{person}/roles/withdraw/", (OUT, NONE, NONE, 400, 400)),
    ("role-withdraw", "GET", "/people/{person}/roles/withdraw/", (OUT, NONE, NONE, 405, 405)),
    ("person-state", "POST", "/people/{person}/state/", (OUT, NONE, NONE, 400, 400)),
    ("person-state", "GET", "/people/{person}/state/", (OUT, NONE, NONE, 405, 405)),
    ("person-factors", "POST", "/people/999999/second-factors/", (OUT, NONE, NONE, NONE, NONE)),
    ("person-factors", "GET", "/people/{person}/second-factors/", (OUT, NONE, NONE, NONE, 405)),
    ("person-erase", "GET", "/people/{person}/erase/", (OUT, NONE, NONE, NONE, IN)),
    ("person-erase", "POST", "/people/{person}/erase/", (OUT, NONE, NONE, NONE, 422)),
    ("invitations", "GET", "/people/invitations/", (OUT, NONE, NONE, IN, IN)),
    ("invite", "GET", "/people/invitations/new/", (OUT, NONE, NONE, IN, IN)),
    ("invite", "POST", "/people/invitations/new/", (OUT, NONE, NONE, 422, 422)),
    ("invite-list", "GET", "/people/invitations/list/", (OUT, NONE, NONE, IN, IN)),
    ("invite-list", "POST", "/people/invitations/list/", (OUT, NONE, NONE, 422, 422)),
    (
        "invitation-revoke",
        "POST",
        "/people/invitations/{invitation}/revoke/",
        (OUT, NONE, NONE, OUT, OUT),
    ),
    (
        "invitation-revoke",
        "GET",
        "/people/invitations/{invitation}/revoke/",
        (OUT, NONE, NONE, 405, 405),
    ),
    ("invitation-link", "GET", "/invitations/{token}/", (OUT, OUT, OUT, OUT, OUT)),
    ("invitation-link", "POST", "/invitations/{token}/", (405, 405, 405, 405, 405)),
    ("invitation-link", "GET", "/invitations/wrong/", (NONE, NONE, NONE, NONE, NONE)),
    # Before the link of an invitation is opened, this page has no invitation to show.
    ("invitation", "GET", "/invitation/", (NONE, NONE, NONE, NONE, NONE)),
    ("invitation", "POST", "/invitation/", (NONE, NONE, NONE, NONE, NONE)),
    ("consent", "GET", "/consent/", (OUT, IN, IN, IN, IN)),
    ("consent", "POST", "/consent/", (OUT, OUT, OUT, OUT, OUT)),
    ("consent-write", "GET", "/people/consent/", (OUT, NONE, NONE, NONE, IN)),
    ("consent-write", "POST", "/people/consent/", (OUT, NONE, NONE, NONE, 422)),
    ("audit-log", "GET", "/people/audit/", (OUT, NONE, NONE, NONE, IN)),
    ("audit-log", "GET", "/people/audit/?sort=by__password", (OUT, NONE, NONE, NONE, 400)),
    ("audit-log", "GET", "/people/audit/?object=1", (OUT, NONE, NONE, NONE, 422)),
    ("audit-log-csv", "GET", "/people/audit/csv/", (OUT, NONE, NONE, NONE, IN)),
    ("audit-log-csv", "GET", "/people/audit/csv/?act=x", (OUT, NONE, NONE, NONE, 400)),
    ("me", "GET", "/me/", (OUT, IN, NONE, IN, IN)),
    ("me", "POST", "/me/", (OUT, 405, NONE, 405, 405)),
    ("me-language", "POST", "/me/language/", (OUT, 400, NONE, 400, 400)),
    ("me-keys", "POST", "/me/keys/", (OUT, 422, NONE, 422, 422)),
    ("me-keys", "GET", "/me/keys/", (OUT, 200, NONE, 200, 200)),
    ("me-habits", "POST", "/me/habits/", (OUT, 422, NONE, 422, 422)),
    ("me-habits", "GET", "/me/habits/", (OUT, 405, NONE, 405, 405)),
    ("me-comments", "POST", "/me/comments/", (OUT, OUT, NONE, OUT, OUT)),
    ("me-comments", "GET", "/me/comments/", (OUT, 405, NONE, 405, 405)),
    ("healthz", "GET", "/healthz", (IN, IN, IN, IN, IN)),
    # No worker has ever run in this test.
    ("readyz", "GET", "/readyz", (503, 503, 503, 503, 503)),
    ("readyz", "GET", "/readyz?only=database", (IN, IN, IN, IN, IN)),
    # The test client is on this machine. tests/operations/test_metrics.py tests other machines.
    ("metrics", "GET", "/metrics", (IN, IN, IN, IN, IN)),
    ("operations", "GET", "/operations/", (OUT, NONE, NONE, NONE, IN)),
    ("account_login", "GET", "/accounts/login/", (IN, OUT, OUT, OUT, OUT)),
    ("account_logout", "GET", "/accounts/logout/", (OUT, IN, IN, IN, IN)),
    ("account_signup", "GET", "/accounts/signup/", (IN, OUT, OUT, OUT, OUT)),
    ("account_change_password", "GET", "/accounts/password/change/", (OUT, IN, IN, IN, IN)),
    ("account_reset_password", "GET", "/accounts/password/reset/", (IN, IN, IN, IN, IN)),
    ("account_email", "GET", "/accounts/email/", (OUT, IN, IN, IN, IN)),
    ("account_sessions", "GET", "/accounts/sessions/", (OUT, IN, IN, IN, IN)),
    ("account_sessions", "POST", "/accounts/sessions/", (OUT, 400, 400, 400, 400)),
    ("account_mfa", "GET", "/accounts/2fa/", (OUT, IN, IN, IN, IN)),
    ("account_mfa", "GET", "/accounts/2fa/totp/activate/", (OUT, OUT, OUT, OUT, OUT)),
    ("account_mfa", "GET", "/accounts/2fa/authenticate/", (OUT, OUT, OUT, OUT, OUT)),
    ("account_sso", "GET", "/accounts/3rdparty/", (OUT, IN, IN, IN, IN)),
    ("account_sso", "GET", "/accounts/oidc/none/login/", (NONE, NONE, NONE, NONE, NONE)),
    ("account_admin", "GET", "/admin/login/", (OUT, 403, 403, 403, OUT)),
)


@replayed
def make_campaign(folder: Path) -> Campaign:
    """A benchmark with all kinds of data, whose texts contain markup."""
    benchmark = factories.make_benchmark(
        folder, captions=2, videos=3, name=HOSTILE, licence=HOSTILE, description=HOSTILE
    )
    factories.make_run(folder, benchmark, factories.all_pairs(2, 3), system=HOSTILE)
    factories.add_train_captions(folder, benchmark, HOSTILE, name=HOSTILE)
    factories.add_tags(folder, benchmark, ("c0", HOSTILE))
    bow = ProxyOptions(Method.BOW)
    services.compute_proxy(benchmark=benchmark, options=bow, name=HOSTILE, by=OPERATOR)
    build_pool(benchmark=benchmark, depth=2)
    opened = open_campaign(
        benchmark=benchmark, by=OPERATOR, name=HOSTILE, policy=Policy(double_share=0.5)
    )
    anna = factories.make_annotator("<b>anna</b>")
    for held in factories.claim(opened, anna, 2):
        factories.submit(held, 1)
    factories.add_judgments(folder, benchmark, [("c0", "v2", HOSTILE, 1)])
    compute_agreement(benchmark=benchmark, by=OPERATOR)
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    analyse(question=build_question(get_analysis("positives"), benchmark, {}))
    return opened


@replayed
def make_campaign_with_training(folder: Path) -> Campaign:
    """The same benchmark and campaign, with guidelines, a training queue and a planned import."""
    campaign = make_campaign(folder)
    make_training(campaign.benchmark, make_member("tina", Role.ANNOTATOR, of="tiny"), folder)
    planned_import()
    return campaign


@pytest.fixture
def campaign(request: pytest.FixtureRequest, db: None, tmp_path: Path) -> Campaign:
    is_trained = "places" in request.fixturenames
    return (make_campaign_with_training if is_trained else make_campaign)(tmp_path)


@pytest.fixture
def places(campaign: Campaign) -> dict[str, Any]:
    """The values for the placeholders of the addresses in TABLE."""
    video = Video.objects.filter(benchmark=campaign.benchmark).first()
    assert video is not None
    video.state = MediaState.PLAYABLE
    video.file.save("a.mp4", ContentFile(b"video"))
    video.poster.save("a.jpg", ContentFile(b"poster"))
    video.sheet.save("a.jpg", ContentFile(b"sheet"))
    job = Job.objects.create(
        kind="import_run", title=HOSTILE, benchmark_key="tiny", phase=HOSTILE, error=HOSTILE
    )
    made = invited(scope="tiny", note=HOSTILE)
    tina = User.objects.get(username="tina")
    return {
        "picture": GuidelinePicture.objects.get().public_id,
        "gold": ReviewComment.objects.get().judgment.task.gold_id,
        "trainee": Annotator.objects.get(user=tina).pk,
        "import": BenchmarkImport.objects.get().pk,
        "campaign": campaign.pk,
        "proxy": campaign.benchmark.proxies.get().pk,
        "upload": add_upload(campaign.benchmark).pk,
        "run_upload": add_run_upload(campaign.benchmark).pk,
        "uploader": Uploader.objects.create(
            benchmark=campaign.benchmark, person=User.objects.get(username="olga")
        ).pk,
        "anna": Annotator.objects.get(user__username="<b>anna</b>").pseudonym,
        "job": job.pk,
        "video": video.public_id,
        "person": tina.pk,
        "invitation": made.invitation.pk,
        "token": made.token,
    }


def planned_import() -> None:
    """Plan an import of other captions of `tiny`, with hostile texts, names and errors."""
    content = f'caption_id,"{HOSTILE.replace(chr(34), chr(34) * 2)}",video_id\nc0,x,v0\n'
    content += '"<i> c",x,v0\n' + 'c1,"<i>other</i>",v1\nc2,caption 2,v2\n'
    found, _ = services.begin_import(
        key="tiny",
        uploads={"captions": SimpleUploadedFile(HOSTILE, content.encode())},
        columns={"caption": HOSTILE},
        update=True,
        by=OPERATOR,
    )
    services.plan_import(found=found, by=OPERATOR, progress=no_progress)


def add_upload(benchmark: Benchmark) -> VideoUpload:
    """Add a refused file whose name and reason contain markup."""
    refused = UploadState.REFUSED
    video = benchmark.videos.get(key="v2")
    return VideoUpload.objects.create(
        benchmark=benchmark, video=video, name=HOSTILE, size=0, state=refused, reason=HOSTILE
    )


def add_run_upload(benchmark: Benchmark) -> RunUpload:
    """Add a refused upload of a run whose names and reason contain markup."""
    return RunUpload.objects.create(
        benchmark=benchmark,
        created_by=factories.make_outsider("olga"),
        day="2020-01-01",
        name=HOSTILE,
        source=HOSTILE,
        state=RunUploadState.REFUSED,
        reason=HOSTILE,
        problems=[{"line": 1, "reason": HOSTILE}],
    )


def make_training(benchmark: Benchmark, person: User, folder: Path) -> None:
    """Make a guideline with a picture, gold items, and an annotator who trains with them."""
    write_guideline(
        benchmark=benchmark,
        by=OPERATOR,
        text=HOSTILE,
        pictures=[Example(text=HOSTILE, is_match=False, content=make_picture())],
    )
    rows = [("c0", "v2", 1, HOSTILE), ("c1", "v2", 0, HOSTILE)]
    factories.add_gold_items(folder, benchmark, rows, use=GoldUse.TRAINING)
    lead = make_member("lars", Role.LEAD, of="tiny")
    training = open_training(benchmark=benchmark, by=lead)
    trainee = annotator_for(person)
    (wrong,) = factories.train(training, trainee, "w")
    comment_on_judgment(judgment=wrong, text=HOSTILE, by=lead)


@pytest.fixture
def visit() -> Callable[[str], Client]:
    def as_visitor(visitor: str) -> Client:
        client = Client()
        if visitor != "anonymous":
            client.force_login(factories.make_user(f"the-{visitor}", ROLES[visitor]))
        return client

    return as_visitor


@pytest.mark.parametrize("visitor", VISITORS)
def test_each_visitor_gets_the_right_status_headers_and_markup(
    visitor: str, places: dict[str, Any], visit: Callable[[str], Client], settings: Any
) -> None:
    """One test checks all three, because building the pages takes most of the time."""
    use_https(settings)
    client = visit(visitor)
    client.raise_request_exception = False
    answered, expected, wrong_headers, wrong_markup = {}, {}, {}, {}
    for _, method, address, statuses in TABLE:
        path, line = address.format(**places), (method, address)
        # After the rollback, the request of this line has no effect on the next line.
        with transaction.atomic():
            answer = client.generic(method, path, **FOREIGN)
            transaction.set_rollback(True)
        answered[line] = answer.status_code
        expected[line] = statuses[VISITORS.index(visitor)]
        wrong_headers[line] = problems_of(answer, path, visitor)
        # A lead sees almost all parts of all pages.
        wrong_markup[line] = problems_of_markup(answer) if visitor == "lead" else []
    assert answered == expected
    assert {line: found for line, found in wrong_headers.items() if found} == {}
    assert {line: found for line, found in wrong_markup.items() if found} == {}


class Inline(HTMLParser):
    """Finds all ids, and elements and attributes that a strict Content-Security-Policy forbids."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {name: value or "" for name, value in attrs}
        is_data = names.get("type") == "application/json"
        if tag == "style" or (tag == "script" and "src" not in names and not is_data):
            self.found.append(f"<{tag}>")
        self.found += [f"{tag} {name}" for name in names if name == "style" or name[:2] == "on"]
        self.found += [
            f"{tag} {name}={value}" for name, value in names.items() if "javascript:" in value
        ]
        if "id" in names:
            self.ids.append(names["id"])


def problems_of_markup(answer: Any) -> list[str]:
    """Return the inline code and the duplicate ids of a page."""
    if not answer.headers.get("Content-Type", "").startswith("text/html") or answer.streaming:
        return []
    reader = Inline()
    reader.feed(answer.content.decode())
    repeated = {name for name in reader.ids if reader.ids.count(name) > 1}
    return reader.found + [f"#{name}" for name in repeated]


OURS = ("annotation.", "evaluation.", "hearth.", "pooling.")
NOTHING = {
    "import": uuid.UUID(int=1),
    "campaign": 999_999,
    "job": uuid.UUID(int=1),
    "video": uuid.UUID(int=1),
    "upload": uuid.UUID(int=1),
    "run_upload": uuid.UUID(int=1),
    "uploader": 0,
    "person": 999_999,
    "invitation": 999_999,
    "token": "wrong",
    "picture": uuid.UUID(int=1),
    "gold": 999_999,
    "proxy": 999_999,
    "trainee": 999_999,
    "anna": "NOBODY",
}


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.RESEARCHER, Role.LEAD])
def test_objects_of_another_benchmark_look_like_missing_ones(
    role: Role, places: dict[str, Any]
) -> None:
    """The response for an existing object is identical to that for a missing one."""
    client = Client()
    client.force_login(make_member("stranger", role, of="elsewhere"))

    def answer(method: str, path: str) -> tuple[int, str, bytes]:
        with transaction.atomic():
            response = client.generic(method, path)
            transaction.set_rollback(True)
        return response.status_code, response.get("Location", ""), response.content

    compared, differ = 0, {}
    for name, method, address, _ in TABLE:
        there = address.format(**places)
        not_there = address.replace("/tiny/", "/nothing/").format(**NOTHING)
        # An invitation works for everyone who has its link.
        if there == not_there or name == "invitation-link":
            continue
        compared += 1
        answers = answer(method, there), answer(method, not_there)
        if answers[0] != answers[1] or answers[0][0] not in (403, 404, 405):
            differ[method, address] = [status for status, *_ in answers]
    assert differ == {}
    assert compared > 30


def test_a_person_with_a_role_in_one_benchmark_has_access_there(
    places: dict[str, Any], tmp_path: Path
) -> None:
    factories.make_benchmark(tmp_path, key="elsewhere")
    client = Client()
    client.force_login(
        make_member("stranger", Role.ANNOTATOR, Role.RESEARCHER, Role.LEAD, of="elsewhere")
    )
    for page in ("", "runs/new/", "pools/new/", "campaigns/new/", "judgments/new/", "results/"):
        assert client.get(f"/benchmarks/elsewhere/{page}").status_code == IN
    for tab in ("captions", "runs", "campaigns", "labels", "analyses", "people", "settings"):
        answer = client.get(f"/benchmarks/elsewhere/{tab}/")
        assert answer.status_code == IN
        assert "tiny" not in answer.content.decode()
    # No list contains anything from other benchmarks.
    for page in (
        "/",
        "/jobs/",
        "/people/",
        "/people/invitations/",
        "/benchmarks/elsewhere/runs/new/",
    ):
        answer = client.get(page)
        assert answer.status_code == IN
        assert "tiny" not in answer.content.decode()
        assert "alert(1)" not in answer.content.decode()


def _names(patterns: Iterable[URLPattern | URLResolver]) -> set[str | None]:
    """Return the names of the patterns and of those that they include."""
    return {
        name
        for found in patterns
        for name in ({found.name} if isinstance(found, URLPattern) else _names(found.url_patterns))
    }


def test_the_table_has_every_page() -> None:
    """A new page must also be added to TABLE."""
    names = set()
    for part in get_resolver().url_patterns:
        module = getattr(getattr(part, "urlconf_module", None), "__name__", "")
        if module.startswith(OURS):
            names |= _names(part.url_patterns)
    assert names == {name for name, *_ in TABLE if not name.startswith("account_")}


@pytest.mark.django_db
def test_an_annotator_cannot_see_which_benchmarks_exist(
    places: dict[str, Any], visit: Callable[[str], Client]
) -> None:
    client = visit("annotator")
    addresses = ("/benchmarks/tiny/", "/benchmarks/other/", "/jobs/", "/no/such/page/")
    bodies = {client.get(address).content for address in addresses}
    assert len(bodies) == 1


def test_an_annotator_sees_own_counts_only(
    campaign: Campaign, visit: Callable[[str], Client]
) -> None:
    page = visit("annotator").get("/").content.decode()
    assert "Start judging" in page
    # Another annotator has given two labels, and two pairs are relevant.
    for word in ("judged by you", "You have judged", "labels", "Benchmarks", "Jobs", "alpha"):
        assert word not in page


def test_a_visitor_returns_to_the_page_after_signing_in(places: dict[str, Any]) -> None:
    answer = Client().get("/jobs/?state=done")
    assert answer["Location"] == "/accounts/login/?next=/jobs/%3Fstate%3Ddone"


def test_a_request_for_a_part_of_a_page_redirects_the_page_to_sign_in(
    places: dict[str, Any],
) -> None:
    here = f"http://testserver/jobs/{places['job']}/"
    answer = Client().get(
        f"/jobs/{places['job']}/progress/",
        headers={"HX-Request": "true", "HX-Current-URL": here},
    )
    assert answer["HX-Redirect"] == f"/accounts/login/?next=/jobs/{places['job']}/"


def test_posts_without_the_csrf_token_change_nothing(
    places: dict[str, Any], visit: Callable[[str], Client]
) -> None:
    client = visit("admin")
    client.handler.enforce_csrf_checks = True
    before = factories.row_counts()
    for address in [address for _, method, address, _ in TABLE if method == "POST"]:
        answer = client.post(address.format(**places), {"state": "closed"})
        assert (address, answer.status_code) == (address, 403)
        assert "This form is out of date" in answer.content.decode()
        assert (address, factories.row_counts()) == (address, before)


# --- Content of pages -------------------------------------------------------------------


def test_pages_are_not_cached(places: dict[str, Any], visit: Callable[[str], Client]) -> None:
    answer = visit("lead").get("/benchmarks/tiny/results/")
    assert answer["Cache-Control"] == "private, no-store"
    assert answer["X-Content-Type-Options"] == "nosniff"
    policy = answer["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "script-src 'self'", "style-src 'self'"} <= set(policy)


def test_a_database_failure_is_reported_without_a_database_query(
    db: None, visit: Callable[[str], Client]
) -> None:
    def fail(*_: Any) -> None:
        raise OperationalError("disk I/O error in /secret/place")

    client = visit("lead")
    with connection.execute_wrapper(fail):
        answer = client.get("/jobs/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "Please try again in a moment" in answer.content.decode()
    assert "secret" not in answer.content.decode()


# --- Database queries ------------------------------------------------------------------


def queries_of(client: Client, address: str) -> int:
    """Return the number of database queries of a second visit.

    The first visit fills the caches of counts.
    """
    cache.clear()
    client.get(address)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


@pytest.mark.postgresql(only=True)
def test_database_queries_do_not_grow_with_the_rows(
    tmp_path: Path, db: None, visit: Callable[[str], Client]
) -> None:
    client, person = visit("lead"), User.objects.get(username="the-lead")

    def count() -> dict[str, int]:
        first = Campaign.objects.earliest("pk")
        addresses = {
            "home": "/",
            "benchmark": "/benchmarks/b0/",
            "proxies": "/benchmarks/b0/proxies/",
            "captions": "/benchmarks/b0/captions/",
            "caption": "/benchmarks/b0/caption/?id=c0",
            "videos": "/benchmarks/b0/videos/",
            "video": "/benchmarks/b0/video/?id=v0",
            "runs": "/benchmarks/b0/runs/",
            "campaigns": "/benchmarks/b0/campaigns/",
            "labels": "/benchmarks/b0/labels/",
            "people": "/benchmarks/b0/people/",
            "settings": "/benchmarks/b0/settings/",
            "results": "/benchmarks/b0/results/",
            "jobs": "/jobs/",
            "campaign": f"/campaigns/{first.pk}/",
            "rulings": f"/campaigns/{first.pk}/desk/rulings/",
            "gold": "/benchmarks/b0/gold/",
            "guidelines": "/benchmarks/b0/guidelines/",
        }
        lists = ["runs", "proxies", "train-splits", "tags", "pools", "analyses", "label-sets"]
        lists += ["queries", "videos", "pairs"]
        addresses |= {f"api {name}": f"/api/v1/benchmarks/b0/{name}/" for name in lists}
        lists = ["benchmarks", "campaigns", "jobs"]
        addresses |= {f"api {name}": f"/api/v1/{name}/" for name in lists}
        return {name: queries_of(client, address) for name, address in addresses.items()}

    def add_rows(number: int) -> None:
        benchmark = make_benchmark_with_labels(tmp_path, f"b{number}")
        if number:
            add_run_and_campaign(tmp_path, Benchmark.objects.get(key="b0"), number)
        for title in ("running", "queued"):
            Job.objects.create(
                kind="evaluate", title=title, benchmark_key=benchmark.key, created_by=person
            )

    add_rows(0)
    with_one = count()
    add_rows(1)
    add_rows(2)
    # Each number includes three queries for the session, the person and the groups.
    assert with_one == {
        "home": 29,
        "benchmark": 26,
        "proxies": 6,
        "captions": 15,
        "caption": 22,
        "videos": 10,
        # On PostgreSQL, `by_index` adds four statements: two begin and end a transaction, and two
        # switch full table scans off and on.
        "video": 17 if connection.vendor == "sqlite" else 21,
        "runs": 10,
        "campaigns": 15,
        "labels": 18,
        "people": 7,
        "settings": 9,
        "results": 14,
        "jobs": 6,
        "campaign": 10,
        "rulings": 6,
        "gold": 7,
        "guidelines": 7,
        "api runs": 5,
        "api proxies": 6,
        "api train-splits": 6,
        "api tags": 6,
        "api pools": 7,
        "api analyses": 4,
        "api label-sets": 6,
        "api queries": 10,
        "api videos": 9,
        "api pairs": 10,
        "api benchmarks": 5,
        "api campaigns": 4,
        "api jobs": 4,
    }
    assert count() == with_one


def make_benchmark_with_labels(folder: Path, key: str) -> Benchmark:
    benchmark = factories.make_benchmark(folder, captions=2, videos=8, key=key)
    add_run_and_campaign(folder, benchmark, 0)
    factories.add_judgments(folder, benchmark, [("c0", "v7", f"anna of {key}", 1)])
    publish_label_set(benchmark=benchmark, allow_pending=True, by=OPERATOR)
    evaluate_runs(benchmark=benchmark, by=OPERATOR)
    compute_shown_analyses(benchmark=benchmark)
    return benchmark


def add_run_and_campaign(folder: Path, benchmark: Benchmark, number: int) -> None:
    """Add a run whose first video differs from those of the earlier runs, and a campaign."""
    videos = [f"v{(place + number) % 8}" for place in range(8)]
    factories.make_run(folder, benchmark, {"c0": videos}, system=f"system {number}")
    factories.add_train_captions(folder, benchmark, f"a caption of {number}")
    factories.add_tags(folder, benchmark, ("c0", f"tag {number}"))
    rows = [("c1", f"v{number}", 1, "because")]
    factories.add_gold_items(folder, benchmark, rows, use=GoldUse.TRAINING)
    write_guideline(benchmark=benchmark, text=f"version {number}", by=OPERATOR)
    bow = ProxyOptions(Method.BOW, own_is_one=number == 0)
    services.compute_proxy(benchmark=benchmark, options=bow, name=f"p{number}", by=OPERATOR)
    build_pool(benchmark=benchmark, depth=1)
    open_campaign(benchmark=benchmark, by=OPERATOR, name=f"round {number}")
    evaluate_runs(benchmark=benchmark, labels="original", by=OPERATOR)
