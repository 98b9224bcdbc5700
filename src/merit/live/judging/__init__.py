"""What people say about answers and entries, and what becomes of it."""
