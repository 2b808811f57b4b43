"""Readers: files become plain values, namely ontologies, annotations, tables of labels and the ageing-gene tables.

`formats` finds the format of an ontology; `files` unpacks and decodes for all readers.
"""
