from __future__ import annotations

from django.urls import path

from annotation import judging_views, views

urlpatterns = [
    path("benchmarks/<str:key>/campaigns/new/", views.campaign_open, name="campaign-open"),
    path("benchmarks/<str:key>/judgments/new/", views.judgments_upload, name="judgments-upload"),
    path("campaigns/<int:pk>/state/", views.campaign_state, name="campaign-state"),
    path("campaigns/<int:pk>/guideline/", views.guideline_write, name="guideline-write"),
    # The judging room
    path("campaigns/<int:pk>/judge/", judging_views.judge, name="judge"),
    # The lead's desk
    path("campaigns/<int:pk>/desk/", judging_views.desk, name="desk"),
]
