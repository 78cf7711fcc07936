"""Clearer help texts. No column changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('pooling', '0017_originals_choice'),
    ]

    operations = [
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
