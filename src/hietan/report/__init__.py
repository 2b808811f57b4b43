"""Reports: self-contained HTML files that show a study's results or a ranking."""

from hietan.report._candidates_page import write_candidates
from hietan.report._html import parse_term_urls
from hietan.report._inline import InlineReport, show_report
from hietan.report._study_page import write_report

__all__ = ["InlineReport", "parse_term_urls", "show_report", "write_candidates", "write_report"]
