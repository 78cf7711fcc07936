"""The triggers that refuse TRUNCATE of judgments and label sets. SQLite has no such statement."""

from django.db import migrations

from hearth.shared.triggers import run_statements
from evaluation.triggers import FIRST, refuse_truncate


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0001_first_release")]
    operations = [run_statements({"postgresql": refuse_truncate(FIRST)})]
