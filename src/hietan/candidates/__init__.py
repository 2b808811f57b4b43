"""Models for other data: train one, keep it in a file, rank the rows of any dataset by it, and explain rows by name.

>>> from hietan import HieTANLite
>>> from hietan.candidates import rank_rows, train_model
>>> from hietan.datasets import make_hierarchical_classification
>>> data = make_hierarchical_classification(120, 30, random_state=0)
>>> known, new = data.subset(rows=slice(100)), data.subset(rows=slice(100, None))
>>> trained = train_model(HieTANLite(), known)
>>> ranked = rank_rows(trained, new, calibrated=True)
>>> ranked.rows[0].instance, ranked.rows[0].predicted, round(ranked.rows[0].log_odds, 2)
('row114', 'class1', 1.39)
>>> ranked.to_csv().splitlines()[1]
'rank,instance,log_odds,probability,predicted,in_training,calibrated_probability'

`hietan.report.write_candidates` makes a page of them, with reasons.
"""

from hietan.candidates.explained import RowExplanation, explain_rows_by_name, find_rows
from hietan.candidates.models import TrainedModel, calibrate, train_model
from hietan.candidates.ranking import Candidate, Candidates, align_columns, rank_rows, row_odds

__all__ = [
    "Candidate",
    "Candidates",
    "RowExplanation",
    "TrainedModel",
    "align_columns",
    "calibrate",
    "explain_rows_by_name",
    "find_rows",
    "rank_rows",
    "row_odds",
    "train_model",
]
