"""Clearer help texts. No column changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0003_problems'),
    ]

    operations = [
        migrations.AlterField(
            model_name='job',
            name='is_uncertain',
            field=models.BooleanField(default=False, help_text='True if parts of the result may be stored, because the job ended while its worker or the database was unavailable.'),
        ),
    ]
