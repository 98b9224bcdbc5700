CREATE TABLE Person (
  PersonID INTEGER PRIMARY KEY,
  FullName TEXT NOT NULL,
  Country TEXT,
  BirthYear INTEGER,
  Email TEXT
);

CREATE TABLE Film (
  FilmID INTEGER PRIMARY KEY,
  Title TEXT NOT NULL,
  OriginalTitle TEXT,
  Country TEXT NOT NULL,
  Language TEXT,
  ReleaseYear INTEGER NOT NULL,
  RuntimeMin INTEGER,
  Type TEXT NOT NULL CHECK (Type IN ('feature', 'documentary', 'short')),
  Section TEXT NOT NULL,
  SequelToID INTEGER,
  FOREIGN KEY (SequelToID) REFERENCES Film (FilmID)
);

CREATE TABLE Credit (
  FilmID INTEGER NOT NULL,
  PersonID INTEGER NOT NULL,
  Role TEXT NOT NULL,
  CharacterName TEXT,
  PRIMARY KEY (FilmID, PersonID, Role),
  FOREIGN KEY (FilmID) REFERENCES Film (FilmID),
  FOREIGN KEY (PersonID) REFERENCES Person (PersonID)
);

CREATE TABLE Venue (
  VenueID INTEGER PRIMARY KEY,
  Name TEXT NOT NULL,
  City TEXT NOT NULL,
  Type TEXT NOT NULL,
  Capacity INTEGER NOT NULL,
  StepFree INTEGER NOT NULL CHECK (StepFree IN (0, 1))
);

CREATE TABLE Screening (
  ScreeningID INTEGER PRIMARY KEY,
  FilmID INTEGER NOT NULL,
  VenueID INTEGER NOT NULL,
  ScreeningDate DATE NOT NULL,
  StartTime TEXT NOT NULL,
  Status TEXT NOT NULL CHECK (Status IN ('planned', 'held', 'cancelled')),
  HostID INTEGER,
  FOREIGN KEY (FilmID) REFERENCES Film (FilmID),
  FOREIGN KEY (VenueID) REFERENCES Venue (VenueID),
  FOREIGN KEY (HostID) REFERENCES Person (PersonID)
);

CREATE TABLE Ticket (
  TicketID INTEGER PRIMARY KEY,
  ScreeningID INTEGER NOT NULL,
  Type TEXT NOT NULL,
  Price NUMERIC NOT NULL,
  SoldOn DATE NOT NULL,
  Status TEXT NOT NULL CHECK (Status IN ('valid', 'used', 'refunded')),
  FOREIGN KEY (ScreeningID) REFERENCES Screening (ScreeningID)
);

CREATE TABLE Jury (
  JuryID INTEGER PRIMARY KEY,
  Name TEXT NOT NULL,
  EditionYear INTEGER NOT NULL,
  ChairID INTEGER,
  FOREIGN KEY (ChairID) REFERENCES Person (PersonID)
);

CREATE TABLE JuryMember (
  JuryID INTEGER NOT NULL,
  PersonID INTEGER NOT NULL,
  Status TEXT NOT NULL,
  PRIMARY KEY (JuryID, PersonID),
  FOREIGN KEY (JuryID) REFERENCES Jury (JuryID),
  FOREIGN KEY (PersonID) REFERENCES Person (PersonID)
);

CREATE TABLE Award (
  AwardID INTEGER PRIMARY KEY,
  Name TEXT NOT NULL,
  EditionYear INTEGER NOT NULL,
  PrizeMoney INTEGER,
  JuryID INTEGER,
  FOREIGN KEY (JuryID) REFERENCES Jury (JuryID)
);

CREATE TABLE Nomination (
  AwardID INTEGER NOT NULL,
  FilmID INTEGER NOT NULL,
  Result TEXT NOT NULL CHECK (Result IN ('nominated', 'winner', 'special mention')),
  PersonID INTEGER,
  PRIMARY KEY (AwardID, FilmID),
  FOREIGN KEY (AwardID) REFERENCES Award (AwardID),
  FOREIGN KEY (FilmID) REFERENCES Film (FilmID),
  FOREIGN KEY (PersonID) REFERENCES Person (PersonID)
);
