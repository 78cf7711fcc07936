"""The tables of operations."""

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('operations', '0001_initial'),
        ('operations', '0002_workertime'),
    ]

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Heartbeat',
            fields=[
                ('name', models.CharField(choices=[('scheduler', 'Scheduler'), ('sweeper', 'Sweeper of jobs')], max_length=20, primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Tally',
            fields=[
                ('name', models.CharField(max_length=50, primary_key=True, serialize=False)),
                ('value', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='Operation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('backup', 'Backup'), ('restore', 'Restore'), ('housekeeping', 'Housekeeping')], max_length=20)),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('finished_at', models.DateTimeField(null=True)),
                ('error', models.TextField(blank=True)),
                ('facts', models.JSONField(default=dict)),
            ],
            options={
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['kind', '-id'], name='operation_latest')],
            },
        ),
        migrations.CreateModel(
            name='WorkerTime',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('worker', models.CharField(max_length=100)),
                ('work', models.CharField(max_length=100)),
                ('number', models.BigIntegerField(default=0)),
                ('seconds', models.FloatField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('worker', 'work'), name='worker_time_once')],
            },
        ),
    ]
