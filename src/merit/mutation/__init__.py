"""Wrong answers made on purpose: mutants of references, and how many of them a test suite detects."""

from merit.mutation.check import Finding, check, check_database
from merit.mutation.choose import choose
from merit.mutation.mutate import mutants

__all__ = ["Finding", "check", "check_database", "choose", "mutants"]
