import evaluation.models
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("evaluation", "0009_label_set_versions_and_basis"),
    ]

    operations = [
        migrations.AddField(
            model_name="labelset",
            name="details_file",
            field=models.FileField(blank=True, help_text="Times, guidelines and missing elements, one line per line of the judgments file. Empty if no judgment has any.", storage=evaluation.models.label_set_storage, upload_to=""),
        ),
    ]
