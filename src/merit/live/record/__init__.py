"""What is written down about questions and answers, and how it is read, kept, packed and erased.

`history` is one file of `events`, durable before an answer is acknowledged; `event_making` makes the events of a
question. `lines` finds an answer or a question without reading every line (`text_numbers`: 16 bytes for a text and a
number). `receipt` is what a receipt holds, `receipt_making` makes it, `why` reads it. `uses` follows an entry through
later answers, `browsing` searches, `visibility` says who may see what, also by the `rejections` before an answer.
`purging` erases from every file, `retention` says what is too old, `backup` packs a folder and unpacks it.
"""
