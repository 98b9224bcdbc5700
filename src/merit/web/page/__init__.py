"""The page of `merit serve`: one document, and the policy that nothing but its own parts may run in it."""

from merit.web.page.shell import policy, shell

__all__ = ["policy", "shell"]
