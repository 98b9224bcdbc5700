CREATE TABLE site (
  site_cd TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  region TEXT,
  country_cd TEXT NOT NULL,
  grid_cap_mw REAL,
  opened_dt DATE,
  status TEXT NOT NULL
);

CREATE TABLE turb (
  turb_id INTEGER PRIMARY KEY,
  site_cd TEXT NOT NULL,
  tag TEXT NOT NULL UNIQUE,
  mfr TEXT NOT NULL,
  model TEXT,
  rated_kw INTEGER NOT NULL CHECK (rated_kw > 0),
  comm_dt DATE,
  status TEXT NOT NULL,
  ref_turb_id INTEGER,
  FOREIGN KEY (site_cd) REFERENCES site (site_cd),
  FOREIGN KEY (ref_turb_id) REFERENCES turb (turb_id)
);

CREATE TABLE rdg_day (
  turb_id INTEGER NOT NULL,
  rdg_dt DATE NOT NULL,
  energy_kwh INTEGER,
  avg_wind_ms REAL,
  avail_pct INTEGER CHECK (avail_pct BETWEEN 0 AND 100),
  max_gear_temp_c INTEGER,
  PRIMARY KEY (turb_id, rdg_dt),
  FOREIGN KEY (turb_id) REFERENCES turb (turb_id)
);

CREATE TABLE tech (
  tech_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  home_site_cd TEXT,
  cert_lvl INTEGER NOT NULL,
  hire_dt DATE NOT NULL,
  mgr_id INTEGER,
  status TEXT NOT NULL,
  FOREIGN KEY (home_site_cd) REFERENCES site (site_cd),
  FOREIGN KEY (mgr_id) REFERENCES tech (tech_id)
);

CREATE TABLE flt_code (
  flt_cd TEXT PRIMARY KEY,
  descr TEXT NOT NULL,
  subsys TEXT NOT NULL,
  sev INTEGER NOT NULL CHECK (sev BETWEEN 1 AND 4)
);

CREATE TABLE fault (
  fault_id INTEGER PRIMARY KEY,
  turb_id INTEGER NOT NULL,
  flt_cd TEXT NOT NULL,
  start_ts TEXT NOT NULL,
  end_ts TEXT,
  ack_tech_id INTEGER,
  FOREIGN KEY (turb_id) REFERENCES turb (turb_id),
  FOREIGN KEY (flt_cd) REFERENCES flt_code (flt_cd),
  FOREIGN KEY (ack_tech_id) REFERENCES tech (tech_id)
);

CREATE TABLE wo (
  wo_no INTEGER PRIMARY KEY,
  turb_id INTEGER NOT NULL,
  fault_id INTEGER,
  type TEXT NOT NULL CHECK (type IN ('corrective', 'preventive', 'inspection')),
  prio INTEGER NOT NULL,
  open_dt DATE NOT NULL,
  close_dt DATE,
  req_tech_id INTEGER NOT NULL,
  lead_tech_id INTEGER,
  status TEXT NOT NULL,
  FOREIGN KEY (turb_id) REFERENCES turb (turb_id),
  FOREIGN KEY (fault_id) REFERENCES fault (fault_id),
  FOREIGN KEY (req_tech_id) REFERENCES tech (tech_id),
  FOREIGN KEY (lead_tech_id) REFERENCES tech (tech_id)
);

CREATE TABLE wo_tech (
  wo_no INTEGER NOT NULL,
  tech_id INTEGER NOT NULL,
  hrs REAL NOT NULL,
  PRIMARY KEY (wo_no, tech_id),
  FOREIGN KEY (wo_no) REFERENCES wo (wo_no),
  FOREIGN KEY (tech_id) REFERENCES tech (tech_id)
);

CREATE TABLE part (
  part_no TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  unit_cost NUMERIC NOT NULL,
  stock_qty INTEGER NOT NULL,
  min_qty INTEGER
);

CREATE TABLE wo_part (
  wo_no INTEGER NOT NULL,
  part_no TEXT NOT NULL,
  qty INTEGER NOT NULL CHECK (qty > 0),
  PRIMARY KEY (wo_no, part_no),
  FOREIGN KEY (wo_no) REFERENCES wo (wo_no),
  FOREIGN KEY (part_no) REFERENCES part (part_no)
);
