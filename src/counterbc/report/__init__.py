"""One page about a dataset: what was found in it, in words and pictures."""

from counterbc.report.findings import Findings, Options, find
from counterbc.report.page import page

__all__ = ["Findings", "Options", "find", "page"]
