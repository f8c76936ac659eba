"""Data sets, one file each. They stand on numpy, tables in files on pandas, and some are fetched by scikit-learn."""

from __future__ import annotations

from ._dataset import DataError, Dataset, Task
from ._files import read_dataset, read_dataset_bytes, read_source
from ._grams import GramFiles
from ._info import DatasetInfo, describe_dataset, describe_datasets, list_datasets, load_dataset
from ._new_rows import NewTable
from ._table_options import NOTHING, TASK_CHOICES, TableOptions, TableSummary

__all__ = [
    "NOTHING",
    "TASK_CHOICES",
    "DataError",
    "Dataset",
    "DatasetInfo",
    "GramFiles",
    "NewTable",
    "TableOptions",
    "TableSummary",
    "Task",
    "describe_dataset",
    "describe_datasets",
    "list_datasets",
    "load_dataset",
    "read_dataset",
    "read_dataset_bytes",
    "read_source",
]
