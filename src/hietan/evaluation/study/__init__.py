"""Studies: every method on every dataset, seed after seed, fold after fold; they survive any interruption."""

from hietan.evaluation.study.results import StudyResults, read_summary
from hietan.evaluation.study.run import Job, Method, Progress, Study, run_study

__all__ = ["Job", "Method", "Progress", "Study", "StudyResults", "read_summary", "run_study"]
