"""The triggers that refuse to delete the spans of answers and rulings, and TRUNCATE of them."""

from django.db import migrations

from evaluation.triggers import OF_SPANS, create, refuse_truncate
from hearth.shared.triggers import run_statements

STATEMENTS = create([OF_SPANS])


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0017_intervals_of_moments"),
        ("annotation", "0023_spans"),
    ]
    operations = [
        run_statements(
            STATEMENTS
            | {"postgresql": (*STATEMENTS["postgresql"], *refuse_truncate([OF_SPANS]))}
        )
    ]
