"""Wrong answers made on purpose: mutants of references, and how many of them a test suite detects.

`changes` makes mistakes, `repeats` those with repeated rows, `wording` those that leave out what a question says in
words. `trial` compares results by the oracle's rule, `choose` picks the seeds in `suite.json`, and `check` proves them,
both in processes (`workers`) that end with their parent.
"""

from merit.mutation.check import Finding, check, check_database
from merit.mutation.choose import choose
from merit.mutation.mutate import mutants

__all__ = ["Finding", "check", "check_database", "choose", "mutants"]
