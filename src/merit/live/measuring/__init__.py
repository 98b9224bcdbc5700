"""Confirmed questions asked again: as a proof of the memory, and as a test suite."""
