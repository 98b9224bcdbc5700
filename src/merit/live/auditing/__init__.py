"""History and memory gone through again, by code of its own.

`audit` checks each against the other, with restatements of the log (`log_states`), of the vote (`votes`) and of what
must not be shown to a question (`bounds`).
"""
