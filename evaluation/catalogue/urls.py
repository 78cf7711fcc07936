from __future__ import annotations

from django.urls import path

from evaluation.catalogue.views import entries, lists

# Keys of captions and videos can contain any character, so they are in the query string.
urlpatterns = [
    path("benchmarks/<str:key>/captions/", lists.captions, name="benchmark-captions"),
    path("benchmarks/<str:key>/captions/csv/", lists.captions_csv, name="captions-csv"),
    path("benchmarks/<str:key>/caption/", entries.caption, name="caption"),
    path("benchmarks/<str:key>/videos/", lists.videos, name="benchmark-videos"),
    path("benchmarks/<str:key>/videos/csv/", lists.videos_csv, name="videos-csv"),
    path("benchmarks/<str:key>/video/", entries.video, name="video"),
    path("benchmarks/<str:key>/pairs/csv/", lists.pairs_csv, name="pairs-csv"),
]
