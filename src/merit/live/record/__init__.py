"""What is written down about questions and answers, and how it is read, kept, packed and erased."""
