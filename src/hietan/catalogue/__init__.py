"""Datasets, methods and studies by name, as on the command line, for use from Python.

>>> from hietan import catalogue
>>> catalogue.load_dataset("synthetic-0").X.shape
(150, 80)
>>> catalogue.make_estimator("hie-tan-lite:alpha=0.5")
HieTANLite(alpha=0.5)
>>> options = catalogue.StudyOptions(data=["synthetic-0"], methods=["tan", "hie-tan"], folds=3)
>>> results = catalogue.run_named_study(options)
>>> [row.method for row in results.summary]
['tan', 'hie-tan']
"""

from hietan.catalogue.datasets import (
    dataset_groups,
    dataset_names,
    dataset_set_notes,
    dataset_sets,
    load_dataset,
    load_datasets,
)
from hietan.catalogue.estimators import UNTUNED_LAMBDA, make_estimator, make_fitted_method, make_methods
from hietan.catalogue.methods import METHODS, MethodEntry, method_names, method_sets
from hietan.catalogue.studies import StudyOptions, read_study_file, run_named_study
from hietan.exceptions import CatalogueError

__all__ = [
    "METHODS",
    "UNTUNED_LAMBDA",
    "CatalogueError",
    "MethodEntry",
    "StudyOptions",
    "dataset_groups",
    "dataset_names",
    "dataset_set_notes",
    "dataset_sets",
    "load_dataset",
    "load_datasets",
    "make_estimator",
    "make_fitted_method",
    "make_methods",
    "method_names",
    "method_sets",
    "read_study_file",
    "run_named_study",
]
