"""The estimate of tokens, beside what Qwen2.5-Coder's tokenizer counted."""

import pytest

from merit.selection import estimated_tokens

COUNTED = {
    "CREATE TABLE dw.FCLT_BUILDING_ADDRESS (\n FCLT_BUILDING_KEY VARCHAR2,\n ADDRESS_PURPOSE VARCHAR2,\n BUILDING_STREET_ADDRESS VARCHAR2,\n POSTAL_CODE NUMBER,\n WAREHOUSE_LOAD_DATE DATE\n);\n": 46,
    "CREATE TABLE csail_stata_neutron.floatingips (\n project_id varchar(255),\n id varchar(36) PRIMARY KEY,\n floating_ip_address varchar(64),\n fixed_port_id varchar(36),\n last_known_router_id varchar(36),\n status varchar(16),\n FOREIGN KEY (fixed_port_id) REFERENCES csail_stata_neutron.ports (id)\n);\n": 80,
    "CREATE TABLE Ref_Attraction_Types (\n Attraction_Type_Code text PRIMARY KEY,\n Attraction_Type_Description text\n);\n\nCREATE TABLE Tourist_Attractions (\n Tourist_Attraction_ID number PRIMARY KEY,\n How_to_Get_There text,\n Location_ID number,\n Opening_Hours text\n);\n": 57,
    "CREATE TABLE frpm (\n CDSCode TEXT PRIMARY KEY,\n `Academic Year` TEXT,\n `Percent (%) Eligible Free (K-12)` REAL,\n `2013-14 CALPADS Fall 1 Certification Status` INTEGER\n);\n": 53,
}


def test_tables_are_together_not_undercounted_and_not_much_overcounted() -> None:
    assert sum(COUNTED.values()) <= sum(map(estimated_tokens, COUNTED)) <= 1.2 * sum(COUNTED.values())


@pytest.mark.parametrize(("text", "tokens"), COUNTED.items())
def test_a_single_table_may_be_a_little_off(text: str, tokens: int) -> None:
    assert 0.95 * tokens <= estimated_tokens(text) <= 1.2 * tokens
