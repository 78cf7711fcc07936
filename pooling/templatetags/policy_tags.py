"""Filters that check the policies, so that a page offers only actions that the person may take.

Templates use them without `{% load %}`:

    {% if user|may_change:benchmark %}<a href="…">Build a pool</a>{% endif %}
"""

from __future__ import annotations

from django import template

from pooling.policies import can_change_benchmark, can_import_run

register = template.Library()
register.filter("may_change", can_change_benchmark)
register.filter("may_import_runs", can_import_run)
