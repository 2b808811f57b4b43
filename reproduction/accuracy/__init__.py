"""How well the methods predict, beside what a user would take instead: `python -m reproduction.accuracy`.

`peers` (other people's classifiers), `methods` (everything that is measured), `measure` (out-of-fold scores, kept in
out/accuracy), `scores` (metrics from them, and a bootstrap over genes), `temporal` (trained on 2014, tested on 2025),
`page` (docs/accuracy.md).
"""
