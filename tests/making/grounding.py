"""A small school with pets, for tests of grounding."""

from merit.types import Column, Schema, Table

SCHOOL_DATABASE = """
    CREATE TABLE student (stu_id INTEGER PRIMARY KEY, name TEXT, age INTEGER, city_code TEXT REFERENCES city(code));
    CREATE TABLE city (code TEXT PRIMARY KEY, city_name TEXT, state TEXT);
    CREATE TABLE has_pet (stu_id INTEGER REFERENCES student(stu_id), pet_id INTEGER REFERENCES pet(pet_id));
    CREATE TABLE pet (pet_id INTEGER PRIMARY KEY, kind TEXT, weight REAL);
    CREATE TABLE "Prize List" (prize TEXT, "Student Number" INTEGER REFERENCES student(stu_id));
    INSERT INTO city VALUES ('L', 'Leeds', 'UK'), ('P', 'Paris', 'FR');
    INSERT INTO student VALUES (1, 'Ann', 20, 'L'), (2, 'Bob', 30, 'P'), (3, 'Cid', 40, 'L');
    INSERT INTO pet VALUES (10, 'cat', 3.5), (11, 'dog', 9.0);
    INSERT INTO has_pet VALUES (1, 10), (3, 11);
    INSERT INTO "Prize List" VALUES ('gold', 2);
"""

SCHOOL_SCHEMA = Schema(
    "school",
    (
        Table(
            "student",
            (
                Column("stu_id", "INTEGER", primary_key=True),
                Column("name", "TEXT"),
                Column("age", "INTEGER"),
                Column("city_code", "TEXT", foreign_keys=("city.code",)),
            ),
        ),
        Table("city", (Column("code", "TEXT", primary_key=True), Column("city_name", "TEXT"), Column("state", "TEXT"))),
        Table(
            "has_pet",
            (
                Column("stu_id", "INTEGER", foreign_keys=("student.stu_id",)),
                Column("pet_id", "INTEGER", foreign_keys=("pet.pet_id",)),
            ),
        ),
        Table("pet", (Column("pet_id", "INTEGER", primary_key=True), Column("kind", "TEXT"), Column("weight", "REAL"))),
        Table(
            "Prize List",
            (Column("prize", "TEXT"), Column("Student Number", "INTEGER", foreign_keys=("student.stu_id",))),
        ),
    ),
)

# Queries that this database refuses.
SCHOOL_QUERIES = [
    "SELECT T2.name FROM student AS T1 JOIN has_pet AS T2 ON T1.stu_id = T2.stu_id",
    "SELECT student.name FROM student AS T1 WHERE T1.age > 30",
    "SELECT T9.name FROM student AS T1 WHERE T1.age > 30",
    "SELECT Students.name FROM Students WHERE Students.age = 20",
    "SELECT Name FROM student WHERE StuID = 2",
    "SELECT T1.name FROM student AS T1 JOIN city AS T2 ON T1.code = T2.code WHERE T2.state = 'FR'",
    "SELECT name FROM student WHERE city_name = 'Leeds'",
    "SELECT T1.name FROM student AS T1 WHERE T1.kind = 'dog'",
    "SELECT T2.kind FROM student AS T1 JOIN pet AS T2 ON T1.stu_id = T2.owner WHERE T1.name = 'Ann'",
    "SELECT stu_id FROM student JOIN has_pet ON student.stu_id = has_pet.stu_id",
    "SELECT name FROM student WHERE prize = 'gold'",
    "SELECT code FROM city WHERE code IN (SELECT code FROM student GROUP BY code HAVING count(*) > 1)",
    "SELECT YEAR(age), COUNT(*) FROM student WHERE COUNT(*) > 1 GROUP BY city_code ORDER BY MAX(age) LIMIT 3",
    "SELECT TOP 5 T1.name FROM student AS T1 WHERE 'T1'.'name' ILIKE 'a%' AND T1 age > 3",
    "WITH old AS (SELECT stu_id FROM student WHERE age > 30) SELECT name FROM student WHERE stu_id IN (SELECT id FROM old)",
    "SELECT name, (SELECT COUNT(*) FROM has_pet WHERE has_pet.stu_id = T1.stu_id) AS n FROM student T1 WHERE n > 1",
    "SELECT s.name FROM student s LEFT JOIN pets p ON s.pet_id = p.pet_id WHERE DATEDIFF(day, a, b) > 3 OR COUNT(*) > 2",
    "SELECT CASE WHEN age > 3 THEN 'x' ELSE \"y\" END, IF(age, 1, 2), age::text, EXTRACT(YEAR FROM now()) FROM student",
    "SELECT name FROM student WHERE age = MAX(age) UNION SELECT city_name FROM city ORDER BY name WHERE x = 1",
    "SELECT kind, RANK() OVER (PARTITION BY kind ORDER BY weight DESC) FROM pet WHERE weight > ALL (SELECT weight FROM pet)",
]
