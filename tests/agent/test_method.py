"""The table of methods (SPEC.md, methods that must exist)."""

from dataclasses import replace

import pytest

from merit.agent import METHODS, find_method
from merit.errors import InputError
from merit.memory import Databases, RecallPolicy, TypeFilter
from merit.types import Polarity


def test_every_method_of_the_specification_is_there() -> None:
    assert list(METHODS) == [
        "zero_shot", "grounded", "iterative", "vanilla", "reflexion", "dynamic_rag", "merit", "merit_type_reliability",
        "positive_only", "no_type_filter", "no_dense", "no_bm25", "random_same_type", "cross_database_only",
        "transductive_batch", "resample", "resample_grounded", "precedent", "precedent_grounded",
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
    ours, theirs = METHODS[name].record(), METHODS["merit"].record()
    others = {field for field in ours if ours[field] != theirs[field]} - {"name", "summary", "recall"}
    kept = {"dynamic_rag": {"writes"}, "positive_only": {"writes"}, "transductive_batch": {"online"}}
    assert others == kept.get(name, set())


def test_only_the_control_is_not_online() -> None:
    assert [method.name for method in METHODS.values() if not method.online] == ["transductive_batch"]


def test_methods_without_memory_neither_read_nor_write_it() -> None:
    for name in ("zero_shot", "grounded", "iterative", "vanilla", "reflexion"):
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


# Methods with other fields.


def test_fields_are_changed_by_name() -> None:
    name = "precedent:temperature=0.5,precedents=2,history=true"
    found, base = find_method(name), METHODS["precedent"]
    assert base.recall is not None
    assert found == replace(base, name=name, temperature=0.5, history=True, recall=replace(base.recall, precedents=2))
    assert find_method("merit:type_filter=none,databases=other").recall == RecallPolicy(
        type_filter=TypeFilter.NONE, databases=Databases.OTHER
    )
    assert METHODS["precedent"] == base  # the table is as it was


@pytest.mark.parametrize("name", METHODS)
def test_a_name_alone_is_the_method_of_the_table(name: str) -> None:
    assert find_method(name) == METHODS[name]


def test_a_seed_decides_draws_and_nothing_else() -> None:
    method = find_method("resample:draws=2").seeded(4)
    assert method == replace(METHODS["resample"], name="resample:draws=2", draws=2, seed=4)
    assert METHODS["merit"].seeded(4) == METHODS["merit"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("precedant:temperature=0.5,precedents=2", "there is no method 'precedant'; did you mean 'precedent'?"),
        ("precedent:", "'' is not a field of it that can be changed; `merit methods --json` lists its fields"),
        ("precedent:draws=2,", "'' is not a field of it"),
        (
            "precedent:temprature=1",
            "'temprature' is not a field of it that can be changed; did you mean 'temperature'?",
        ),
        ("merit:budget=3", "it belongs to the run: give --budget, or say it in the grid file or in Python"),
        ("merit:seed=3", "it belongs to the run: give --seed, or say it in the grid file or in Python"),
        ("precedent: draws=2", "' draws' is not a field of it"),
        ("resample:precedents=2", "'precedents' is not a field of it"),  # it recalls nothing
        ("precedent:temperature", "'temperature' cannot be ''"),
        ("precedent:temperature=warm", "'temperature' cannot be 'warm'; give a number, 0 or more"),
        ("precedent:temperature=-1", "'temperature' cannot be '-1'"),
        ("precedent:temperature=nan", "'temperature' cannot be 'nan'"),
        ("precedent:temperature=inf", "'temperature' cannot be 'inf'"),
        ("precedent:precedents=2.5", "'precedents' cannot be '2.5'; give a whole number, 0 or more"),
        ("precedent:precedents=-2", "'precedents' cannot be '-2'"),
        ("precedent:history=yes", "'history' cannot be 'yes'; give true or false"),
        ("precedent:databases=mine", "'databases' cannot be 'mine'; give any or same or other"),
        ("resample:draws=0", "'draws' should be 1 or more"),
        ("precedent:agreed=1.5", "'agreed' is a share of the candidates: 1 at most"),
        ("resample:temperature=1e308", "'temperature' should be a number from 0 to 1000"),
        ("merit:dense_weight=1e308", "'dense_weight' should be a number from 0 to 1; the lexical channel has the rest"),
        ("merit:dense_weight=1.01", "'dense_weight' should be a number from 0 to 1"),
        ("merit_type_reliability:type_bonus=1e308", "'type_bonus' should be a number from 0 to 1000"),
        ("precedent:database_bonus=1001", "'database_bonus' should be a number from 0 to 1000"),
        ("resample:temperature=0", "'draws' above 1 need a 'temperature'"),
        ("iterative:draws=2", "'draws' above 1 need a 'temperature'"),
        ("reflexion:history=false", "shows neither reflections nor examples"),
        ("vanilla:history=false", "shows neither reflections nor examples"),
        ("merit:history=false", "shows no changes; set positives=0,negatives=0"),
        ("merit:precedents=4", "it keeps no precedent entries, so none could be recalled"),
        ("precedent:history=true,positives=3", "it keeps no positive entries, so none could be recalled"),
        ("merit:dense=false,lexical=false", "nothing is left to rank by"),
        *((f"merit:{name}=x", f"{name!r} is not a field of it") for name in ("name", "summary", "recall", "writes")),
        *((f"merit:{name}=1", f"{name!r} is not a field of it") for name in ("seed", "online", "random_seed")),
    ],
)
def test_fields_that_cannot_be_are_refused_in_one_sentence(name: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        find_method(name)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert said.startswith("there is no") or str(caught.value).startswith(f"method {name!r}: ")


def test_our_own_methods_are_resampling_with_and_without_precedents() -> None:
    resample, precedent = METHODS["resample"], METHODS["precedent"]
    assert (resample.history, resample.temperature, resample.draws, resample.greedy_first) == (False, 0.8, 3, False)
    assert (resample.recall, resample.writes) == (None, frozenset())
    with_precedents = replace(resample, recall=precedent.recall, writes=frozenset({Polarity.PRECEDENT}))
    assert replace(with_precedents, name=precedent.name, summary=precedent.summary) == precedent
    assert precedent.recall is not None
    assert precedent.recall.pools == {Polarity.PRECEDENT: 4}


def test_several_methods_are_not_one() -> None:
    with pytest.raises(InputError, match="names several methods, and one is expected; `merit grid` runs many"):
        find_method("merit,iterative")
