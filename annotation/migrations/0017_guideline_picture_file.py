"""Pictures of guidelines are files of a storage, so that backups contain them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0016_control_orders")]

    operations = [
        migrations.AlterField(
            model_name="guidelinepicture", name="file", field=models.FileField(upload_to="")
        ),
    ]
