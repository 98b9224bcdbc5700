-- county_archive: collections, boxes, documents, persons, loans to readers and scanning in an invented county archive.

CREATE TABLE Person (
  PersonID INTEGER PRIMARY KEY,
  Name TEXT NOT NULL,
  BirthYear INTEGER,
  DeathYear INTEGER,
  Place TEXT,
  CHECK (DeathYear IS NULL OR BirthYear IS NULL OR DeathYear >= BirthYear)
);

CREATE TABLE Collection (
  CollectionID INTEGER PRIMARY KEY,
  RefCode TEXT NOT NULL UNIQUE,
  Title TEXT NOT NULL,
  ParentID INTEGER,
  Status TEXT NOT NULL CHECK (Status IN ('open', 'restricted', 'closed')),
  FirstYear INTEGER,
  LastYear INTEGER,
  AcquiredOn TEXT,
  FOREIGN KEY (ParentID) REFERENCES Collection (CollectionID)
);

CREATE TABLE Box (
  BoxID INTEGER PRIMARY KEY,
  BoxNo TEXT NOT NULL UNIQUE,
  CollectionID INTEGER NOT NULL,
  Shelf TEXT,
  Type TEXT NOT NULL,
  Condition TEXT,
  FOREIGN KEY (CollectionID) REFERENCES Collection (CollectionID)
);

CREATE TABLE Document (
  DocID INTEGER PRIMARY KEY,
  BoxID INTEGER NOT NULL,
  Title TEXT NOT NULL,
  Type TEXT NOT NULL,
  DocYear INTEGER,
  Pages INTEGER,
  LangCode TEXT,
  FOREIGN KEY (BoxID) REFERENCES Box (BoxID)
);

CREATE TABLE DocPerson (
  DocID INTEGER NOT NULL,
  PersonID INTEGER NOT NULL,
  Role TEXT NOT NULL CHECK (Role IN ('author', 'recipient', 'mentioned')),
  PRIMARY KEY (DocID, PersonID, Role),
  FOREIGN KEY (DocID) REFERENCES Document (DocID),
  FOREIGN KEY (PersonID) REFERENCES Person (PersonID)
);

CREATE TABLE Reader (
  ReaderID INTEGER PRIMARY KEY,
  CardNo TEXT NOT NULL UNIQUE,
  Name TEXT NOT NULL,
  Type TEXT NOT NULL CHECK (Type IN ('public', 'student', 'academic')),
  City TEXT,
  RegisteredOn TEXT NOT NULL
);

CREATE TABLE Staff (
  StaffID INTEGER PRIMARY KEY,
  Name TEXT NOT NULL,
  Post TEXT NOT NULL,
  StartedOn TEXT NOT NULL
);

CREATE TABLE Loan (
  LoanID INTEGER PRIMARY KEY,
  ReaderID INTEGER NOT NULL,
  DocID INTEGER NOT NULL,
  IssuedBy INTEGER NOT NULL,
  ReceivedBy INTEGER,
  IssuedOn TEXT NOT NULL,
  DueOn TEXT NOT NULL,
  ReturnedOn TEXT,
  FOREIGN KEY (ReaderID) REFERENCES Reader (ReaderID),
  FOREIGN KEY (DocID) REFERENCES Document (DocID),
  FOREIGN KEY (IssuedBy) REFERENCES Staff (StaffID),
  FOREIGN KEY (ReceivedBy) REFERENCES Staff (StaffID)
);

CREATE TABLE ScanJob (
  ScanJobID INTEGER PRIMARY KEY,
  DocID INTEGER NOT NULL,
  OperatorID INTEGER,
  RequestedOn TEXT NOT NULL,
  ScannedOn TEXT,
  Status TEXT NOT NULL CHECK (Status IN ('requested', 'done', 'failed')),
  Images INTEGER,
  FOREIGN KEY (DocID) REFERENCES Document (DocID),
  FOREIGN KEY (OperatorID) REFERENCES Staff (StaffID)
);
