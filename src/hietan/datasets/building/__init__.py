"""Building: an ontology, annotations and labels become a dataset, with an account of what was lost on the way.

`options` (what is requested), `genes` (what the annotations say), `rows` and `columns` (what is kept of it), and
`build`, which uses them in this order.
"""
