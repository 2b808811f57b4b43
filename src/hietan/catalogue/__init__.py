"""Named datasets, methods and studies, which are the same in Python and on the command line.

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

from hietan.catalogue._datasets import dataset_names, dataset_sets, load_dataset, load_datasets
from hietan.catalogue._estimators import make_estimator
from hietan.catalogue._methods import METHODS, MethodEntry, method_names, method_sets
from hietan.catalogue._studies import StudyOptions, read_study_file, run_named_study

__all__ = [
    "METHODS",
    "MethodEntry",
    "StudyOptions",
    "dataset_names",
    "dataset_sets",
    "load_dataset",
    "load_datasets",
    "make_estimator",
    "method_names",
    "method_sets",
    "read_study_file",
    "run_named_study",
]
