"""The page: everything about some runs in one file that needs nothing else, or served while they go on."""

from merit.report.page.live import LiveRuns
from merit.report.page.serve import PageServer
from merit.report.page.write import write_page

__all__ = ["LiveRuns", "PageServer", "write_page"]
