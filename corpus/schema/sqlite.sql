-- The tables that the corpora ask and attack. Run in an empty database.
CREATE TABLE customers (id integer PRIMARY KEY, name text NOT NULL, city text, email text, joined date);
CREATE TABLE orders (id integer PRIMARY KEY, customer_id int REFERENCES customers (id), placed timestamp, total numeric(10, 2), status text, details json, tags json);
CREATE TABLE items (order_id int REFERENCES orders (id), product text, quantity int, price numeric(10, 2));
INSERT INTO customers VALUES (1, 'Ada', 'Turin', 'ada@example.com', '2023-01-05'), (2, 'Ben', 'Oslo', NULL, '2023-03-17'), (3, 'Cleo', 'Turin', 'cleo@example.com', '2024-02-29'), (4, 'Dan', NULL, 'dan@example.com', NULL);
INSERT INTO orders VALUES (1, 1, '2024-01-03 10:00', 120.50, 'paid', '{"channel": "web", "lines": [1, 2]}', '["new", "gift"]'), (2, 1, '2024-02-11 12:30', 80, 'paid', '{"channel": "shop"}', '[]'), (3, 2, '2024-02-29 09:15', 15.25, 'open', '{"channel": "web", "note": {"by": "Ben"}}', '["late"]'), (4, 3, '2024-05-06 18:45', 300, 'cancelled', NULL, NULL);
INSERT INTO items VALUES (1, 'lamp', 2, 40), (1, 'desk', 1, 40.50), (2, 'chair', 4, 20), (3, 'lamp', 1, 15.25), (4, 'sofa', 1, 300);
CREATE VIEW paid AS SELECT * FROM orders WHERE status = 'paid';
CREATE VIRTUAL TABLE notes USING fts5(body);
INSERT INTO notes VALUES ('a lamp for the desk'), ('the sofa came late');
CREATE TABLE t (id integer PRIMARY KEY, name text, x real);
CREATE INDEX names ON t (name);
CREATE VIEW v AS SELECT id FROM t;
CREATE TABLE n AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 100) SELECT i FROM c;
CREATE TABLE odd (word);
INSERT INTO t VALUES (1, 'a', 1.5), (2, 'b', NULL);
INSERT INTO odd VALUES (CAST(x'fffe' AS text));
