from __future__ import annotations

from django.urls import path

from pooling.views import captions, media, metadata, pools, runs, webhooks

urlpatterns = [
    path("benchmarks/<str:key>/runs/new/", runs.run_upload, name="run-upload"),
    path("benchmarks/<str:key>/pools/new/", pools.pool_build, name="pool-build"),
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
