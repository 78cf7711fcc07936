from __future__ import annotations

from django.urls import path

from annotation import (
    gold_views,
    guideline_views,
    me_views,
    people_views,
    training_views,
    views,
)

urlpatterns = [
    path("benchmarks/<str:key>/campaigns/new/", views.campaign_open, name="campaign-open"),
    path("benchmarks/<str:key>/judgments/new/", views.judgments_upload, name="judgments-upload"),
    # What annotators are told
    path("benchmarks/<str:key>/guidelines/", guideline_views.guidelines, name="guidelines"),
    path(
        "benchmarks/<str:key>/guidelines/new/",
        guideline_views.guideline_write,
        name="guideline-write",
    ),
    path(
        "benchmarks/<str:key>/guidelines/<int:version>/",
        guideline_views.guidelines,
        name="guideline",
    ),
    path(
        "media/guidelines/<uuid:public_id>/",
        guideline_views.guideline_picture,
        name="guideline-picture",
    ),
    # Gold and training
    path("benchmarks/<str:key>/gold/", gold_views.gold, name="gold"),
    path("benchmarks/<str:key>/gold/new/", gold_views.gold_upload, name="gold-upload"),
    path("benchmarks/<str:key>/gold/<int:pk>/", gold_views.gold_item, name="gold-item"),
    path("benchmarks/<str:key>/training/", training_views.training, name="training"),
    path("benchmarks/<str:key>/training/open/", training_views.training_open, name="training-open"),
    path(
        "benchmarks/<str:key>/training/close/",
        training_views.training_close,
        name="training-close",
    ),
    path(
        "benchmarks/<str:key>/training/<int:annotator>/",
        training_views.training_person,
        name="training-person",
    ),
    path(
        "benchmarks/<str:key>/training/<int:annotator>/comment/",
        training_views.training_comment,
        name="training-comment",
    ),
    # The judging room
    # One's own work
    path("me/", me_views.me, name="me"),
    path("me/keys/", me_views.keys, name="me-keys"),
    path("me/habits/", me_views.habits, name="me-habits"),
    path("me/comments/", me_views.comments, name="me-comments"),
    # The lead's desk
    # The people
    path("people/", people_views.people, name="people"),
    path("people/invitations/", people_views.invitations, name="invitations"),
    path("people/invitations/new/", people_views.invite, name="invite"),
    path(
        "people/invitations/<int:pk>/revoke/",
        people_views.invitation_revoke,
        name="invitation-revoke",
    ),
    path("people/<int:pk>/", people_views.person, name="person"),
    path("people/<int:pk>/roles/grant/", people_views.role_grant, name="role-grant"),
    path("people/<int:pk>/roles/withdraw/", people_views.role_withdraw, name="role-withdraw"),
    path("people/<int:pk>/state/", people_views.person_state, name="person-state"),
    path("people/<int:pk>/erase/", people_views.person_erase, name="person-erase"),
]
