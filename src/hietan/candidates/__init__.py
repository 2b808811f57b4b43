"""Train a model, store it in a file, rank the rows of other datasets, and explain rows by name.

>>> from hietan import HieTANLite
>>> from hietan.candidates import rank_rows, train_model
>>> from hietan.datasets import make_hierarchical_classification
>>> data = make_hierarchical_classification(120, 30, random_state=0)
>>> trained = train_model(HieTANLite(), data.subset(rows=slice(100)))
>>> ranked = rank_rows(trained, data)
>>> best = ranked.new_rows[0]  # the 100 rows that the model was trained on are listed after the 20 others
>>> best.instance, best.predicted, round(best.log_odds, 2), len(ranked.new_rows)
('row114', 'class1', 1.08, 20)
>>> ranked.columns[:7]
('rank', 'instance', 'log_odds', 'probability', 'p_value', 'predicted', 'in_training')

`hietan.report.write_candidates` writes a report on ranked rows, with reasons.
"""

from hietan.candidates._error_rate import HeldOutScores, Selection
from hietan.candidates._evaluating import Evaluation, Measured, evaluate_model
from hietan.candidates._explained import RowExplanation, explain_rows_by_name
from hietan.candidates._models import TrainedModel, train_model
from hietan.candidates._names import read_names
from hietan.candidates._ranking import Candidate, Candidates, rank_rows
from hietan.candidates._serving import RowPrediction
from hietan.candidates._validation import Validation

__all__ = [
    "Candidate",
    "Candidates",
    "Evaluation",
    "HeldOutScores",
    "Measured",
    "RowExplanation",
    "RowPrediction",
    "Selection",
    "TrainedModel",
    "Validation",
    "evaluate_model",
    "explain_rows_by_name",
    "rank_rows",
    "read_names",
    "train_model",
]
