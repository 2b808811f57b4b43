"""Files to plain values: ontologies, annotations, label tables and the ageing-gene tables."""
