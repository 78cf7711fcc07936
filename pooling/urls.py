from __future__ import annotations

from django.urls import path

from pooling.views import captions, media, metadata, pools, runs, tus, uploads

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
    path("media/videos/<uuid:public_id>/", media.video_file, name="video-file"),
    path("media/videos/<uuid:public_id>/poster/", media.video_poster, name="video-poster"),
    path("media/videos/<uuid:public_id>/sheet/", media.video_sheet, name="video-sheet"),
]
