"""From results to one HTML file that needs nothing else: first a plain dict, then the page made from it."""

from hietan.report._candidates import candidates_summary
from hietan.report._details import write_details
from hietan.report._render import render
from hietan.report._study import study_summary, write_report

__all__ = ["candidates_summary", "render", "study_summary", "write_details", "write_report"]
