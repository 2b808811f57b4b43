"""Building: a hierarchy, annotations and labels become a dataset, with an account of what was lost on the way.

`options` (what is requested), `sources` (inputs in every form), `genes` (what the annotations say), `rows` and
`columns` (what is kept of it), `attributes` (features from a further table), `assemble`, which uses them in this order,
and `build`, the function that users call. `frames` starts from a data frame instead.
"""
