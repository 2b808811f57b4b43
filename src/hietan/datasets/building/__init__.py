"""Ontology, annotations and labels to a dataset, with an account of what was lost on the way."""
