"""Time limits in tests, where the machine itself may stand still."""

# Added to every limit that a test holds something to: a busy machine stops a process for a second or two.
# What ignores its limit runs far longer than that.
STALL_S = 5.0
