"""Clearer help texts. No column changes."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0017_guideline_picture_file'),
        ('pooling', '0016_help_texts'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='assignment',
            name='slot',
            field=models.PositiveSmallIntegerField(help_text='empty for gold, and after the lease has ended', null=True),
        ),
        migrations.AlterField(
            model_name='campaign',
            name='ceiling',
            field=models.DecimalField(decimal_places=4, default=1, help_text='maximum share of the pairs for one annotator', max_digits=5),
        ),
        migrations.AlterField(
            model_name='campaign',
            name='confirms',
            field=models.BooleanField(default=False, help_text='whether it requests second labels for pairs with one label'),
        ),
        migrations.AlterField(
            model_name='campaign',
            name='created_by',
            field=models.ForeignKey(editable=False, help_text='empty: opened by a command or by an older version', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='campaign',
            name='levels',
            field=models.CharField(blank=True, choices=[('captions', 'captions'), ('values', 'values')], help_text='ordering study: the values that were divided into quartiles', max_length=8),
        ),
        migrations.AlterField(
            model_name='campaign',
            name='original_grade',
            field=models.PositiveSmallIntegerField(blank=True, help_text='label that original positives get; empty: the highest', null=True),
        ),
        migrations.AlterField(
            model_name='campaign',
            name='proxy',
            field=models.ForeignKey(blank=True, help_text='orders the pairs by its values, or chooses the captions of an ordering study', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='pooling.proxy'),
        ),
        migrations.AlterField(
            model_name='campaign',
            name='source',
            field=models.JSONField(blank=True, default=dict, help_text='imported file: format, name, licences, whether it has annotators and times'),
        ),
        migrations.AlterField(
            model_name='campaign',
            name='source_sha256',
            field=models.CharField(blank=True, help_text='hash of the imported file', max_length=64),
        ),
        migrations.AlterField(
            model_name='campaign',
            name='steps',
            field=models.JSONField(blank=True, default=list, help_text='names of the labels 0, 1, …'),
        ),
        migrations.AlterField(
            model_name='guidelinepicture',
            name='is_match',
            field=models.BooleanField(help_text='true: shows a relevant pair; false: an irrelevant one; empty: neither', null=True),
        ),
        migrations.AlterField(
            model_name='judgmenttask',
            name='label',
            field=models.SmallIntegerField(help_text='label of the outcome; empty: none', null=True),
        ),
        migrations.AlterField(
            model_name='judgmenttask',
            name='ordering_video',
            field=models.ForeignKey(blank=True, db_index=False, help_text='ordering study: the video whose captions (`OrderingCaption`) are ordered', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='ordering_tasks', to='pooling.video'),
        ),
    ]
