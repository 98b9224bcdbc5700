CREATE TABLE members (
  member_id INTEGER PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  city TEXT,
  email TEXT,
  status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'left')),
  joined_on DATE NOT NULL,
  left_on DATE,
  household_size INTEGER,
  referred_by INTEGER,
  FOREIGN KEY (referred_by) REFERENCES members (member_id)
);

CREATE TABLE suppliers (
  supplier_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  city TEXT,
  type TEXT NOT NULL,
  email TEXT,
  contract_start DATE NOT NULL
);

CREATE TABLE products (
  product_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  category TEXT NOT NULL,
  unit TEXT NOT NULL,
  unit_price REAL NOT NULL CHECK (unit_price > 0),
  is_organic INTEGER NOT NULL CHECK (is_organic IN (0, 1)),
  status TEXT NOT NULL,
  supplier_id INTEGER,
  FOREIGN KEY (supplier_id) REFERENCES suppliers (supplier_id)
);

CREATE TABLE orders (
  order_id INTEGER PRIMARY KEY,
  member_id INTEGER NOT NULL,
  order_date DATE NOT NULL,
  pickup_date DATE,
  status TEXT NOT NULL,
  FOREIGN KEY (member_id) REFERENCES members (member_id)
);

CREATE TABLE order_lines (
  order_id INTEGER NOT NULL,
  product_id INTEGER NOT NULL,
  quantity INTEGER NOT NULL CHECK (quantity > 0),
  unit_price REAL NOT NULL,
  note TEXT,
  PRIMARY KEY (order_id, product_id),
  FOREIGN KEY (order_id) REFERENCES orders (order_id),
  FOREIGN KEY (product_id) REFERENCES products (product_id)
);

CREATE TABLE deliveries (
  delivery_id INTEGER PRIMARY KEY,
  supplier_id INTEGER NOT NULL,
  delivered_on DATE NOT NULL,
  received_by INTEGER NOT NULL,
  checked_by INTEGER,
  status TEXT NOT NULL,
  FOREIGN KEY (supplier_id) REFERENCES suppliers (supplier_id),
  FOREIGN KEY (received_by) REFERENCES members (member_id),
  FOREIGN KEY (checked_by) REFERENCES members (member_id)
);

CREATE TABLE delivery_lines (
  delivery_id INTEGER NOT NULL,
  product_id INTEGER NOT NULL,
  quantity INTEGER NOT NULL,
  best_before DATE,
  PRIMARY KEY (delivery_id, product_id),
  FOREIGN KEY (delivery_id) REFERENCES deliveries (delivery_id),
  FOREIGN KEY (product_id) REFERENCES products (product_id)
);

CREATE TABLE work_shifts (
  shift_id INTEGER PRIMARY KEY,
  shift_date DATE NOT NULL,
  start_time TEXT NOT NULL,
  type TEXT NOT NULL,
  planned_hours REAL NOT NULL,
  places INTEGER NOT NULL
);

CREATE TABLE shift_signups (
  shift_id INTEGER NOT NULL,
  member_id INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('attended', 'missed', 'excused')),
  hours_worked REAL,
  PRIMARY KEY (shift_id, member_id),
  FOREIGN KEY (shift_id) REFERENCES work_shifts (shift_id),
  FOREIGN KEY (member_id) REFERENCES members (member_id)
);
