"""Reads finished runs: tables, statistics, figures and pages. It never changes a run."""
