"""Readers for ontologies, annotations, label tables and ageing-gene tables, which return plain values.

`formats` detects the format of an ontology; `files` unpacks and decodes for all readers.
"""
