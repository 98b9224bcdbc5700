"""Template files: every placeholder is replaced, values are put in as they are, empty optional parts leave no gap."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from merit.prompts.template import fill, names, read

ALL = [
    "demonstration",
    "demonstrations",
    "evidence",
    "evidence_formula",
    "evidence_heading",
    "history",
    "initial",
    "negative",
    "outcome",
    "positive",
    "precedent",
    "precedents",
    "reflection",
    "repair",
]


def placeholders(name: str) -> set[str]:
    return set(re.findall(r"\{([^{}\n]+)\}", read(name)))


def test_the_templates_there_are() -> None:
    assert list(names()) == ALL


@pytest.mark.parametrize("name", ALL)
def test_a_template_ends_with_its_last_word(name: str) -> None:
    assert read(name) == read(name).rstrip() != ""


@pytest.mark.parametrize("name", ALL)
def test_every_placeholder_is_replaced_by_its_value(name: str) -> None:
    said = fill(name, {placeholder: f"<{placeholder}>" for placeholder in placeholders(name)})
    assert said == read(name).replace("{", "<").replace("}", ">")


@pytest.mark.parametrize("name", ALL)
def test_a_value_that_nobody_gave_is_not_passed_over(name: str) -> None:
    for absent in placeholders(name):
        with pytest.raises(KeyError):
            fill(name, dict.fromkeys(placeholders(name) - {absent}, "x"))


def test_a_value_that_no_placeholder_asks_for_is_not_said() -> None:
    values = {"INDEX": "1", "OBSERVED": "executed", "SQL": "SELECT 1"}
    assert fill("history", {**values, "REASON": "x"}) == fill("history", values)


def test_an_empty_line_of_its_own_leaves_no_gap() -> None:
    values = {"INDEX": "1", "QUESTION": "How many?", "SQL": "SELECT 1"}
    with_evidence = "[Static example 1]\nQuestion: How many?\nEvidence: one\nSQL: SELECT 1"
    assert fill("demonstration", {**values, "EVIDENCE_IF_ANY": "Evidence: one"}) == with_evidence
    assert fill("demonstration", {**values, "EVIDENCE_IF_ANY": ""}) == with_evidence.replace("Evidence: one\n", "")


def test_an_empty_paragraph_of_its_own_leaves_no_gap() -> None:
    values = {**dict.fromkeys(placeholders("initial"), "x"), "PRECEDENTS_IF_ANY": ""}
    filled = fill("initial", {**values, "BIRD_CONTEXT_IF_APPLICABLE": "one\n\ntwo"})
    assert "DATABASE SCHEMA:\nx\n\none\n\ntwo\n\nQUESTION:\nx\n" in filled
    assert fill("initial", {**values, "BIRD_CONTEXT_IF_APPLICABLE": ""}) == filled.replace("one\n\ntwo\n\n", "")


def test_an_empty_value_within_or_at_the_end_is_only_empty() -> None:
    assert fill("history", {"INDEX": "", "OBSERVED": "", "SQL": ""}) == "[Attempt  - ]\n"


@given(st.text(), st.text())
@example("{SQL}", "{INDEX}")
@example("{{SQL}}", "{SQL}")
@example(r"\1", r"\g<0> \g<1> \\ \n")
@example("$1 %s {0} {}", "{INDEX")
@example("\n", "{EVIDENCE_IF_ANY}\n\n")
def test_a_value_is_put_in_as_it_is(index: str, sql: str) -> None:
    assert fill("history", {"INDEX": index, "OBSERVED": "seen", "SQL": sql}) == f"[Attempt {index} - seen]\n{sql}"
