"""Clearer help texts. No column changes."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('pooling', '0015_uploaders'),
    ]

    operations = [
        migrations.AlterField(
            model_name='benchmark',
            name='equal_texts',
            field=models.CharField(choices=[('folded', 'Equal except for case, white space and final punctuation'), ('exact', 'Equal character by character'), ('off', 'Never equal: judge each caption separately')], default='folded', help_text='when captions count as equal, so that they share the labels of a video', max_length=6),
        ),
        migrations.AlterField(
            model_name='benchmarkimport',
            name='is_update',
            field=models.BooleanField(help_text='whether it updates the captions of an existing benchmark'),
        ),
        migrations.AlterField(
            model_name='pool',
            name='proxy',
            field=models.ForeignKey(help_text='pairs whose value is at least `proxy_from` were candidates; empty: none', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='pools', to='pooling.proxy'),
        ),
        migrations.AlterField(
            model_name='pool',
            name='sha256',
            field=models.CharField(blank=True, help_text='hash of the codes of the new pairs', max_length=64),
        ),
        migrations.AlterField(
            model_name='proxy',
            name='captions_sha256',
            field=models.CharField(help_text="hash of the benchmark's captions when it was made", max_length=64),
        ),
        migrations.AlterField(
            model_name='proxy',
            name='options',
            field=models.JSONField(default=dict, help_text='names and values of the options of the method'),
        ),
        migrations.AlterField(
            model_name='proxy',
            name='sha256',
            field=models.CharField(help_text='hash of the file', max_length=64),
        ),
        migrations.AlterField(
            model_name='run',
            name='is_private',
            field=models.BooleanField(default=False, help_text='whether only its uploader and leads see it'),
        ),
        migrations.AlterField(
            model_name='run',
            name='n_queries',
            field=models.PositiveIntegerField(help_text='number of captions, or of videos, that have a list'),
        ),
        migrations.AlterField(
            model_name='run',
            name='sha256',
            field=models.CharField(help_text="hash of the file's content", max_length=64),
        ),
        migrations.AlterField(
            model_name='run',
            name='similarities_sha256',
            field=models.CharField(blank=True, help_text='hash of the file', max_length=64),
        ),
        migrations.AlterField(
            model_name='runupload',
            name='name',
            field=models.CharField(help_text='name that the run is to get', max_length=100),
        ),
        migrations.AlterField(
            model_name='tag',
            name='sha256',
            field=models.CharField(help_text='hash of the packed query numbers', max_length=64),
        ),
        migrations.AlterField(
            model_name='trainsplit',
            name='sha256',
            field=models.CharField(help_text="hash of the file's content", max_length=64),
        ),
        migrations.AlterField(
            model_name='video',
            name='sha256',
            field=models.CharField(blank=True, help_text='hash of the imported file', max_length=64),
        ),
        migrations.AlterField(
            model_name='videoupload',
            name='name',
            field=models.CharField(help_text="name of the file on the person's computer", max_length=1000),
        ),
        migrations.AlterField(
            model_name='videoupload',
            name='reason',
            field=models.TextField(blank=True, help_text='why the file was refused or left out; for an archive, a summary'),
        ),
    ]
