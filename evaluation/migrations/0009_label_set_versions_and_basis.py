"""Number label sets MAJOR.MINOR.PATCH, and store notes and the basis to rebuild them from.

Label set N becomes N.0.0.
"""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0008_plain_words"),
    ]

    operations = [
        migrations.AlterModelOptions(name="labelset", options={"ordering": ["benchmark"]}),
        migrations.RemoveConstraint(model_name="labelset", name="label_set_version"),
        migrations.RenameField(model_name="labelset", old_name="version", new_name="major"),
        migrations.AddField(
            model_name="labelset",
            name="minor",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="labelset",
            name="patch",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="labelset",
            name="notes",
            field=models.TextField(
                blank=True, default="", help_text="what the person who published it wrote"
            ),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            model_name="labelset",
            constraint=models.UniqueConstraint(
                fields=("benchmark", "major", "minor", "patch"), name="label_set_version"
            ),
        ),
        migrations.AlterModelOptions(
            name="labelset",
            options={"ordering": ["benchmark", "-major", "-minor", "-patch"]},
        ),
        migrations.CreateModel(
            name="LabelSetBasis",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("judgments", models.BinaryField()),
                ("waiting", models.BinaryField()),
                ("rulings", models.BinaryField()),
                ("positives", models.BinaryField()),
                ("first_equal", models.BinaryField()),
                ("rules", models.JSONField()),
                (
                    "label_set",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="basis",
                        to="evaluation.labelset",
                    ),
                ),
            ],
        ),
    ]
