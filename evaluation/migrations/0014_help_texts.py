"""Clearer help texts. No column changes."""

import evaluation.models
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0013_trigger_of_proxies'),
    ]

    operations = [
        migrations.AlterField(
            model_name='analysisresult',
            name='seconds',
            field=models.FloatField(help_text='Duration of the computation.'),
        ),
        migrations.AlterField(
            model_name='evaluation',
            name='bounds',
            field=models.JSONField(default=dict, help_text='Lowest and highest score by measure that the unjudged pairs allow.'),
        ),
        migrations.AlterField(
            model_name='labelset',
            name='details_file',
            field=models.FileField(blank=True, help_text='Times, guidelines and missing elements. It has the same lines as the judgments file. Empty if no judgment has any of them.', storage=evaluation.models.label_set_storage, upload_to=''),
        ),
        migrations.AlterField(
            model_name='labelset',
            name='notes',
            field=models.TextField(blank=True, help_text='Text by the person who published it.'),
        ),
    ]
