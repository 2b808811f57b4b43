"""How well each method predicts: `python -m reproduction.accuracy`.

`sets` (what is predicted), `peers` (classifiers of other projects), `methods` (everything that is measured, and the
plan), `measure` (scores of held-out rows, kept in out/accuracy), `scores` (metrics and a bootstrap over genes),
`collect` (docs/accuracy*.csv), `figures` and `page` (docs/benchmarks.md).
"""
