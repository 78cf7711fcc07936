"""The addresses of one campaign. Evaluation serves its figures, annotation its judging."""

from __future__ import annotations

from django.urls import path

from annotation import judging_views, steering_views, training_views, views
from evaluation.monitor.views import campaigns, people

urlpatterns = [
    path("", campaigns.campaign, name="campaign"),
    path("progress/", campaigns.campaign_progress_part, name="campaign-progress"),
    path("csv/", campaigns.campaign_csv, name="campaign-csv"),
    path("compute/", campaigns.campaign_compute, name="campaign-compute"),
    path("people/", people.campaign_people, name="campaign-people"),
    path("people/csv/", people.campaign_people_csv, name="campaign-people-csv"),
    path("people/<str:pseudonym>/", people.campaign_person, name="campaign-person"),
    path("state/", views.campaign_state, name="campaign-state"),
    path("policy/", steering_views.campaign_policy, name="campaign-policy"),
    path("members/", steering_views.campaign_members, name="campaign-members"),
    path(
        "people/<str:pseudonym>/reopen/",
        steering_views.judgments_reopen,
        name="judgments-reopen",
    ),
    path("members/<int:annotator>/", training_views.member, name="member"),
    path("judge/", judging_views.judge, name="judge"),
    path("judge/guideline/", judging_views.room_guideline, name="room-guideline"),
    path("desk/", judging_views.desk, name="desk"),
]
