CREATE TABLE author (
    author_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    country TEXT
);
CREATE TABLE book (
    book_id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    author_id INTEGER REFERENCES author (author_id),
    year INTEGER,
    price REAL
);
CREATE TABLE member (
    member_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    joined TEXT
);
CREATE TABLE loan (
    loan_id INTEGER PRIMARY KEY,
    book_id INTEGER REFERENCES book (book_id),
    member_id INTEGER REFERENCES member (member_id),
    borrowed TEXT,
    returned TEXT
);
