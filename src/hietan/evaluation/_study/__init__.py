"""Studies: every method on every dataset, for every seed and fold; an interrupted study can be resumed."""

from hietan.evaluation._study.compare import bootstrap_studies, compare_studies
from hietan.evaluation._study.journal import read_manifest
from hietan.evaluation._study.plan import Job, Method, Progress, Study, method_key
from hietan.evaluation._study.results import Failure, StudyResults, read_relations, read_summary
from hietan.evaluation._study.run import run_study

__all__ = [
    "Failure",
    "Job",
    "Method",
    "Progress",
    "Study",
    "StudyResults",
    "bootstrap_studies",
    "compare_studies",
    "method_key",
    "read_manifest",
    "read_relations",
    "read_summary",
    "run_study",
]
