"""Draws for the difference of two runs, of which the second never changes either."""

from django.db import migrations, models

from evaluation.triggers import Trigger, statements_of
from hearth.shared.triggers import KeepTriggers, run_statements

SECOND_RUN_FROZEN = Trigger(
    "draw_second_run_frozen",
    "UPDATE",
    "estimates_draw",
    "OLD.other_sha256 <> NEW.other_sha256",
    "A draw never changes.",
)


class Migration(migrations.Migration):
    dependencies = [("estimates", "0002_frozen"), ("pooling", "0024_machine_judges")]
    operations = [
        KeepTriggers(
            [
                migrations.AddField(
                    model_name="draw",
                    name="other",
                    field=models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="draws_of_differences",
                        to="pooling.run",
                    ),
                ),
                migrations.AddField(
                    model_name="draw",
                    name="other_sha256",
                    field=models.CharField(blank=True, default="", max_length=64),
                ),
            ]
        ),
        run_statements(statements_of(SECOND_RUN_FROZEN)),
    ]
