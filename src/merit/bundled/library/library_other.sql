-- The same tables with other rows: ties, gaps and repeated values that the first database happens not to have.
INSERT INTO author VALUES
    (1, 'Ursula Le Guin', 'United States'), (2, 'Stanisław Lem', 'Poland'), (3, 'Tove Jansson', 'Finland'),
    (4, 'Italo Calvino', 'Italy'), (5, 'Clarice Lispector', 'Brazil'), (6, 'Bruno Schulz', 'Poland');
INSERT INTO book VALUES
    (1, 'The Dispossessed', 1, 1974, 12.5), (2, 'Solaris', 2, 1961, 9.5), (3, 'Solaris', 2, 1961, 14.0),
    (4, 'The Summer Book', 3, 1972, 8.0), (5, 'Invisible Cities', 4, 1970, 10.25), (6, 'The Stream of Life', 5, 1973, NULL);
INSERT INTO member VALUES
    (1, 'Ada', '2023-01-15'), (2, 'Bo', '2023-06-02'), (3, 'Ada', '2024-02-20');
INSERT INTO loan VALUES
    (1, 1, 1, '2024-01-03', '2024-01-20'), (2, 2, 1, '2024-02-01', NULL), (3, 2, 2, '2024-03-05', NULL),
    (4, 4, 2, '2024-03-05', '2024-03-28'), (5, 1, 1, '2024-04-09', NULL), (6, 3, 2, '2024-05-01', '2024-05-15');
