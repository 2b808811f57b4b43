"""Train a model, store it in a file, rank the rows of other datasets, and explain rows by name.

>>> from hietan import HieTANLite
>>> from hietan.models import rank_rows, train_model
>>> from hietan.datasets import make_hierarchical_classification
>>> data = make_hierarchical_classification(120, 30, random_state=0)
>>> model = train_model(HieTANLite(), data.subset(rows=slice(100)))
>>> ranked = rank_rows(model, data)
>>> best = ranked.new_rows[0]  # the 100 rows that the model was trained on are listed after the 20 others
>>> best.instance, best.predicted, round(best.log_odds, 2), len(ranked.new_rows)
('row114', 'class1', 1.08, 20)
>>> ranked.columns[:7]
('rank', 'instance', 'log_odds', 'probability', 'p_value', 'predicted', 'in_training')

`hietan.report.write_candidates` writes a report on ranked rows, with reasons.
"""

from hietan.models.evaluating import Evaluation, Measured, evaluate_model
from hietan.models.explained import RowExplanation, explain_rows_by_name
from hietan.models.fitting import train_model
from hietan.models.model import Model, TrainingRows
from hietan.models.names import read_names
from hietan.models.ranking import Candidate, Candidates, rank_rows
from hietan.models.serving import RowPrediction

__all__ = [
    "Candidate",
    "Candidates",
    "Evaluation",
    "Measured",
    "Model",
    "RowExplanation",
    "RowPrediction",
    "TrainingRows",
    "evaluate_model",
    "explain_rows_by_name",
    "rank_rows",
    "read_names",
    "train_model",
]
