"""Time limits in tests, where the machine itself may stand still."""

# Added to every limit that a test holds something to: a busy machine stops a process for some seconds.
# What ignores its limit runs far longer than that.
STALL_S = 30.0

# For what must come, such as a server that starts: one that never does fails the test, a slow one does not.
COMES_S = 120
