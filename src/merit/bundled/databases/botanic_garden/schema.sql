CREATE TABLE Garden (
  GardenID INTEGER PRIMARY KEY,
  Name TEXT NOT NULL,
  City TEXT,
  CountryCode TEXT NOT NULL,
  PartnerSince TEXT
);

CREATE TABLE Taxon (
  TaxonID INTEGER PRIMARY KEY,
  Name TEXT NOT NULL UNIQUE,
  TaxonRank TEXT NOT NULL CHECK (TaxonRank IN ('family', 'genus', 'species', 'cultivar')),
  ParentTaxonID INTEGER,
  CommonName TEXT,
  RedListCode TEXT,
  FOREIGN KEY (ParentTaxonID) REFERENCES Taxon (TaxonID)
);

CREATE TABLE Bed (
  BedCode TEXT PRIMARY KEY,
  Name TEXT NOT NULL,
  Type TEXT NOT NULL CHECK (Type IN ('outdoor', 'glasshouse', 'nursery')),
  AreaSqM NUMERIC,
  Soil TEXT
);

CREATE TABLE Staff (
  StaffID INTEGER PRIMARY KEY,
  Name TEXT NOT NULL,
  Role TEXT NOT NULL,
  StartDate TEXT NOT NULL
);

CREATE TABLE Accession (
  AccNo TEXT PRIMARY KEY,
  TaxonID INTEGER NOT NULL,
  SourceGardenID INTEGER,
  AccDate TEXT NOT NULL,
  Origin TEXT NOT NULL CHECK (Origin IN ('wild', 'cultivated', 'unknown')),
  Status TEXT NOT NULL CHECK (Status IN ('living', 'dead', 'transferred')),
  FOREIGN KEY (TaxonID) REFERENCES Taxon (TaxonID),
  FOREIGN KEY (SourceGardenID) REFERENCES Garden (GardenID)
);

CREATE TABLE Planting (
  AccNo TEXT NOT NULL,
  BedCode TEXT NOT NULL,
  PlantedOn TEXT NOT NULL,
  RemovedOn TEXT,
  Qty INTEGER NOT NULL CHECK (Qty > 0),
  PRIMARY KEY (AccNo, BedCode, PlantedOn),
  FOREIGN KEY (AccNo) REFERENCES Accession (AccNo),
  FOREIGN KEY (BedCode) REFERENCES Bed (BedCode)
);

CREATE TABLE SeedExchange (
  ExchangeID INTEGER PRIMARY KEY,
  FromGardenID INTEGER NOT NULL,
  ToGardenID INTEGER NOT NULL,
  SentOn TEXT NOT NULL,
  ReceivedOn TEXT,
  Status TEXT NOT NULL CHECK (Status IN ('in transit', 'received', 'lost')),
  CHECK (FromGardenID <> ToGardenID),
  FOREIGN KEY (FromGardenID) REFERENCES Garden (GardenID),
  FOREIGN KEY (ToGardenID) REFERENCES Garden (GardenID)
);

CREATE TABLE SeedExchangeItem (
  ExchangeID INTEGER NOT NULL,
  TaxonID INTEGER NOT NULL,
  Packets INTEGER NOT NULL CHECK (Packets > 0),
  GerminationPct INTEGER,
  PRIMARY KEY (ExchangeID, TaxonID),
  FOREIGN KEY (ExchangeID) REFERENCES SeedExchange (ExchangeID),
  FOREIGN KEY (TaxonID) REFERENCES Taxon (TaxonID)
);

CREATE TABLE Observation (
  ObsID INTEGER PRIMARY KEY,
  AccNo TEXT NOT NULL,
  StaffID INTEGER,
  ObsDate TEXT NOT NULL,
  Type TEXT NOT NULL CHECK (Type IN ('flowering', 'fruiting', 'pest', 'health')),
  Score INTEGER CHECK (Score BETWEEN 1 AND 5),
  Note TEXT,
  FOREIGN KEY (AccNo) REFERENCES Accession (AccNo),
  FOREIGN KEY (StaffID) REFERENCES Staff (StaffID)
);
