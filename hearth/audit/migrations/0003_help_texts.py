"""Clearer help texts. No column changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0002_append_only'),
    ]

    operations = [
        migrations.AlterField(
            model_name='auditentry',
            name='object_type',
            field=models.CharField(blank=True, help_text='name of the model, such as pooling.run', max_length=60),
        ),
        migrations.AlterField(
            model_name='auditentry',
            name='request_id',
            field=models.CharField(blank=True, help_text='id of the request or of the job', max_length=64),
        ),
    ]
