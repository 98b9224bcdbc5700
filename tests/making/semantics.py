"""A small shop, and what people wrote down about it in every format that merit reads."""

import json
from pathlib import Path

from merit.types import Column, Schema, Table

SHOP = Schema(
    "shop",
    (
        Table(
            "customers",
            (Column("id", "bigint", True), Column("full_name", "text"), Column("region", "text")),
            comment="People who buy",
        ),
        Table(
            "sales.orders",
            (
                Column("id", "bigint", True),
                Column("customer_id", "bigint", comment="Who bought"),
                Column("total", "numeric"),
                Column("placed_at", "timestamp"),
            ),
        ),
        Table("sales.lines", (Column("order_id", "bigint"), Column("line", "int"), Column("sku", "text"))),
    ),
)

OSSIE = """
version: "0.2.0.dev0"
semantic_model:
  - name: shop
    ai_context: Amounts are in euros.
    datasets:
      - name: orders
        source: wh.sales.orders
        primary_key: [id]
        description: One row for each order
        ai_context: {synonyms: [purchases], instructions: Ignore test orders.}
        fields:
          - name: amount
            expression: {dialects: [{dialect: ANSI_SQL, expression: total}]}
            description: What was paid
          - name: year
            expression: {dialects: [{dialect: ANSI_SQL, expression: "EXTRACT(YEAR FROM placed_at)"}]}
          - name: buyer
            expression: {dialects: [{dialect: SNOWFLAKE, expression: customer_id}]}
      - name: customers
        source: wh.public.customers
    relationships:
      - {name: bought_by, from: orders, to: customers, from_columns: [buyer], to_columns: [id]}
    metrics:
      - name: revenue
        expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(orders.total)}]}
        description: All that was paid
"""

CORTEX = """
name: shop
tables:
  - name: orders
    description: Orders of the shop
    synonyms: [sales]
    base_table: {database: WH, schema: SALES, table: ORDERS}
    dimensions:
      - {name: buyer, expr: CUSTOMER_ID, data_type: NUMBER, synonyms: [client, customer]}
    time_dimensions:
      - {name: placed_at, expr: placed_at, data_type: TIMESTAMP, description: When it was placed}
    facts:
      - {name: net, expr: total * 0.8, data_type: NUMBER, description: Without tax}
    metrics:
      - {name: revenue, expr: SUM(total), description: All that was paid, synonyms: [turnover]}
    filters:
      - {name: large, expr: total > 1000, description: Large orders}
  - name: clients
    base_table: {database: WH, schema: PUBLIC, table: CUSTOMERS}
    dimensions:
      - {name: client_id, expr: id, data_type: NUMBER}
relationships:
  - name: orders_to_clients
    left_table: orders
    right_table: clients
    relationship_columns: [{left_column: buyer, right_column: client_id}]
    relationship_type: many_to_one
module_custom_instructions:
  sql_generation: Round money to cents.
verified_queries:
  - {name: count, question: How many orders?, sql: SELECT 4711 FROM orders}
"""

MANIFEST = {
    "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
    "nodes": {
        "model.p.orders": {
            "resource_type": "model",
            "name": "orders",
            "alias": "orders",
            "database": "wh",
            "schema": "sales",
            "description": "Orders,\n\n* one row each",
            "config": {"materialized": "table"},
            "columns": {
                "total": {"name": "total", "description": "Gross amount"},
                "customer_id": {
                    "name": "customer_id",
                    "description": "",
                    "constraints": [{"type": "foreign_key", "to": '"wh"."public"."customers"', "to_columns": ["id"]}],
                },
            },
        },
        "model.p.lines": {
            "resource_type": "model",
            "name": "lines",
            "alias": "lines",
            "database": "wh",
            "schema": "sales",
            "description": "",
            "columns": {},
        },
        "model.p.helper": {
            "resource_type": "model",
            "name": "helper",
            "schema": "sales",
            "config": {"materialized": "ephemeral"},
            "columns": {},
        },
        "test.p.rel": {
            "resource_type": "test",
            "name": "relationships_lines",
            "attached_node": "model.p.lines",
            "column_name": "order_id",
            "test_metadata": {
                "name": "relationships",
                "kwargs": {"to": "ref('orders')", "field": "id", "model": "{{ get_where_subquery(ref('lines')) }}"},
            },
        },
    },
    "sources": {
        "source.p.raw.customers": {
            "resource_type": "source",
            "source_name": "raw",
            "name": "people",
            "identifier": "customers",
            "database": "wh",
            "schema": "public",
            "description": "Everyone who ever bought",
            "columns": {"email": {"name": "email", "description": "gone since 2020"}},
        }
    },
    "metrics": {
        "metric.p.revenue": {
            "name": "revenue",
            "label": "Revenue",
            "description": "All that was paid",
            "type": "simple",
            "type_params": {"measure": {"name": "revenue"}},
        },
        "metric.p.share": {
            "name": "share",
            "description": "",
            "type": "ratio",
            "type_params": {"numerator": {"name": "revenue"}, "denominator": {"name": "orders"}},
        },
    },
    "semantic_models": {
        "semantic_model.p.orders": {
            "name": "orders",
            "depends_on": {"nodes": ["model.p.orders"]},
            "entities": [{"name": "customer", "type": "foreign", "expr": "customer_id"}],
            "measures": [{"name": "revenue", "agg": "sum", "expr": "total"}],
        },
        "semantic_model.p.customers": {
            "name": "customers",
            "depends_on": {"nodes": ["source.p.raw.customers"]},
            "entities": [{"name": "customer", "type": "primary", "expr": "id"}],
        },
    },
}

CATALOG = {
    "metadata": {},
    "nodes": {
        "model.p.orders": {
            "metadata": {"type": "table", "database": "wh", "schema": "sales", "name": "orders", "comment": None},
            "columns": {
                "placed_at": {"name": "placed_at", "type": "timestamp", "index": 4, "comment": "UTC"},
                "customer_id": {"name": "customer_id", "type": "bigint", "index": 2, "comment": "The old comment"},
            },
        }
    },
    "sources": {},
}


def write_dbt(folder: Path) -> Path:
    """A dbt project's target folder."""
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps(MANIFEST))
    (folder / "catalog.json").write_text(json.dumps(CATALOG))
    return folder


def write(path: Path, text: str) -> Path:
    """A file with a text."""
    path.write_text(text)
    return path
