"""Names and questions as words."""

import pytest

from merit.selection.words import NameSplitter, StoredWords, initials, question_words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("BUILDING_STREET_ADDRESS", ["building", "street", "address"]),
        ("studentDepartmentNames", ["student", "department", "name"]),
        ("STUDENTDEPARTMENTNAME", ["student", "department", "name"]),
        ("networkdhcpagentbindings", ["network", "dhcp", "agent", "binding"]),
        ("HTTPServer2", ["http", "server", "2"]),
        ("Straßen_Größe", ["strassen", "grosse"]),
    ],
)
def test_names_are_split_into_words(name: str, words: list[str]) -> None:
    assert NameSplitter([name, "dhcp_port", "port_bindings"]).words(name) == words


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("List the owners of each mailing list.", ["owner", "mailing", "list"]),
        ("Show room numbers, and count the floors", ["room", "number", "floor"]),
        ("", []),
    ],
)
def test_words_that_only_ask_are_left_out(question: str, words: list[str]) -> None:
    assert question_words(question) == words


def test_initials_of_neighbouring_words() -> None:
    assert initials("courses of the Center for International Studies", ["cis", "xyz"]) == ["cis"]


@pytest.mark.parametrize(
    ("asked", "stored", "sure"),
    [
        ("department", "department", 1.0),
        ("department", "dept", 0.7),
        ("building", "bldg", 0.7),
        ("enrolled", "enrollment", 0.8),
        ("agent", "dhcpagentbinding", 0.6),
        ("city", "cost", 0.0),
    ],
)
def test_likeness_of_words(asked: str, stored: str, sure: float) -> None:
    assert StoredWords([stored]).like(asked) == ([(0, sure)] if sure else [])
