"""Files of other tools as those write them: recognised by their content, and read pair by pair with their places."""

import json
from pathlib import Path

import pytest

from making.pairs import (
    ASKED,
    BIRD,
    CORTEX_MODEL,
    COUNT,
    PAID,
    PAIRS,
    SPIDER,
    VANNA_CSV,
    VANNA_RECORDS,
    WREN_MARKDOWN,
    WREN_QUERIES,
    as_lines,
    manifest,
    write_all,
)
from merit.errors import InputError
from merit.formats import FoundPairs, Pair, read_pairs


def read(folder: Path, name: str, text: str) -> tuple[str, FoundPairs]:
    return read_pairs(write_all(folder, {name: text}) / name)


def both(found: FoundPairs) -> list[tuple[str, str]]:
    return [(pair.question, pair.sql) for pair in found.pairs]


def test_csv_with_any_usual_names_and_separators(tmp_path: Path) -> None:
    for header in ("question,sql", "SQL Query;NL", "Natural-Language Question\tquery", "id,nl,sql\n"):
        separator = next(mark for mark in ";\t," if mark in header)
        names = header.strip().split(separator)
        cells = {"id": "7", "SQL Query": f'"{PAID}"', "sql": f'"{PAID}"', "query": f'"{PAID}"'}
        row = separator.join(cells.get(name, ASKED[1]) for name in names)
        kind, found = read(tmp_path, "pairs.csv", f"{header.strip()}\n{row}\n")
        assert (kind, both(found)) == ("csv", [PAIRS[1]]), header


def test_a_pair_knows_its_line_and_what_is_none_says_why(tmp_path: Path) -> None:
    text = f'question,sql,author\r\n{ASKED[1]},"{PAID}",ada\r\n,SELECT 1,\r\n\r\nWhat?,\r\n{ASKED[0]},{COUNT}\r\n'
    _, found = read(tmp_path, "pairs.csv", text)
    place = f"{tmp_path / 'pairs.csv'}, line"
    assert found.pairs == (Pair(ASKED[1], PAID, f"{place} 2", "ada"), Pair(ASKED[0], COUNT, f"{place} 8"))
    assert [(one.where, one.reason) for one in found.skipped] == [
        (f"{place} 5", "has no question"),
        (f"{place} 7", "has no SQL"),
    ]


@pytest.mark.parametrize("records", [SPIDER, BIRD], ids=["Spider", "BIRD"])
def test_json_of_benchmarks_and_json_lines(records: list[dict[str, object]], tmp_path: Path) -> None:
    for name, text in (("dev.json", json.dumps(records, indent=1)), ("dev.jsonl", as_lines(records))):
        kind, found = read(tmp_path, name, text)
        own = [pair for pair in found.pairs if pair.database == "shop"]
        assert (kind, [(pair.question, pair.sql) for pair in own]) == ("jsonl", PAIRS)
    assert {pair.database for pair in found.pairs} == {str(record["db_id"]) for record in records}


def test_vannas_training_data_however_it_was_saved(tmp_path: Path) -> None:
    records = json.dumps(VANNA_RECORDS)
    answer = json.dumps({"type": "df", "id": "training_data", "df": records})  # of Vanna's web API
    saved = {"a.csv": VANNA_CSV, "a.json": records, "a.jsonl": as_lines(VANNA_RECORDS), "b.json": answer}
    for name, text in saved.items():
        kind, found = read(tmp_path, name, text)
        assert (kind, both(found)) == ("vanna", PAIRS), name
        assert all("merit reads the database's own schema" in one.reason for one in found.skipped[:1])
    _, found = read(tmp_path, "a.csv", VANNA_CSV)
    assert [one.where for one in found.skipped] == [f"{tmp_path / 'a.csv'}, line {line}" for line in (6, 7)]
    assert "[rules] or [glossary]" in found.skipped[1].reason


def test_wrens_knowledge_from_a_project_its_folders_or_one_file(tmp_path: Path) -> None:
    first = f"---\nnl: {ASKED[0]}\nsql: {COUNT}\nsource: user\n---\n"
    project = write_all(
        tmp_path / "project",
        {
            "wren_project.yml": "name: shop\n",
            "knowledge/sql/a.md": first,
            "knowledge/sql/b.md": WREN_MARKDOWN.replace("\n", "\r\n"),
            "knowledge/sql/notes.md": "# Notes\n",
            "knowledge/rules/general.md": "Be kind.\n",
        },
    )
    for place in (project, project / "knowledge", project / "knowledge" / "sql"):
        kind, found = read_pairs(place)
        assert (kind, both(found)) == ("wren", PAIRS)
        assert [Path(one.where).name for one in found.skipped] == ["notes.md"]
    assert both(read_pairs(project / "knowledge/sql/b.md")[1]) == PAIRS[1:]


def test_wrens_older_queries_in_one_file(tmp_path: Path) -> None:
    kind, found = read(tmp_path, "queries.yml", WREN_QUERIES)
    assert (kind, both(found)) == ("wren", PAIRS)
    assert found.pairs[1].where == f"{tmp_path / 'queries.yml'}, pairs[1]"
    assert both(read_pairs(tmp_path)[1]) == PAIRS  # its project


def test_cortex_with_its_logical_tables_spelled_out(tmp_path: Path) -> None:
    kind, found = read(tmp_path, "shop.yaml", CORTEX_MODEL)
    assert kind == "cortex"
    assert both(found) == [
        (ASKED[0], "WITH __sales AS (SELECT * FROM orders) SELECT count(*) FROM __sales"),
        (
            ASKED[1],
            "WITH __sales AS (SELECT state AS status FROM orders), paid AS (SELECT status FROM __sales) "
            "SELECT count(*) FROM paid WHERE status = 'paid'",
        ),
    ]
    assert (found.pairs[0].author, found.pairs[0].time) == ("Ada", "2024-05-03T16:08:18+00:00")


