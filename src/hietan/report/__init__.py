"""From results to one self-contained HTML file: first a plain dict, then the page made from it."""

from hietan.evaluation.outputs import write_details
from hietan.report.candidates_page import candidates_summary, write_candidates
from hietan.report.html import TERM_URLS, parse_term_urls, render
from hietan.report.inline import InlineReport, show_report
from hietan.report.study_page import study_summary, write_report

__all__ = [
    "TERM_URLS",
    "InlineReport",
    "candidates_summary",
    "parse_term_urls",
    "render",
    "show_report",
    "study_summary",
    "write_candidates",
    "write_details",
    "write_report",
]
