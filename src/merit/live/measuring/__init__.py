"""Confirmed questions asked again: as a proof of the memory, and as a test suite.

`asked_again` asks them, `proof` with memory and without, with an interval and a verdict; `regression` is the test
suite.
"""
