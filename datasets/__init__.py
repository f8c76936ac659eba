"""Data sets, one file each. They stand on numpy, tables in files on pandas, and some are fetched by scikit-learn."""

from __future__ import annotations

from ._dataset import DataError, Dataset, Task
from ._files import read_dataset, read_dataset_bytes
from ._info import DatasetInfo
from ._registry import describe_dataset, describe_datasets, list_datasets, load_dataset
from ._table_options import TASK_CHOICES, TableOptions, TableSummary

__all__ = [
    "TASK_CHOICES",
    "DataError",
    "Dataset",
    "DatasetInfo",
    "TableOptions",
    "TableSummary",
    "Task",
    "describe_dataset",
    "describe_datasets",
    "list_datasets",
    "load_dataset",
    "read_dataset",
    "read_dataset_bytes",
]
