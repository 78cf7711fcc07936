"""Store the format that a person chose for the files of an import."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('pooling', '0019_who_withdrew_a_run'),
    ]

    operations = [
        migrations.AddField(
            model_name='benchmarkimport',
            name='format',
            field=models.CharField(default='auto', help_text='selected format; auto: detected from the content', max_length=30),
        ),
    ]
