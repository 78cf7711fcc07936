from __future__ import annotations

from django.urls import path

from hearth.audit import views

urlpatterns = [
    path("people/audit/", views.audit_log, name="audit-log"),
    path("people/audit/csv/", views.audit_log_csv, name="audit-log-csv"),
]
