"""Change the order of the columns of an index. Rows and constraints stay."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0013_priority_by_proxy'),
        ('pooling', '0015_uploaders'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='judgmenttask',
            name='task_begun',
        ),
        migrations.AddIndex(
            model_name='judgmenttask',
            index=models.Index(condition=models.Q(('pair__isnull', False), models.Q(('labels_live__gt', 0), models.Q(('state', 'open'), _negated=True), _connector='OR')), fields=['campaign', 'label', 'labels_live', 'labels_required', 'labels_planned', 'state', 'n_pairs'], name='task_begun'),
        ),
    ]
