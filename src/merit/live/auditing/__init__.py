"""History and memory gone through again, by code of its own."""
