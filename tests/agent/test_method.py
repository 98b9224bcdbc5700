"""The table of methods (SPEC.md, methods that must exist)."""

import pytest

from merit.agent import METHODS, find_method
from merit.errors import InputError
from merit.memory import RecallPolicy


def test_every_method_of_the_specification_is_there() -> None:
    assert list(METHODS) == [
        "zero_shot", "iterative", "vanilla", "reflexion", "dynamic_rag", "merit", "merit_type_reliability",
        "positive_only", "no_type_filter", "no_dense", "no_bm25", "random_same_type", "cross_database_only",
        "transductive_batch", "resample", "precedent",
    ]  # fmt: skip


def test_merit_is_the_papers_policy() -> None:
    assert METHODS["merit"].recall == RecallPolicy()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("dynamic_rag", {"one_pool": True, "type_filter": "none"}),
        ("merit_type_reliability", {"type_filter": "reliability"}),
        ("positive_only", {"negatives": 0}),
        ("no_type_filter", {"type_filter": "none"}),
        ("no_dense", {"dense": False}),
        ("no_bm25", {"lexical": False}),
        ("random_same_type", {"random_seed": 0}),
        ("cross_database_only", {"databases": "other"}),
        ("transductive_batch", {}),
    ],
)
def test_an_ablation_changes_what_it_says_and_nothing_else(name: str, changes: dict[str, object]) -> None:
    mine, full = METHODS[name].record()["recall"], METHODS["merit"].record()["recall"]
    assert {field: mine[field] for field in mine if mine[field] != full[field]} == changes


def test_only_the_control_is_not_online() -> None:
    assert [method.name for method in METHODS.values() if not method.online] == ["transductive_batch"]


def test_methods_without_memory_neither_read_nor_write_it() -> None:
    for name in ("zero_shot", "iterative", "vanilla", "reflexion"):
        assert METHODS[name].recall is None
        assert not METHODS[name].writes


@pytest.mark.parametrize(
    ("typo", "meant"), [("merrit", "merit"), ("reflection", "reflexion"), ("dynamicrag", "dynamic_rag")]
)
def test_a_typo_is_answered_with_the_nearest_name(typo: str, meant: str) -> None:
    with pytest.raises(InputError, match=f"there is no method '{typo}'; did you mean '{meant}'?"):
        find_method(typo)


def test_a_name_like_nothing_points_at_the_list() -> None:
    with pytest.raises(InputError, match="`merit methods` lists them"):
        find_method("xyzzy")
