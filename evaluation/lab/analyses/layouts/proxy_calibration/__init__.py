"""Results, findings, tables and charts of proxies compared with people."""

from evaluation.lab.analyses.layouts.proxy_calibration.charts import charts
from evaluation.lab.analyses.layouts.proxy_calibration.findings import findings, warnings
from evaluation.lab.analyses.layouts.proxy_calibration.tables import tables

__all__ = ["charts", "findings", "tables", "warnings"]
