-- bike_share: stations, bikes, trips, members and maintenance of an invented city bike scheme.

CREATE TABLE zone (
  zone_cd TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  surchg_amt NUMERIC
);

CREATE TABLE stn (
  stn_id INTEGER PRIMARY KEY,
  stn_cd TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  zone_cd TEXT NOT NULL REFERENCES zone (zone_cd),
  dock_cnt INTEGER NOT NULL CHECK (dock_cnt > 0),
  opn_dt TEXT NOT NULL,
  cls_dt TEXT
);

CREATE TABLE bike_mdl (
  mdl_cd TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('classic', 'electric', 'cargo')),
  wt_kg REAL
);

CREATE TABLE bike (
  bike_id INTEGER PRIMARY KEY,
  tag_no TEXT NOT NULL UNIQUE,
  mdl_cd TEXT NOT NULL REFERENCES bike_mdl (mdl_cd),
  home_stn_id INTEGER REFERENCES stn (stn_id),
  purch_dt TEXT,
  status TEXT NOT NULL CHECK (status IN ('active', 'repair', 'retired'))
);

CREATE TABLE mbr (
  mbr_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT,
  city TEXT,
  plan_cd TEXT NOT NULL CHECK (plan_cd IN ('A', 'M', 'S')),
  plan_desc TEXT,
  join_dt TEXT NOT NULL,
  end_dt TEXT,
  ref_mbr_id INTEGER REFERENCES mbr (mbr_id)
);

CREATE TABLE trip (
  trip_id INTEGER PRIMARY KEY,
  bike_id INTEGER NOT NULL REFERENCES bike (bike_id),
  mbr_id INTEGER REFERENCES mbr (mbr_id),
  start_stn_id INTEGER NOT NULL REFERENCES stn (stn_id),
  end_stn_id INTEGER REFERENCES stn (stn_id),
  start_ts TEXT NOT NULL,
  end_ts TEXT,
  dur_min INTEGER,
  dist_m INTEGER,
  fare_amt NUMERIC NOT NULL DEFAULT 0
);

CREATE TABLE mech (
  mech_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  hire_dt TEXT NOT NULL,
  lead_mech_id INTEGER REFERENCES mech (mech_id)
);

CREATE TABLE mnt_job (
  job_id INTEGER PRIMARY KEY,
  bike_id INTEGER NOT NULL REFERENCES bike (bike_id),
  mech_id INTEGER REFERENCES mech (mech_id),
  type TEXT NOT NULL,
  opn_dt TEXT NOT NULL,
  cls_dt TEXT,
  lbr_hrs NUMERIC,
  note TEXT
);

CREATE TABLE part (
  part_id INTEGER PRIMARY KEY,
  part_cd TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  unit_cost NUMERIC NOT NULL
);

CREATE TABLE job_part (
  job_id INTEGER NOT NULL REFERENCES mnt_job (job_id),
  part_id INTEGER NOT NULL REFERENCES part (part_id),
  qty INTEGER NOT NULL CHECK (qty > 0),
  PRIMARY KEY (job_id, part_id)
);
