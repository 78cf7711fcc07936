"""The addresses of the pages of paragraphs."""

from __future__ import annotations

from hearth.shared.addresses import addresses
from pooling.paragraphs import views

urlpatterns = addresses(
    "benchmarks/<str:key>/paragraphs/",
    [
        ("", views.paragraphs),
        ("new/", views.paragraphs_add),
        ("similarities/", views.similarities_upload),
        ("focus/", views.run_focus),
        ("clips/", views.clips_upload),
        ("clips/<int:pk>/delete/", views.clips_delete),
    ],
)
