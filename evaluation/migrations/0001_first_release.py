"""The tables of evaluation, and the triggers that protect judgments, label sets and archives."""

import django.db.models.deletion
import django.utils.timezone
import evaluation.models
from django.conf import settings
from django.db import migrations, models

from hearth.shared.triggers import run_statements
from evaluation.triggers import FIRST, create


class Migration(migrations.Migration):

    replaces = [
        ('evaluation', '0001_initial'),
        ('evaluation', '0002_campaign_report'),
        ('evaluation', '0003_analysis'),
        ('evaluation', '0004_drafts'),
        ('evaluation', '0005_left_open'),
        ('evaluation', '0006_outcomes_and_agreement'),
        ('evaluation', '0007_analysis_result'),
        ('evaluation', '0008_plain_words'),
        ('evaluation', '0009_label_set_versions_and_basis'),
        ('evaluation', '0010_label_set_details'),
        ('evaluation', '0011_protecting_triggers'),
        ('evaluation', '0012_label_arrays'),
        ('evaluation', '0013_trigger_of_proxies'),
        ('evaluation', '0014_help_texts'),
        ('evaluation', '0015_help_texts'),
    ]

    initial = True

    dependencies = [
        ('annotation', '0001_first_release'),
        ('pooling', '0001_first_release'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AgreementReport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('result', models.JSONField()),
                ('code_version', models.CharField(max_length=50)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='agreement_reports', to='pooling.benchmark')),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='LabelSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('major', models.PositiveIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('judgments_sha256', models.CharField(max_length=64)),
                ('file', models.FileField(storage=evaluation.models.label_set_storage, upload_to='')),
                ('judgments_file', models.FileField(storage=evaluation.models.label_set_storage, upload_to='')),
                ('n_pairs', models.PositiveIntegerField()),
                ('n_relevant', models.PositiveIntegerField()),
                ('n_conflicted', models.PositiveIntegerField()),
                ('n_judgments', models.PositiveIntegerField()),
                ('code_version', models.CharField(max_length=50)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('request', models.UUIDField(editable=False, null=True, unique=True)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='label_sets', to='pooling.benchmark')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('agreement', models.JSONField(editable=False, help_text='Agreement of planned labels and of all labels; empty in older label sets.', null=True)),
                ('n_pending', models.PositiveIntegerField(default=0)),
                ('original_grade', models.PositiveSmallIntegerField(default=1, help_text='Grade that original positives get when they are combined with these labels.')),
                ('minor', models.PositiveIntegerField(default=0)),
                ('patch', models.PositiveIntegerField(default=0)),
                ('notes', models.TextField(blank=True, help_text='Text by the person who published it.')),
                ('details_file', models.FileField(blank=True, help_text='Times, guidelines and missing elements. The file has one line for each line of the judgments file, in the same order. Empty in older label sets, and if all campaigns are imported.', storage=evaluation.models.label_set_storage, upload_to='')),
            ],
            options={
                'ordering': ['benchmark', '-major', '-minor', '-patch'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'major', 'minor', 'patch'), name='label_set_version')],
            },
        ),
        migrations.CreateModel(
            name='Evaluation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('labels_only', models.BooleanField(default=False, help_text='Only the judgments, without the original positives.')),
                ('scores', models.JSONField(help_text='Values by measure; an undefined value is {undefined: reason}.')),
                ('judged', models.JSONField(help_text='Judged share of the top k, for each k.')),
                ('code_version', models.CharField(max_length=50)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='evaluations', to='pooling.run')),
                ('label_set', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='evaluations', to='evaluation.labelset')),
                ('bounds', models.JSONField(default=dict, help_text='For each measure, the lowest and the highest score that the unjudged pairs allow.')),
                ('unjudged', models.PositiveIntegerField(help_text='Number of unjudged pairs in the top ten.', null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'label_set', 'labels_only'), name='evaluation_labelled'), models.UniqueConstraint(condition=models.Q(('label_set', None)), fields=('run',), name='evaluation_original')],
            },
        ),
        migrations.CreateModel(
            name='CampaignReport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('result', models.JSONField()),
                ('answers', models.PositiveIntegerField()),
                ('code_version', models.CharField(max_length=50)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='report', to='annotation.campaign')),
            ],
        ),
        migrations.CreateModel(
            name='Draft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sha256', models.CharField(max_length=64)),
                ('n_pairs', models.PositiveIntegerField()),
                ('n_relevant', models.PositiveIntegerField()),
                ('n_conflicted', models.PositiveIntegerField()),
                ('n_judgments', models.PositiveIntegerField()),
                ('code_version', models.CharField(max_length=50)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('text', models.BinaryField(help_text='The labels as in the file of a label set, compressed with gzip.')),
                ('moment', models.JSONField(help_text='Fingerprint of the labels, see annotation.selectors.')),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='pooling.benchmark')),
                ('agreement', models.JSONField(editable=False, help_text='Agreement of planned labels and of all labels; empty in older label sets.', null=True)),
                ('n_pending', models.PositiveIntegerField(default=0)),
                ('original_grade', models.PositiveSmallIntegerField(default=1, help_text='Grade that original positives get when they are combined with these labels.')),
            ],
            options={
                'ordering': ['benchmark', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='AnalysisResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=50)),
                ('key', models.CharField(max_length=64)),
                ('inputs', models.JSONField()),
                ('result', models.JSONField()),
                ('seconds', models.FloatField(help_text='Duration of the computation.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='analysis_results', to='pooling.benchmark')),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'key'), name='analysis_key')],
                'db_table': 'evaluation_analysis',
            },
        ),
        migrations.CreateModel(
            name='LabelSetBasis',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('judgments', models.BinaryField()),
                ('waiting', models.BinaryField()),
                ('rulings', models.BinaryField()),
                ('positives', models.BinaryField()),
                ('first_equal', models.BinaryField()),
                ('rules', models.JSONField()),
                ('label_set', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='basis', to='evaluation.labelset')),
            ],
        ),
        migrations.CreateModel(
            name='LabelArrays',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sha256', models.CharField(max_length=64)),
                ('codes', models.BinaryField()),
                ('labels', models.BinaryField()),
                ('states', models.BinaryField()),
                ('judgments', models.BinaryField()),
                ('relevant', models.BinaryField()),
                ('benchmark', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='label_arrays', to='pooling.benchmark')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'sha256'), name='label_arrays')],
            },
        ),
        run_statements(create(FIRST)),
    ]
