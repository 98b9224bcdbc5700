CREATE TABLE levels (
  level_code TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  rank INTEGER NOT NULL UNIQUE
);

CREATE TABLE teachers (
  teacher_id INTEGER PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  native_language TEXT,
  hire_date TEXT NOT NULL,
  hourly_rate NUMERIC NOT NULL,
  mentor_id INTEGER,
  status TEXT NOT NULL CHECK (status IN ('active', 'on leave', 'left')),
  FOREIGN KEY (mentor_id) REFERENCES teachers (teacher_id)
);

CREATE TABLE rooms (
  room_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  building TEXT NOT NULL,
  capacity INTEGER NOT NULL CHECK (capacity > 0),
  has_projector INTEGER NOT NULL CHECK (has_projector IN (0, 1))
);

CREATE TABLE courses (
  course_id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  language TEXT NOT NULL,
  level_code TEXT NOT NULL,
  main_teacher_id INTEGER,
  substitute_teacher_id INTEGER,
  start_date TEXT NOT NULL,
  end_date TEXT NOT NULL,
  fee NUMERIC NOT NULL,
  max_students INTEGER,
  FOREIGN KEY (level_code) REFERENCES levels (level_code),
  FOREIGN KEY (main_teacher_id) REFERENCES teachers (teacher_id),
  FOREIGN KEY (substitute_teacher_id) REFERENCES teachers (teacher_id)
);

CREATE TABLE students (
  student_id INTEGER PRIMARY KEY,
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  birth_year INTEGER,
  city TEXT,
  email TEXT,
  registered_on TEXT NOT NULL
);

CREATE TABLE enrolments (
  student_id INTEGER NOT NULL,
  course_id INTEGER NOT NULL,
  enrolled_on TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'completed', 'dropped')),
  discount_percent INTEGER,
  PRIMARY KEY (student_id, course_id),
  FOREIGN KEY (student_id) REFERENCES students (student_id),
  FOREIGN KEY (course_id) REFERENCES courses (course_id)
);

CREATE TABLE lessons (
  lesson_id INTEGER PRIMARY KEY,
  course_id INTEGER NOT NULL,
  room_id INTEGER,
  teacher_id INTEGER NOT NULL,
  lesson_date TEXT NOT NULL,
  start_time TEXT NOT NULL,
  duration_minutes INTEGER NOT NULL,
  topic TEXT,
  FOREIGN KEY (course_id) REFERENCES courses (course_id),
  FOREIGN KEY (room_id) REFERENCES rooms (room_id),
  FOREIGN KEY (teacher_id) REFERENCES teachers (teacher_id)
);

CREATE TABLE exams (
  exam_id INTEGER PRIMARY KEY,
  course_id INTEGER NOT NULL,
  exam_date TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('placement', 'midterm', 'final')),
  max_points INTEGER NOT NULL,
  FOREIGN KEY (course_id) REFERENCES courses (course_id)
);

CREATE TABLE exam_results (
  exam_id INTEGER NOT NULL,
  student_id INTEGER NOT NULL,
  points INTEGER,
  PRIMARY KEY (exam_id, student_id),
  FOREIGN KEY (exam_id) REFERENCES exams (exam_id),
  FOREIGN KEY (student_id) REFERENCES students (student_id)
);
