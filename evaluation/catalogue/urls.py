from __future__ import annotations

from django.urls import path

from evaluation.catalogue.views import caption, captions, pairs, video, videos

# Keys of captions and videos can contain any character, so they are in the query string.
urlpatterns = [
    path("benchmarks/<str:key>/captions/", captions.captions, name="benchmark-captions"),
    path("benchmarks/<str:key>/captions/csv/", captions.captions_csv, name="captions-csv"),
    path("benchmarks/<str:key>/caption/", caption.caption, name="caption"),
    path("benchmarks/<str:key>/videos/", videos.videos, name="benchmark-videos"),
    path("benchmarks/<str:key>/videos/csv/", videos.videos_csv, name="videos-csv"),
    path("benchmarks/<str:key>/video/", video.video, name="video"),
    path("benchmarks/<str:key>/pairs/csv/", pairs.pairs_csv, name="pairs-csv"),
]
