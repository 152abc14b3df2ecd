"""One page about a dataset: what was found in it, in words and pictures."""

from counterbc.report.findings import Findings, ReportOptions, find
from counterbc.report.html_page import page

__all__ = ["Findings", "ReportOptions", "find", "page"]
