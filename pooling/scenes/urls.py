"""The addresses of pages about scenes, and of the pictures of their middle frames."""

from __future__ import annotations

from hearth.shared.addresses import addresses
from pooling.scenes import views

urlpatterns = addresses(
    "",
    [
        ("benchmarks/<str:key>/scenes/find/", views.scenes_find),
        ("media/videos/<uuid:public_id>/scenes/", views.video_scenes),
    ],
)
