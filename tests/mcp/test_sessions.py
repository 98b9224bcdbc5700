"""How many sessions each person has."""

from merit.mcp.sessions import IDLE_S, OpenSessions


def test_a_session_that_is_closed_or_forgotten_makes_room() -> None:
    now = [0.0]
    sessions = OpenSessions(2, lambda: now[0])
    sessions.used("ada", "one")
    sessions.used("ada", "two")
    assert (sessions.full("ada"), sessions.full("bob")) == (True, False)
    sessions.ended("ada", "two")
    assert not sessions.full("ada")
    sessions.used("ada", "three")
    now[0] = IDLE_S - 1
    sessions.used("ada", "three")
    assert sessions.full("ada")
    now[0] = IDLE_S + 1
    assert not sessions.full("ada"), "the first one was not used for so long"
