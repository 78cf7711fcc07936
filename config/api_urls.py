"""The REST API, version 1."""

from __future__ import annotations

from drf_spectacular.views import SpectacularAPIView

from annotation import api as annotation
from annotation.api import gold as annotation_gold
from annotation.api import invitations as annotation_invitations
from annotation.api import pools as pool_plans
from annotation.questions.packages import modules
from evaluation.catalogue import api as catalogue
from evaluation.estimates import api as estimates
from evaluation.lab import api as lab
from evaluation.machines import api as machines
from evaluation.monitor import api as monitor
from evaluation.public import api as public
from evaluation.release import api as release
from evaluation.scores import api as scores
from hearth.audit import api as audit
from hearth.jobs import api as jobs
from hearth.shared.addresses import addresses
from hearth.shared.openapi import SharedSchemaGenerator
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
from pooling.moments import api as moments
from pooling.paragraphs import api as paragraphs
from pooling.phrasings import api as phrasings
from pooling.relevant_pairs import api as relevant_pairs
from pooling.scenes import api as scenes

schema = SpectacularAPIView.as_view(generator_class=SharedSchemaGenerator)

# The order matters for speed only, see `config.urls`.
judging_room = [
    ("judgments/", annotation.Judgments, "api-judgments"),
    ("campaigns/<int:pk>/claim/", annotation.Claim, "api-claim"),
    ("campaigns/<int:pk>/release/", annotation.Release, "api-release"),
    ("campaigns/<int:pk>/history/", annotation.History, "api-history"),
    ("escalations/", annotation.Escalations, "api-escalations"),
    ("escalations/withdraw/", annotation.EscalationWithdrawals, "api-escalations-withdraw"),
]

