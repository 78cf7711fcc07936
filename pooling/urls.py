from __future__ import annotations

from django.urls import path

from pooling import views

urlpatterns = [
    path("benchmarks/<str:key>/runs/new/", views.run_upload, name="run-upload"),
    path("benchmarks/<str:key>/pools/new/", views.pool_build, name="pool-build"),
    path(
        "benchmarks/<str:key>/equal-captions/",
        views.equal_captions,
        name="equal-captions",
    ),
    path(
        "benchmarks/<str:key>/train-captions/new/",
        views.train_captions_upload,
        name="train-captions-upload",
    ),
    path("benchmarks/<str:key>/tags/new/", views.tags_upload, name="tags-upload"),
    path("media/videos/<uuid:public_id>/", views.video_file, name="video-file"),
    path("media/videos/<uuid:public_id>/poster/", views.video_poster, name="video-poster"),
    path("media/videos/<uuid:public_id>/sheet/", views.video_sheet, name="video-sheet"),
]
