import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0006_outcomes_and_agreement"),
        ("pooling", "0001_initial"),
    ]

    operations = [
        migrations.AlterModelTable(name="analysis", table="evaluation_analysis"),
        migrations.RenameModel(old_name="Analysis", new_name="AnalysisResult"),
        migrations.AlterModelOptions(name="analysisresult", options={"ordering": ["-pk"]}),
        migrations.AlterField(
            model_name="analysisresult",
            name="benchmark",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="analysis_results",
                to="pooling.benchmark",
            ),
        ),
    ]
