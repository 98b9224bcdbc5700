"""The page of `merit serve`: one document, its libraries, and the policy that nothing else may run in it."""

from merit.web.page.libraries import check_libraries, library
from merit.web.page.shell import policy, shell

__all__ = ["check_libraries", "library", "policy", "shell"]
