"""From results to one self-contained HTML file: first a plain dict, then the page made from it."""

from hietan.evaluation.outputs import write_details
from hietan.report.candidates_page import candidates_summary, write_candidates
from hietan.report.html import render
from hietan.report.study_page import study_summary, write_report

__all__ = [
    "candidates_summary",
    "render",
    "study_summary",
    "write_candidates",
    "write_details",
    "write_report",
]
