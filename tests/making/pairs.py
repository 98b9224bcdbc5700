"""Files of other tools as those tools write them, each with the same two answers about a shop."""

import json
from pathlib import Path
from typing import Any

COUNT = "SELECT count(*) FROM orders"
PAID = "SELECT count(*)\nFROM orders\nWHERE state = 'paid'"
ASKED = ["How many orders are there?", "How many orders are paid?"]
PAIRS = [(ASKED[0], COUNT), (ASKED[1], PAID)]

# DataFrame.to_csv() of vn.get_training_data(): the index comes first, and begins anew with each kind.
VANNA_CSV = f"""\
,id,question,content,training_data_type
0,3c1b-sql,{ASKED[0]},{COUNT},sql
1,9aa0-sql,{ASKED[1]},"{PAID}",sql
0,77d2-ddl,,"CREATE TABLE orders (id INT, state TEXT)",ddl
0,5e0c-doc,,"Orders are paid, or open.",documentation
"""
VANNA_RECORDS: list[dict[str, Any]] = [
    {"id": "3c1b-sql", "question": ASKED[0], "content": COUNT, "training_data_type": "sql"},
    {"id": "77d2-ddl", "question": None, "content": "CREATE TABLE orders (id INT)", "training_data_type": "ddl"},
    {"id": "9aa0-sql", "question": ASKED[1], "content": PAID, "training_data_type": "sql"},
]
SPIDER: list[dict[str, Any]] = [
    {"db_id": "shop", "question": ASKED[0], "query": COUNT, "query_toks": ["SELECT"], "sql": {"select": [False, []]}},
    {"db_id": "shop", "question": ASKED[1], "query": PAID, "query_toks": ["SELECT"], "sql": {"select": [False, []]}},
    {"db_id": "concert", "question": "How many singers?", "query": "SELECT 1", "sql": {}},
]
BIRD: list[dict[str, Any]] = [
    {"question_id": 0, "db_id": "shop", "question": ASKED[0], "evidence": "", "SQL": COUNT, "difficulty": "simple"},
    {"question_id": 1, "db_id": "shop", "question": ASKED[1], "evidence": "", "SQL": PAID, "difficulty": "simple"},
]
WREN_MARKDOWN = f"""\
---
nl: {ASKED[1]}
sql: |-
  SELECT count(*)
  FROM orders
  WHERE state = 'paid'
source: user
datasource: postgres
tags:
- source:enrich
---

A note for people.
"""
WREN_QUERIES = f"""\
version: 1
exported_at: '2026-04-03T07:25:00+00:00'
pairs:
- nl: {ASKED[0]}
  sql: {COUNT}
  source: user
  created_at: '2026-04-02T07:25:00+00:00'
- nl: {ASKED[1]}
  sql: "SELECT count(*)\\nFROM orders\\nWHERE state = 'paid'"
  source: seed
"""
CORTEX_MODEL = f"""\
name: shop
tables:
- name: sales
  base_table: {{database: prod, schema: public, table: orders}}
  dimensions:
  - {{name: status, expr: state, data_type: TEXT}}
  facts:
  - {{name: doubled, expr: id * 2, data_type: NUMBER}}
verified_queries:
- name: all orders
  question: {ASKED[0]}
  sql: SELECT count(*) FROM __sales
  verified_at: 1714752498
  verified_by: Ada
  use_as_onboarding_question: true
- name: paid orders
  question: {ASKED[1]}
  sql: "WITH paid AS (SELECT status FROM __sales) SELECT count(*) FROM paid WHERE status = 'paid'"
"""


def manifest(**changed: Any) -> dict[str, Any]:
    """A dbt project's manifest after `dbt compile`, as far as it is read."""

    def analysis(name: str, question: str, code: str) -> dict[str, Any]:
        raw = "select count(*) from {{ ref('orders') }}"
        about = {"resource_type": "analysis", "name": name, "description": question}
        return {**about, "raw_code": raw, "compiled": True, "compiled_code": code}

    model = {"resource_type": "model", "name": "orders", "description": "All orders", "compiled_code": "select 1"}
    nodes = {
        "model.shop.orders": model,
        "analysis.shop.all_orders": analysis("all_orders", ASKED[0], COUNT),
        "analysis.shop.paid_orders": analysis("paid_orders", ASKED[1], f"\n\n{PAID}\n"),
    }
    saved = {"saved_query.shop.monthly": {"name": "monthly", "query_params": {"metrics": ["revenue"], "group_by": []}}}
    schema = "https://schemas.getdbt.com/dbt/manifest/v12.json"
    return {"metadata": {"dbt_schema_version": schema}, "nodes": nodes, "saved_queries": saved, **changed}


def write_all(folder: Path, files: dict[str, str]) -> Path:
    """Files in a folder, by their names."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def as_lines(records: list[dict[str, Any]]) -> str:
    """Records as JSON, one a line."""
    return "".join(f"{json.dumps(record)}\n" for record in records)
