"""The REST API, version 1."""

from __future__ import annotations

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from annotation import api as annotation
from annotation.api import invitations as annotation_invitations
from annotation.api import members as annotation_members
from annotation.api import pools as pool_plans
from evaluation.catalogue import api as catalogue
from evaluation.lab import api as lab
from evaluation.monitor import api as monitor
from evaluation.public import api as public
from evaluation.release import api as release
from evaluation.scores import api as scores
from hearth.audit import api as audit
from hearth.jobs import api as jobs
from hearth.shared.schema import SharedSchemaGenerator
from pooling.api import (
    benchmarks,
    changing,
    imports,
    metadata,
    pools,
    proxies,
    runs,
    uploaders,
    uploads,
    webhooks,
)
from pooling.api import public as public_pages

schema = SpectacularAPIView.as_view(generator_class=SharedSchemaGenerator)

# The order matters for speed only, see `config.urls`.
judging_room = [
    path("judgments/", annotation.Judgments.as_view(), name="api-judgments"),
    path("campaigns/<int:pk>/claim/", annotation.Claim.as_view(), name="api-claim"),
    path("campaigns/<int:pk>/release/", annotation.Release.as_view(), name="api-release"),
    path("campaigns/<int:pk>/history/", annotation.History.as_view(), name="api-history"),
    path("escalations/", annotation.Escalations.as_view(), name="api-escalations"),
    path(
        "escalations/withdraw/",
        annotation.EscalationWithdrawals.as_view(),
        name="api-escalations-withdraw",
    ),
]

