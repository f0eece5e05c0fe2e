"""The model file: one SQLite database, its rows, and whole models as they are made, added up and exported."""
