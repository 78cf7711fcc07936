from __future__ import annotations

from django.urls import path

from hearth.jobs import views

urlpatterns = [
    path("jobs/", views.jobs, name="jobs"),
    path("jobs/<uuid:pk>/", views.job, name="job"),
    path("jobs/<uuid:pk>/progress/", views.job_progress, name="job-progress"),
    path("jobs/<uuid:pk>/line/", views.job_line, name="job-line"),
    path("jobs/<uuid:pk>/cancel/", views.job_cancel, name="job-cancel"),
]
