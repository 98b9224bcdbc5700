"""Prompts of methods from related work, and what is read of a note."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merit.prompts import BIRD, SPIDER, Prompt, led_by, note, parse_note, tried_block
from merit.types import Question, Status, Verdict

QUESTION = Question(8, "shop", "What share of items is cheap?", evidence="cheap refers to price < 5")
SCHEMA = "Database: shop"


def test_a_note_says_what_every_prompt_says_and_its_own_blocks() -> None:
    tried = tried_block(SPIDER, [("SELECT 1", Verdict(Status.EXECUTION_ERROR, "no such table: x"))])
    prompt = note(SPIDER, "mine", QUESTION, SCHEMA, "Explain.", {"FIRST": "one", "EMPTY": "", **tried}, "Be brief.")
    assert prompt.version == "spider-mine-v1"
    assert prompt.text == (
        "PROMPT_VERSION: spider-mine-v1\n\nExplain.\n\nDATABASE SCHEMA:\nDatabase: shop\n\n"
        "QUESTION:\nWhat share of items is cheap?\n\nFIRST:\none\n\nATTEMPTS AND OBSERVED OUTCOMES:\n[Attempt 1]\n"
        "SQL: SELECT 1\nOutcome: status=EXECUTION_ERROR; db_error=no such table: x\n\nBe brief."
    )


def test_a_note_has_the_evidence_of_bird_and_no_gap_without_blocks() -> None:
    text = note(BIRD, "mine", QUESTION, SCHEMA, "Explain.", {}, "Be brief.").text
    assert "cheap refers to price < 5" in text
    assert text.endswith("QUESTION:\nWhat share of items is cheap?\n\nBe brief.")


@given(st.text(), st.text())
def test_what_is_shown_is_put_in_as_it_is(shown: str, task: str) -> None:
    text = note(SPIDER, "mine", QUESTION, SCHEMA, f"T{task}", {"SHOWN": f"S{shown}"}, "E").text
    assert f"\n\nT{task}\n\n" in text
    assert f"SHOWN:\nS{shown}\n\n" in text


def test_a_prompt_is_led_by_a_block_where_there_is_one() -> None:
    plain = Prompt("spider-repair-v3", "PROMPT_VERSION: spider-repair-v3")
    assert led_by(plain, "mine", "HEADING", "") is plain
    led = led_by(plain, "mine", "HEADING", "one\ntwo")
    assert led == Prompt("mine-v1", "PROMPT_VERSION: mine-v1\n\nHEADING:\none\ntwo\n\nPROMPT_VERSION: spider-repair-v3")


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("  one  \n two \n\n", "one\n two"),
        ("<think>hm</think> yes", "yes"),
        ("", "(none)"),
        ("<think>only</think>", "(none)"),
        ("x" * 5000, "x" * 4000),
    ],
)
def test_a_note_is_read_in_its_lines_and_within_bounds(reply: str, read: str) -> None:
    assert parse_note(reply) == read
