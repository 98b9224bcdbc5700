-- The tables that the corpora ask and attack, and functions that write. Run in an empty schema.
CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, city text, email text, joined date);
CREATE TABLE orders (id int PRIMARY KEY, customer_id int REFERENCES customers (id), placed timestamp, total numeric(10, 2), status text, details jsonb, tags text[]);
CREATE TABLE items (order_id int REFERENCES orders (id), product text, quantity int, price numeric(10, 2));
CREATE TABLE visits (at timestamp DEFAULT now());
INSERT INTO customers VALUES (1, 'Ada', 'Turin', 'ada@example.com', '2023-01-05'), (2, 'Ben', 'Oslo', NULL, '2023-03-17'), (3, 'Cleo', 'Turin', 'cleo@example.com', '2024-02-29'), (4, 'Dan', NULL, 'dan@example.com', NULL);
INSERT INTO orders VALUES (1, 1, '2024-01-03 10:00', 120.50, 'paid', '{"channel": "web", "lines": [1, 2]}', '{new,gift}'), (2, 1, '2024-02-11 12:30', 80, 'paid', '{"channel": "shop"}', '{}'), (3, 2, '2024-02-29 09:15', 15.25, 'open', '{"channel": "web", "note": {"by": "Ben"}}', '{late}'), (4, 3, '2024-05-06 18:45', 300, 'cancelled', NULL, NULL);
INSERT INTO items VALUES (1, 'lamp', 2, 40), (1, 'desk', 1, 40.50), (2, 'chair', 4, 20), (3, 'lamp', 1, 15.25), (4, 'sofa', 1, 300);
CREATE VIEW paid AS SELECT * FROM orders WHERE status = 'paid';
CREATE MATERIALIZED VIEW totals AS SELECT customer_id, sum(total) AS total FROM orders GROUP BY customer_id;
CREATE SEQUENCE order_ids START 5;
CREATE FUNCTION visit() RETURNS int LANGUAGE sql VOLATILE AS 'INSERT INTO visits DEFAULT VALUES; SELECT 1';
CREATE FUNCTION visited(customers) RETURNS int LANGUAGE sql VOLATILE AS 'INSERT INTO visits DEFAULT VALUES; SELECT 1';
CREATE FUNCTION with_tax(numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 1.2';
CREATE PROCEDURE wipe() LANGUAGE sql AS 'DELETE FROM items';
CREATE FUNCTION "With_Tax"(numeric) RETURNS numeric LANGUAGE sql VOLATILE AS 'INSERT INTO visits DEFAULT VALUES; SELECT $1';
CREATE FUNCTION tally_step(int, int) RETURNS int LANGUAGE sql VOLATILE AS 'INSERT INTO visits DEFAULT VALUES; SELECT $1 + 1';
CREATE AGGREGATE tally(int) (sfunc = tally_step, stype = int, initcond = '0');
