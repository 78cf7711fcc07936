"""Clearer help texts. No column changes."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('pooling', '0017_originals_choice'),
    ]

    operations = [
        migrations.AlterField(
            model_name='pool',
            name='proxy',
            field=models.ForeignKey(help_text='pairs for which this proxy has a value of `proxy_from` or more were candidates; empty: none', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='pools', to='pooling.proxy'),
        ),
        migrations.AlterField(
            model_name='pool',
            name='similar',
            field=models.PositiveIntegerField(help_text='number of similar texts per caption; their original positives were candidates for the caption; empty: none', null=True),
        ),
        migrations.AlterField(
            model_name='proxy',
            name='captions_sha256',
            field=models.CharField(help_text="hash of the benchmark's captions when the proxy was stored", max_length=64),
        ),
    ]
