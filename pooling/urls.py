"""The addresses of the pages and media of the pooling app."""

from __future__ import annotations

from django.urls import path

from pooling.views import (
    captions,
    changing,
    deleting,
    imports,
    media,
    metadata,
    proxies,
    public,
    runs,
    tus,
    uploads,
    webhooks,
)

urlpatterns = [
    path("imports/new/", imports.import_new, name="import-new"),
    path("imports/<uuid:pk>/", imports.import_plan, name="import-plan"),
    path("imports/<uuid:pk>/accept/", imports.import_accept, name="import-accept"),
    path(
        "benchmarks/<str:key>/captions/update/",
        imports.captions_update,
        name="captions-update",
    ),
    path("benchmarks/<str:key>/public/", public.public_page, name="public-page"),
    path("public/<str:key>/runs/new/", public.run_score, name="run-score"),
    path("public/<str:key>/runs/new/ask/", public.run_score_ask, name="run-score-ask"),
    path(
        "benchmarks/<str:key>/runs/uploads/people/<int:pk>/",
        public.uploader_change,
        name="uploader-change",
    ),
    path("uploads/<uuid:pk>/publish/", public.run_publish, name="run-publish"),
    path("uploads/<uuid:pk>/withdraw/", public.run_upload_withdraw, name="run-upload-withdraw"),
    path("uploads/<uuid:pk>/refuse/", public.run_upload_refuse, name="run-upload-refuse"),
    path("benchmarks/<str:key>/runs/new/", runs.run_upload, name="run-upload"),
    path("benchmarks/<str:key>/runs/<int:pk>/edit/", changing.run_change, name="run-change"),
    path(
        "benchmarks/<str:key>/runs/<int:pk>/withdraw/", changing.run_withdraw, name="run-withdraw"
    ),
    path("benchmarks/<str:key>/runs/<int:pk>/delete/", deleting.run_delete, name="run-delete"),
    path("benchmarks/<str:key>/proxies/", proxies.proxies, name="proxies"),
    path("benchmarks/<str:key>/proxies/new/", proxies.proxy_compute, name="proxy-compute"),
    path("benchmarks/<str:key>/proxies/matrix/", proxies.proxy_upload, name="proxy-upload"),
    path(
        "benchmarks/<str:key>/proxies/embeddings/",
        proxies.embeddings_upload,
        name="embeddings-upload",
    ),
    path("benchmarks/<str:key>/proxies/<int:pk>/", proxies.proxy, name="proxy"),
    path("benchmarks/<str:key>/proxies/<int:pk>/chart/", proxies.proxy_chart, name="proxy-chart"),
    path(
        "benchmarks/<str:key>/proxies/<int:pk>/delete/", proxies.proxy_delete, name="proxy-delete"
    ),
    path(
        "benchmarks/<str:key>/proxies/<int:pk>/files/<str:export>/",
        proxies.proxy_export,
        name="proxy-export",
    ),
    path("benchmarks/<str:key>/edit/", changing.benchmark_change, name="benchmark-change"),
    path("benchmarks/<str:key>/archive/", changing.benchmark_archive, name="benchmark-archive"),
    path("benchmarks/<str:key>/delete/", deleting.benchmark_delete, name="benchmark-delete"),
    path("benchmarks/<str:key>/pools/<int:pk>/delete/", deleting.pool_delete, name="pool-delete"),
    path(
        "benchmarks/<str:key>/train-captions/<int:pk>/delete/",
        deleting.train_captions_delete,
        name="train-captions-delete",
    ),
    path("benchmarks/<str:key>/tags/delete/", deleting.tags_delete, name="tags-delete"),
    path(
        "benchmarks/<str:key>/equal-captions/",
        captions.equal_captions,
        name="equal-captions",
    ),
    path(
        "benchmarks/<str:key>/train-captions/new/",
        metadata.train_captions_upload,
        name="train-captions-upload",
    ),
    path("benchmarks/<str:key>/tags/new/", metadata.tags_upload, name="tags-upload"),
    path("benchmarks/<str:key>/videos/new/", uploads.videos_add, name="videos-add"),
    path("benchmarks/<str:key>/videos/new/plan/", uploads.videos_plan, name="videos-plan"),
    path("benchmarks/<str:key>/videos/new/folder/", uploads.videos_folder, name="videos-folder"),
    path("benchmarks/<str:key>/videos/new/retry/", uploads.videos_retry, name="videos-retry"),
    path("benchmarks/<str:key>/videos/new/cancel/", uploads.videos_cancel, name="videos-cancel"),
    path(
        "benchmarks/<str:key>/video-addresses/new/",
        uploads.video_addresses,
        name="video-addresses-upload",
    ),
    path("benchmarks/<str:key>/videos/uploads/", tus.video_uploads, name="video-uploads"),
    path("benchmarks/<str:key>/videos/uploads/<uuid:pk>/", tus.video_upload, name="video-upload"),
    path("benchmarks/<str:key>/webhooks/", webhooks.webhooks, name="webhooks"),
    path(
        "benchmarks/<str:key>/webhooks/<int:pk>/delete/",
        webhooks.webhook_delete,
        name="webhook-delete",
    ),
    path(
        "benchmarks/<str:key>/webhooks/deliveries/<uuid:pk>/repeat/",
        webhooks.delivery_repeat,
        name="delivery-repeat",
    ),
    path("media/videos/<uuid:public_id>/", media.video_file, name="video-file"),
    path("media/videos/<uuid:public_id>/poster/", media.video_poster, name="video-poster"),
    path("media/videos/<uuid:public_id>/sheet/", media.video_sheet, name="video-sheet"),
]
