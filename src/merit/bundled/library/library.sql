INSERT INTO author VALUES
    (1, 'Ursula Le Guin', 'United States'), (2, 'Stanisław Lem', 'Poland'), (3, 'Tove Jansson', 'Finland'),
    (4, 'Italo Calvino', 'Italy'), (5, 'Clarice Lispector', NULL);
INSERT INTO book VALUES
    (1, 'The Dispossessed', 1, 1974, 12.5), (2, 'The Left Hand of Darkness', 1, 1969, 11.0),
    (3, 'Solaris', 2, 1961, 9.5), (4, 'The Cyberiad', 2, 1965, 9.5), (5, 'The Summer Book', 3, 1972, 8.0),
    (6, 'Invisible Cities', 4, 1972, 10.0), (7, 'If on a winter''s night a traveler', 4, 1979, 12.5);
INSERT INTO member VALUES
    (1, 'Ada', '2023-01-15'), (2, 'Bo', '2023-06-02'), (3, 'Chen', '2024-02-20'), (4, 'Dara', '2024-03-11');
INSERT INTO loan VALUES
    (1, 1, 1, '2024-01-03', '2024-01-20'), (2, 3, 1, '2024-02-01', '2024-02-14'),
    (3, 3, 2, '2024-03-05', NULL), (4, 5, 2, '2024-03-05', '2024-03-28'),
    (5, 6, 3, '2024-04-09', NULL), (6, 1, 3, '2024-05-01', '2024-05-15');