urlpatterns = [
    *addresses("", judging_room),
    *moments.urlpatterns,
    *paragraphs.urlpatterns,
    *addresses(
        "benchmarks/<str:key>/",
        [
            ("", changing.BenchmarkDetail, "api-benchmark"),
            ("public/", public_pages.PublicPageDetail, "api-public-page"),
            ("uploaders/", uploaders.Uploaders, "api-uploaders"),
            ("uploaders/<int:pk>/", uploaders.UploaderDetail, "api-uploader"),
            ("uploaders/<int:pk>/confirm/", uploaders.UploaderConfirm, "api-uploader-confirm"),
            ("runs/", runs.Runs, "api-runs"),
            ("runs/<int:pk>/", changing.RunDetail, "api-run"),
            ("proxies/", proxies.Proxies, "api-proxies"),
            ("proxies/uploads/", proxies.ProxyUploads, "api-proxy-uploads"),
            ("proxies/<int:pk>/", proxies.ProxyDetail, "api-proxy"),
            ("proxies/<int:pk>/<str:export>/", proxies.ProxyFile, "api-proxy-file"),
            ("pools/<int:pk>/", changing.PoolDetail, "api-pool"),
            ("train-splits/", metadata.TrainSplits, "api-train-splits"),
            ("tags/", metadata.Tags, "api-tags"),
            ("queries/", catalogue.Captions, "api-queries"),
            ("videos/", catalogue.Videos, "api-videos"),
            ("videos/uploads/", uploads.VideoUploads, "api-video-uploads"),
            ("videos/uploads/<uuid:pk>/", uploads.VideoUploadParts, "api-video-upload"),
            ("pairs/", catalogue.Pairs, "api-pairs"),
            ("pools/", pools.Pools, "api-pools"),
            ("pools/plan/", pool_plans.PoolPlans, "api-pool-plan"),
            ("agreement/", monitor.Agreement, "api-agreement"),
            ("scores/", scores.Scores, "api-scores"),
            ("analyses/", lab.Analyses, "api-analyses"),
            ("analyses/<str:name>/", lab.AnalysisDetail, "api-analysis"),
            ("draft/", release.DraftOfLabels, "api-draft"),
            ("compare/", lab.Compare, "api-compare"),
            ("compare/caption/", lab.CompareCaption, "api-compare-caption"),
            ("paper/<str:version>/", lab.PaperDetail, "api-paper"),
            ("gold/", annotation_gold.GoldImports, "api-gold"),
            ("judgment-imports/", annotation.JudgmentImports, "api-judgment-imports"),
            (
                "relevant-pairs/<int:pk>/training/",
                release.TrainingMomentsFile,
                "api-training-moments",
            ),
            ("label-sets/", release.LabelSets, "api-label-sets"),
            ("confirmations/", release.Confirmations, "api-confirmations"),
            ("paragraphs/labels/", release.ParagraphLabels, "api-paragraph-labels"),
            (
                "label-sets/<str:version>/since/<str:other>/",
                release.LabelSetDiff,
                "api-label-set-diff",
            ),
            (
                "label-sets/<str:version>/since/<str:other>/csv/",
                release.LabelSetDiffFile,
                "api-label-set-diff-csv",
            ),
            (
                "label-sets/<str:version>/verify/",
                release.LabelSetVerification,
                "api-label-set-verify",
            ),
            ("label-sets/<str:version>/<str:export>/", release.LabelSetFile, "api-label-set-file"),
            ("webhooks/", webhooks.Webhooks, "api-webhooks"),
            ("webhooks/<int:pk>/", webhooks.WebhookDetail, "api-webhook"),
            ("webhooks/<int:pk>/deliveries/", webhooks.Deliveries, "api-deliveries"),
            (
                "webhooks/<int:pk>/deliveries/<uuid:delivery>/repeat/",
                webhooks.DeliveryRepeat,
                "api-delivery-repeat",
            ),
        ],
    ),
    *phrasings.urlpatterns,
    *estimates.urlpatterns,
    *machines.urlpatterns,
    *relevant_pairs.urlpatterns,
    *scenes.urlpatterns,
    *(pattern for module in modules("api") for pattern in module.urlpatterns),
    *addresses(
        "",
        [
            ("schema/", schema, "api-schema"),
            ("benchmarks/", benchmarks.BenchmarkList, "api-benchmarks"),
            ("public/", public.PublicBenchmarks, "api-public-benchmarks"),
            ("public/<str:key>/", public.PublicBenchmark, "api-public-benchmark"),
            ("public/<str:key>/uploads/", public_pages.Uploads, "api-public-uploads"),
            ("uploads/", public.OwnUploads, "api-uploads"),
            ("uploads/<uuid:pk>/", public.UploadDetail, "api-upload"),
            ("uploads/<uuid:pk>/publish/", public_pages.UploadPublish, "api-upload-publish"),
            ("uploads/<uuid:pk>/withdraw/", public_pages.UploadWithdraw, "api-upload-withdraw"),
            ("uploads/<uuid:pk>/restore/", public_pages.UploadRestore, "api-upload-restore"),
            ("uploads/<uuid:pk>/refuse/", public_pages.UploadRefuse, "api-upload-refuse"),
            ("imports/", imports.Imports, "api-imports"),
            ("imports/<uuid:pk>/", imports.ImportDetail, "api-import"),
            ("imports/<uuid:pk>/accept/", imports.ImportAccept, "api-import-accept"),
            ("campaigns/", annotation.CampaignList, "api-campaigns"),
            ("campaigns/<int:pk>/", annotation.CampaignDetail, "api-campaign"),
            ("campaigns/<int:pk>/members/", annotation_invitations.Members, "api-members"),
            ("invitations/", annotation_invitations.Invitations, "api-invitations"),
            ("audit/", audit.AuditLog, "api-audit"),
            ("jobs/", jobs.JobList, "api-jobs"),
            ("jobs/<uuid:pk>/", jobs.JobDetail, "api-job"),
            ("jobs/<uuid:pk>/cancel/", jobs.JobCancel, "api-job-cancel"),
        ],
    ),
]
