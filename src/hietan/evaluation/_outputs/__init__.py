"""The results of a study as files for people: tables, figures, explanations."""

from hietan.evaluation._outputs.explanations import refuse_unknown_rows, write_details, write_explanations
from hietan.evaluation._outputs.figures import write_figures
from hietan.evaluation._outputs.report_data import (
    Reasons,
    compact,
    decimal,
    decimals,
    ontology_parents,
    read_details,
    significant,
)
from hietan.evaluation._outputs.tables import (
    comparison_table,
    effects_table,
    overall_tests,
    score_table,
    write_tables,
)
from hietan.evaluation._outputs.text_table import TextTable

__all__ = [
    "Reasons",
    "TextTable",
    "compact",
    "comparison_table",
    "decimal",
    "decimals",
    "effects_table",
    "ontology_parents",
    "overall_tests",
    "read_details",
    "refuse_unknown_rows",
    "score_table",
    "significant",
    "write_details",
    "write_explanations",
    "write_figures",
    "write_tables",
]
