from __future__ import annotations

from django.urls import path

from evaluation.monitor.views import agreement, campaigns, people

urlpatterns = [
    path("benchmarks/<str:key>/agreement/", agreement.agreement_compute, name="agreement-compute"),
    path("campaigns/<int:pk>/", campaigns.campaign, name="campaign"),
    path(
        "campaigns/<int:pk>/progress/", campaigns.campaign_progress_part, name="campaign-progress"
    ),
    path("campaigns/<int:pk>/csv/", campaigns.campaign_csv, name="campaign-csv"),
    path("campaigns/<int:pk>/compute/", campaigns.campaign_compute, name="campaign-compute"),
    path("campaigns/<int:pk>/people/", people.campaign_people, name="campaign-people"),
    path(
        "campaigns/<int:pk>/people/csv/",
        people.campaign_people_csv,
        name="campaign-people-csv",
    ),
    path(
        "campaigns/<int:pk>/people/<str:pseudonym>/",
        people.campaign_person,
        name="campaign-person",
    ),
]
