"""The results of a study as files for people: tables, figures, explanations."""

from hietan.evaluation.outputs.compact import (
    Reasons,
    compact,
    decimal,
    decimals,
    ontology_parents,
    significant,
)
from hietan.evaluation.outputs.details import read_details
from hietan.evaluation.outputs.explanations import write_details, write_explanations
from hietan.evaluation.outputs.figures import write_figures
from hietan.evaluation.outputs.tables import TextTable, write_tables

__all__ = [
    "Reasons",
    "TextTable",
    "compact",
    "decimal",
    "decimals",
    "ontology_parents",
    "read_details",
    "significant",
    "write_details",
    "write_explanations",
    "write_figures",
    "write_tables",
]
