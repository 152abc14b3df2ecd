"""One HTML page about a dataset, in words and figures."""

from counterbc.report.findings import Findings, ReportOptions, find
from counterbc.report.html_page import page

__all__ = ["Findings", "ReportOptions", "find", "page"]
