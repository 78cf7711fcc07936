from __future__ import annotations

from django.urls import path

from annotation.questions.order import views

urlpatterns = [
    path("benchmarks/<str:key>/orderings/new/", views.ordering_open, name="ordering-open"),
    path("benchmarks/<str:key>/gold/orders/new/", views.gold_order, name="gold-order"),
]
