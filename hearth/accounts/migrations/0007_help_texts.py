"""Clearer help texts. No column changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0006_earlier_tokens'),
    ]

    operations = [
        migrations.AlterField(
            model_name='invitation',
            name='note',
            field=models.CharField(blank=True, help_text='name of the person to invite, or a reminder', max_length=200),
        ),
        migrations.AlterField(
            model_name='invitation',
            name='scope',
            field=models.CharField(blank=True, help_text='key of a benchmark; empty: all benchmarks', max_length=100),
        ),
    ]
