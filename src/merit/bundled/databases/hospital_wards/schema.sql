-- hospital_wards: wards, beds, patient stays, staff, shifts and treatments of an invented hospital.

CREATE TABLE departments (
  department_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  building TEXT,
  parent_department_id INTEGER,
  annual_budget NUMERIC,
  FOREIGN KEY (parent_department_id) REFERENCES departments (department_id)
);

CREATE TABLE wards (
  ward_id INTEGER PRIMARY KEY,
  ward_code TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  department_id INTEGER NOT NULL,
  floor INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('open', 'closed', 'renovation')),
  opened_on TEXT,
  FOREIGN KEY (department_id) REFERENCES departments (department_id)
);

CREATE TABLE beds (
  bed_id INTEGER PRIMARY KEY,
  ward_id INTEGER NOT NULL,
  bed_label TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('standard', 'icu', 'isolation', 'bariatric')),
  status TEXT NOT NULL CHECK (status IN ('available', 'occupied', 'out_of_service')),
  UNIQUE (ward_id, bed_label),
  FOREIGN KEY (ward_id) REFERENCES wards (ward_id)
);

CREATE TABLE patients (
  patient_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  sex TEXT CHECK (sex IN ('F', 'M')),
  birth_date TEXT NOT NULL,
  city TEXT,
  blood_group TEXT,
  phone TEXT
);

CREATE TABLE staff (
  staff_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('physician', 'nurse', 'therapist', 'porter')),
  home_ward_id INTEGER,
  supervisor_id INTEGER,
  hired_on TEXT NOT NULL,
  left_on TEXT,
  email TEXT,
  FOREIGN KEY (home_ward_id) REFERENCES wards (ward_id),
  FOREIGN KEY (supervisor_id) REFERENCES staff (staff_id)
);

CREATE TABLE stays (
  stay_id INTEGER PRIMARY KEY,
  patient_id INTEGER NOT NULL,
  bed_id INTEGER NOT NULL,
  attending_id INTEGER NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('emergency', 'planned')),
  admitted_on TEXT NOT NULL,
  discharged_on TEXT,
  discharge_to TEXT,
  CHECK (discharged_on IS NULL OR discharged_on >= admitted_on),
  FOREIGN KEY (patient_id) REFERENCES patients (patient_id),
  FOREIGN KEY (bed_id) REFERENCES beds (bed_id),
  FOREIGN KEY (attending_id) REFERENCES staff (staff_id)
);

CREATE TABLE treatments (
  treatment_id INTEGER PRIMARY KEY,
  code TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  category TEXT NOT NULL,
  unit_cost NUMERIC NOT NULL
);

CREATE TABLE stay_treatments (
  stay_treatment_id INTEGER PRIMARY KEY,
  stay_id INTEGER NOT NULL,
  treatment_id INTEGER NOT NULL,
  ordered_by INTEGER NOT NULL,
  performed_by INTEGER,
  performed_on TEXT,
  quantity INTEGER NOT NULL DEFAULT 1 CHECK (quantity > 0),
  FOREIGN KEY (stay_id) REFERENCES stays (stay_id),
  FOREIGN KEY (treatment_id) REFERENCES treatments (treatment_id),
  FOREIGN KEY (ordered_by) REFERENCES staff (staff_id),
  FOREIGN KEY (performed_by) REFERENCES staff (staff_id)
);

CREATE TABLE shifts (
  shift_id INTEGER PRIMARY KEY,
  ward_id INTEGER NOT NULL,
  shift_date TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('day', 'evening', 'night')),
  lead_id INTEGER,
  UNIQUE (ward_id, shift_date, type),
  FOREIGN KEY (ward_id) REFERENCES wards (ward_id),
  FOREIGN KEY (lead_id) REFERENCES staff (staff_id)
);

CREATE TABLE shift_assignments (
  shift_id INTEGER NOT NULL,
  staff_id INTEGER NOT NULL,
  hours_worked NUMERIC,
  PRIMARY KEY (shift_id, staff_id),
  FOREIGN KEY (shift_id) REFERENCES shifts (shift_id),
  FOREIGN KEY (staff_id) REFERENCES staff (staff_id)
);
