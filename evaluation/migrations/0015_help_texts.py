"""Clearer help texts. No column changes."""

import evaluation.models
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0014_help_texts'),
    ]

    operations = [
        migrations.AlterField(
            model_name='draft',
            name='agreement',
            field=models.JSONField(editable=False, help_text='Agreement of planned labels and of all labels; empty in older label sets.', null=True),
        ),
        migrations.AlterField(
            model_name='draft',
            name='original_grade',
            field=models.PositiveSmallIntegerField(default=1, help_text='Grade that original positives get when they are combined with these labels.'),
        ),
        migrations.AlterField(
            model_name='evaluation',
            name='bounds',
            field=models.JSONField(default=dict, help_text='For each measure, the lowest and the highest score that the unjudged pairs allow.'),
        ),
        migrations.AlterField(
            model_name='evaluation',
            name='judged',
            field=models.JSONField(help_text='Judged share of the top k, for each k.'),
        ),
        migrations.AlterField(
            model_name='labelset',
            name='agreement',
            field=models.JSONField(editable=False, help_text='Agreement of planned labels and of all labels; empty in older label sets.', null=True),
        ),
        migrations.AlterField(
            model_name='labelset',
            name='details_file',
            field=models.FileField(blank=True, help_text='Times, guidelines and missing elements. The file has one line for each line of the judgments file, in the same order. Empty in older label sets, and if all campaigns are imported.', storage=evaluation.models.label_set_storage, upload_to=''),
        ),
        migrations.AlterField(
            model_name='labelset',
            name='original_grade',
            field=models.PositiveSmallIntegerField(default=1, help_text='Grade that original positives get when they are combined with these labels.'),
        ),
    ]