def test_a_logical_name_that_is_the_tables_own_stays(tmp_path: Path) -> None:
    text = CORTEX_MODEL.replace("name: sales", "name: ORDERS").replace("__sales", "orders")
    assert read(tmp_path, "shop.yaml", text)[1].pairs[0].sql == COUNT


def test_dbts_analyses_compiled_in_a_manifest(tmp_path: Path) -> None:
    project = write_all(tmp_path, {"dbt_project.yml": "name: shop\n", "target/manifest.json": json.dumps(manifest())})
    for place in (project, project / "target", project / "target" / "manifest.json"):
        kind, found = read_pairs(place)
        assert (kind, both(found)) == ("dbt", PAIRS)
    (saved,) = found.skipped
    assert saved.where.endswith("saved_query.shop.monthly")
    assert "`dbt sl query --saved-query monthly --compile` prints it" in saved.reason


def test_an_analysis_that_was_not_compiled_or_not_described_is_left_out(tmp_path: Path) -> None:
    project = manifest(saved_queries={})
    for node in project["nodes"].values():
        del node["compiled_code"]
    project["nodes"]["analysis.shop.paid_orders"]["description"] = ""
    _, found = read(tmp_path, "manifest.json", json.dumps(project))
    assert found.pairs == ()
    reasons = [one.reason for one in found.skipped]
    assert reasons[0].startswith("a template that was not compiled; run `dbt compile`")
    assert reasons[1:] == ["has no description, which would be its question"]


def test_dbts_analyses_as_files(tmp_path: Path) -> None:
    described = (
        "analyses:\n- name: deep\n  description: " + ASKED[1] + "\n- {name: top, description: " + ASKED[0] + "}\n"
    )
    folder = write_all(
        tmp_path,
        {
            "analyses/top.sql": f"{COUNT}\n",
            "analyses/finance/deep.sql": PAID,
            "analyses/finance/some.yml": described,
            "analyses/unnamed.sql": "SELECT 1",
            "analyses/other.yml": "version: 2\n",
        },
    )
    kind, found = read_pairs(folder)
    assert (kind, sorted(both(found))) == ("dbt", sorted(PAIRS))
    assert [Path(one.where).name for one in found.skipped] == ["unnamed.sql"]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.csv", "name,sql\nx,y\n", "no column or field has the question; call one 'question' (it has name, sql)"),
        ("a.jsonl", '{"question": "x"}\n', "no column or field has the SQL; call one 'sql' (it has question)"),
        ("a.csv", "", "no column or field has the question; call one 'question' (it has none)"),
        ("a.csv", 'question,sql\n"x,y\n', "line 2: not valid CSV (unexpected end of data)"),
        ("a.csv", "question,sql\nx,y,z\n", "line 2: has 3 cells, but there are 2 columns; is a quote missing?"),
        ("a.csv", "question,sql,SQL\nx,y,z\n", "line 1: the column 'sql' is there twice; rename one"),
        ("a.jsonl", '{"question": "x", "sql": "y", "SQL": "z"}', "line 1: the column 'sql' is there twice; rename one"),
        ("a.json", '[{"question": "x", "Question": "y"}]', "entry 1: the column 'question' is there twice"),
        ("a.jsonl", '{"question": "x", "sql": "y"}\n{"que\n', "line 2: not valid JSON"),
        ("a.json", "[1]", "entry 1: should be an object with fields, not 1"),
        ("a.yml", "analyses: []\n", "only describes analyses; give the folder, which has their .sql files too"),
        ("a.yml", "tables: []\n", "has no pairs of questions and SQL that merit knows; say which it is with --format"),
        ("a.jsonl", '{"format":4,"kind":"precedent"}', "is a memory's own export; `merit memory import FOLDER"),
        ("a.json", '[{"training_data_type": "sql"}, {"question": "x"}]', "entry 2: has no 'training_data_type'"),
        ("a.yml", "verified_queries: 7\n", "verified_queries should be a list, not '7'"),
        ("a.yml", "verified_queries: [7]\n", "verified_queries[0]: should be an object with fields, not '7'"),
        ("a.json", '{"dbt_schema_version": 1, "nodes": []}', "has no 'nodes'; give the manifest.json"),
        ("a.md", "---\n- x\n---\n", "its front matter should have the fields nl and sql, not ['x']"),
        ("a.md", "---\nnl: x\nsql: 'y\n---\n", "line 4: not valid YAML"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_in_one_sentence(
    name: str, text: str, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as refused:
        read(tmp_path, name, text)
    assert sentence in str(refused.value)
    assert str(refused.value).startswith(str(tmp_path / name))


def test_a_folder_that_could_be_anybodys(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is neither WrenAI's .* nor dbt's"):
        read_pairs(tmp_path)
    write_all(tmp_path, {"knowledge/sql/a.md": WREN_MARKDOWN, "analyses/a.sql": COUNT})
    with pytest.raises(InputError, match="could be WrenAI's or dbt's; say which it is with --format"):
        read_pairs(tmp_path)
    assert both(read_pairs(tmp_path, "wren")[1]) == PAIRS[1:]
    with pytest.raises(InputError, match="is a folder, and csv is a file's format; give the file"):
        read_pairs(tmp_path, "csv")
