CREATE TABLE lob (
  lob_cd TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  max_cover NUMERIC
);

CREATE TABLE hldr (
  hldr_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('person', 'company')),
  city TEXT,
  email TEXT,
  since_dt TEXT NOT NULL,
  ref_by_hldr_id INTEGER,
  FOREIGN KEY (ref_by_hldr_id) REFERENCES hldr (hldr_id)
);

CREATE TABLE policy (
  pol_no TEXT PRIMARY KEY,
  hldr_id INTEGER NOT NULL,
  lob_cd TEXT NOT NULL,
  start_dt TEXT NOT NULL,
  end_dt TEXT,
  ann_prem NUMERIC NOT NULL CHECK (ann_prem > 0),
  deductible NUMERIC NOT NULL DEFAULT 0,
  status TEXT NOT NULL CHECK (status IN ('active', 'lapsed', 'cancelled')),
  FOREIGN KEY (hldr_id) REFERENCES hldr (hldr_id),
  FOREIGN KEY (lob_cd) REFERENCES lob (lob_cd)
);

CREATE TABLE adjuster (
  adj_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  dept_cd TEXT NOT NULL,
  hired_dt TEXT NOT NULL,
  sup_adj_id INTEGER,
  pay_limit NUMERIC,
  FOREIGN KEY (sup_adj_id) REFERENCES adjuster (adj_id)
);

CREATE TABLE claim (
  clm_no TEXT PRIMARY KEY,
  pol_no TEXT NOT NULL,
  type TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('open', 'closed', 'rejected', 'reopened')),
  loss_dt TEXT NOT NULL,
  rptd_dt TEXT NOT NULL,
  closed_dt TEXT,
  loss_city TEXT,
  clmd_amt NUMERIC NOT NULL,
  resv_amt NUMERIC,
  FOREIGN KEY (pol_no) REFERENCES policy (pol_no)
);

CREATE TABLE clm_adj (
  clm_no TEXT NOT NULL,
  adj_id INTEGER NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('lead', 'support')),
  asgn_dt TEXT NOT NULL,
  PRIMARY KEY (clm_no, adj_id),
  FOREIGN KEY (clm_no) REFERENCES claim (clm_no),
  FOREIGN KEY (adj_id) REFERENCES adjuster (adj_id)
);

CREATE TABLE assessment (
  asmt_id INTEGER PRIMARY KEY,
  clm_no TEXT NOT NULL,
  adj_id INTEGER NOT NULL,
  visit_dt TEXT NOT NULL,
  method TEXT NOT NULL,
  est_amt NUMERIC,
  FOREIGN KEY (clm_no) REFERENCES claim (clm_no),
  FOREIGN KEY (adj_id) REFERENCES adjuster (adj_id)
);

CREATE TABLE payment (
  pay_id INTEGER PRIMARY KEY,
  clm_no TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('indemnity', 'expense', 'recovery')),
  status TEXT NOT NULL CHECK (status IN ('paid', 'pending', 'stopped')),
  amt NUMERIC NOT NULL,
  pay_dt TEXT,
  appr_adj_id INTEGER,
  FOREIGN KEY (clm_no) REFERENCES claim (clm_no),
  FOREIGN KEY (appr_adj_id) REFERENCES adjuster (adj_id)
);
