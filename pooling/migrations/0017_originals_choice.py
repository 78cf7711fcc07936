"""A clearer name of a choice. No column changes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('pooling', '0016_help_texts'),
    ]

    operations = [
        migrations.AlterField(
            model_name='pool',
            name='originals',
            field=models.CharField(choices=[('ranked', 'Only those that a run ranks, like other pairs'), ('added', 'All of them, even those that no run ranks'), ('left-out', 'None of them')], default='ranked', max_length=10),
        ),
    ]
