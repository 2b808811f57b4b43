"""Building: combine a hierarchy, annotations and labels into a dataset, with a summary of what was dropped.

`options` (the requested options), `sources` (inputs of every kind), `genes` (the content of the annotations), `rows`
and `columns` (the parts to keep), `attributes` (features from another table), `assemble`, which uses them in this
order, and `build`, the function that users call. `frames` starts from a data frame instead.
"""
