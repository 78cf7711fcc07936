"""Client of a Hearth site: upload runs, follow jobs, read scores, download labels."""

from hearth_client.benchmarks import Benchmark
from hearth_client.datasets import Dataset
from hearth_client.errors import ClientError, JobFailed, NotSignedIn, Refused, Unreachable
from hearth_client.site import Hearth

__all__ = [
    "Benchmark",
    "ClientError",
    "Dataset",
    "Hearth",
    "JobFailed",
    "NotSignedIn",
    "Refused",
    "Unreachable",
]
