"""`python -m merit`."""

from merit.cli import main

main()