urlpatterns = [
    *judging_room,
    path("schema/", schema, name="api-schema"),
    path("benchmarks/", benchmarks.BenchmarkList.as_view(), name="api-benchmarks"),
    path("benchmarks/<str:key>/", changing.BenchmarkDetail.as_view(), name="api-benchmark"),
    path(
        "benchmarks/<str:key>/public/",
        public_pages.PublicPageDetail.as_view(),
        name="api-public-page",
    ),
    path("benchmarks/<str:key>/uploaders/", uploaders.Uploaders.as_view(), name="api-uploaders"),
    path(
        "benchmarks/<str:key>/uploaders/<int:pk>/",
        uploaders.UploaderDetail.as_view(),
        name="api-uploader",
    ),
    path(
        "benchmarks/<str:key>/uploaders/<int:pk>/confirm/",
        uploaders.UploaderConfirm.as_view(),
        name="api-uploader-confirm",
    ),
    path("public/", public.PublicBenchmarks.as_view(), name="api-public-benchmarks"),
    path("public/<str:key>/", public.PublicBenchmark.as_view(), name="api-public-benchmark"),
    path("public/<str:key>/uploads/", public_pages.Uploads.as_view(), name="api-public-uploads"),
    path("uploads/", public.OwnUploads.as_view(), name="api-uploads"),
    path("uploads/<uuid:pk>/", public.UploadDetail.as_view(), name="api-upload"),
    path(
        "uploads/<uuid:pk>/publish/",
        public_pages.UploadPublish.as_view(),
        name="api-upload-publish",
    ),
    path(
        "uploads/<uuid:pk>/withdraw/",
        public_pages.UploadWithdraw.as_view(),
        name="api-upload-withdraw",
    ),
    path(
        "uploads/<uuid:pk>/restore/",
        public_pages.UploadRestore.as_view(),
        name="api-upload-restore",
    ),
    path(
        "uploads/<uuid:pk>/refuse/", public_pages.UploadRefuse.as_view(), name="api-upload-refuse"
    ),
    path("benchmarks/<str:key>/runs/", runs.Runs.as_view(), name="api-runs"),
    path("benchmarks/<str:key>/runs/<int:pk>/", changing.RunDetail.as_view(), name="api-run"),
    path("benchmarks/<str:key>/proxies/", proxies.Proxies.as_view(), name="api-proxies"),
    path(
        "benchmarks/<str:key>/proxies/uploads/",
        proxies.ProxyUploads.as_view(),
        name="api-proxy-uploads",
    ),
    path("benchmarks/<str:key>/proxies/<int:pk>/", proxies.ProxyDetail.as_view(), name="api-proxy"),
    path(
        "benchmarks/<str:key>/proxies/<int:pk>/<str:export>/",
        proxies.ProxyFile.as_view(),
        name="api-proxy-file",
    ),
    path("benchmarks/<str:key>/pools/<int:pk>/", changing.PoolDetail.as_view(), name="api-pool"),
    path(
        "benchmarks/<str:key>/train-splits/",
        metadata.TrainSplits.as_view(),
        name="api-train-splits",
    ),
    path("benchmarks/<str:key>/tags/", metadata.Tags.as_view(), name="api-tags"),
    path("benchmarks/<str:key>/queries/", catalogue.Captions.as_view(), name="api-queries"),
    path("benchmarks/<str:key>/videos/", catalogue.Videos.as_view(), name="api-videos"),
    path(
        "benchmarks/<str:key>/videos/uploads/",
        uploads.VideoUploads.as_view(),
        name="api-video-uploads",
    ),
    path(
        "benchmarks/<str:key>/videos/uploads/<uuid:pk>/",
        uploads.VideoUploadParts.as_view(),
        name="api-video-upload",
    ),
    path("benchmarks/<str:key>/pairs/", catalogue.Pairs.as_view(), name="api-pairs"),
    path("benchmarks/<str:key>/pools/", pools.Pools.as_view(), name="api-pools"),
    path("benchmarks/<str:key>/pools/plan/", pool_plans.PoolPlans.as_view(), name="api-pool-plan"),
    path("benchmarks/<str:key>/agreement/", monitor.Agreement.as_view(), name="api-agreement"),
    path("benchmarks/<str:key>/scores/", scores.Scores.as_view(), name="api-scores"),
    path("benchmarks/<str:key>/analyses/", lab.Analyses.as_view(), name="api-analyses"),
    path(
        "benchmarks/<str:key>/analyses/<str:name>/",
        lab.AnalysisDetail.as_view(),
        name="api-analysis",
    ),
    path("benchmarks/<str:key>/draft/", release.DraftOfLabels.as_view(), name="api-draft"),
    path("benchmarks/<str:key>/compare/", lab.Compare.as_view(), name="api-compare"),
    path(
        "benchmarks/<str:key>/compare/caption/",
        lab.CompareCaption.as_view(),
        name="api-compare-caption",
    ),
    path("benchmarks/<str:key>/paper/<str:version>/", lab.PaperDetail.as_view(), name="api-paper"),
    path(
        "benchmarks/<str:key>/judgment-imports/",
        annotation.JudgmentImports.as_view(),
        name="api-judgment-imports",
    ),
    path("benchmarks/<str:key>/label-sets/", release.LabelSets.as_view(), name="api-label-sets"),
    path(
        "benchmarks/<str:key>/confirmations/",
        release.Confirmations.as_view(),
        name="api-confirmations",
    ),
    path(
        "benchmarks/<str:key>/label-sets/<str:version>/since/<str:other>/",
        release.LabelSetDiff.as_view(),
        name="api-label-set-diff",
    ),
    path(
        "benchmarks/<str:key>/label-sets/<str:version>/since/<str:other>/csv/",
        release.LabelSetDiffFile.as_view(),
        name="api-label-set-diff-csv",
    ),
    path(
        "benchmarks/<str:key>/label-sets/<str:version>/verify/",
        release.LabelSetVerification.as_view(),
        name="api-label-set-verify",
    ),
    path(
        "benchmarks/<str:key>/label-sets/<str:version>/<str:export>/",
        release.LabelSetFile.as_view(),
        name="api-label-set-file",
    ),
    path("imports/", imports.Imports.as_view(), name="api-imports"),
    path("imports/<uuid:pk>/", imports.ImportDetail.as_view(), name="api-import"),
    path("imports/<uuid:pk>/accept/", imports.ImportAccept.as_view(), name="api-import-accept"),
    path("benchmarks/<str:key>/webhooks/", webhooks.Webhooks.as_view(), name="api-webhooks"),
    path(
        "benchmarks/<str:key>/webhooks/<int:pk>/",
        webhooks.WebhookDetail.as_view(),
        name="api-webhook",
    ),
    path(
        "benchmarks/<str:key>/webhooks/<int:pk>/deliveries/",
        webhooks.Deliveries.as_view(),
        name="api-deliveries",
    ),
    path(
        "benchmarks/<str:key>/webhooks/<int:pk>/deliveries/<uuid:delivery>/repeat/",
        webhooks.DeliveryRepeat.as_view(),
        name="api-delivery-repeat",
    ),
    path("campaigns/", annotation.CampaignList.as_view(), name="api-campaigns"),
    path("campaigns/<int:pk>/", annotation.CampaignDetail.as_view(), name="api-campaign"),
    path("campaigns/<int:pk>/members/", annotation_members.Members.as_view(), name="api-members"),
    path("invitations/", annotation_invitations.Invitations.as_view(), name="api-invitations"),
    path("audit/", audit.AuditLog.as_view(), name="api-audit"),
    path("jobs/", jobs.JobList.as_view(), name="api-jobs"),
    path("jobs/<uuid:pk>/", jobs.JobDetail.as_view(), name="api-job"),
    path("jobs/<uuid:pk>/cancel/", jobs.JobCancel.as_view(), name="api-job-cancel"),
]
