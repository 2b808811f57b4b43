"""The paper's experiment on the 28 ageing-gene datasets, repeated: `make reproduction`.

`claims` (claims.csv: what the paper says), `variants` (everything that is measured), `measure` (out-of-fold
predictions, kept in out/reproduction), `facts` (claims about the data and the worked examples), `collect`
(docs/reproduction*.csv), `runs` (rankings made from these files), `verdicts` (which claims hold), `page` and `sections`
(docs/reproduction.md), `points` (the table of open points in docs/open-points.md), `examples` and `drawing`
(docs/worked-examples.md).
"""
